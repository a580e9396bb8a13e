"""Packing of work into tasks, the largest first; distribution of rows to tasks."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

SLOT = "slot"
"""Column that assigns rows to tasks: rows of equal value are in the same task."""


def pack(sizes: Sequence[int], *, least: int, parts: int = 0) -> list[list[int]]:
    """
    Pack pieces of work into tasks, the largest first.

    Parameters
    ----------
    sizes
        Size of each piece of work.
    least
        Size of a task. A piece at least this large has a task of its own; smaller
        pieces share a task until one more would bring its size no nearer to `least`.
    parts
        Divisor of the remaining work: a task may grow to that fraction of it, so that
        there are fewer tasks and the last ones are still small. 0: no task grows.

    Returns
    -------
    Indices of pieces by task; tasks in the order of their largest piece. Ties go to
    the lower index.

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
    https://doi.org/10.1109/TC.1987.5009495: the rule for `parts`.
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
    """Return the number of tasks of a shuffle, a setting of the session."""
    return int(spark.conf.get("spark.sql.shuffle.partitions") or 1)


def cores_of(spark: SparkSession) -> int:
    """Return the approximate number of cores: half the tasks of a shuffle."""
    return max(shuffled_tasks(spark) // 2, 1)


def slots(spark: SparkSession, count: int) -> list[int]:
    """
    Return slot values that Spark's hash maps to the tasks 0, 1, 2 … of `count`.

    Notes
    -----
    Rows with equal slots are in one task whatever the slots are. But the task numbers
    themselves would hash to some tasks several times, and to others never. The values
    are found by trial: about `count` × ln `count` are needed.
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
    """Repartition rows into `count` tasks by their column `SLOT`."""
    return table.repartition(count, SLOT)
