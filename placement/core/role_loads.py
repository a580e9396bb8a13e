"""
Bring the loads of bins into their bands by handing on roles, counts kept even.

A bin out of its band is relieved by what passes through it: a role handed to another
bin which hands one on, and so on back to the first (counts stay what they are), or a
chain between two bins whose counts may be exchanged. All such cycles and chains of up
to three bins through a bin are looked at together, and the best that still help are
carried out. In the end changed roles are handed back where that leaves bands alone.
"""

from dataclasses import dataclass

import numpy as np

from placement.core.arrangement import Arrangement, loads
from placement.core.deadline import Deadline
from placement.core.problem import (
    NO_LIMIT,
    BoolArray,
    FloatArray,
    IntArray,
    Problem,
)
from placement.core.verify_roles import may_take_role

MOST_SWEEPS = 6
"""Rounds over all bins that are out of their bands."""
FEW_EXCHANGES, MOST_EXCHANGES = 1_000, 30_000
"""
About so many exchanges are looked at together; of more, an even choice by weight.

Few relieve nearly every bin of a large problem at a tenth of the time; what is left
looks at more.
"""
MOST_TRIED = 64
"""Of these the best are carried out, one after the other, while they still help."""
LEAST_GAIN = 1e-9
"""What an exchange makes of the penalty of its bins must be less by this fraction."""
OVER_CAPACITY = 1e6
"""What being over a capacity weighs against being out of a band."""


@dataclass(slots=True, eq=False)
class _Hops:
    """Handovers that are possible from some bins: who gives what to whom."""

    tail: IntArray
    head: IntArray
    item: IntArray


