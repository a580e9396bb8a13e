"""
Remedies: changes of hardware or options under which a plan keeps every hard rule.

Each candidate is tried: the same search makes the plan with the change, and only a
change under which the plan keeps every hard rule is suggested. Candidates come first
from the proven shortfalls (a broker with the missing capacity, brokers kept or started,
a limit raised to the amount needed), then from the rules of the reason, one by one.
"""

from collections.abc import Callable, Iterator, Mapping
from math import ceil, floor, log10

import numpy as np

from placement.cluster_changes.broker_changes import usual_broker
from placement.cluster_changes.hardware_rows import broker_rows
from placement.core.model.problem import Movability
from placement.core.model.solution import MET, Shortfall
from placement.draft.draft import Draft, Settings
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES, UNITS, Resource
from placement.operations.operation import Operation
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.infeasibility.remedy import (
    CAP_FIELDS,
    CAPACITIES,
    Asked,
    Remedy,
    applied,
)
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.hard_levels import hard_capacities
from placement.rules.registry import SOFT

MOST_TRIES = 12
"""Maximum number of plans made to test remedies."""
MOST_SUGGESTED = 3
MOST_NEW = 5
"""Maximum number of brokers that a remedy adds."""
FRACTIONS = (0.85, 0.9, 0.95, 1.0)
"""Capacity thresholds that are tried after the nearest ones, as fractions."""
STEP = 0.05
"""Distance of the nearest thresholds that are tried; four of them come first."""
RAISED = frozenset(rule for rule, _ in CAP_FIELDS.values())


Planner = Callable[[Settings], PlannedPlacement]
Maker = Callable[[ClusterState, Operation, Settings], PlannedPlacement | None]


def find_remedies(
    asked: Asked,
    found: PlannedPlacement,
    helping: tuple[str, ...],
    make: Maker,
    is_disproved: Callable[[Asked], bool],
) -> tuple[Remedy, ...]:
    """
    Return changes under which a plan keeps all hard rules, each of them tried.

    Parameters
    ----------
    asked
        The cluster, the operation and the settings.
    found
        The best plan without a change.
    helping
        Rules each of which, lifted alone, makes a plan feasible.
    make
        Function that makes a plan; it returns `None` if it cannot plan other brokers.
    is_disproved
        Quick test that returns true for some requests proven to be infeasible.
    """
    chosen: list[Remedy] = []
    tries = 0
    for family in (*_families(asked, found), *_of_rules(asked.settings, helping)):
        for remedy in family:
            if tries == MOST_TRIES or len(chosen) == MOST_SUGGESTED:
                return tuple(chosen)
            changed = applied(remedy, asked)
            if is_disproved(changed):
                continue
            made = make(changed.state, changed.operation, changed.settings)
            if made is None:
                break
            tries += 1
            if made.solution.status in MET:
                chosen.append(remedy)
                break
    return tuple(chosen)


Family = Iterator[Remedy]
"""Changes of one kind; the first one that works is suggested."""


def _families(asked: Asked, found: PlannedPlacement) -> Iterator[Family]:
    """Yield the families of remedies for the proven shortfalls."""
    proven = [one for one in found.solution.shortfalls if one.is_proven]
    if found.draft.is_emptied_dir is not None or not proven:
        return
    first, draft = proven[0], found.draft
    if first.what in CAP_FIELDS:
        yield _caps(first)
        return
    racks, capacities = _wanted(draft, proven)
    yield _added(draft, racks, capacities)
    yield _kept(asked, draft, racks)
    yield _started(draft, racks)


def _caps(short: Shortfall) -> Family:
    """Yield the cap raised to the proven need, then to larger values."""
    rule, _ = CAP_FIELDS[short.what]
    for factor in (1.0, 1.05, 1.2, 1.5, 2.0):
        value = ceil(short.need * factor)
        if short.what != "moves":
            value = int(rounded_up(value))
        yield Remedy(what="raise", rule=rule, value=value)


