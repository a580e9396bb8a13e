"""What is wrong with the tables of a fleet: rows that stand twice, or fit nowhere."""

from collections import Counter
from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from placement.load import MOST_LOAD
from planner.snapshot.columns import ArrowTable
from planner.spark.fleet import KEY, Fleet
from planner.spark.ground import part_of, union_of

PROBLEM = ("table", "place", "value", "rule")
"""Which table, where in it, what stands there, what must hold."""

ONCE = "a row must stand once"
_RULES = {
    "lacks_replicas": "a partition must have replicas",
    "is_twice": "replicas of a partition must be on distinct brokers",
    "unnumbered": "a partition must have its number",
}


def found_in_topics(fleet: Fleet, sums: DataFrame) -> DataFrame:
    """
    Return what is wrong with topics and partitions, the columns `PROBLEM` and the key.

    Parameters
    ----------
    fleet
        Canonical tables.
    sums
        What `topic_sums` gives of them.

    Notes
    -----
    Partitions are looked at one by one only in topics whose numbers are not 0, 1, 2 …:
    a row that stands twice shows in how many there are, in their largest number, or in
    their sums.
    """
    named = F.coalesce("topic", F.lit("without a topic"))
    rows = [
        _problem(sums.where(F.col(name) > 0), "partitions", named, F.col(name), rule)
        for name, rule in _RULES.items()
    ]
    listed = sums.where(F.col("listed") > 1)
    rows.append(_problem(listed, "topics", named, F.col("listed"), ONCE))
    return union_of([*rows, _twice(fleet, sums)])


def _problem(
    rows: DataFrame, table: str, place: Column, value: Column, rule: str
) -> DataFrame:
    return rows.select(
        *KEY,
        F.lit(table).alias("table"),
        place.alias("place"),
        value.cast("string").alias("value"),
        F.lit(rule).alias("rule"),
    )


def _twice(fleet: Fleet, sums: DataFrame) -> DataFrame:
    count, last = F.col("partitions").cast("double"), F.col("last_number")
    is_plain = (
        (F.col("first_number") == 0)
        & (last == count - 1)
        & (F.col("sum_number") == count * last / 2)
        & (F.col("sum_square") == count * last * (2 * count - 1) / 6)
    )
    odd = sums.where((F.col("partitions") > 0) & ~is_plain).select(*KEY, "topic")
    rows = fleet.partitions.select(*KEY, "topic", "partition")
    counted = (
        rows.join(F.broadcast(odd), on=[*KEY, "topic"], how="left_semi")
        .groupBy(*KEY, "topic", "partition")
        .agg(F.count("*").alias("n"))
        .where(F.col("n") > 1)
    )
    place = F.concat("topic", F.lit("-"), F.col("partition").cast("string"))
    return _problem(counted, "partitions", place, F.col("n"), ONCE)


def found_in_snapshot(rows: ArrowTable) -> Iterator[dict[str, str]]:
    """Yield what is wrong with one snapshot, from all that was added up of it."""
    yield from part_of(rows, "found").to_pylist()
    count = len(part_of(rows, "cluster"))
    if count != 1:
        rule = "a snapshot must have one row in clusters"
        yield _row("clusters", "", count, rule)
    brokers = part_of(rows, "broker").column("id").to_pylist()
    dirs = part_of(rows, "dir").select(["broker_id", "path"])
    pairs = zip(*(column.to_pylist() for column in dirs.columns), strict=True)
    paths = [f"{broker} {path}" for broker, path in pairs]
    for table, names in (("brokers", map(str, brokers)), ("log_dirs", paths)):
        for name, times in Counter(names).items():
            if times > 1:
                yield _row(table, name, times, ONCE)
    total = part_of(rows, "total")
    for name in total.column_names:
        whole = sum(filter(None, total.column(name).to_pylist()))
        resource = name.removeprefix("whole_")
        if resource != name and whole >= MOST_LOAD:
            rule = f"{resource} is too much to add up"
            yield _row("partitions", resource, f"{whole:.3g}", rule)
    named = part_of(rows, "place").column("broker_id").to_pylist()
    for broker in sorted(set(named) - set(brokers)):
        rule = "replicas must live on brokers that are listed"
        yield _row("partitions", f"replicas: broker {broker}", broker, rule)


def _row(table: str, place: str, value: object, rule: str) -> dict[str, str]:
    return {"table": table, "place": place, "value": str(value), "rule": rule}