class RoleBalancer:
    """
    One problem whose roles are handed on, and who holds them meanwhile.

    Parameters
    ----------
    problem
        Items stay where they are.
    role_of
        ``(G,)`` item that has each role; changed in place.
    count_column
        The resource of counts, whose evenness is kept; -1: counts are free.
    deadline
        When to end with what there is.
    """

    def __init__(
        self,
        problem: Problem,
        role_of: IntArray,
        count_column: int,
        deadline: Deadline,
    ) -> None:
        self._deadline = deadline
        self.problem = problem
        self.role_of = role_of
        self.count_column = count_column
        bins = problem.bins
        has_band = bins.target > 0
        self.columns = np.nonzero(
            (has_band | (bins.capacity < NO_LIMIT)).any(axis=0)
            & problem.role_weight.any(axis=0)
            & (np.arange(problem.num_resources) != count_column)
        )[0]
        columns = self.columns
        self.unit = np.where(has_band, bins.target, 1.0)[:, columns]
        self.lower = np.where(has_band, bins.lower, 0)[:, columns]
        self.upper = np.where(has_band, bins.upper, NO_LIMIT)[:, columns]
        self.capacity = bins.capacity[:, columns]
        self.weight = problem.role_weight[:, columns].astype(np.float64)
        at = Arrangement(problem.home, role_of.copy())
        self.load = loads(problem, at)[:, columns].astype(np.float64)
        self.may_take = may_take_role(problem)
        home = problem.home.astype(np.int64)
        self._items_at = _rows_by(home, self.may_take, problem.num_bins)
        held = problem.home[role_of[role_of >= 0]]
        self.count = np.bincount(held, minlength=problem.num_bins)
        led_at = np.full(problem.num_groups, -1, dtype=np.int64)
        led_at[role_of >= 0] = held
        self._led = _rows_by(led_at, led_at >= 0, problem.num_bins)
        self._goes_home = False
        self._touched: set[int] = set()
        self._look_at(MOST_EXCHANGES)

    def penalty(self, bins: IntArray, load: FloatArray) -> FloatArray:
        """Return how much it matters that bins carry ``(n, R)`` loads."""
        off = np.maximum(load - self.upper[bins], self.lower[bins] - load)
        over = np.maximum(load - self.capacity[bins], 0.0)
        unit = self.unit[bins]
        each = (np.maximum(off, 0.0) / unit) ** 2 + OVER_CAPACITY * (over / unit) ** 2
        found: FloatArray = each.sum(axis=1)
        return found

    def _look_at(self, most_exchanges: int) -> None:
        """Look at so many exchanges together from now on."""
        self._most_exchanges = most_exchanges
        self._most_hops = int((most_exchanges * self.problem.num_bins) ** (1 / 3)) + 1
        self._away: dict[int, IntArray] = {}

    def improve(self) -> None:
        """Relieve the bins out of their bands, worst first, while that helps."""
        for most in (FEW_EXCHANGES, MOST_EXCHANGES):
            self._look_at(most)
            self._sweep()

    def _sweep(self) -> None:
        every = np.arange(self.problem.num_bins)
        for _ in range(MOST_SWEEPS):
            penalty = self.penalty(every, self.load)
            worst = np.argsort(-penalty, kind="stable")
            gained = [self._relieve(int(b)) for b in worst if penalty[b] > 0]
            if not any(gained):
                break

    def hand_back(self) -> None:
        """Undo changes that no band needs, as many as can be found."""
        self._goes_home = True
        self._away.clear()
        home, is_held = self.problem.home, self.role_of >= 0
        is_changed = is_held & (self.role_of != self.problem.role_home)
        places = np.unique(home[self.role_of[is_changed]]).tolist()
        for _ in range(MOST_SWEEPS):
            self._touched = set()
            for b in places:
                self._relieve(b)
            # Nothing is new for exchanges that pass through none of these.
            places = sorted(self._touched)
        self._goes_home = False
        self._away.clear()

    def _relieve(self, b: int) -> bool:
        """Carry out the best exchanges through a bin; tell whether there was one."""
        if self._deadline.is_over():
            return False
        chains = self._chains(b, self._hops(np.array([b])))
        chains = [chain for chain in chains if len(chain)]
        scored = [
            (float(gain), len(chain[0]), tuple(chain[row].tolist()))
            for chain in chains
            for gain, row in self._best(chain)
        ]
        done = False
        for _, _, items in sorted(scored):
            if not self._goes_home and self._is_content(b):
                break
            done |= self._try(items)
        return done

    def _is_content(self, b: int) -> bool:
        return bool(self.penalty(np.array([b]), self.load[[b]])[0] == 0)

    def _helps(self, before: float, after: float) -> bool:
        """Tell whether penalties get less; handing back may leave them as they are."""
        return after <= before if self._goes_home else after < before * (1 - LEAST_GAIN)

    def _hops(self, bins: IntArray) -> _Hops:
        """Return handovers from some bins, an even choice by weight of too many."""
        return self._as_hops(np.concatenate([self._away_from(int(b)) for b in bins]))

    def _away_from(self, b: int) -> IntArray:
        if b in self._away:
            return self._away[b]
        groups = self._led[b]
        start = self.problem.group_start
        size = start[groups + 1] - start[groups]
        first = np.repeat(start[groups] - np.cumsum(size) + size, size)
        items = first + np.arange(int(size.sum()))
        self._away[b] = self._thin(items[self._is_open(items)], self._most_hops)
        return self._away[b]

    def _into(self, b: int) -> _Hops:
        """Return handovers to a bin."""
        items = self._items_at[b]
        return self._as_hops(self._thin(items[self._is_open(items)], self._most_hops))

    def _is_open(self, items: IntArray) -> BoolArray:
        """Return which items could take their group's role from another."""
        group = self.problem.group_of[items]
        held = self.role_of[group]
        is_open: BoolArray = self.may_take[items] & (held >= 0) & (items != held)
        if self._goes_home:
            is_open &= items == self.problem.role_home[group]
        return is_open

    def _thin(self, items: IntArray, most: int) -> IntArray:
        if len(items) <= most:
            return items
        weight = self.weight[self.problem.group_of[items], 0]
        order = items[np.argsort(weight, kind="stable")]
        return order[np.linspace(0, len(items) - 1, most).astype(np.int64)]

    def _as_hops(self, items: IntArray) -> _Hops:
        home = self.problem.home
        held = self.role_of[self.problem.group_of[items]]
        return _Hops(home[held].astype(np.int64), home[items].astype(np.int64), items)

    def _chains(self, b: int, away: _Hops) -> list[IntArray]:
        """Return ``(n, k)`` items that take roles, for exchanges through a bin."""
        back = self._into(b)
        found = [
            away.item[self._may_exchange(b, away.head)][:, None],
            back.item[self._may_exchange(back.tail, b)][:, None],
        ]
        heads = np.unique(away.head)
        if not len(heads):
            return found
        left, right = _join(away.head, back.tail)
        found.append(np.stack([away.item[left], back.item[right]], axis=1))
        on = self._on_from(b, heads, back.tail)
        left, right = _join(away.head, on.tail)
        second, third = _join(on.head[right], back.tail)
        left, right = left[second], right[second]
        triples = [away.item[left], on.item[right], back.item[third]]
        found.append(np.stack(triples, axis=1))
        return found

    def _on_from(self, b: int, bins: IntArray, ends: IntArray) -> _Hops:
        """Return handovers from some bins to some others, not too many."""
        items = np.concatenate([self._away_from(int(tail)) for tail in bins])
        is_end = np.zeros(self.problem.num_bins, dtype=np.bool_)
        is_end[ends] = True
        is_end[b] = False
        items = items[is_end[self.problem.home[items]]]
        return self._as_hops(self._thin(items, self._most_exchanges))

    def _may_exchange(self, tail: IntArray | int, head: IntArray | int) -> IntArray:
        """Return which of two bins could exchange counts and be as even as they are."""
        tail, head = np.broadcast_arrays(tail, head)
        if self.count_column < 0:
            return np.arange(len(tail))
        share = self.problem.bins.target[:, self.count_column]
        is_even = np.isclose(share[tail], share[head], rtol=1e-11, atol=0.0)
        is_even &= self.count[tail] == self.count[head] + 1
        return np.nonzero(is_even & (share[tail] > 0))[0]

    def _best(self, chain: IntArray) -> list[tuple[float, int]]:
        """Return what the best exchanges make of the penalty, and their rows."""
        group = self.problem.group_of[chain]
        head = self.problem.home[chain].astype(np.int64)
        tail = self.problem.home[self.role_of[group]].astype(np.int64)
        moved = self.weight[group]
        if np.equal(tail[:, 0], head[:, -1]).all():
            ends, change = tail, np.roll(moved, 1, axis=1) - moved
        else:
            ends = np.concatenate([tail[:, :1], head], axis=1)
            none = np.zeros_like(moved[:, :1])
            change = np.concatenate([none, moved], axis=1)
            change = change - np.concatenate([moved, none], axis=1)
        gain = np.zeros(len(chain))
        for bins, more in zip(ends.T, change.transpose(1, 0, 2), strict=True):
            load = self.load[bins]
            gain += self.penalty(bins, load + more) - self.penalty(bins, load)
        some = np.argsort(gain, kind="stable")[:MOST_TRIED]
        kept = some[gain[some] <= 0]
        return [(float(gain[row]), int(row)) for row in kept]

    def _try(self, items: tuple[int, ...]) -> bool:
        """Carry out an exchange if it still is one, and still helps."""
        problem = self.problem
        groups = [int(problem.group_of[item]) for item in items]
        tails = [int(problem.home[self.role_of[group]]) for group in groups]
        heads = [int(problem.home[item]) for item in items]
        follows = all(h == t for h, t in zip(heads[:-1], tails[1:], strict=True))
        is_own = any(t == h for t, h in zip(tails, heads, strict=True))
        is_cycle = heads[-1] == tails[0]
        if not follows or is_own or len(set(groups)) < len(groups):
            return False
        if not is_cycle and not len(
            self._may_exchange(np.array([tails[0]]), np.array([heads[-1]]))
        ):
            return False
        bins = np.array(sorted({*tails, *heads}))
        change = np.zeros((len(bins), len(self.columns)))
        place = {b: row for row, b in enumerate(bins.tolist())}
        for group, tail, head in zip(groups, tails, heads, strict=True):
            change[place[tail]] -= self.weight[group]
            change[place[head]] += self.weight[group]
        before = self.penalty(bins, self.load[bins]).sum()
        after = self.penalty(bins, self.load[bins] + change).sum()
        if not self._helps(before, after):
            return False
        self.load[bins] += change
        for item, group, tail, head in zip(items, groups, tails, heads, strict=True):
            self._hand_over(item, group, tail, head)
        return True

    def _hand_over(self, item: int, group: int, tail: int, head: int) -> None:
        self.role_of[group] = item
        led = self._led[tail]
        self._touched |= {tail, head}
        self._away.pop(tail, None)
        self._away.pop(head, None)
        self._led[tail] = led[led != group]
        self._led[head] = np.append(self._led[head], group)
        self.count[tail] -= 1
        self.count[head] += 1


def _rows_by(keys: IntArray, chosen: BoolArray, count: int) -> list[IntArray]:
    """Return the chosen rows of each key."""
    rows = np.nonzero(chosen)[0]
    order = rows[np.argsort(keys[rows], kind="stable")]
    ends = np.searchsorted(keys[order], np.arange(count + 1))
    return [order[ends[k] : ends[k + 1]] for k in range(count)]


def _join(left: IntArray, right: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of rows in which two columns are equal."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    first = np.searchsorted(ordered, left, side="left")
    size = np.searchsorted(ordered, left, side="right") - first
    rows = np.repeat(np.arange(len(left)), size)
    offset = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    return rows, order[np.repeat(first, size) + offset]
