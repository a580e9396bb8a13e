"""Optional rules, for `CheckSettings.custom`."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from placement.check.case.check_settings import CheckSettings, CustomRule
from placement.check.case.finding import Finding, Where
from placement.check.case.target_placement import Target
from placement.check.rules.entries import entries_of
from placement.check.rules.kept_replicas import kept_leaders, kept_topics
from placement.check.rules.list_positions import even_positions
from placement.check.rules.move_caps import move_caps
from placement.check.rules.topic_groups import (
    Lists,
    asked_for,
    lists_of,
    topics_apart,
    topics_together,
)
from placement.model.cluster import ClusterState


def broker_sets(set_of_topic: Mapping[str, str | None]) -> CustomRule:
    """
    Return the rule that new replicas go to brokers of their topic's set only.

    Parameters
    ----------
    set_of_topic
        Name of the broker set of each topic; `None`: brokers without a set.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        brokers = before.brokers
        names = [*brokers.broker_sets, None]
        # Row -1 means no set, and indexes the last name, None.
        rows = brokers.broker_set_idx.tolist()
        own = {b: names[row] for b, row in zip(brokers.ids.tolist(), rows, strict=True)}
        for entry in entries_of(before, target):
            wanted = set_of_topic.get(entry.topic)
            for broker in entry.new:
                if broker not in entry.old and own.get(broker) != wanted:
                    message = (
                        f"broker {broker} is of set {own.get(broker) or '(none)'}, "
                        f"and the topic of {wanted or '(none)'}"
                    )
                    yield entry.finding("broker-set", message, broker)

    return check


def within_rack() -> CustomRule:
    """
    Return the rule that each partition keeps its number of replicas per rack.

    A longer list may gain replicas in any rack, and a shorter list may lose replicas
    in any rack. Neither may lose one in a rack and gain one in another.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        brokers = before.brokers
        rack = dict(zip(brokers.ids.tolist(), brokers.rack_idx.tolist(), strict=True))
        for entry in entries_of(before, target):
            old = Counter(rack.get(broker) for broker in entry.old)
            new = Counter(rack.get(broker) for broker in entry.new)
            if (old - new) and (new - old):
                yield entry.finding("locality-scoped", "a replica changes its rack")

    return check


def strict_racks() -> CustomRule:
    """
    Return the rule that no two replicas of a partition share a rack.

    A violation is existing if no fewer replicas shared a rack before.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        brokers = before.brokers
        rack = dict(zip(brokers.ids.tolist(), brokers.rack_idx.tolist(), strict=True))

        def num_shared(listed: tuple[int, ...]) -> int:
            return len(listed) - len({rack.get(broker) for broker in listed})

        for entry in entries_of(before, target):
            old, new = num_shared(entry.old), num_shared(entry.new)
            if new > 0:
                finding = entry.finding("rack", "two replicas share a rack")
                yield replace(finding, existing=new <= old)

    return check


def only_trades() -> CustomRule:
    """Return the rule that no broker holds more replicas than before."""

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        gained: Counter[int] = Counter()
        for entry in entries_of(before, target):
            gained.update(entry.new)
            gained.subtract(entry.old)
        for broker in sorted(gained):
            if gained[broker] > 0:
                yield Finding(
                    rule="only-trades",
                    where=Where(broker=broker, resource="replicas"),
                    message=f"broker {broker}: {gained[broker]} replicas more, and "
                    "brokers only trade",
                )

    return check


def replica_cap(most: int) -> CustomRule:
    """
    Return the rule that no broker holds more than a number of replicas.

    Parameters
    ----------
    most
        Maximum number of replicas of any broker.
    """

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        brokers, rows = before.brokers, before.replicas.broker_idx
        held = np.bincount(rows, minlength=len(brokers))
        count = dict(zip(brokers.ids.tolist(), held.tolist(), strict=True))
        after = Counter(count)
        for entry in entries_of(before, target):
            after.subtract(entry.old)
            after.update(entry.new)
        for broker in sorted(after):
            had = count.get(broker, 0)
            if after[broker] > most:
                yield Finding(
                    rule="max-replicas",
                    where=Where(broker=broker, resource="replicas"),
                    message=f"broker {broker}: {after[broker]} replicas (before: "
                    f"{had}), and {most} are the most of any broker",
                    existing=after[broker] <= had,
                )

    return check


