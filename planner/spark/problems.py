"""What is wrong with the tables of a fleet: rows that stand twice, or fit nowhere."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from placement.load import MOST_LOAD
from planner.snapshot.columns import ArrowTable
from planner.spark.adding import LOADS
from planner.spark.fleet import KEY, Fleet
from planner.spark.ground import part_of
from planner.spark.topics import TopicSums

PROBLEM = ("table", "place", "value", "rule")
"""Which table, where in it, what stands there, what must hold."""

ONCE = "a row must stand once"
_RULES = {
    "lacks_replicas": "a partition must have replicas",
    "is_twice": "replicas of a partition must be on distinct brokers",
    "unnumbered": "a partition must have its topic and its number",
}


def found_twice(fleet: Fleet, partial: DataFrame) -> DataFrame:
    """
    Return partitions that stand twice, the columns `PROBLEM` and the key.

    Parameters
    ----------
    fleet
        Canonical tables.
    partial
        What `partial_sums` gives of them.

    Notes
    -----
    Partitions are looked at one by one only in topics whose numbers are not 0, 1, 2 …:
    a row that stands twice shows in how many there are, in their largest number, or in
    their sums.
    """
    added = partial.where(F.col("topic").isNotNull()).select(*KEY, "topic.*")
    sums = added.groupBy(*KEY, "topic").agg(
        F.min("first_number").alias("first_number"),
        F.max("last_number").alias("last_number"),
        *(F.sum(n).alias(n) for n in ("partitions", "sum_number", "sum_square")),
    )
    count, last = F.col("partitions").cast("double"), F.col("last_number")
    is_plain = (
        (F.col("first_number") == 0)
        & (last == count - 1)
        & (F.col("sum_number") == count * last / 2)
        & (F.col("sum_square") == count * last * (2 * count - 1) / 6)
    )
    odd = sums.where(~is_plain).select(*KEY, "topic")
    if odd.isEmpty():
        # Most fleets: partitions need not be read again.
        return _problem(odd, "partitions", F.col("topic"), F.lit(0), ONCE).limit(0)
    rows = fleet.partitions.select(*KEY, "topic", "partition")
    counted = (
        rows.join(F.broadcast(odd), on=[*KEY, "topic"], how="left_semi")
        .groupBy(*KEY, "topic", "partition")
        .agg(F.count("*").alias("n"))
        .where(F.col("n") > 1)
    )
    place = F.concat("topic", F.lit("-"), F.col("partition").cast("string"))
    return _problem(counted, "partitions", place, F.col("n"), ONCE)


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


def found_in_snapshot(
    rows: ArrowTable, topics: TopicSums, places: ArrowTable
) -> Iterator[dict[str, str]]:
    """
    Yield what is wrong with one snapshot.

    Parameters
    ----------
    rows
        All that is known of it.
    topics, places
        Of that, what was added up.
    """
    seen = {
        tuple(found.values()): found for found in part_of(rows, "found").to_pylist()
    }
    yield from seen.values()
    yield from _in_topics(topics)
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
    named = places.column("broker_id").to_pylist()
    for broker in sorted(set(named) - set(brokers)):
        rule = "replicas must live on brokers that are listed"
        yield _row("partitions", f"replicas: broker {broker}", broker, rule)


def _in_topics(topics: TopicSums) -> Iterator[dict[str, str]]:
    for name, rule in _RULES.items():
        counts = topics.counted[name]
        for row in np.nonzero(counts)[0].tolist():
            yield _row("partitions", topics.names[row], counts[row], rule)
    for row in np.nonzero(topics.listed > 1)[0].tolist():
        yield _row("topics", topics.names[row], topics.listed[row], ONCE)
    for name in LOADS:
        if topics.whole(name) >= MOST_LOAD:
            rule = f"{name} is too much to add up"
            yield _row("partitions", name, f"{topics.whole(name):.3g}", rule)


def _row(table: str, place: str, value: object, rule: str) -> dict[str, str]:
    return {"table": table, "place": place, "value": str(value), "rule": rule}