def _wanted(
    draft: Draft, proven: list[Shortfall]
) -> tuple[tuple[str | None, ...], dict[Resource, float]]:
    """Return the racks that lack brokers, and the capacities these brokers need."""
    first, names = proven[0], draft.state.brokers.racks
    alike = [
        one
        for one in proven
        if (one.what, one.level, one.node) == (first.what, first.level, first.node)
    ]
    is_rack = first.level == "rack" and first.node >= 0
    racks: tuple[str | None, ...] = (names[first.node],) if is_rack else ()
    capacities: dict[Resource, float] = {}
    if first.what == "capacity":
        for one in alike:
            _add(draft, capacities, one.resource, one.need - one.have)
    elif first.what == "pieces":
        weight = _heaviest(draft, first.group, first.resource)
        _add(draft, capacities, first.resource, weight)
        racks = (racks or (_emptiest(draft),)) * (first.need - first.have)
    elif first.what == "room":
        racks = _racks_without_room(draft, first)
        for one in proven:
            if one.what == "room":
                _add(draft, capacities, one.resource, one.need)
    else:
        missing = first.need - first.have if first.what in {"bins", "spread"} else 1
        racks = tuple(_free_racks(draft, missing))
        capacities = _usual_capacities(draft.state)
    return racks or (_emptiest(draft),), capacities


def _usual_capacities(state: ClusterState) -> dict[Resource, float]:
    """Return the capacities of the most frequent kind of broker."""
    usual = usual_broker(state)
    row = next(one for one in broker_rows(state) if one.broker_id == usual)
    values = {r: float(getattr(row, column)) for r, column in CAPACITIES.items()}
    return {r: value for r, value in values.items() if value >= 0}


def _add(
    draft: Draft, capacities: dict[Resource, float], resource: str, amount: int
) -> None:
    """Record the capacity that an amount of load takes under its threshold."""
    if not resource or resource not in {str(r) for r in CAPACITIES}:
        return
    named = Resource(resource)
    usable = draft.settings.capacity_thresholds.get(named, 1.0)
    whole = amount / UNITS[named] / usable
    capacities[named] = max(capacities.get(named, 0.0), rounded_up(whole))


def rounded_up(amount: float) -> float:
    """
    Return an amount rounded up to three digits.

    Examples
    --------
    >>> rounded_up(1_249_600), rounded_up(62.5), rounded_up(0)
    (1250000.0, 62.5, 0.0)
    """
    if amount <= 0:
        return 0.0
    unit = 10.0 ** (floor(log10(amount)) - 2)
    digits = ceil(round(amount / unit, 6))
    return float(f"{digits * unit:.12g}")


def _heaviest(draft: Draft, group: int, resource: str) -> int:
    r = RESOURCES.index(Resource(resource))
    weights = draft.weights
    return int(weights.replica[group, r] + weights.leader[group, r])


def _racks_without_room(draft: Draft, short: Shortfall) -> tuple[str | None, ...]:
    """Return the racks of a partition that lack a broker with enough room."""
    state, replicas = draft.state, draft.state.replicas
    never = np.equal(draft.movability, Movability.NEVER)
    of, rack_idx = replicas.partition_idx, state.brokers.rack_idx
    r = RESOURCES.index(Resource(short.resource))
    stuck = np.zeros(state.num_brokers, dtype=np.int64)
    np.add.at(stuck, replicas.broker_idx[never], draft.weights.replica[of[never], r])
    free = hard_capacities(draft)[:, r] - stuck
    fits = draft.open_to(short.group) & (free >= short.need)
    mine = never & np.equal(of, short.group)
    served = {*rack_idx[fits].tolist(), *rack_idx[replicas.broker_idx[mine]].tolist()}
    missing = int(np.equal(of, short.group).sum()) - len(served)
    used = dict.fromkeys(rack_idx[draft.holds].tolist())
    names = [state.brokers.racks[k] for k in used if k not in served]
    named = [name for name in names if name is not None][: max(missing, 1)]
    return tuple(named) or tuple(_free_racks(draft, max(missing, 1)))


def _emptiest(draft: Draft) -> str | None:
    """Return the rack with the fewest brokers that stay, of equals first by name."""
    return next(_free_racks(draft, 1))


def _free_racks(draft: Draft, count: int) -> Iterator[str | None]:
    """Yield racks for `count` new brokers, each the one with the fewest brokers."""
    state = draft.state
    names = [name for name in state.brokers.racks if name is not None]
    held = np.bincount(
        state.brokers.rack_idx[draft.holds], minlength=len(state.brokers.racks)
    )
    count_of = {
        name: int(held[k])
        for k, name in enumerate(state.brokers.racks)
        if name is not None
    }
    for _ in range(count):
        rack = min(sorted(names), key=lambda name: count_of[name]) if names else None
        if rack is not None:
            count_of[rack] += 1
        yield rack


