"""What each partition weighs and breaks, as columns of built-in functions alone."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from placement.load import MOST_LOAD, UNITS, Resource
from planner.snapshot.facts import MIN_ISR
from planner.spark.fleet import KEY, Fleet
from planner.spark.ground import BROADCAST_BROKERS, DIR_SEPARATOR, ground_of

KEPT = (
    *KEY,
    "topic",
    "partition",
    "replicas",
    "log_dirs",
    "future_log_dirs",
    "replica_bytes",
    "is_shared",
    "num_replicas",
    "factor",
    "leader_id",
)
WEIGHTS = ("size_w", "in_w", "out_w", "cpu_w", "cpu_lead_w")
KNOWN = ("knows_disk", "knows_in", "knows_out", "knows_cpu")
BROKEN = (
    "rack_broken",
    "offline_replicas",
    "offline_partitions",
    "under_replicated",
    "under_min_isr",
    "at_min_isr",
    "leader_not_preferred",
    "rf1",
    "rf_equals_min_isr",
)
WRONG = ("lacks_replicas", "is_twice")


def partition_facts(fleet: Fleet) -> DataFrame:
    """
    Return a row per partition: what it weighs, who leads, which rules it breaks.

    Weights are the integers of `placement.load.weigh`, computed in the same steps, so
    that sums are the same numbers to the last bit.

    Parameters
    ----------
    fleet
        Canonical tables.

    Returns
    -------
    DataFrame
        The columns `KEPT`, `WEIGHTS`, `KNOWN`, `BROKEN` and `WRONG`.
    """
    ground = ground_of(fleet)
    if fleet.brokers.limit(BROADCAST_BROKERS + 1).count() <= BROADCAST_BROKERS:
        ground = F.broadcast(ground)
    known = fleet.partitions.join(ground, on=list(KEY), how="left").join(
        _topic_facts(fleet), on=[*KEY, "topic"], how="left"
    )
    return (
        _with_weights(_with_roles(known))
        .withColumns(_broken())
        .select(*KEPT, *WEIGHTS, *KNOWN, *BROKEN, *WRONG)
    )


def _topic_facts(fleet: Fleet) -> DataFrame:
    """Return the topics that say something; the others need no row here."""
    topics = fleet.topics.select(
        *KEY,
        "topic",
        (F.col("storage") == "shared").alias("says_shared"),
        F.col("configs")[MIN_ISR].cast("int").alias("topic_min_isr"),
    )
    return topics.where(F.col("says_shared") | F.col("topic_min_isr").isNotNull())


def _with_roles(known: DataFrame) -> DataFrame:
    """Add factor, racks of the replicas, number in sync, leader."""
    replicas, racks = F.col("replicas"), F.col("racks")
    live = F.filter(racks, lambda rack: rack >= 0)
    # An absent ISR is the live replicas; an absent leader the first live one in it.
    in_sync = F.when(F.col("isr").isNotNull(), F.array_size("isr")).otherwise(
        F.array_size(live)
    )
    can_lead = F.filter(
        replicas,
        lambda broker: (
            (F.get("rack_at", broker % F.col("num_slots")) >= 0)
            & (F.col("isr").isNull() | F.array_contains(F.col("isr"), broker))
        ),
    )
    leader = F.when(F.col("leader").isNotNull(), F.col("leader")).otherwise(
        F.coalesce(F.get(can_lead, 0), F.lit(-1))
    )
    size = F.coalesce(F.array_size("replicas"), F.lit(0))
    adding = F.coalesce(F.array_size("adding_replicas"), F.lit(0))
    return (
        known.withColumn(
            "racks",
            F.transform(
                replicas, lambda broker: F.get("rack_at", broker % F.col("num_slots"))
            ),
        )
        .withColumns(
            {
                "is_shared": F.coalesce("says_shared", F.lit(False)),
                "least_isr": F.coalesce("topic_min_isr", "min_isr"),
                "num_replicas": size,
                "factor": size - adding,
                "num_in_sync": in_sync,
                "leader_id": leader,
            }
        )
        .withColumns(
            {
                "lacks_replicas": (size == 0).cast("int"),
                "is_twice": (F.array_size(F.array_distinct("replicas")) < size).cast(
                    "int"
                ),
            }
        )
    )


def _with_weights(known: DataFrame) -> DataFrame:
    rate_in, rate_out = F.col("in_bytes_per_s"), F.col("out_bytes_per_s")
    has_followers = F.col("factor") > 1
    # Without followers nobody fetches: what comes in need not be known.
    fetched = F.when(has_followers, (F.col("factor") - 1) * rate_in).otherwise(0.0)
    served = rate_out + fetched
    follows = F.when(has_followers, F.col("follower_cpu_cores")).otherwise(0.0)
    leads = F.col("leader_cpu_cores") + F.lit(0.0) * follows
    cpu = F.when(is_known(leads), scaled(follows, Resource.CPU)).otherwise(0)
    size = F.greatest(F.coalesce("size_bytes", F.lit(0)), F.lit(0))
    return known.withColumns(
        {
            "size_w": F.when(F.col("is_shared"), 0).otherwise(size).cast("bigint"),
            "in_w": scaled(rate_in, Resource.IN),
            "out_w": scaled(served, Resource.OUT),
            "cpu_w": cpu.cast("bigint"),
            "cpu_lead_w": F.greatest(scaled(leads, Resource.CPU) - cpu, F.lit(0)).cast(
                "bigint"
            ),
            "knows_disk": F.col("size_bytes").isNotNull().cast("int"),
            "knows_in": is_known(rate_in).cast("int"),
            "knows_out": is_known(served).cast("int"),
            "knows_cpu": is_known(leads).cast("int"),
        }
    )


def is_known(rate: Column) -> Column:
    """Return whether somebody measured: neither null nor NaN."""
    return rate.isNotNull() & ~F.isnan(rate)


def scaled(rate: Column, resource: Resource) -> Column:
    """Return a rate as an integer, as `placement.load` rounds it."""
    value = F.when(is_known(rate), rate).otherwise(0.0) * float(UNITS[resource])
    most = F.least(value, F.lit(float(MOST_LOAD)))
    return F.ceil(most * F.lit(1 - 1e-12)).cast("bigint")


def _broken() -> dict[str, Column]:
    """Return, per rule, 1 where it is broken; `offline_replicas` counts."""
    in_sync, factor, least = (
        F.col(name) for name in ("num_in_sync", "factor", "least_isr")
    )
    is_led = F.col("leader_id") >= 0
    first = F.get("replicas", 0)
    flags = {
        "offline_partitions": ~is_led,
        "under_replicated": in_sync < factor,
        "under_min_isr": in_sync < least,
        "at_min_isr": in_sync == least,
        "leader_not_preferred": is_led & (F.col("leader_id") != first),
        "rf1": factor == 1,
        "rf_equals_min_isr": factor == least,
    }
    return {
        "rack_broken": _is_rack_broken().cast("int"),
        "offline_replicas": _num_offline(),
        **{name: flag.cast("int") for name, flag in flags.items()},
    }


def _is_rack_broken() -> Column:
    """Apply the rack rule; only partitions with two replicas in a rack need a look."""
    racks = F.filter("racks", lambda rack: rack >= 0)
    is_spread = F.array_size(F.array_distinct(racks)) == F.array_size(racks)
    held = F.transform(
        F.sequence(F.lit(0), F.array_size("in_rack") - 1),
        lambda number: F.array_size(F.filter(racks, lambda rack: rack == number)),
    )
    most = F.array_max(held)
    # Of racks that still have a free broker, none holds two less than the fullest.
    free = F.filter(
        F.zip_with(
            held,
            "in_rack",
            lambda have, room: F.when(have < room, have),
        ),
        lambda have: have.isNotNull(),
    )
    limit = F.get(
        "rack_limit", F.least(F.col("factor"), F.array_size("rack_limit") - 1)
    )
    crowded = (most > limit) | F.coalesce(most - F.array_min(free) > 1, F.lit(False))
    return F.when(is_spread, F.lit(False)).otherwise(F.coalesce(crowded, F.lit(False)))


def _num_offline() -> Column:
    """Return the replicas on brokers that are not live, or in offline log dirs."""
    on_dead = F.array_size(F.filter("racks", lambda rack: rack < 0))
    named = F.zip_with(
        "replicas",
        "log_dirs",
        lambda broker, path: F.concat(
            broker.cast("string"), F.lit(DIR_SEPARATOR), path
        ),
    )
    states = F.zip_with(
        "racks",
        named,
        lambda rack, name: (
            (rack < 0)
            | F.coalesce(F.array_contains(F.col("offline_dirs"), name), F.lit(False))
        ),
    )
    either = F.array_size(F.filter(states, lambda is_off: is_off))
    has_offline = (F.array_size("offline_dirs") > 0) & F.col("log_dirs").isNotNull()
    counted = F.when(has_offline, either).otherwise(on_dead)
    return F.coalesce(counted, F.lit(0)).cast("bigint")