def topic_cap(most: Mapping[str, int]) -> CustomRule:
    """
    Return the rule that no broker holds more than a number of a topic's replicas.

    A violation is existing if the broker held no fewer before.

    Parameters
    ----------
    most
        Maximum number of replicas on any broker, by topic.
    """

    def held(lists: Lists) -> Counter[tuple[str, int]]:
        return Counter(
            (topic, broker)
            for (topic, _), brokers in lists.items()
            if topic in most
            for broker in brokers
        )

    def check(before: ClusterState, target: Target) -> Iterator[Finding]:
        old = lists_of(before)
        was, now = held(old), held(old | asked_for(before, target))
        for (topic, broker), count in sorted(now.items()):
            if count > most[topic]:
                yield Finding(
                    rule="max-topic-replicas",
                    where=Where(topic=topic, broker=broker, resource="replicas"),
                    message=f"broker {broker}: {count} replicas of {topic} (before: "
                    f"{was[topic, broker]}), and {most[topic]} are the most",
                    existing=count <= was[topic, broker],
                )

    return check


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Requested:
    """
    A setting of a plan that requests a rule.

    Parameters
    ----------
    value
        Value of the setting in plan.json.
    state
        The cluster before the plan.
    settings
        Limits and exclusions of the plan.
    hard
        Names of the goals that are hard.
    is_demotion
        Whether the plan takes leaders off brokers, and changes no others.
    """

    value: Any
    state: ClusterState
    settings: CheckSettings
    hard: frozenset[str]
    is_demotion: bool

    def topics(self, pattern: str) -> frozenset[str]:
        """Return the topics whose whole name matches a regular expression."""
        names = self.state.topics.names
        return frozenset(name for name in names if re.fullmatch(pattern, name))


def _kept_topics(asked: Requested) -> Iterator[CustomRule]:
    yield kept_topics(asked.topics(asked.value), asked.settings.leaving_brokers)


def _kept_leaders(asked: Requested) -> Iterator[CustomRule]:
    # Demotion changes only the leaders that it concerns.
    if not asked.is_demotion:
        yield kept_leaders(asked.topics(asked.value), asked.settings.leaving_brokers)


def _even_positions(asked: Requested) -> Iterator[CustomRule]:
    excluded, no_leaders = (
        asked.settings.excluded_topics,
        asked.settings.excluded_for_leaders,
    )
    is_soft = "even-positions" not in asked.hard
    yield even_positions(excluded, no_leaders, is_soft=is_soft)


def _topics_apart(asked: Requested) -> Iterator[CustomRule]:
    for text in asked.value:
        yield topics_apart([asked.topics(side) for side in text.split("=")])


def _topic_caps(asked: Requested) -> Iterator[CustomRule]:
    most: dict[str, int] = {}
    for text in asked.value:
        pattern, _, number = text.rpartition("=")
        for topic in asked.topics(pattern):
            most.setdefault(topic, int(number))
    yield topic_cap(most)


CHECKS: Mapping[str, Callable[[Requested], Iterable[CustomRule]]] = {
    "rack_rule": lambda asked: [strict_racks()] if asked.value == "strict" else [],
    "locality_scoped": lambda _: [within_rack()],
    "only_trades": lambda _: [only_trades()],
    "max_moves": lambda asked: [move_caps(max_moves=asked.value)],
    "max_bytes": lambda asked: [move_caps(max_bytes=asked.value)],
    "max_cross_rack_bytes": lambda asked: [move_caps(max_cross_rack_bytes=asked.value)],
    "max_replicas_per_broker": lambda asked: [replica_cap(asked.value)],
    "even_positions": _even_positions,
    "broker_sets": lambda asked: [
        broker_sets({topic: name or None for topic, name in asked.value.items()})
    ],
    "topics_apart": _topics_apart,
    "topics_together": lambda asked: [
        topics_together(asked.topics(text)) for text in asked.value
    ],
    "keep_topics": _kept_topics,
    "keep_leaders": _kept_leaders,
    "max_topic_replicas": _topic_caps,
}
"""Functions that return the rules that a setting requests, by its key in plan.json."""


def requested_rules(
    settings: CheckSettings,
    document: Mapping[str, Any],
    state: ClusterState,
    *,
    is_demotion: bool,
) -> Iterator[CustomRule]:
    """
    Yield the rules that the settings of a plan request.

    Parameters
    ----------
    settings
        Limits and exclusions of the plan.
    document
        `settings` of plan.json.
    state
        The cluster before the plan.
    is_demotion
        As in `Requested`.
    """
    hard = frozenset(document.get("hard") or ())
    for key, rules_of in CHECKS.items():
        value = document.get(key)
        if value is not None and value is not False:
            yield from rules_of(
                Requested(
                    value=value,
                    state=state,
                    settings=settings,
                    hard=hard,
                    is_demotion=is_demotion,
                )
            )
