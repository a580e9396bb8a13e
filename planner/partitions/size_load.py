"""Load of the topic of `partitions size`: options, else snapshot, else assumed."""

from math import inf, isnan, nan

from placement.partition_counts.count_task import Load, Readers
from placement.partition_counts.present_load import seen_rates
from planner.partitions.size_facts import SizeFacts
from planner.text.format import bytes_text

KEYED_HEADROOM = 2.0
"""Headroom of a keyed topic, whose count should not change later."""


def load_of(facts: SizeFacts) -> Load:
    """Return the load of the topic, and record what is assumed."""
    options = facts.options
    rate = _throughput(facts)
    producer, consumer = _client_rates(facts)
    if options.skew == 1 and not options.hottest_share:
        facts.assume("--skew", "all partitions of the topic are equally busy")
    return Load(
        produce_rate=rate,
        producer_rate=producer,
        readers=_readers(facts, rate, consumer),
        read_rate=_read_rate(facts),
        headroom=_headroom(facts),
        skew=options.skew,
        hottest_share=options.hottest_share,
        catch_up_s=inf if isnan(options.catch_up) else options.catch_up,
    )


def _throughput(facts: SizeFacts) -> float:
    given = facts.options.throughput
    if not isnan(given) or facts.state is None or not len(facts.rows):
        return given
    rate = float(facts.state.partitions.in_bytes_per_s[facts.rows].sum())
    if not isnan(rate):
        facts.assume(
            "--throughput", f"{bytes_text(rate)}/s written, as in the snapshot"
        )
    return rate


def _read_rate(facts: SizeFacts) -> float:
    """Return what all groups read today, if no option gives their rates."""
    if facts.state is None or not len(facts.rows) or facts.options.read:
        return nan
    if not isnan(facts.options.throughput):
        return nan
    return float(facts.state.partitions.out_bytes_per_s[facts.rows].sum())


def _client_rates(facts: SizeFacts) -> tuple[float, float]:
    """Return the rates of one producer and of one consumer."""
    producer = facts.options.producer_rate
    consumer = facts.options.consumer_rate.get("", nan)
    if facts.state is None:
        return producer, consumer
    seen = seen_rates(facts.state)
    if isnan(producer) and seen.producer_name:
        producer = seen.producer_rate
        text = f"{bytes_text(producer)}/s by one producer into a partition"
        facts.assume("--producer-rate", f"{text}, the most seen ({seen.producer_name})")
    if isnan(consumer) and seen.consumer_name:
        consumer = seen.consumer_rate
        text = f"{bytes_text(consumer)}/s by one consumer from a partition"
        facts.assume("--consumer-rate", f"{text}, the most seen ({seen.consumer_name})")
    return producer, consumer


def _readers(facts: SizeFacts, rate: float, consumer: float) -> tuple[Readers, ...]:
    options = facts.options
    named = {*options.read, *options.consumer_rate, *options.consumers} - {""}
    found = []
    for name in sorted(named) or [""]:
        read = _of(options.read, name, rate)
        members = _of(options.consumers, name, nan)
        found.append(
            Readers(
                name=name,
                rate=read,
                consumer_rate=_of(options.consumer_rate, name, consumer),
                consumers=None if isnan(members) else int(members),
                lag_bytes=options.lag.at(read),
            )
        )
    if not options.read and not isnan(rate):
        facts.assume("--read", "each consumer group reads everything once")
    return tuple(found)


def _headroom(facts: SizeFacts) -> float:
    if not isnan(facts.options.headroom):
        return facts.options.headroom
    is_keyed = facts.options.keyed
    if is_keyed is None:
        facts.assume(
            "--keyed", "records have keys, which move when partitions are added"
        )
    factor = 1.0 if is_keyed is False else KEYED_HEADROOM
    why = "no keys" if is_keyed is False else "keyed: the count should stay"
    facts.assume("--headroom", f"headroom {factor:g} ({why})")
    return factor


def _of(values: dict[str, float], name: str, other: float) -> float:
    """Return the value of a group, else that of all groups, else another."""
    return values.get(name, values.get("", other))
