"""
Soft rules: kept if a plan can keep all of them, and relaxed as little as possible.

*Order.* Objectives in lexicographic order: hard rules, soft rules, bands, bytes. A
first plan is made with every rule hard; if it keeps them all, it is the result.
Otherwise soft rules are relaxed in the order in which they are named: the first, then
the first two, and so on, until a plan keeps all others. Then each rule relaxed before
the last one is restored if a plan still keeps it.
The same applies if a plan keeps all rules and misses hard goals: hard goals rank before
soft rules, and no other goal counts meanwhile.
*Amount.* The plan is first made without bands, with the relaxed rules as goals where
they count something, so that the search violates them as little as it can. The amounts
of this plan become the new limits, and the plan is made again under these limits, with
its bands.
*Steps.* Racks, topics together and locality are relaxed first for the partitions alone
that no plan could place, then for more partitions, then for all. Topics apart may share
one broker more, then two, four, …, until a plan is found. Caps are lifted: the need of
a plan that moves only what it must becomes their new limit
(`placement.planning.elastic.least_caps`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from placement.array_types import BoolArray
from placement.core.model.problem import NO_LIMIT
from placement.draft.draft import Note, Settings
from placement.draft.soft_rules import Eased
from placement.model.load import RESOURCES, WeightArray, loads_of
from placement.planning.elastic.hard_goals import GOALS_LEFT, all_missed, hard_alone
from placement.planning.elastic.least_caps import Planner, cap_notes, least_caps
from placement.planning.elastic.soft_notes import (
    broker_sets,
    fullest_of,
    rack_broken,
    rack_caps,
    rules_of,
    soft_notes,
)
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.broker_sets import strays_of
from placement.rules.colocation import TopicsTogether, numbered
from placement.rules.hard_levels import ruled_capacities
from placement.rules.hosts import host_loads
from placement.rules.rack_rules import rack_changes
from placement.rules.registry import rules_named
from placement.rules.soft_caps import CAPS, dear_price, with_caps_of, without_caps

LOCALITY = "locality-scoped"
ANY = 2**31 - 1
"""Rack limit above the number of replicas of any rack."""
MOST_TRIES = 16
"""Maximum number of plans made to separate fewer partitions."""
MOST_ROUNDS = 8
"""Maximum number of rounds that relax further partitions in the way of a plan."""
_FIELDS: Mapping[str, set[str]] = {
    "rack": {"rack_most"},
    "topics-apart": {"more_shared"},
    "topics-together": {"parted"},
    LOCALITY: {"far", "movers"},
    **{name: set() for name in CAPS},
}
"""Rules that are restored if possible, with the fields of `Eased` that relax each."""
Room = dict[str, Any]
"""Values for some fields of `Eased`."""


def soften(
    planned: Planner,
    settings: Settings,
    found: PlannedPlacement,
    *,
    for_goals: bool = False,
) -> PlannedPlacement:
    """
    Plan again with soft rules relaxed, as few rules and as little as possible.

    Parameters
    ----------
    planned
        Function that makes a plan under given settings.
    settings
        Settings whose `soft` rules are not all kept.
    found
        The plan with every rule hard.
    for_goals
        Whether hard goals have to be met, and not only the rules.
    """
    search = _Search(planned, settings, found, for_goals=for_goals)
    tried, eased = search.run()
    tried, capped = least_caps(search, settings, (tried, eased))
    room = _room(tried, eased)
    final = planned(replace(capped, eased=room))
    if search.is_met(tried) and not search.is_met(final):
        message = "bands do not count: with soft rules that give way no plan had them"
        left = Note(what="bands-left", message=message)
        if for_goals:
            left = Note(what="goals-left", message=GOALS_LEFT)
        final = replace(tried, notes=(*tried.notes, left))
    lacking = (
        *soft_notes(final.draft, final.reassignment, eased.rules),
        *cap_notes(final, settings),
    )
    return replace(final, notes=(*final.notes, *lacking))


class _Search:
    """Search for the fewest rules to relax; soft goals do not count."""

    def __init__(
        self,
        planned: Planner,
        settings: Settings,
        found: PlannedPlacement,
        *,
        for_goals: bool,
    ) -> None:
        self.planned, self.found, self.tried = planned, found, found
        self.soft = settings.soft
        self.settings = settings
        if not for_goals:
            self.settings = replace(settings, hard=frozenset())
        alone = hard_alone(self.settings, found.draft)
        self.aims = replace(alone, hard=settings.hard, names_log_dirs=False)

    def run(self) -> tuple[PlannedPlacement, Eased]:
        """Return a plan with the fewest relaxed rules, and the relaxations."""
        eased = Eased(rules=frozenset(), is_measured=True)
        for last, name in enumerate(self.soft):
            given_way = self.soft[: last + 1]
            loose = {
                field: value
                for before in self.soft[:last]
                for field, value in self._loosest(before).items()
            }
            for room in self._steps(name):
                eased = self._attempt(given_way, {**loose, **room})
                if self.is_met(self.tried):
                    best, eased = self._kept_again(given_way, eased)
                    return self._fewer_parted(best, eased)
            if self.settings.hard:
                loose |= self._loosest(name)
                eased = self._without_limits(rules_named(given_way), loose)
                if self.is_met(self.tried):
                    break
        return self.tried, eased

    def is_met(self, found: PlannedPlacement) -> bool:
        """Return whether a plan keeps the rules not relaxed yet, and the hard goals."""
        return found.has_met_rules and not all_missed(found, self.settings)

    def relaxed(self, settings: Settings, eased: Eased) -> Settings:
        """Return settings of a plan without bands, with the caps of `settings`."""
        return with_caps_of(replace(self.aims, eased=eased), settings)

    def _attempt(self, names: Sequence[str], room: Room) -> Eased:
        """Plan with some rules relaxed by `room`; return these relaxations."""
        eased = Eased(rules=rules_named(names), is_measured=True, **room)
        self._plan(eased)
        return eased

    def _without_limits(self, rules: frozenset[str], room: Room) -> Eased:
        """
        Plan without any limit for the relaxed rules; return these relaxations.

        Limits that serve as goals for the time being may conflict with a hard goal.
        """
        state = self.found.draft.state
        counts = state.num_brokers, len(state.brokers.hosts)
        capacity, of_hosts = (np.full((n, len(RESOURCES)), NO_LIMIT) for n in counts)
        strays = np.full((counts[0], len(state.brokers.broker_sets) + 1), NO_LIMIT)
        eased = Eased(
            rules=rules, is_measured=False, capacity=capacity, host_capacity=of_hosts,
            strays=strays, **room,
        )  # fmt: skip
        self._plan(eased)
        return eased

    def _plan(self, eased: Eased) -> None:
        price = dear_price(self.found.draft)
        cheaper = without_caps(replace(self.aims, eased=eased), price)
        self.tried = self.planned(cheaper)

    def _kept_again(
        self, names: Sequence[str], eased: Eased
    ) -> tuple[PlannedPlacement, Eased]:
        """Return a plan that restores as many of the relaxed rules as possible."""
        best, names = self.tried, list(names)
        for name in reversed(names[:-1]):
            if name not in _FIELDS:
                continue
            rest = [one for one in names if one != name]
            room = {
                field.name: getattr(eased, field.name)
                for field in fields(eased)
                if field.name not in {"rules", "is_measured", *_FIELDS[name]}
            }
            self.tried = self.found
            for less in (None, *self._steps(name)):
                kept = rest if less is None else names
                found = self._attempt(kept, room if less is None else {**room, **less})
                if self.is_met(self.tried):
                    best, eased, names = self.tried, found, list(kept)
                    break
        return best, eased

    def _fewer_parted(
        self, best: PlannedPlacement, eased: Eased
    ) -> tuple[PlannedPlacement, Eased]:
        """Return a plan that separates fewer partitions that belong together."""
        if eased.parted is None:
            return best, eased
        numbers = _parted_numbers(best, eased.parted)
        size, tries = len(numbers), 0
        while size > 1 and tries < MOST_TRIES:
            size = (size + 1) // 2
            for part in range(0, len(numbers), size):
                fewer = [*numbers[:part], *numbers[part + size :]]
                parted = np.zeros_like(eased.parted)
                parted[[row for rows in fewer for row in rows]] = True
                less = replace(eased, parted=parted)
                self._plan(less)
                tries += 1
                if self.is_met(self.tried):
                    best, eased = self.tried, less
                    numbers = _parted_numbers(best, parted)
                    break
        return best, eased

    def _steps(self, name: str) -> Iterator[Room]:
        """Yield at least one relaxation of a rule, from the tightest to the loosest."""
        steps = {
            "rack": self._rack_steps,
            "topics-apart": self._apart_steps,
            "topics-together": self._together_steps,
            LOCALITY: self._far_steps,
        }
        yield from steps[name]() if name in steps else iter(({},))

    def _loosest(self, name: str) -> Room:
        """Return the loosest relaxation of a rule."""
        count = self.found.draft.state.num_partitions
        every = np.ones(count, dtype=np.bool_)
        rooms: dict[str, Room] = {
            "rack": {"rack_most": self._any_rack()},
            "topics-apart": {"more_shared": self.found.draft.state.num_brokers},
            "topics-together": {"parted": every},
            LOCALITY: {"far": every, "movers": self._every_replica()},
        }
        return rooms.get(name, {})

    def _any_rack(self) -> WeightArray | None:
        cap = rack_caps(self.found.draft)
        return np.where(cap > 0, ANY, 0)

    def _every_replica(self) -> BoolArray:
        return np.ones(len(self.found.draft.state.replicas), dtype=np.bool_)

    def _rack_steps(self) -> Iterator[Room]:
        if self.found.draft.rack_cap is not None and LOCALITY not in self.soft:
            yield {}
            return
        cap = rack_caps(self.found.draft)
        chosen = _in_the_way(self.found)
        if chosen.any():
            yield {"rack_most": np.where(chosen, cap + (cap > 0), 0)}
        yield {"rack_most": cap + (cap > 0)}
        yield {"rack_most": np.where(cap > 0, ANY, 0)}

    def _apart_steps(self) -> Iterator[Room]:
        count, more = self.found.draft.state.num_brokers, 0
        while more < count:
            yield {"more_shared": more}
            more = max(2 * more, 1)
        yield {"more_shared": count}

    def _together_steps(self) -> Iterator[Room]:
        yield {"parted": np.zeros(self.found.draft.state.num_partitions, np.bool_)}
        for chosen in self._ever_more():
            yield {"parted": chosen}
        yield self._loosest("topics-together")

    def _far_steps(self) -> Iterator[Room]:
        every = self._loosest(LOCALITY)
        nothing_more = ~every["movers"]
        for chosen in self._ever_more():
            yield {"far": chosen, "movers": nothing_more}
            yield {"far": chosen, "movers": every["movers"]}
        yield {"far": every["far"], "movers": nothing_more}
        yield every

    def _ever_more(self) -> Iterator[BoolArray]:
        """Yield ``(P,)`` partitions in the way of the last plan, earlier ones too."""
        chosen = _in_the_way(self.tried)
        for _ in range(MOST_ROUNDS):
            if not chosen.any():
                return
            yield chosen
            more = chosen | _in_the_way(self.tried)
            if np.array_equal(more, chosen):
                return
            chosen = more


def _in_the_way(found: PlannedPlacement) -> BoolArray:
    """Return ``(P,)`` partitions without a place, or on an overfull broker."""
    after = found.reassignment.after()
    chosen = np.zeros(after.num_partitions, dtype=np.bool_)
    for shortfall in found.solution.shortfalls:
        if shortfall.group >= 0:
            chosen[shortfall.group] = True
    over = np.greater(loads_of(after)[0], ruled_capacities(found.draft))
    full: BoolArray = over.max(axis=1)
    on_full = full[after.replicas.broker_idx]
    chosen[after.replicas.partition_idx[on_full]] = True
    return chosen


def _room(tried: PlannedPlacement, eased: Eased) -> Eased:
    """Return the relaxations with the amounts that a plan needs of them."""
    draft, after = tried.draft, tried.reassignment.after()
    load, _ = loads_of(after)
    sets = broker_sets(draft)
    return replace(
        eased,
        is_measured=False,
        rack_most=None if eased.rack_most is None else _rack_most(tried),
        capacity=load,
        host_capacity=host_loads(draft, load),
        strays=None if sets is None else strays_of(after, sets.set_of_topic),
        parted=None if eased.parted is None else eased.parted & _are_parted(tried),
        **({} if eased.far is None else _changed_racks(tried, eased.far)),
    )


def _parted_numbers(tried: PlannedPlacement, parted: BoolArray) -> list[list[int]]:
    """Return the relaxed partitions that are apart, grouped by partition number."""
    after = tried.reassignment.after()
    return [
        rows
        for rule in rules_of(tried.draft, TopicsTogether)
        for rows in numbered(after, rule.topics)
        if parted[rows].any() and len({tuple(after.brokers_of(p)) for p in rows}) > 1
    ]


def _are_parted(tried: PlannedPlacement) -> BoolArray:
    """Return ``(P,)`` partitions whose list differs from one of equal number."""
    after = tried.reassignment.after()
    found = np.zeros(after.num_partitions, dtype=np.bool_)
    for rule in rules_of(tried.draft, TopicsTogether):
        for rows in numbered(after, rule.topics):
            lists = [after.brokers_of(p) for p in rows]
            found[rows] |= any(one != lists[0] for one in lists)
    return found


def _changed_racks(tried: PlannedPlacement, far: BoolArray) -> Room:
    """Return the partitions that had to change racks, and the replicas that moved."""
    draft, after = tried.draft, tried.reassignment.after()
    changed = far & (rack_changes(tried.reassignment.before, after) > 0)
    home = draft.state.replicas.broker_idx
    moved: BoolArray = np.not_equal(tried.solution.best.bin_of, home)
    return {"far": changed, "movers": moved}


def _rack_most(tried: PlannedPlacement) -> WeightArray:
    """Return ``(P,)`` replicas in the fullest rack of partitions with violations."""
    after, draft = tried.reassignment.after(), tried.draft
    fullest, broken = fullest_of(after, draft), rack_broken(after, draft)
    return np.where(broken, np.maximum(fullest, 1), 0)
