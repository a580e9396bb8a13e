"""Notes on soft rules that a plan violates."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.core.model.problem import NO_LIMIT
from placement.draft.draft import Draft, Note
from placement.model import rack_violations
from placement.model.cluster import ClusterState
from placement.model.load import (
    RESOURCES,
    UNITS,
    Resource,
    WeightArray,
    loads_of,
)
from placement.model.reassignment import Reassignment
from placement.rules.anti_affinity import TopicsApart, shared_brokers
from placement.rules.broker_sets import BrokerSets, strays_of
from placement.rules.colocation import TopicsTogether, parted_rows
from placement.rules.hard_levels import CAPACITY_RULES, RackSpread, ruled_capacities
from placement.rules.hosts import host_capacities, host_loads
from placement.rules.rack_rules import rack_changes
from placement.rules.soft_caps import soft_note, used_text

Kind = TypeVar("Kind")
_HOST = "host-"


def soft_notes(
    draft: Draft, reassignment: Reassignment, rules: frozenset[str]
) -> Iterator[Note]:
    """
    Yield notes on soft rules that a plan violates.

    Parameters
    ----------
    draft, reassignment
        Draft of the plan, and its replica lists before and after.
    rules
        Names of the relaxed rules.
    """
    after = reassignment.after()
    load, _ = loads_of(after)
    yield from _broker_notes(draft, load, rules)
    yield from _host_notes(draft, load, rules)
    if "rack" in rules:
        goes_by = True if draft.rack_cap is None else np.equal(draft.rack_cap, 0)
        broken = np.nonzero(rack_broken(after, draft) & goes_by)[0]
        if len(broken):
            more = f" and {len(broken) - 1:,} more" if len(broken) > 1 else ""
            yield soft_note(
                "rack",
                f"{after.name_of(int(broken[0]))}{more} not spread over racks as asked",
                {},
                (float(len(broken)), 0.0),
            )
    yield from _topic_notes(draft, after, rules)
    if "locality-scoped" in rules:
        changed = int(rack_changes(reassignment.before, after).sum())
        if changed:
            text = f"{changed:,} replicas change their rack"
            yield soft_note("locality-scoped", text, {}, (float(changed), 0.0))
    sets = broker_sets(draft) if "broker-set" in rules else None
    strays = 0 if sets is None else int(strays_of(after, sets.set_of_topic).sum())
    if strays:
        text = f"{strays:,} replicas on brokers of another set than their topic's"
        yield soft_note("broker-set", text, {}, (float(strays), 0.0))


def _topic_notes(
    draft: Draft, after: ClusterState, rules: frozenset[str]
) -> Iterator[Note]:
    """Yield notes on brokers that topics share, and on partitions that are apart."""
    for apart in rules_of(draft, TopicsApart) if "topics-apart" in rules else ():
        shared = shared_brokers(after, apart.side_of_topic, len(apart.names))
        rows = np.nonzero(shared)[0]
        if len(rows):
            ids = rack_violations.broker_ranges(after.brokers.ids[rows])
            text = f"broker {ids} is shared by topics of {' and '.join(apart.names)}"
            amounts = float(len(rows)), 0.0
            yield soft_note("topics-apart", text, {"broker": ids}, amounts)
    is_soft = "topics-together" in rules
    for together in rules_of(draft, TopicsTogether) if is_soft else ():
        parted = parted_rows(after, together.topics)
        if parted:
            text = f"{len(parted):,} partitions, such as {after.name_of(parted[0])}, "
            text += "lie apart from those that they belong together with"
            yield soft_note("topics-together", text, {}, (float(len(parted)), 0.0))


def _broker_notes(
    draft: Draft, load: WeightArray, rules: frozenset[str]
) -> Iterator[Note]:
    most = ruled_capacities(draft)
    for b, r in np.argwhere((load > most) & draft.holds[:, None]):
        rule, resource = CAPACITY_RULES[r], RESOURCES[r]
        if rule not in rules:
            continue
        broker = int(draft.state.brokers.ids[b])
        have, need = int(load[b, r]), int(most[b, r])
        where: dict[str, str | int] = {"broker": broker, "resource": str(resource)}
        text = f"broker {broker} holds {have:,} replicas, {need:,} are its most"
        if resource is not Resource.REPLICAS:
            threshold = draft.settings.capacity_thresholds[resource]
            text = f"broker {broker} uses {used_text(have, need, threshold)} of its "
            text += f"{resource}, {threshold:.0%} is the most"
        amounts = have / UNITS[resource], need / UNITS[resource]
        yield soft_note(rule, text, where, amounts)


def _host_notes(
    draft: Draft, load: WeightArray, rules: frozenset[str]
) -> Iterator[Note]:
    most = host_capacities(draft)
    carried = host_loads(draft, load)
    for host, r in np.argwhere((carried > most) & (most < NO_LIMIT)):
        resource = RESOURCES[r]
        rule = f"{_HOST}{resource}"
        if rule not in rules:
            continue
        brokers = draft.state.brokers
        have, need = int(carried[host, r]), int(most[host, r])
        threshold = draft.settings.host_thresholds[resource]
        rows = np.nonzero(np.equal(brokers.host_idx, host) & draft.holds)[0]
        first = int(brokers.ids[rows[0]])
        text = f"host {brokers.hosts[host] or f'of broker {first}'} uses "
        text += f"{used_text(have, need, threshold)} of its {resource}, "
        text += f"{threshold:.0%} is the most"
        where: dict[str, str | int] = {"broker": first, "resource": str(resource)}
        amounts = have / UNITS[resource], need / UNITS[resource]
        yield soft_note(rule, text, where, amounts)


def rack_caps(draft: Draft) -> IntArray:
    """Return ``(P,)`` replicas per rack that the rack rule allows; 0 if any number."""
    settings = replace(draft.settings, eased=None)
    ruled = replace(draft, settings=settings, rack_cap=None)
    cap = RackSpread().level(ruled).group_cap
    assert cap is not None  # noqa: S101 - racks have caps
    return cap.astype(np.int64)


def fullest_of(after: ClusterState, draft: Draft) -> IntArray:
    """Return ``(P,)`` number of replicas of each partition in its fullest rack."""
    replicas, brokers = after.replicas, after.brokers
    counted = draft.holds[replicas.broker_idx]
    width = after.num_racks
    key = replicas.partition_idx[counted].astype(np.int64) * width
    key += brokers.rack_idx[replicas.broker_idx[counted]]
    keys, counts = np.unique(key, return_counts=True)
    fullest = np.zeros(after.num_partitions, dtype=np.int64)
    np.maximum.at(fullest, keys // width, counts)
    return fullest


def rack_broken(after: ClusterState, draft: Draft) -> BoolArray:
    """Return ``(P,)`` true where replicas break the rack rule of the settings."""
    cap = rack_caps(draft)
    broken: BoolArray = np.greater(fullest_of(after, draft), cap) & (cap > 0)
    if not draft.settings.is_rack_strict:
        broken |= rack_violations.rack_broken(after, draft.holds) & (cap > 0)
    return broken


def broker_sets(draft: Draft) -> BrokerSets | None:
    """Return the rule on broker sets, if there is one."""
    for rule in draft.settings.rules:
        if isinstance(rule, BrokerSets):
            return rule
    return None


def rules_of(draft: Draft, kind: type[Kind]) -> Iterator[Kind]:
    """Return the rules of one kind under which a plan was made."""
    return (rule for rule in draft.settings.rules if isinstance(rule, kind))
