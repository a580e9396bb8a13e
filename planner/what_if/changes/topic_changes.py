"""Changes of topics and their loads: names validated, then applied to the model."""

from collections.abc import Collection, Mapping

import numpy as np

from placement.array_types import BoolArray, RateArray
from placement.cluster_changes.factor_changes import set_replication_factor
from placement.cluster_changes.load_changes import EVERYTHING, TRAFFIC, consume, grow
from placement.cluster_changes.partition_changes import set_partitions
from placement.cluster_changes.replica_filling import open_brokers
from placement.cluster_changes.retention_changes import (
    keep,
    retention_of,
    tier_down_to,
)
from placement.cluster_changes.topic_changes import (
    NewTopic,
    add_topics,
    remove_topics,
)
from placement.cluster_changes.variant import Variant
from placement.demand.topic_growth import DAYS_PER_MONTH
from placement.model.cluster import UNKNOWN, ClusterState
from placement.model.load import Resource
from planner.snapshot.tables.table_facts import MIN_ISR
from planner.what_if.changes import scenario_records as r
from planner.what_if.changes.change_context import Changer, Maker
from planner.what_if.changes.partition_notes import partitions_note


def _traffic(
    changer: Changer, variant: Variant, change: r.TrafficRecord, place: str
) -> Variant:
    chosen = changer.names.topics(place, change, variant.state)
    return grow(variant, np.where(chosen, change.factor, 1.0), TRAFFIC)


def _grow(
    changer: Changer, variant: Variant, change: r.GrowRecord, place: str
) -> Variant:
    chosen = changer.names.topics(place, change, variant.state)
    of = EVERYTHING if change.of is None else {Resource(x) for x in change.of}
    keys = ("factor", "per_day", "per_month")
    if all(getattr(change, key) is None for key in keys):
        days = _days(changer, change, place)
        return _grown_by_rates(changer, variant, chosen, of, days, place)
    factor = _growth_factor(changer, change, place)
    return grow(variant, np.where(chosen, factor, 1.0), of)


def _grown_by_rates(
    changer: Changer,
    variant: Variant,
    chosen: BoolArray,
    of: Collection[Resource],
    days: float,
    place: str,
) -> Variant:
    """Apply the growth of the file, of the option or of trends for some days."""
    growth = changer.context.growth_of(variant.state)
    if growth is None:
        rule = "growth must be given where no factor, per_day or per_month is"
        remedy = "add [[growth]], --growth 5%/month or --trends FOLDER"
        changer.refuse(place, None, rule, remedy)
        return variant
    traffic = np.where(chosen, growth.traffic(days), 1.0)
    disk = np.where(chosen, growth.disk(days), 1.0)
    grown = grow(variant, traffic, TRAFFIC & frozenset(of))
    return grow(grown, disk, frozenset({Resource.DISK}) & frozenset(of))


def _days(changer: Changer, change: r.GrowRecord, place: str) -> float:
    if (change.days is None) == (change.months is None):
        rule = "days or months must be given, and not both"
        changer.refuse(place, None, rule, "add days = 90, or months = 3")
    return (change.days or 0.0) + (change.months or 0.0) * DAYS_PER_MONTH


def _growth_factor(changer: Changer, change: r.GrowRecord, place: str) -> float:
    kind = changer.one_of(place, change, ("factor", "per_day", "per_month"))
    has_span = change.days is not None or change.months is not None
    if kind == "factor":
        if has_span:
            rule = "days and months need per_day or per_month"
            changer.refuse(place, None, rule, "remove them")
        return change.factor or 0.0
    days = _days(changer, change, place)
    rate = change.per_day if kind == "per_day" else change.per_month
    span = days if kind == "per_day" else days / DAYS_PER_MONTH
    return float((1.0 + (rate or 0.0)) ** span)


def _retention(
    changer: Changer, variant: Variant, change: r.RetentionRecord, place: str
) -> Variant:
    state = variant.state
    chosen = changer.names.topics(place, change, state)
    if change.keep is not None and change.factor is not None:
        rule = "keep and factor must not both be given"
        changer.refuse(place, None, rule, "remove one")
    if change.keep is None and change.factor is None and change.most_bytes is None:
        rule = "some of keep, factor, most_bytes must be given"
        changer.refuse(place, None, rule, 'write keep = "14d"')
    return keep(
        variant,
        chosen,
        retention_of(state, changer.context.configs),
        ms=change.keep,
        factor=change.factor,
        most_bytes=change.most_bytes,
    )


def _tier(
    changer: Changer, variant: Variant, change: r.TierRecord, place: str
) -> Variant:
    state = variant.state
    chosen = changer.names.topics(place, change, state)
    limits = retention_of(state, changer.context.configs)
    if change.largest is not None:
        bytes_ = topic_bytes(state)
        candidates = chosen & limits.is_deleting
        order = np.argsort(-np.where(candidates, bytes_, -1.0), kind="stable")
        largest = np.zeros(len(chosen), dtype=np.bool_)
        largest[order[: change.largest]] = True
        chosen &= largest
    return tier_down_to(variant, chosen, limits, change.local)


def _replication_factor(
    changer: Changer, variant: Variant, change: r.ReplicationFactorRecord, place: str
) -> Variant:
    chosen = changer.names.topics(place, change, variant.state)
    if not has_brokers_for(changer, variant, change.factor, f"{place}.factor"):
        return variant
    return set_replication_factor(variant, chosen, change.factor)


