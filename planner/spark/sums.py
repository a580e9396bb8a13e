"""Partitions added up: by topic, and by the place their replicas lie in."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from planner.spark.facts import BROKEN, KNOWN, WRONG
from planner.spark.fleet import KEY, Fleet
from planner.spark.ground import union_of

SPREADS = ("disk", "in", "out", "cpu", "replicas", "leaders")
PLACE = ("broker_id", "log_dir", "future_log_dir", "factor")
LOADS = ("disk", "in", "out", "cpu", "replicas", "leaders")
WHOLE = tuple(f"whole_{name}" for name in SPREADS)
HEAVIEST = ("max_disk", "max_in", "max_out", "max_cpu")
FIRSTS = ("first_disk", "first_in", "first_cpu", "first_replicas", "lead_cpu")
"""What weighs once per partition: for the most that a rack can hold."""


def topic_sums(fleet: Fleet, facts: DataFrame) -> DataFrame:
    """
    Add partitions up by topic.

    Returns
    -------
    DataFrame
        Per topic, those without partitions too: how often it is `listed`, counts, for
        each resource the sum, the deviation, the largest and the least load of its
        partitions, known ones, broken rules, and sums of partition numbers by which
        rows that stand twice are found.
    """
    loads = _partition_loads()
    number = F.col("partition").cast("double")
    partitions = facts.select(
        *KEY,
        "topic",
        number.alias("number"),
        F.lit(1).alias("is_partition"),
        F.col("partition").isNull().cast("int").alias("unnumbered"),
        "num_replicas",
        *(load.alias(f"load_{name}") for name, load in loads.items()),
        *KNOWN,
        *BROKEN,
        *WRONG,
    )
    listed = fleet.topics.select(*KEY, "topic", F.lit(1).alias("is_listed"))
    figures: list[Column] = [
        F.min("number").alias("first_number"),
        F.max("number").alias("last_number"),
    ]
    for name in loads:
        load = F.col(f"load_{name}")
        figures += [
            # Too much to add up is null, and refused with its snapshot.
            F.try_sum(load).alias(f"sum_{name}"),
            F.sum(load.cast("double")).alias(f"whole_{name}"),
            F.stddev_pop(load.cast("double")).alias(f"std_{name}"),
            F.max(load).alias(f"max_{name}"),
            F.min(load).alias(f"min_{name}"),
        ]
    totals = {
        "is_listed": "listed",
        "is_partition": "partitions",
        "num_replicas": "replicas",
        "unnumbered": "unnumbered",
        **{name: name for name in (*KNOWN, *BROKEN, *WRONG)},
    }
    figures += [F.sum(column).alias(name) for column, name in totals.items()]
    figures += [
        F.sum("number").alias("sum_number"),
        F.sum(F.col("number") * F.col("number")).alias("sum_square"),
    ]
    rows = union_of([partitions, listed]).groupBy(*KEY, "topic").agg(*figures)
    return rows.na.fill(0)


def _partition_loads() -> dict[str, Column]:
    """Return the load of all replicas of a partition, as integers."""
    count, is_led = F.col("num_replicas"), (F.col("leader_id") >= 0).cast("bigint")
    own = F.aggregate(
        "replica_bytes",
        F.lit(0).cast("bigint"),
        lambda total, size: total + F.coalesce(size, F.col("size_w")),
    )
    has_own = F.col("replica_bytes").isNotNull() & ~F.col("is_shared")
    return {
        "disk": F.when(has_own, own).otherwise(F.col("size_w") * count),
        "in": F.col("in_w") * count,
        "out": F.col("out_w") * is_led,
        "cpu": F.col("cpu_w") * count + F.col("cpu_lead_w") * is_led,
        "replicas": count.cast("bigint"),
        "leaders": is_led,
    }


def place_sums(facts: DataFrame) -> DataFrame:
    """
    Add replicas up by broker and log dir.

    Returns
    -------
    DataFrame
        Per broker, log dir, log dir being copied to and replication factor: `LOADS`,
        `HEAVIEST`, and `FIRSTS`.
    """
    replicas = facts.select(
        *KEY,
        "factor",
        "leader_id",
        "is_shared",
        "log_dirs",
        "future_log_dirs",
        "replica_bytes",
        "size_w",
        "in_w",
        "out_w",
        "cpu_w",
        "cpu_lead_w",
        F.posexplode("replicas").alias("pos", "broker_id"),
    )
    leads = F.col("leader_id") == F.col("broker_id")
    own = F.when(F.col("is_shared"), None).otherwise(
        F.get("replica_bytes", F.col("pos"))
    )
    each = replicas.select(
        *KEY,
        "broker_id",
        F.get("log_dirs", F.col("pos")).alias("log_dir"),
        F.get("future_log_dirs", F.col("pos")).alias("future_log_dir"),
        "factor",
        F.coalesce(own, "size_w").alias("disk"),
        F.col("in_w").alias("in"),
        F.when(leads, F.col("out_w")).otherwise(0).alias("out"),
        (F.col("cpu_w") + F.when(leads, F.col("cpu_lead_w")).otherwise(0)).alias("cpu"),
        F.lit(1).cast("bigint").alias("replicas"),
        leads.cast("bigint").alias("leaders"),
        (F.col("pos") == 0).alias("is_first"),
        "size_w",
        "in_w",
        "cpu_w",
        "cpu_lead_w",
    )
    first = {
        "first_disk": F.col("size_w"),
        "first_in": F.col("in_w"),
        "first_cpu": F.col("cpu_w"),
        "first_replicas": F.lit(1),
        "lead_cpu": F.col("cpu_lead_w"),
    }
    return each.groupBy(*KEY, *PLACE).agg(
        *(F.try_sum(name).alias(name) for name in LOADS),
        *(F.max(name.removeprefix("max_")).alias(name) for name in HEAVIEST),
        *(
            F.try_sum(F.when(F.col("is_first"), value).otherwise(0)).alias(name)
            for name, value in first.items()
        ),
    )
