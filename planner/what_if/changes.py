"""What each change of a scenario does: names looked up, then the model is asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from placement.cluster import UNKNOWN, ClusterState, RateArray
from placement.failures.decision import ElectionRules
from placement.load import Resource
from placement.scenarios import brokers as broker_changes
from placement.scenarios import log_dirs as dir_changes
from placement.scenarios.brokers import Capacities, next_ids, usual_broker
from placement.scenarios.filling import open_brokers
from placement.scenarios.loads import EVERYTHING, TRAFFIC, consume, grow
from placement.scenarios.loss import lose_parts
from placement.scenarios.partitions import set_partitions
from placement.scenarios.replicas import set_replication_factor
from placement.scenarios.retention import keep, retention_of, tier_down_to
from placement.scenarios.topics import NewTopic, add_topics, remove_topics
from placement.scenarios.variant import Variant
from placement.sizing.growth import DAYS_PER_MONTH, Growth
from planner.snapshot.facts import MIN_ISR
from planner.what_if import records as r
from planner.what_if.names import NameReader


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Context:
    """
    What changes need to know besides the cluster.

    Parameters
    ----------
    configs
        Configs of the brokers.
    rules
        Who may lead after a loss.
    growth
        How the topics of today grow, by name; `None` where nobody says.
    """

    configs: Mapping[str, str]
    rules: ElectionRules
    growth: "Mapping[str, tuple[float, float, float]] | None" = None

    def growth_of(self, state: ClusterState) -> Growth | None:
        """Return the growth of the topics of a cluster; new ones do not grow."""
        if self.growth is None:
            return None
        rates = [self.growth.get(name, (0.0, 0.0, 0.0)) for name in state.topics.names]
        table = np.array(rates, dtype=np.float64).reshape(-1, 3)
        compound, linear, disk = (np.ascontiguousarray(column) for column in table.T)
        return Growth(
            compound_per_day=compound, linear_per_day=linear, disk_per_day=disk
        )


class Changer:
    """
    Makes the changes of scenarios, and keeps every problem.

    Parameters
    ----------
    names
        Looks names up.
    context
        What changes need to know.
    """

    def __init__(self, names: NameReader, context: Context) -> None:
        self.names = names
        self.context = context

    def make(self, variant: Variant, change: r.AnyChange, place: str) -> Variant:
        """Return the cluster after a change; as it was where the change is wrong."""
        before = len(self.names.problems)
        changed = _MAKERS[type(change)](self, variant, change, place)
        return variant if len(self.names.problems) > before else changed

    def refuse(self, place: str, value: object, rule: str, remedy: str) -> None:
        """Keep a problem."""
        self.names.refuse(place, value, rule, remedy)

    def one_of(self, place: str, record: r.Record, keys: tuple[str, ...]) -> str:
        """Return the one key of several that is given."""
        given = [key for key in keys if getattr(record, key) is not None]
        if len(given) != 1:
            said = f"one of {', '.join(keys)} must be given"
            self.refuse(place, ", ".join(given), said, "give one, remove the others")
            return keys[0]
        return given[0]


def _add_brokers(
    changer: Changer, variant: Variant, change: r.AddBrokersRecord, place: str
) -> Variant:
    state = variant.state
    changer.one_of(place, change, ("count", "ids"))
    ids = (
        next_ids(state, change.count or 0)
        if change.ids is None
        else changer.names.new_ids(f"{place}.ids", change.ids, state)
    )
    like = usual_broker(state) if change.like is None else change.like
    changer.names.brokers(f"{place}.like", [like], state)
    racks = [change.rack] if change.rack is not None else change.racks or []
    if change.rack is not None and change.racks is not None:
        rule = "rack and racks must not both be given"
        changer.refuse(f"{place}.racks", change.racks, rule, "remove one")
    if like not in state.brokers.ids:
        return variant
    return broker_changes.add_brokers(
        variant, ids, like=like, racks=racks, capacities=capacities_of(change)
    )


def _remove_brokers(
    changer: Changer, variant: Variant, change: r.RemoveBrokersRecord, place: str
) -> Variant:
    state = variant.state
    ids = _named_brokers(changer, state, change, place)
    stay = set(state.brokers.ids[state.brokers.is_live].tolist())
    if ids and not stay - set(ids) - variant.leaving:
        changer.refuse(place, ids, "some live broker must stay", "remove fewer")
    return broker_changes.remove_brokers(variant, ids)


def _named_brokers(
    changer: Changer,
    state: ClusterState,
    change: r.RemoveBrokersRecord | r.LoseRecord,
    place: str,
) -> list[int]:
    """Return the brokers that a change names, those of its racks included."""
    ids = (
        []
        if change.brokers is None
        else changer.names.brokers(f"{place}.brokers", change.brokers, state)
    )
    racks = changer.names.racks(f"{place}.racks", change.racks or [], state)
    rows = state.brokers.rack_idx.tolist()
    ids += [
        int(b)
        for b, k in zip(state.brokers.ids, rows, strict=True)
        if state.brokers.racks[k] in racks
    ]
    keys = [key for key in type(change).model_fields if key != "change"]
    if all(getattr(change, key) is None for key in keys):
        rule = f"some of {', '.join(keys)} must be given"
        changer.refuse(place, None, rule, "say which")
    return list(dict.fromkeys(ids))


def _resize_brokers(
    changer: Changer, variant: Variant, change: r.ResizeBrokersRecord, place: str
) -> Variant:
    ids = changer.names.brokers(f"{place}.brokers", change.brokers, variant.state)
    factors = {
        "disk_bytes": change.disk_factor,
        "in_bytes_per_s": change.network_factor,
        "out_bytes_per_s": change.network_factor,
        "cpu_cores": change.cpu_factor,
    }
    given = {name: factor for name, factor in factors.items() if factor is not None}
    capacities = capacities_of(change)
    if not given and capacities == Capacities():
        rule = "some capacity or factor must be given"
        changer.refuse(place, None, rule, "say what changes")
    return broker_changes.resize_brokers(variant, ids, capacities, given)


def _replace_brokers(
    changer: Changer, variant: Variant, change: r.ReplaceBrokersRecord, place: str
) -> Variant:
    state = variant.state
    old = changer.names.brokers(f"{place}.brokers", change.brokers, state)
    new = (
        old
        if change.with_ is None
        else changer.names.new_ids(f"{place}.with", change.with_, state)
    )
    if len(new) != len(old):
        rule = f"there must be one for each that goes, that is {len(old)}"
        changer.refuse(f"{place}.with", change.with_, rule, "name as many")
        return variant
    successors = dict(zip(old, new, strict=True))
    return broker_changes.replace_brokers(variant, successors, capacities_of(change))


def _add_log_dirs(
    changer: Changer, variant: Variant, change: r.AddLogDirsRecord, place: str
) -> Variant:
    state = variant.state
    ids = changer.names.brokers(f"{place}.brokers", change.brokers, state)
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    known = set(zip(owners, state.log_dirs.paths, strict=True))
    taken = [b for b in ids if (b, change.path) in known]
    if taken:
        rule = f"brokers {taken} must not have such a log dir already"
        changer.refuse(f"{place}.path", change.path, rule, "choose another path")
    return dir_changes.add_log_dirs(
        variant, [(b, change.path) for b in ids], change.size
    )


def _remove_log_dirs(
    changer: Changer, variant: Variant, change: r.RemoveLogDirsRecord, place: str
) -> Variant:
    state = variant.state
    chosen = changer.names.log_dirs(f"{place}.log_dirs", change.log_dirs, state)
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    for broker in sorted({b for b, _ in chosen}):
        if owners.count(broker) == sum(b == broker for b, _ in chosen):
            rule = f"broker {broker} must keep a log dir"
            changer.refuse(f"{place}.log_dirs", broker, rule, "remove the broker")
    return dir_changes.remove_log_dirs(variant, chosen)


def _resize_log_dirs(
    changer: Changer, variant: Variant, change: r.ResizeLogDirsRecord, place: str
) -> Variant:
    state = variant.state
    chosen = changer.names.log_dirs(f"{place}.log_dirs", change.log_dirs, state)
    return dir_changes.resize_log_dirs(variant, dict.fromkeys(chosen, change.size))


def _lose(
    changer: Changer, variant: Variant, change: r.LoseRecord, place: str
) -> Variant:
    state = variant.state
    ids = _named_brokers(changer, state, change, place)
    dirs = changer.names.log_dirs(f"{place}.log_dirs", change.log_dirs or [], state)
    live = set(state.brokers.ids[state.brokers.is_live].tolist())
    if live and not live - set(ids):
        changer.refuse(place, ids, "some live broker must stay", "lose fewer")
    return lose_parts(
        variant,
        broker_ids=ids,
        racks=change.racks or [],
        log_dirs=dirs,
        rules=changer.context.rules,
    )


def _traffic(
    changer: Changer, variant: Variant, change: r.TrafficRecord, place: str
) -> Variant:
    chosen = changer.names.topics(place, change, variant.state)
    return grow(variant, np.where(chosen, change.factor, 1.0), TRAFFIC)


def _grow(
    changer: Changer, variant: Variant, change: r.GrowRecord, place: str
) -> Variant:
    chosen = changer.names.topics(place, change, variant.state)
    factor = _growth_factor(changer, change, place)
    of = EVERYTHING if change.of is None else {Resource(x) for x in change.of}
    return grow(variant, np.where(chosen, factor, 1.0), of)


def _growth_factor(changer: Changer, change: r.GrowRecord, place: str) -> float:
    kind = changer.one_of(place, change, ("factor", "per_day", "per_month"))
    has_span = change.days is not None or change.months is not None
    if kind == "factor":
        if has_span:
            rule = "days and months go with per_day and per_month"
            changer.refuse(place, None, rule, "remove them")
        return change.factor or 0.0
    if has_span == (change.days is not None and change.months is not None):
        rule = "one of days, months must say for how long"
        changer.refuse(place, None, rule, "add days = 90, or months = 3")
        return 1.0
    days = (change.days or 0.0) + (change.months or 0.0) * DAYS_PER_MONTH
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
    _fits(changer, variant, change.factor, f"{place}.factor")
    return set_replication_factor(variant, chosen, change.factor)


def _fits(changer: Changer, variant: Variant, factor: int, place: str) -> None:
    count = int(open_brokers(variant.state, variant.leaving).sum())
    if factor > count:
        rule = f"must be at most the number of brokers that take replicas: {count}"
        changer.refuse(place, factor, rule, "add brokers before, or lower it")


def _partitions(
    changer: Changer, variant: Variant, change: r.PartitionsRecord, place: str
) -> Variant:
    state = variant.state
    chosen = changer.names.topics(place, change, state)
    kind = changer.one_of(place, change, ("count", "factor"))
    _fits(changer, variant, 1, place)
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
    return set_partitions(variant, counts)


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
    _fits(changer, variant, change.replication_factor, f"{place}.replication_factor")
    size = change.size
    if size is None and change.keep is not None and change.writes is not None:
        size = round(change.writes * change.keep / 1000)
    if change.keep is not None and change.size is not None:
        rule = "size and keep must not both be given"
        changer.refuse(f"{place}.keep", change.keep, rule, "remove one")
    if taken:
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
    """Return the mean cores per byte/s of leaders and of followers; NaN if unknown."""
    partitions = state.partitions
    passes = partitions.in_bytes_per_s + partitions.out_bytes_per_s
    leads = partitions.leader_cpu_cores.sum() / max(passes.sum(), 1e-9)
    written = max(partitions.in_bytes_per_s.sum(), 1e-9)
    return float(leads), float(partitions.follower_cpu_cores.sum() / written)


def topic_bytes(state: ClusterState) -> RateArray:
    """Return ``(T,)`` bytes of all replicas of each topic."""
    total = np.zeros(len(state.topics))
    size = np.maximum(state.partitions.size_bytes, 0) * state.num_replicas
    np.add.at(total, state.partitions.topic_idx, size)
    return total


def capacities_of(record: r.CapacitiesRecord) -> Capacities:
    """Return the capacities that a record gives."""
    return Capacities(
        disk_bytes=record.disk,
        in_bytes_per_s=record.network_in,
        out_bytes_per_s=record.network_out,
        cpu_cores=record.cpu_cores,
        max_replicas=record.max_replicas,
    )


Maker = Callable[[Changer, Variant, Any, str], Variant]
_MAKERS: Mapping[type, Maker] = {
    r.AddBrokersRecord: _add_brokers,
    r.RemoveBrokersRecord: _remove_brokers,
    r.ResizeBrokersRecord: _resize_brokers,
    r.ReplaceBrokersRecord: _replace_brokers,
    r.AddLogDirsRecord: _add_log_dirs,
    r.RemoveLogDirsRecord: _remove_log_dirs,
    r.ResizeLogDirsRecord: _resize_log_dirs,
    r.LoseRecord: _lose,
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
