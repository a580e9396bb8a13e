"""Brokers, retention and other topics of `partitions size`."""

from dataclasses import replace
from math import ceil, inf, isnan, nan

import numpy as np

from placement.partition_counts.count_task import (
    MOST_LEADING,
    Hosts,
    Present,
    Retention,
)
from placement.partition_counts.present_load import (
    config_number,
    present_load,
    topic_retention,
)
from planner.partitions.size_facts import SizeFacts
from planner.text.format import bytes_text, duration_text, plural


def hosts_of(facts: SizeFacts) -> Hosts:
    """Return the brokers of the topic, and record what is assumed."""
    options = facts.options
    racks, leading = _racks(facts), options.leading_brokers
    if leading is None:
        leading = MOST_LEADING
        if sum(racks) > leading and not (options.uneven or options.total_order):
            text = f"{leading} brokers at least lead a partition of the topic"
            facts.assume("--leading-brokers", text)
    return Hosts(
        racks=racks,
        factor=_factor(facts),
        is_even=not (options.uneven or options.total_order),
        leading=leading,
        current=len(facts.rows),
    )


def _racks(facts: SizeFacts) -> tuple[int, ...]:
    options, state = facts.options, facts.state
    brokers, racks = options.brokers, options.racks
    if brokers is None and state is not None:
        live = state.brokers.rack_idx[state.brokers.is_live]
        counts = np.bincount(live).tolist()
        return tuple(sorted((n for n in counts if n), reverse=True))
    brokers = brokers or 1
    if racks is None and state is not None:
        known = [name for name in state.brokers.racks if name is not None]
        racks = min(len(known), brokers) or None
        if racks:
            facts.assume("--racks", f"{plural(racks, 'rack')} of equal size")
    if racks is None:
        facts.assume("--racks", "no racks")
        racks = brokers
    more = brokers % racks
    return tuple(brokers // racks + (k < more) for k in range(racks))


def brokers_of(facts: SizeFacts) -> int:
    """Return the number of brokers: the given one, or the live ones."""
    if facts.options.brokers is not None or facts.state is None:
        return facts.options.brokers or 1
    return int(facts.state.brokers.is_live.sum())


def _factor(facts: SizeFacts) -> int:
    given = facts.options.replication_factor
    if given is not None:
        return given
    if facts.state is not None and len(facts.rows):
        return int(facts.state.target_factor[facts.rows].max())
    default = config_number(facts.cluster, "default.replication.factor")
    if not isnan(default) and default >= 1:
        text = f"{default:g}, as default.replication.factor says"
        facts.assume("--replication-factor", f"replication factor {text}")
        return int(default)
    factor = min(3, brokers_of(facts))
    facts.assume("--replication-factor", f"replication factor {factor}")
    return factor


def retention_of(facts: SizeFacts) -> Retention:
    """Return the data that the topic keeps, and record what is assumed."""
    options = facts.options
    configs: dict[str, str] = {}
    data = nan
    if facts.state is not None and facts.topic is not None:
        configs = dict(facts.state.topics.configs[facts.topic])
        sizes = facts.state.partitions.size_bytes[facts.rows]
        data = float(sizes.sum()) if (sizes >= 0).all() else nan
    kept = topic_retention(configs, facts.cluster, data)
    kept = replace(
        kept,
        seconds=given(options.retention, kept.seconds),
        partition_bytes=given(options.retention_bytes, kept.partition_bytes),
        segment_bytes=given(options.segment_bytes, kept.segment_bytes),
        segment_s=given(options.segment_time, kept.segment_s),
    )
    _assume_retention(facts, kept, configs)
    return kept


def _assume_retention(
    facts: SizeFacts, kept: Retention, configs: dict[str, str]
) -> None:
    options = facts.options
    logs = {name for name in facts.cluster if name.startswith("log.retention")}
    if isnan(options.retention) and not logs and "retention.ms" not in configs:
        text = duration_text(kept.seconds) if kept.seconds < inf else "no limit"
        facts.assume("--retention", f"retention {text}")
    if isnan(options.segment_bytes) and "segment.bytes" not in configs:
        size = f"segments of {bytes_text(kept.segment_bytes)}"
        facts.assume("--segment-bytes", size)
    if isnan(options.segment_time) and "segment.ms" not in configs:
        text = f"segments closed after {duration_text(kept.segment_s)}"
        facts.assume("--segment-time", text)


def present_of(facts: SizeFacts) -> Present:
    """Return the load of the other topics, spread over the asked brokers."""
    if facts.state is None:
        facts.assume("SNAP", "no other topics on the brokers")
        return Present()
    found = present_load(facts.state, facts.topic)
    brokers, live = brokers_of(facts), int(facts.state.brokers.is_live.sum())
    if brokers == live or not live:
        return found
    facts.assume("--brokers", f"the other topics even on {brokers} brokers")
    part = live / brokers
    return replace(
        found,
        replicas=ceil(found.replicas * part),
        segments=ceil(found.segments * part),
        in_rate=found.in_rate * part,
        out_rate=found.out_rate * part,
    )


def given(value: float, other: float) -> float:
    """Return a value, or another one where it is absent."""
    return other if isnan(value) else value
