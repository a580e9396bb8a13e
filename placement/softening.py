"""
Rules that are soft: kept where a plan can keep all, and else as nearly as can be.

*Order.* Hard rules; soft ones; bands; bytes. A plan is made with every rule hard. Where
that keeps them all, nothing else is done. Otherwise soft rules give way, the first one
named first, then the first two, and so on until a plan keeps all others.
*How far.* First without bands, those that give way being goals: so they are broken by
as little as the search can. What that takes is then their new limit, and the plan is
made again under these limits with its bands.
*Racks.* Partitions that no plan could place get one more replica per rack than the
rule admits; where that does not do, all partitions; then any number.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from placement.cluster import BoolArray, ClusterState
from placement.core.problem import NO_LIMIT, IntArray
from placement.load import (
    RESOURCES,
    UNITS,
    Resource,
    WeightArray,
    broker_loads,
    preferred_leaders,
    weigh,
)
from placement.racks import rack_broken
from placement.rules.broker_sets import BrokerSets, strays_of
from placement.rules.draft import Draft, Note, Settings
from placement.rules.easing import GOALS, SOFT, Eased, rules_named
from placement.rules.hosts import host_capacities, host_loads
from placement.rules.levels import CAPACITY_RULES, RackSpread, ruled_capacities

if TYPE_CHECKING:
    from placement.planned import PlannedPlacement

Planner = Callable[[Settings], "PlannedPlacement"]
ANY = 2**31 - 1
"""More replicas than a rack has."""
_HOST = "host-"


def soften(
    planned: Planner, settings: Settings, found: "PlannedPlacement"
) -> "PlannedPlacement":
    """
    Plan again with soft rules that give way, as few and as little as can be.

    Parameters
    ----------
    planned
        Makes a plan under some settings.
    settings
        What is wished for; its `soft` rules are not all met.
    found
        The plan with every rule hard.
    """
    tried, eased = _measure(planned, settings, found)
    room = _room(tried, eased)
    final = planned(replace(settings, eased=room))
    if tried.has_met_rules and not final.has_met_rules:
        message = "bands do not count: with soft rules that give way no plan had them"
        notes = (*tried.notes, Note(what="bands-left", message=message))
        final = replace(tried, notes=notes)
    notes = tuple(soft_notes(final, eased.rules))
    return replace(final, notes=(*final.notes, *notes))


def _measure(
    planned: Planner, settings: Settings, found: "PlannedPlacement"
) -> tuple["PlannedPlacement", Eased]:
    """Return a plan of the fewest rules that have to give way, without bands."""
    wishes = replace(
        settings,
        resources=(),
        rules=tuple(rule for rule in settings.rules if rule.name not in GOALS),
        names_log_dirs=False,
    )
    tried, eased = found, Eased(rules=frozenset(), is_measured=True)
    for last in range(len(settings.soft)):
        rules = rules_named(settings.soft[: last + 1])
        for rack_most in _rack_steps(found, rules, SOFT[settings.soft[last]]):
            eased = Eased(rules=rules, is_measured=True, rack_most=rack_most)
            tried = planned(replace(wishes, eased=eased))
            if tried.has_met_rules:
                return tried, eased
    return tried, eased


def _rack_steps(
    found: "PlannedPlacement", rules: frozenset[str], named: tuple[str, ...]
) -> Iterator[WeightArray | None]:
    """Yield how many replicas a rack may hold of each partition, ever more."""
    if "rack" not in rules or found.draft.rack_cap is not None:
        yield None
        return
    cap = _rack_caps(found.draft)
    if "rack" in named:
        chosen = _in_the_way(found)
        if chosen.any():
            yield np.where(chosen, cap + (cap > 0), 0)
        yield cap + (cap > 0)
    yield np.where(cap > 0, ANY, 0)


def _rack_caps(draft: Draft) -> IntArray:
    """Return ``(P,)`` the most replicas per rack as the rule says; 0: any."""
    settings = replace(draft.settings, eased=None)
    cap = RackSpread().level(replace(draft, settings=settings)).group_cap
    assert cap is not None  # noqa: S101 - racks have caps
    return cap.astype(np.int64)


def _in_the_way(found: "PlannedPlacement") -> BoolArray:
    """Return ``(P,)`` partitions that have no place, or lie where too much is."""
    after = found.reassignment.after()
    chosen = np.zeros(after.num_partitions, dtype=np.bool_)
    for shortfall in found.solution.shortfalls:
        if shortfall.group >= 0:
            chosen[shortfall.group] = True
    over = np.greater(_loads(after), ruled_capacities(found.draft))
    full: BoolArray = over.max(axis=1)
    on_full = full[after.replicas.broker_idx]
    chosen[after.replicas.partition_idx[on_full]] = True
    return chosen


def _loads(after: ClusterState) -> WeightArray:
    return broker_loads(after, weigh(after), preferred_leaders(after))


def _room(tried: "PlannedPlacement", eased: Eased) -> Eased:
    """Return the room that the rules need which gave way in a plan."""
    draft, after = tried.draft, tried.reassignment.after()
    load = _loads(after)
    sets = _broker_sets(draft)
    return Eased(
        rules=eased.rules,
        is_measured=False,
        rack_most=None if eased.rack_most is None else _rack_most(tried),
        capacity=load,
        host_capacity=host_loads(draft, load),
        strays=None if sets is None else strays_of(after, sets.set_of_topic),
    )


def _rack_most(tried: "PlannedPlacement") -> WeightArray:
    """Return ``(P,)`` the most that a rack holds of partitions that break the rule."""
    after, draft = tried.reassignment.after(), tried.draft
    fullest, broken = _fullest(after, draft), _rack_broken(after, draft)
    return np.where(broken, np.maximum(fullest, 1), 0)


def _fullest(after: ClusterState, draft: Draft) -> IntArray:
    replicas, brokers = after.replicas, after.brokers
    counted = draft.holds[replicas.broker_idx]
    width = after.num_racks
    key = replicas.partition_idx[counted].astype(np.int64) * width
    key += brokers.rack_idx[replicas.broker_idx[counted]]
    keys, counts = np.unique(key, return_counts=True)
    fullest = np.zeros(after.num_partitions, dtype=np.int64)
    np.maximum.at(fullest, keys // width, counts)
    return fullest


def _rack_broken(after: ClusterState, draft: Draft) -> BoolArray:
    cap = _rack_caps(draft)
    broken: BoolArray = np.greater(_fullest(after, draft), cap) & (cap > 0)
    if not draft.settings.is_rack_strict:
        broken |= rack_broken(after, draft.holds) & (cap > 0)
    return broken


def _broker_sets(draft: Draft) -> BrokerSets | None:
    for rule in draft.settings.rules:
        if isinstance(rule, BrokerSets):
            return rule
    return None


def soft_notes(found: "PlannedPlacement", rules: frozenset[str]) -> Iterator[Note]:
    """
    Yield what soft rules lack in a plan.

    Parameters
    ----------
    found
        The plan.
    rules
        Names of those that gave way.
    """
    draft, after = found.draft, found.reassignment.after()
    load = _loads(after)
    yield from _broker_notes(draft, load, rules)
    yield from _host_notes(draft, load, rules)
    if "rack" in rules and draft.rack_cap is None:
        broken = np.nonzero(_rack_broken(after, draft))[0]
        if len(broken):
            more = f" and {len(broken) - 1:,} more" if len(broken) > 1 else ""
            yield soft_note(
                "rack",
                f"{after.name_of(int(broken[0]))}{more} not spread over racks as asked",
                {},
                (float(len(broken)), 0.0),
            )
    sets = _broker_sets(draft) if "broker-set" in rules else None
    strays = 0 if sets is None else int(strays_of(after, sets.set_of_topic).sum())
    if strays:
        text = f"{strays:,} replicas on brokers of another set than their topic's"
        yield soft_note("broker-set", text, {}, (float(strays), 0.0))


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


def used_text(have: int, need: int, threshold: float) -> str:
    """Return which part of a capacity is used, of which a threshold may be."""
    return f"{threshold * have / need:.1%}" if need > 0 else "more than all"


def soft_note(
    rule: str, text: str, where: dict[str, str | int], amounts: tuple[float, float]
) -> Note:
    """Return a note that a soft rule gives way, by how much."""
    have, need = amounts
    return Note(
        what="soft-rule",
        message=f"{text}: {rule} is soft, and gives way",
        where=where,
        have=have,
        need=need,
    )
