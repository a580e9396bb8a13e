"""Limits of brokers of `partitions size`: options, else snapshot, else usual."""

from math import inf, isnan, nan

import numpy as np

from placement.model.cluster import UNKNOWN
from placement.partition_counts.count_task import Caps
from planner.partitions.size_facts import SizeFacts
from planner.snapshot.importers.hardware.msk_types import MskType, msk_type
from planner.text.format import bytes_text


def caps_of(facts: SizeFacts) -> Caps:
    """Return the limits of brokers and of the cluster, and record what is assumed."""
    options, usual = facts.options, Caps()
    into, out = _network(facts)
    return Caps(
        replicas=_max_replicas(facts, usual),
        files=_known(
            facts, "--max-open-files", options.max_open_files, usual.files, "open files"
        ),
        maps=_known(
            facts, "--max-map-count", options.max_map_count, usual.maps, "memory maps"
        ),
        in_rate=into,
        out_rate=out,
        latency_s=options.max_latency,
        recovery_s=options.max_recovery,
        delay_s=_each(
            facts,
            "--latency-per-partition",
            options.latency_per_partition,
            usual.delay_s,
            "replication delay {} for each partition between two brokers",
        ),
        recovery_each_s=_each(
            facts,
            "--recovery-per-partition",
            options.recovery_per_partition,
            usual.recovery_each_s,
            "recovery {} for each partition, with KRaft",
        ),
    )


def _each(
    facts: SizeFacts, option: str, value: float, usual: float, text: str
) -> float:
    """Return a time per partition, and record it where it is assumed."""
    if not isnan(value):
        return value
    facts.assume(option, text.format(f"{1000 * usual:.3g} ms"))
    return usual


def _known(
    facts: SizeFacts, option: str, value: float, usual: float, what: str
) -> float:
    """Return a limit of a broker, and record it where it is assumed."""
    if not isnan(value):
        return value
    facts.assume(option, f"at most {usual:,.0f} {what} per broker")
    return usual


def _max_replicas(facts: SizeFacts, usual: Caps) -> float:
    most_given = facts.options.max_replicas
    if not isnan(most_given):
        return most_given
    if facts.state is not None:
        brokers = facts.state.brokers
        most = brokers.max_replicas[brokers.is_live]
        if len(most) and np.not_equal(most, UNKNOWN).all():
            return float(most.min())
    option = "--max-replicas-per-broker"
    return _known(facts, option, nan, usual.replicas, "replicas")


def _network(facts: SizeFacts) -> tuple[float, float]:
    """Return the usable in and out of the weakest live broker; NaN if unknown."""
    options, by_type = facts.options, _of_type(facts)
    into, out = options.broker_in, options.broker_out
    if facts.state is not None and by_type is None:
        brokers = facts.state.brokers
        live = brokers.is_live
        if isnan(into):
            into = float(brokers.in_bytes_per_s[live].min(initial=inf))
        if isnan(out):
            out = float(brokers.out_bytes_per_s[live].min(initial=inf))
    if not (isnan(into) and isnan(out)):
        use = f"{100 * options.max_use:g} % of a broker's network may be used"
        facts.assume("--max-use", use)
    into, out = into * options.max_use, out * options.max_use
    if by_type is None:
        return into, out
    return by_type.in_rate if isnan(into) else into, (
        by_type.out_rate if isnan(out) else out
    )


def _of_type(facts: SizeFacts) -> MskType | None:
    """Return the type of the brokers, if it has a network of its own."""
    name = facts.options.instance_type
    found = None if name is None else msk_type(name)
    if found is None or isnan(found.written):
        return None
    if isnan(facts.options.broker_in) and isnan(facts.options.broker_out):
        text = (
            f"{bytes_text(found.written)}/s from producers and "
            f"{bytes_text(found.read)}/s to consumers per broker, as Amazon recommends"
        )
        facts.assume("--broker-in, --broker-out", text)
    return found
