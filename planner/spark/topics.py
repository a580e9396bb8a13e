"""The scores of topics: how even the partitions of each are."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from placement.load import UNITS, Resource
from placement.score import VIOLATIONS
from planner.spark.balance import BROKEN_AS, output_schema
from planner.spark.fleet import KEY, conform
from planner.spark.sums import SPREADS


def topic_rows(sums: DataFrame) -> DataFrame:
    """Return the scores of topics, of what `topic_sums` gives."""
    rows = sums.withColumn(
        "figures", F.explode(F.array(*(_figures(name) for name in SPREADS)))
    )
    violations = F.struct(
        *(
            F.lit(None).cast("bigint").alias(rule)
            if rule == "over_capacity"
            else F.col(BROKEN_AS.get(rule, rule)).cast("bigint").alias(rule)
            for rule in VIOLATIONS
        )
    )
    return conform(
        rows.select(
            *KEY,
            F.lit("topic").alias("level"),
            "topic",
            "partitions",
            "replicas",
            "figures.*",
            violations.alias("violations"),
        ),
        output_schema(),
    )


def _figures(name: str) -> Column:
    """Return the figures of one resource, from sums of integers."""
    unit = float(UNITS[Resource(name)])
    count = F.col("partitions").cast("double")
    total = F.col(f"sum_{name}").cast("double")
    mean = F.try_divide(total, count)
    deviation = F.col(f"std_{name}").cast("double")
    largest = F.col(f"max_{name}").cast("double")
    squares = count * (deviation * deviation + mean * mean)
    is_loaded = total > 0
    known = (
        F.try_divide(F.col(f"knows_{name}").cast("double"), count)
        if name not in {"replicas", "leaders"}
        else F.lit(1.0)
    )

    def where_loaded(value: Column, otherwise: float) -> Column:
        return F.when(is_loaded, value).otherwise(F.lit(otherwise))

    return F.struct(
        F.lit(name).alias("resource"),
        (total / unit).alias("total"),
        F.coalesce(mean / unit, F.lit(0.0)).alias("mean_use"),
        (largest / unit).alias("max_use"),
        (F.col(f"min_{name}").cast("double") / unit).alias("min_use"),
        where_loaded(F.try_divide(largest, mean), 0.0).alias("max_over_mean"),
        where_loaded(F.try_divide(deviation, mean), 0.0).alias("cv"),
        where_loaded(F.try_divide(total * total, count * squares), 1.0).alias("jain"),
        F.coalesce(known, F.lit(1.0)).alias("known_fraction"),
    )