def has_brokers_for(
    changer: Changer, variant: Variant, factor: int, place: str
) -> bool:
    """Return whether brokers for a factor take replicas; add a problem if not."""
    count = int(open_brokers(variant.state, variant.leaving).sum())
    if factor > count:
        rule = f"must be at most the number of brokers that take replicas: {count}"
        changer.refuse(place, factor, rule, "add brokers before, or lower it")
    return factor <= count


def _partitions(
    changer: Changer, variant: Variant, change: r.PartitionsRecord, place: str
) -> Variant:
    state = variant.state
    chosen = changer.names.topics(place, change, state)
    kind = changer.one_of(place, change, ("count", "factor"))
    if not has_brokers_for(changer, variant, 1, place):
        return variant
    now = np.bincount(state.partitions.topic_idx, minlength=len(state.topics))
    counts = {}
    for t in np.nonzero(chosen & (now > 0))[0].tolist():
        wanted = (
            change.count
            if kind == "count"
            else int(np.ceil(now[t] * (change.factor or 1.0) - 1e-9))
        )
        if wanted is not None and wanted < now[t]:
            name = state.topics.names[t]
            rule = f"partitions only grow: {name} has {int(now[t])}"
            changer.refuse(f"{place}.count", wanted, rule, "name more, or other topics")
            continue
        counts[t] = wanted or 0
    note = partitions_note(state, counts)
    return set_partitions(variant, counts).noting(*([note] if note else []))


def _new_topic(
    changer: Changer, variant: Variant, change: r.NewTopicRecord, place: str
) -> Variant:
    names = (
        [change.name]
        if change.copies == 1
        else [f"{change.name}-{n}" for n in range(1, change.copies + 1)]
    )
    taken = [name for name in names if name in variant.state.topics.names]
    if taken:
        rule = "no topic may have the name of a new one"
        changer.refuse(f"{place}.name", taken[0], rule, "choose another")
    factor_place = f"{place}.replication_factor"
    has_room = has_brokers_for(
        changer, variant, change.replication_factor, factor_place
    )
    size = change.size
    if size is None and change.keep is not None and change.writes is not None:
        size = round(change.writes * change.keep / 1000)
    if change.keep is not None and change.size is not None:
        rule = "size and keep must not both be given"
        changer.refuse(f"{place}.keep", change.keep, rule, "remove one")
    if taken or not has_room:
        return variant
    state = variant.state
    writes, reads = _or_nan(change.writes), _or_nan(change.reads)
    leads, follows = cores_per_byte(state)
    topics = [
        NewTopic(
            name=name,
            partitions=change.partitions,
            replication_factor=change.replication_factor,
            in_bytes_per_s=writes,
            out_bytes_per_s=reads,
            size_bytes=UNKNOWN if size is None else size,
            leader_cpu_cores=leads * (writes + reads),
            follower_cpu_cores=follows * writes,
            min_insync_replicas=int(changer.context.configs.get(MIN_ISR, "1")),
        )
        for name in names
    ]
    return add_topics(variant, topics)


def _remove_topics(
    changer: Changer, variant: Variant, change: r.RemoveTopicsRecord, place: str
) -> Variant:
    if change.topic is None and change.topics is None:
        rule = "topic or topics must be given"
        changer.refuse(place, None, rule, 'write topics = ".*" for all')
    return remove_topics(variant, changer.names.topics(place, change, variant.state))


def _consumers(
    changer: Changer, variant: Variant, change: r.ConsumersRecord, place: str
) -> Variant:
    chosen = changer.names.topics(place, change, variant.state)
    changer.one_of(place, change, ("factor", "groups", "fan_out"))
    return consume(
        variant,
        chosen,
        factor=1.0 if change.factor is None else change.factor,
        groups=change.groups or 0.0,
        fan_out=change.fan_out,
    )


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def cores_per_byte(state: ClusterState) -> tuple[float, float]:
    """Return mean CPU cores per byte/s of leaders and of followers; NaN if unknown."""
    partitions = state.partitions
    passes = partitions.in_bytes_per_s + partitions.out_bytes_per_s
    leads = partitions.leader_cpu_cores.sum() / max(passes.sum(), 1e-9)
    written = max(partitions.in_bytes_per_s.sum(), 1e-9)
    return float(leads), float(partitions.follower_cpu_cores.sum() / written)


def topic_bytes(state: ClusterState) -> RateArray:
    """Return ``(T,)`` bytes of each topic, summed over its replicas."""
    total = np.zeros(len(state.topics))
    size = np.maximum(state.partitions.size_bytes, 0) * state.num_replicas
    np.add.at(total, state.partitions.topic_idx, size)
    return total


TOPIC_CHANGES: Mapping[type, Maker] = {
    r.TrafficRecord: _traffic,
    r.GrowRecord: _grow,
    r.RetentionRecord: _retention,
    r.TierRecord: _tier,
    r.ReplicationFactorRecord: _replication_factor,
    r.PartitionsRecord: _partitions,
    r.NewTopicRecord: _new_topic,
    r.RemoveTopicsRecord: _remove_topics,
    r.ConsumersRecord: _consumers,
}
