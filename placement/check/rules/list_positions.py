"""Rule on the number of times that a broker is at each position of the lists."""

from collections import Counter
from collections.abc import Iterator, Mapping

from placement.check.case.check_settings import CustomRule
from placement.check.case.finding import Finding, Where
from placement.check.case.target_placement import Target
from placement.model.cluster import ClusterState

Name = tuple[str, int]
Lists = Mapping[Name, tuple[int, ...]]


def even_positions(
    excluded_topics: frozenset[str],
    excluded_for_leaders: frozenset[int],
    *,
    is_soft: bool = True,
) -> CustomRule:
    """
    Return the rule that every broker is at each list position equally often.

    A broker in d lists of one length n is at each of the n positions in d / n of these
    lists, rounded down or up. Lists of excluded topics do not count, nor do lists with
    a broker that may not lead.

    Parameters
    ----------
    excluded_topics
        Names of the excluded topics.
    excluded_for_leaders
        Ids of brokers that get no leaders.
    is_soft
        Whether the rule is a goal, whose findings do not count against the plan.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        brokers = before.brokers
        barred = excluded_for_leaders | set(brokers.ids[~brokers.may_lead].tolist())
        was = _lists(before)
        now = {**was, **{key: row for key, row in _entries(target) if key in was}}
        old = dict(_uneven(was, excluded_topics, barred))
        for place, (count, fair) in sorted(_uneven(now, excluded_topics, barred)):
            size, broker, position = place
            known = old.get(place)
            yield Finding(
                rule="even-positions",
                where=Where(broker=broker),
                message=f"broker {broker}: at position {position + 1} in {count} of "
                f"the lists of {size}, and about {fair:.4g} would be even",
                existing=known is not None
                and abs(known[0] - known[1]) >= abs(count - fair),
                soft=is_soft,
            )

    return check


def _lists(before: ClusterState) -> dict[Name, tuple[int, ...]]:
    partitions, start = before.partitions, before.replicas.start.tolist()
    ids = before.brokers.ids[before.replicas.broker_idx].tolist()
    topics = partitions.topic_idx.tolist()
    keys = zip(topics, partitions.partition.tolist(), strict=True)
    return {
        (before.topics.names[topic], number): tuple(ids[start[p] : start[p + 1]])
        for p, (topic, number) in enumerate(keys)
    }


def _entries(target: Target) -> Iterator[tuple[Name, tuple[int, ...]]]:
    ids, start = target.broker_ids.tolist(), target.start.tolist()
    for entry, topic in enumerate(target.topics):
        key = topic, int(target.partitions[entry])
        yield key, tuple(ids[start[entry] : start[entry + 1]])


def _uneven(
    lists: Lists, excluded_topics: frozenset[str], barred: set[int] | frozenset[int]
) -> list[tuple[tuple[int, int, int], tuple[int, float]]]:
    """Return uneven places (size, broker, position) with count and fair count."""
    counts: Counter[tuple[int, int, int]] = Counter()
    held: Counter[tuple[int, int]] = Counter()
    for (topic, _), row in lists.items():
        if topic in excluded_topics or not barred.isdisjoint(row):
            continue
        for position, broker in enumerate(row):
            counts[len(row), broker, position] += 1
            held[len(row), broker] += 1
    return [
        ((size, broker, position), (counts[size, broker, position], fair))
        for (size, broker), total in held.items()
        for fair in [total / size]
        for position in range(size)
        if abs(counts[size, broker, position] - fair) >= 1
    ]
