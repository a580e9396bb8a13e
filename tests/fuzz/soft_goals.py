"""Soft goals are no worse for nothing: worked out anew from the lists alone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz.drawn import Drawn
from fuzz.left_alone import why_left_alone
from placement.check import CheckSettings, Target, check
from placement.check.case.plan_case import look_up
from placement.check.goals.broker_bands import Band, banded
from placement.model.cluster import ABSENT, BrokerState, ClusterState, LogDirState
from placement.model.load import first_live_replica
from planner.options.cluster_options import read_request
from planner.plan.input.check_settings import with_chosen_rules
from planner.plan.run.make_plan import Planned, rules_of

BANDS = tuple(
    f"band-{resource}"
    for resource in ("disk", "in", "out", "cpu", "replicas", "leaders")
)
FREE = {"rebalance", "add-brokers"}
"""Operations that move what they need not."""
NEAR = 1e-6
"""Distances that differ by less are the same."""
ROUNDED = 2e-3
"""Rates are held in thousandths: distances told may differ by so much."""
WHOLE = ("disk", "replicas", "leaders")
"""What comes in whole units, so that bands end at some."""
MOST_UNDONE = 6
"""Partitions of a plan that are put back where they were, one at a time."""
Key = tuple[float, float]
Lists = list[list[int]]


def judge_soft_goals(case: Drawn, made: Planned) -> None:
    """Nothing changes that leaves soft goals as they are, or worse, for nothing."""
    if not are_bands_all(case):
        return
    rules = rules_of(made.plan, read_request(case.request, case.state))
    judge = SoftGoals(case, made, rules)
    judge.told()
    judge.whole()
    judge.parts()
    judge.sets()


def are_bands_all(case: Drawn) -> bool:
    """Tell whether bands are the soft goals there are, all of the same rank."""
    rules = case.request.options
    others = (
        rules.potential_out, rules.leader_in, rules.even_positions,
        rules.spread_topics, rules.spread_topic_leaders, rules.min_topic_leaders,
        rules.rules, rules.soft,
        rules.hard, rules.only_over_threshold,
    )  # fmt: skip
    is_inside = case.request.goal in {"log-dirs", "leaders", "demote"}
    return not any(others) and not is_inside


class SoftGoals:
    """One plan, beside what would be without some of it."""

    def __init__(self, case: Drawn, made: Planned, rules: CheckSettings) -> None:
        self.case, self.made, self.rules = case, made, rules
        found = made.plan.placed.reassignment
        self.state, after = found.before, found.after()
        every = range(self.state.num_partitions)
        self.old = [self.state.brokers_of(p) for p in every]
        self.new = [after.brokers_of(p) for p in every]
        self.document: Mapping[str, Any] = made.plan.settings | {"hard": list(BANDS)}

    def told(self) -> None:
        """
        How far out of band a plan tells to be is how far it is.

        Who will lead is told of every partition alike where all that serve are in sync.
        """
        brokers, replicas = self.state.brokers, self.state.replicas
        if not brokers.is_live.all() or not replicas.is_in_sync.all():
            return
        if (replicas.own_bytes >= 0).any() and self._brings_back():
            return
        told = self.made.plan.placed.solution.certificate.deviation.value
        outside = [
            _in_units(band).outside.max(initial=0) for band in self._bands(self.new)
        ]
        found = max(outside, default=0.0)
        assert abs(found - told) <= ROUNDED * (1 + found), f"{told} told, {found} found"

    def _brings_back(self) -> bool:
        """
        Tell whether a replica is where a lower factor had just dropped one.

        The plan weighs it as a copy of its leader, the checker as what lies there.
        """
        decided = self.made.plan.placed.draft.decided
        if decided is None:
            return False
        replicas, ids = self.state.replicas, self.state.brokers.ids
        dropped = np.nonzero(decided.is_dropped)[0]
        of, on = replicas.partition_idx[dropped], ids[replicas.broker_idx[dropped]]
        return any(b in self.new[p] for p, b in zip(of, on, strict=True))

    def whole(self) -> None:
        """What is free to change nothing changes what makes soft goals better."""
        if self.case.request.goal not in FREE or self.old == self.new:
            return
        if self._is_asked_for():
            return
        after = self.distance(self.new)
        # Bands go by the heaviest replicas: those before count, or those after.
        told = [self.distance(self.old, ends) for ends in (self.old, self.new)]
        is_better = any(is_less(after, before) for before in told)
        assert is_better, f"soft goals from {told} to {after}"

    def parts(self) -> None:
        """
        No partition could have stayed and all distances be less.

        The nearest plan is looked for, and not promised: a search that comes nearer in
        sum may end further out at one broker.
        """
        changed = [
            p
            for p, (old, new) in enumerate(zip(self.old, self.new, strict=True))
            if set(new) - set(old) and len(old) == len(new)
        ]
        wrong = self.wrong(self.new) if changed else set()
        for p in changed[:MOST_UNDONE]:
            if self.case.request.options.brokers or self._must_leave(p):
                continue
            lists = [*self.new]
            lists[p] = self.old[p]
            if self.wrong(lists) <= wrong:
                with_, without = self.distance(self.new), self.distance(lists, self.new)
                name = self.state.name_of(p)
                told = f"{name} moves for nothing: {without} without, {with_} with"
                is_worse = [w > o + NEAR for w, o in zip(with_, without, strict=True)]
                assert not all(is_worse), told

    def _is_asked_for(self) -> bool:
        """Tell whether a hard rule asks for some change."""
        brokers, leader = self.state.brokers, self.state.partitions.leader_idx
        demoted = np.flatnonzero(brokers.state == BrokerState.DEMOTED)
        # Who leads, and who would lead again after the next election.
        first = first_live_replica(self.state)
        successor = self.state.replicas.broker_idx[first[first != ABSENT]]
        is_led = bool(
            np.isin(leader, demoted).any() or np.isin(successor, demoted).any()
        )
        must = any(self._must_leave(p) for p in range(self.state.num_partitions))
        return is_led or must or bool(self.wrong(self.old))

    def _must_leave(self, p: int) -> bool:
        """Tell whether a replica of a partition lies where it may not stay."""
        if self._in_other_sets(p, self.old):
            return True
        start, stop = self.state.replicas.start[p : p + 2].tolist()
        brokers, replicas = self.state.brokers, self.state.replicas
        leaving = set(self.rules.leaving_brokers)
        leaving |= set(self.case.request.options.broker)
        if leaving & set(self.old[p]):
            return True
        on, lies = replicas.broker_idx[start:stop], replicas.log_dir_idx[start:stop]
        known = lies[lies != ABSENT]
        is_gone = self.state.log_dirs.state[known] == LogDirState.OFFLINE
        return bool(is_gone.any()) or not bool(brokers.is_live[on].all())

    def sets(self) -> None:
        """No replica stays in another broker set than its topic's if it may move."""
        if self.case.request.goal not in FREE or self.case.request.options.keep_topics:
            return
        for p in range(self.state.num_partitions):
            stays = self._in_other_sets(p, self.new) & self._in_other_sets(p, self.old)
            why = why_left_alone(self.case, self.state, p, set()) if stays else None
            told = f"{self.state.name_of(p)} stays in another set: {stays}"
            assert why or not stays, told

    def _in_other_sets(self, p: int, lists: Lists) -> set[int]:
        """
        Return brokers of a partition in another set than its topic's.

        The checker lets replicas stay there that nobody moves, and finds nothing wrong.
        """
        told = self.made.plan.settings["broker_sets"]
        if told is None:
            return set()
        brokers = self.state.brokers
        names = [*brokers.broker_sets, ""]
        rows = zip(brokers.ids.tolist(), brokers.broker_set_idx.tolist(), strict=True)
        own = {broker: names[row] for broker, row in rows}
        topic = self.state.topics.names[int(self.state.partitions.topic_idx[p])]
        return {broker for broker in lists[p] if own[broker] != told[topic]}

    def distance(self, lists: Lists, ends: Lists | None = None) -> Key:
        """
        Return the largest distance outside a band, and the sum of all.

        Parameters
        ----------
        lists
            Where replicas lie.
        ends
            Lists whose bands count: these go by the heaviest replica of each broker.
            `None`: those of `lists`.
        """
        found = self._bands(lists)
        if ends is not None:
            both = zip(self._bands(ends), found, strict=True)
            found = [replace(band, load=there.load) for band, there in both]
        every = np.concatenate([np.zeros(1), *(band.outside for band in found)])
        return float(every.max()), float(every.sum())

    def _bands(self, lists: Lists) -> list[Band]:
        case = look_up(self.state, self._target(lists), self.rules)
        goals = with_chosen_rules(
            self.rules, self.document, self.state, self.case.request.goal
        ).hard_goals
        return [] if goals is None else list(banded(case, goals))

    def wrong(self, lists: Lists) -> set[tuple[object, ...]]:
        """Return rules and places of all that is wrong, whoever has caused it."""
        rules = replace(self.rules, hard_goals=None)
        return {
            (f.rule, f.where.topic, f.where.partition, f.where.broker, f.where.resource)
            for f in check(self.state, self._target(lists), rules)
        }

    def _target(self, lists: Lists) -> Target:
        # Lists of what is being reassigned name copies that do not count yet.
        rows = [
            p
            for p, is_left in enumerate(self.state.is_reassigning.tolist())
            if not (is_left and lists[p] == self.old[p])
        ]
        return as_lists(self.state, lists, rows)


def _in_units(band: Band) -> Band:
    """Return a band that ends where a load of whole units can be."""
    if band.resource not in WHOLE:
        return band
    lower, upper = np.ceil(band.lower - NEAR), np.floor(band.upper + NEAR)
    return replace(band, lower=lower, upper=upper)


def as_lists(state: ClusterState, lists: Lists, rows: list[int]) -> Target:
    """Return lists of some partitions as the checker takes them."""
    names = [state.topics.names[t] for t in state.partitions.topic_idx[rows]]
    numbers = state.partitions.partition[rows].tolist()
    return Target.from_lists(names, numbers, [lists[p] for p in rows])


def is_less(one: Key, other: Key) -> bool:
    """Tell whether a distance is less, the largest first."""
    if abs(one[0] - other[0]) > NEAR:
        return one[0] < other[0]
    return one[1] < other[1] - NEAR
