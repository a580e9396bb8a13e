"""Work dealt to tasks: which rows go to which task, and the largest work first."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

SLOT = "slot"
"""Column of rows that are dealt: rows of one value are one task's."""


def pack(sizes: Sequence[int], *, least: int, parts: int = 0) -> list[list[int]]:
    """
    Put work into tasks, the largest first.

    Parameters
    ----------
    sizes
        Of each piece of work.
    least
        Pieces as large as this have a task for themselves; smaller ones share one until
        another would bring them no nearer to it.
    parts
        Tasks may be larger, this part of what is left, so that there are fewer and the
        last ones are small all the same; 0: they are not.

    Returns
    -------
    Pieces by task; tasks by their largest piece. Ties by place.

    Examples
    --------
    >>> pack([1, 90, 2, 3], least=5)
    [[1], [3, 2], [0]]
    >>> pack([1, 90, 2, 3], least=3)
    [[1], [3], [2, 0]]
    >>> pack([1] * 8, least=1, parts=2)
    [[0, 1, 2, 3], [4, 5], [6], [7]]

    References
    ----------
    C. D. Polychronopoulos, D. J. Kuck, "Guided Self-Scheduling: A Practical Scheduling
    Scheme for Parallel Supercomputers", IEEE Transactions on Computers C-36(12), 1987,
    https://doi.org/10.1109/TC.1987.5009495: the parts.
    """
    order = sorted(range(len(sizes)), key=lambda piece: (-sizes[piece], piece))
    tasks: list[list[int]] = []
    room, left = 0, sum(sizes)
    for piece in order:
        if room <= 0 or 2 * room < sizes[piece]:
            tasks.append([])
            room = max(least, left // parts if parts else 0)
        tasks[-1].append(piece)
        room -= sizes[piece]
        left -= sizes[piece]
    return tasks


def shuffled_tasks(spark: SparkSession) -> int:
    """Return how many tasks a shuffle has: what Spark says of how many run at once."""
    return int(spark.conf.get("spark.sql.shuffle.partitions") or 1)


def cores_of(spark: SparkSession) -> int:
    """Return about how many tasks run at once: sessions shuffle into twice as many."""
    return max(shuffled_tasks(spark) // 2, 1)


def slots(spark: SparkSession, count: int) -> list[int]:
    """
    Return numbers that Spark's own hashing sends to the tasks 0, 1, 2 … of so many.

    Notes
    -----
    Rows with equal numbers meet in one task whatever their number is; but hashed as
    they come, some tasks would get several and others none. Found by trying: about
    `count` × ln `count` numbers are needed.
    """
    found: dict[int, int] = {}
    low = 0
    while len(found) < count:
        tried = spark.range(low, low + 8 * count + 64).select(F.col("id").cast("int"))
        task = F.pmod(F.hash("id"), F.lit(count)).alias("task")
        for row in tried.select("id", task).collect():
            found.setdefault(row["task"], row["id"])
        low += 8 * count + 64
    return [found[task] for task in range(count)]


def dealt(table: DataFrame, count: int) -> DataFrame:
    """Return rows in as many tasks as there are slots, by their column `SLOT`."""
    return table.repartition(count, SLOT)