def _added(
    draft: Draft, racks: tuple[str | None, ...], capacities: Mapping[Resource, float]
) -> Family:
    """Yield new brokers: with the missing capacity, with more, and more brokers."""
    heaviest = {r: _add_margin(draft, r, value) for r, value in capacities.items()}
    if len(racks) <= MOST_NEW:
        yield Remedy(what="add-brokers", racks=racks, capacities=dict(capacities))
    if capacities and len(racks) <= MOST_NEW:
        yield Remedy(what="add-brokers", racks=racks, capacities=heaviest)
    if len(racks) == 1:
        for count in (2, 3):
            yield Remedy(
                what="add-brokers", racks=racks * count, capacities=dict(capacities)
            )


def _add_margin(draft: Draft, resource: Resource, value: float) -> float:
    """Return a capacity plus the heaviest replica, or plus a tenth if that is more."""
    r = RESOURCES.index(resource)
    weights = draft.weights
    most = int((weights.replica[:, r] + weights.leader[:, r]).max(initial=0))
    usable = draft.settings.capacity_thresholds.get(resource, 1.0)
    return rounded_up(max(value + most / UNITS[resource] / usable, value * 1.1))


def _kept(asked: Asked, draft: Draft, racks: tuple[str | None, ...]) -> Family:
    """Yield sets of brokers to keep instead of removing them, the smallest first."""
    if not isinstance(asked.operation, RemoveBrokers):
        return
    brokers = draft.state.brokers
    ids = [
        int(i)
        for i in brokers.ids[draft.to_empty & brokers.is_live].tolist()
        if i in asked.operation.broker_ids
    ]
    row_of = {int(i): b for b, i in enumerate(brokers.ids.tolist())}
    near = [i for i in ids if brokers.racks[brokers.rack_idx[row_of[i]]] in racks]
    chosen = near or ids
    for count in range(1, len(chosen) + 1):
        if count < len(asked.operation.broker_ids):
            yield Remedy(what="keep-brokers", brokers=tuple(chosen[-count:]))


def _started(draft: Draft, racks: tuple[str | None, ...]) -> Family:
    """Yield sets of brokers to start: those in `racks`, then all not live."""
    brokers = draft.state.brokers
    off = np.nonzero(~brokers.is_live)[0].tolist()
    near = [b for b in off if brokers.racks[brokers.rack_idx[b]] in racks]
    for chosen in dict.fromkeys((tuple(near), tuple(off))):
        if chosen:
            ids = tuple(int(brokers.ids[b]) for b in chosen)
            yield Remedy(what="start-brokers", brokers=ids)


def _of_rules(settings: Settings, helping: tuple[str, ...]) -> Iterator[Family]:
    """Yield the remedies for each rule that stands in the way of a plan."""
    for rule in sorted(helping, key=lambda name: name != "rack"):
        if rule.startswith(("capacity-", "host-")):
            yield _thresholds(settings, rule)
        elif rule in RAISED:
            continue
        elif rule in SOFT and rule not in settings.soft:
            yield iter((Remedy(what="soft", rule=rule),))
        elif rule != "log-dirs":
            yield iter((Remedy(what="leave-out", rule=rule),))


def _thresholds(settings: Settings, rule: str) -> Family:
    """Yield higher thresholds, the lowest first."""
    kind, name = rule.split("-")
    limits = (
        settings.host_thresholds if kind == "host" else settings.capacity_thresholds
    )
    for fraction in _fractions(limits.get(Resource(name), 1.0)):
        yield Remedy(what="raise", rule=rule, value=fraction)


def _fractions(now: float) -> list[float]:
    """
    Return the thresholds above one to try, in ascending order.

    Examples
    --------
    >>> _fractions(0.5), _fractions(0.8)
    ([0.55, 0.6, 0.65, 0.7, 0.85, 0.9, 0.95, 1.0], [0.85, 0.9, 0.95, 1.0])
    """
    first = floor(round(now / STEP, 6)) + 1
    near = {round(n * STEP, 2) for n in range(first, first + 4)}
    return sorted(f for f in near | set(FRACTIONS) if now < f <= 1.0)
