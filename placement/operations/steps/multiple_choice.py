r"""
Choose one of a few options for each partition to bring brokers near their bands.

Used for decisions by partition that copy nothing: the leader in place of a broker that
may not lead, the copy that a lower replication factor drops. An option changes the
loads of a few brokers. The sum of :math:`(d / T)^2` is minimised, with :math:`d` a
broker's distance outside its band and :math:`T` its target; capacities come before all.

*Algorithm*: a greedy choice, the heaviest partitions first; then repeated improvement
of each partition until no choice improves; then the first option of those of equal
cost, so that no leader changes without a gain. Takes time proportional to the number of
options, a few times over.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from placement.array_types import RowArray
from placement.core.model.problem import NO_LIMIT, Limits
from placement.draft.draft import Draft
from placement.model.load import (
    RESOURCES,
    WeightArray,
    broker_loads,
    heaviest_replicas,
    preferred_leaders,
)
from placement.model.targets import Members, find_targets, share_out
from placement.operations.steps.batched_choice import Batches, Flat
from placement.operations.steps.load_options import Options, worth_of
from placement.operations.steps.option_exchanges import exchanged
from placement.rules.hard_levels import broker_limits

OVER = 1e6
"""Penalty per target of a load over its capacity, besides squared distances."""
LEAST_GAIN = 1e-12
"""Gains below this value are rounding."""
MOST_SWEEPS = 10
MOST_OPTIONS = 1000
"""Maximum number of options for which an exact model looks for a nearer choice."""
FEW = 2000
"""Maximum number of partitions that choose one by one, by the latest loads."""


def limits_of(draft: Draft, incoming: WeightArray | None = None) -> Limits:
    """
    Return the bands and capacities of a draft's brokers.

    Parameters
    ----------
    draft
        Draft with the present loads, led by the first live replicas.
    incoming
        ``(R,)`` additional load from brokers that no longer count for it.
    """
    state = draft.state
    leader = preferred_leaders(state)
    bands = {resource: draft.settings.band(resource) for resource in RESOURCES}
    members = Members(holds=draft.holds, leads=draft.leads)
    targets = find_targets(
        share_out(state, draft.weights, members, bands),
        broker_loads(state, draft.weights, leader),
        heaviest_replicas(state, draft.weights, leader),
        incoming,
    )
    return broker_limits(draft, targets, draft.balanced_resources())


def choose(options: Options, load: WeightArray, limits: Limits) -> RowArray:
    """
    Choose an option for every partition.

    Parameters
    ----------
    options
        Options of each partition.
    load
        ``(B, R)`` loads of the brokers without any option.
    limits
        Bands and capacities of the brokers.

    Returns
    -------
    ``(G,)`` the option of each partition, a row of `options`.
    """
    if len(options.start) - 1 <= FEW:
        return _Chooser(options, load, limits).run()
    flat = Flat(
        start=options.start,
        change_start=options.change_start,
        broker_idx=options.broker_idx,
        change=options.change.astype(np.float64),
    )
    return Batches(flat, load, limits, OVER, LEAST_GAIN).run(MOST_SWEEPS)


def choose_nearest(
    draft: Draft, options: Options, load: WeightArray, limits: Limits
) -> RowArray:
    """
    Choose an option for every partition, few of them by an exact model.

    Quick effort and choices within all bands need no model. Parameters and result as
    for `choose`; `draft` has the settings.
    """
    chosen = choose(options, load, limits)
    if not is_exact(draft, len(options.change_start) - 1):
        return chosen
    if not worth_of(options, load, limits, chosen).largest:
        return chosen
    from placement.operations.steps.exact_choice import nearest_choice

    chosen = exchanged(options, load, limits, chosen)
    return nearest_choice(options, load, limits, chosen)


def is_exact(draft: Draft, num_options: int) -> bool:
    """Return whether an exact model chooses among so many options."""
    return draft.settings.effort != "quick" and num_options <= MOST_OPTIONS


class _Chooser:
    """Options, loads and limits as plain lists, for steps on single numbers."""

    def __init__(self, options: Options, load: WeightArray, limits: Limits) -> None:
        counted = (limits.target > 0) | (limits.capacity < NO_LIMIT)
        used = np.nonzero(counted.any(axis=0))[0]
        self.load = load[:, used].astype(np.float64).tolist()
        self.lower = limits.lower[:, used].tolist()
        self.upper = limits.upper[:, used].tolist()
        self.capacity = limits.capacity[:, used].tolist()
        unit = np.where(limits.target > 0, limits.target, 1.0)[:, used]
        self.unit = unit.tolist()
        self.is_banded = (limits.target > 0)[:, used].tolist()
        self.start = options.start.tolist()
        self.changes = _by_option(options, options.change[:, used])
        size = np.abs(options.change[:, used] / unit[options.broker_idx]).sum(axis=1)
        self.size = [
            max((sum(size[slice(*self._span(options, o))]) for o in of), default=0.0)
            for of in self._groups()
        ]

    def _groups(self) -> Iterator[range]:
        for g in range(len(self.start) - 1):
            yield range(self.start[g], self.start[g + 1])

    @staticmethod
    def _span(options: Options, option: int) -> tuple[int, int]:
        first, last = options.change_start[option : option + 2].tolist()
        return first, last

    def run(self) -> RowArray:
        """Choose greedily, then improve until no choice improves."""
        groups = list(self._groups())
        order = sorted(range(len(groups)), key=lambda g: (-self.size[g], g))
        chosen = [0] * len(groups)
        for g in order:
            chosen[g] = self._best(groups[g])
            self._apply(chosen[g], 1)
        self._sweep(order, groups, chosen)
        for g in order:
            self._prefer(g, groups[g], chosen)
        self._sweep(order, groups, chosen)
        return np.array(chosen, dtype=np.int64)

    def _sweep(
        self, order: Sequence[int], groups: Sequence[range], chosen: list[int]
    ) -> None:
        """Change partitions to better options until none improves."""
        for _ in range(MOST_SWEEPS):
            if not sum(self._better(g, groups[g], chosen) for g in order):
                break

    def _prefer(self, g: int, group: range, chosen: list[int]) -> None:
        """Choose the first option of a partition that costs no more than its own."""
        old = chosen[g]
        if old == group.start:
            return
        self._apply(old, -1)
        most = self._cost(old) + LEAST_GAIN
        as_good = (o for o in range(group.start, old) if self._cost(o) <= most)
        chosen[g] = next(as_good, old)
        self._apply(chosen[g], 1)

    def _better(self, g: int, group: range, chosen: list[int]) -> bool:
        """Choose the best option of a partition, all other options being fixed."""
        old = chosen[g]
        if len(group) == 1:
            return False
        self._apply(old, -1)
        best = self._best(group)
        if self._cost(best) > self._cost(old) - LEAST_GAIN:
            best = old
        chosen[g] = best
        self._apply(best, 1)
        return best != old

    def _best(self, group: range) -> int:
        """Return the option of least cost, the first of equals."""
        best, least = group.start, self._cost(group.start)
        for option in group[1:]:
            cost = self._cost(option)
            if cost < least - LEAST_GAIN:
                best, least = option, cost
        return best

    def _cost(self, option: int) -> float:
        """Return the increase of the sum of penalties by an option."""
        total = 0.0
        for broker, change in self.changes[option]:
            now = self.load[broker]
            for r, added in enumerate(change):
                if added:
                    total += self._penalty(broker, r, now[r] + added)
                    total -= self._penalty(broker, r, now[r])
        return total

    def _penalty(self, b: int, r: int, load: float) -> float:
        cost: float = OVER * max(load - self.capacity[b][r], 0.0) / self.unit[b][r]
        if self.is_banded[b][r]:
            off = max(load - self.upper[b][r], self.lower[b][r] - load, 0.0)
            cost += float((off / self.unit[b][r]) ** 2)
        return cost

    def _apply(self, option: int, sign: int) -> None:
        for broker, change in self.changes[option]:
            now = self.load[broker]
            for r, added in enumerate(change):
                now[r] += sign * added


def _by_option(
    options: Options, change: WeightArray
) -> list[list[tuple[int, list[float]]]]:
    """Return the changes of each option, one per broker."""
    found = []
    brokers, rows = options.broker_idx.tolist(), change.astype(np.float64).tolist()
    bounds = options.change_start.tolist()
    for first, last in pairwise(bounds):
        merged: dict[int, list[float]] = {}
        for d in range(first, last):
            known = merged.setdefault(brokers[d], [0.0] * change.shape[1])
            merged[brokers[d]] = [a + b for a, b in zip(known, rows[d], strict=True)]
        found.append(list(merged.items()))
    return found
