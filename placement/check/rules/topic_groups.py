"""Anti-affinity and colocation rules of topics, for `CheckSettings.custom`."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from placement.check.case.check_settings import CustomRule
from placement.check.case.finding import Finding, Where
from placement.check.case.target_placement import Target
from placement.model.cluster import ClusterState

Lists = dict[tuple[str, int], list[int]]


def topics_apart(sides: Sequence[frozenset[str]]) -> CustomRule:
    """
    Return the rule that no broker holds replicas of topics of two sides.

    A violation is existing if the broker gets no new replica of any side.

    Parameters
    ----------
    sides
        Topic names of each side.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        old = lists_of(before)
        new = old | asked_for(before, target)
        side_of = {name: s for s, names in enumerate(sides) for name in names}
        held: defaultdict[int, set[str]] = defaultdict(set)
        gains: set[int] = set()
        for (topic, number), row in new.items():
            if topic in side_of:
                gains.update(set(row) - set(old[topic, number]))
                for broker in row:
                    held[broker].add(topic)
        for broker in sorted(held):
            if len({side_of[topic] for topic in held[broker]}) > 1:
                shared = ", ".join(sorted(held[broker]))
                yield Finding(
                    rule="topics-apart",
                    where=Where(broker=broker),
                    message=f"broker {broker} holds {shared}, which are kept apart",
                    existing=broker not in gains,
                )

    return check


def topics_together(topics: frozenset[str]) -> CustomRule:
    """
    Return the rule that partitions of some topics with one number have equal lists.

    A violation is existing if the lists differed before, unless copies make the lists
    differ more.

    Parameters
    ----------
    topics
        Names of the topics.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        old = lists_of(before)
        new = old | asked_for(before, target)
        numbered: defaultdict[int, list[str]] = defaultdict(list)
        for topic, number in new:
            if topic in topics:
                numbered[number].append(topic)
        for number, names in sorted(numbered.items()):
            keys = [(name, number) for name in sorted(names)]
            if all(new[key] == new[keys[0]] for key in keys):
                continue
            was_apart = any(old[key] != old[keys[0]] for key in keys)
            is_copied = any(set(new[key]) - set(old[key]) for key in keys)
            was, now = (_difference([one[key] for key in keys]) for one in (old, new))
            counted = ", ".join(
                f"{name}-{number} on {new[name, number]}" for name, _ in keys
            )
            yield Finding(
                rule="topics-together",
                where=Where(topic=keys[0][0], partition=number),
                message=f"{counted}: they belong together",
                existing=was_apart
                and (not is_copied or (was[0] >= now[0] and was[1] >= now[1])),
            )

    return check


def _difference(lists: list[list[int]]) -> tuple[int, int]:
    """Return the number of brokers not in all lists, and of lists unlike the first."""
    named = [set(row) for row in lists]
    brokers = len(set.union(*named)) - len(set.intersection(*named))
    return brokers, sum(row != lists[0] for row in lists)


def lists_of(state: ClusterState) -> Lists:
    """Return the broker ids of every partition."""
    partitions, names = state.partitions, state.topics.names
    topics, numbers = partitions.topic_idx.tolist(), partitions.partition.tolist()
    return {
        (names[topic], number): state.brokers_of(row)
        for row, (topic, number) in enumerate(zip(topics, numbers, strict=True))
    }


def asked_for(before: ClusterState, target: Target) -> Lists:
    """Return the target lists of partitions that the cluster has."""
    known = lists_of(before)
    ids, start = target.broker_ids.tolist(), target.start.tolist()
    keys = zip(target.topics, target.partitions.tolist(), strict=True)
    return {
        key: ids[start[entry] : start[entry + 1]]
        for entry, key in enumerate(keys)
        if key in known
    }
