"""
Bring the loads of bins into their bands by handing on roles, counts kept even.

A bin out of its band is relieved by what passes through it: a role handed to another
bin which hands one on, and so on back to the first (counts stay what they are), or a
single one between two bins whose counts may be exchanged. All such cycles of up to
three bins through a bin are looked at together, and the best that still help are
carried out (`kernels.role_cycles`). In the end changed roles are handed back where that
leaves bands alone.
"""

from typing import Any

import numpy as np

from placement.core.model.arrangement import Arrangement, loads, rows_by_bin
from placement.core.model.deadline import Deadline
from placement.core.model.problem import (
    NO_LIMIT,
    FloatArray,
    IndexArray,
    IntArray,
    Problem,
)
from placement.core.roles.kernels.role_cycles import (
    MOST_TRIED,
    NO_ITEM,
    Hops,
    Roles,
    measure,
    relieve,
)
from placement.core.search.kernels.jit import compiled, is_running
from placement.core.verify.role_claims import may_take_role

PLAIN_ITEMS = 4_000
"""Up to so many items, compiling the kernel costs more than it saves."""
MOST_SWEEPS = 6
"""Rounds over all bins that are out of their bands."""
FEW_EXCHANGES, MOST_EXCHANGES = 1_000, 30_000
"""
About so many exchanges are looked at together; of more, some of all weights.

Few relieve nearly every bin of a large problem at a tenth of the time; what is left
looks at more.
"""
GOLDEN = 0.6180339887498949
"""Steps of this part of a turn fall evenly, however many there are."""
BINS_AT_ONCE = 64
"""Bins between two looks at the clock, where there is a deadline."""


class RoleBalancer:
    """
    One problem whose roles are handed on, and who holds them meanwhile.

    Parameters
    ----------
    problem
        Items stay where they are.
    role_of
        ``(G,)`` item that has each role.
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
        self._problem, self._deadline = problem, deadline
        self._is_compiled = problem.num_items > PLAIN_ITEMS or is_running([relieve])
        self._may_take = may_take_role(problem)
        self._items = _by_weight(problem)
        self._turn = 0.0
        self._columns = _columns(problem, count_column)
        self._weight = np.ascontiguousarray(problem.role_weight[:, self._columns])
        roles = _lay_out(problem, role_of, count_column, self._columns)
        self._roles = Roles(*(self._column(column) for column in roles))
        self._call(measure)

    def role_of(self) -> IntArray:
        """Return ``(G,)`` the item that has each role now."""
        return np.array(self._roles.holder, dtype=np.int64)

    def improve(self, few: int = FEW_EXCHANGES) -> None:
        """Relieve the bins out of their bands, worst first, while that helps."""
        for most in (few, MOST_EXCHANGES):
            for _ in range(MOST_SWEEPS):
                penalty = np.asarray(self._roles.penalty)
                worst = np.argsort(-penalty, kind="stable")
                worst = worst[penalty[worst] > 0]
                if not len(worst):
                    return
                hops = self._hops(most, goes_home=False)
                if not self._relieve(hops, worst, goes_home=False):
                    break

    def hand_back(self) -> None:
        """Undo changes that no band needs, as many as can be found."""
        bins = np.arange(self._problem.num_bins)
        for _ in range(MOST_SWEEPS):
            hops = self._hops(MOST_EXCHANGES, goes_home=True)
            if not self._relieve(hops, bins, goes_home=True):
                break

    def _hops(self, most_exchanges: int, *, goes_home: bool) -> Hops:
        """List what could change hands, for about so many exchanges through a bin."""
        problem = self._problem
        items, held = self._open(goes_home=goes_home)
        most = int((most_exchanges * problem.num_bins) ** (1 / 3)) + 1
        rows = self._some_of_each(problem.home[held], most)
        items, tail = items[rows], problem.home[held[rows]]
        head = problem.home[items]
        return Hops(
            start=self._column(_starts(tail, problem.num_bins)),
            into_start=self._column(_starts(head, problem.num_bins)),
            into=self._column(rows_by_bin(head, problem.num_bins)),
            item=self._column(items),
            group=self._column(problem.group_of[items].astype(np.int64)),
            tail=self._column(tail.astype(np.int64)),
            head=self._column(head.astype(np.int64)),
            cost=self._column(self._cost(items)),
        )

    def _open(self, *, goes_home: bool) -> tuple[IntArray, IntArray]:
        """Return items that could take a role, by weight, and those that have it."""
        items, group_of = self._items, self._problem.group_of
        role_of, first = self.role_of(), self._problem.role_home
        if goes_home:
            is_changed = (role_of >= 0) & (role_of != first) & (first >= 0)
            items = first[is_changed]
        held = role_of[group_of[items]]
        is_open = self._may_take[items] & (held >= 0) & (items != held)
        return items[is_open], held[is_open]

    def _cost(self, items: IntArray) -> IntArray:
        """Return how many more roles have changed hands once these items have them."""
        groups = self._problem.group_of[items]
        first = self._problem.role_home[groups]
        is_first = np.equal(self.role_of()[groups], first)
        return is_first.astype(np.int64) - np.equal(items, first)

    def _some_of_each(self, tail: IndexArray, most: int) -> IntArray:
        """
        Return rows by bin, so many of each at most: the lighter, the fewer of them.

        A bin that has much too much needs fewer exchanges of heavy roles against light
        ones. Every time it is another choice: what did not help is not all there is.
        """
        rows = rows_by_bin(tail, self._problem.num_bins)
        start = _starts(tail, self._problem.num_bins)
        count = np.diff(start)
        kept = np.minimum(count, most)
        of = np.repeat(np.arange(len(kept)), kept)
        place = np.arange(len(of)) - np.repeat(np.cumsum(kept) - kept, kept)
        self._turn = (self._turn + GOLDEN) % 1.0
        left = 1.0 - (place + self._turn) / kept[of]
        # A third as many as on average near the lightest, ever more with their weight.
        skipped = (count[of] - kept[of]) * (1.0 - left * left * left)
        some: IntArray = rows[start[of] + place + skipped.astype(np.int64)]
        return some

    def _column(self, values: IntArray | FloatArray) -> Any:  # noqa: ANN401 - array or list
        return values if self._is_compiled else values.tolist()

    def _call(self, entry: Any, *arguments: Any) -> int:  # noqa: ANN401 - kernels
        run = compiled(entry) if self._is_compiled else entry
        return int(run(self._roles, *arguments) or 0)

    def _relieve(self, hops: Hops, bins: IntArray, *, goes_home: bool) -> int:
        """Relieve bins one after the other; return how many exchanges there were."""
        none = np.zeros(len(hops.item), dtype=np.int64)
        weight = (
            self._weight[np.asarray(hops.group, dtype=np.int64)]
            .astype(np.float64)
            .ravel()
        )
        self._roles = self._roles._replace(
            weight=self._column(weight),
            next_into=self._column(none),
            goes_home=self._column(np.array([int(goes_home)])),
        )
        size = BINS_AT_ONCE if self._deadline.is_set else max(len(bins), 1)
        done = 0
        for first in range(0, len(bins), size):
            if self._deadline.is_over():
                break
            some = self._column(bins[first : first + size])
            done += self._call(relieve, hops, some)
        return done


def _columns(problem: Problem, count_column: int) -> IntArray:
    """Return the resources that count beside the number of roles."""
    has_limit = (problem.bins.target > 0) | (problem.bins.capacity < NO_LIMIT)
    has_part = has_limit.any(axis=0) & problem.role_weight.any(axis=0)
    return np.nonzero(has_part & (np.arange(problem.num_resources) != count_column))[0]


def _lay_out(
    problem: Problem, role_of: IntArray, count_column: int, columns: IntArray
) -> Roles:
    """Return the problem as tables for the kernel, its lists of exchanges empty."""
    bins = problem.bins
    has_band = bins.target > 0

    def flat(values: Any) -> Any:  # noqa: ANN401 - arrays of numbers
        return np.ascontiguousarray(values[:, columns], dtype=np.float64).ravel()

    share = np.zeros(problem.num_bins)
    if count_column >= 0:
        share = bins.target[:, count_column].astype(np.float64)
    led_at = np.where(role_of >= 0, problem.home[role_of], NO_ITEM).astype(np.int64)
    return Roles(
        weight=np.zeros(0),
        lower=flat(np.where(has_band, bins.lower, 0)),
        upper=flat(np.where(has_band, bins.upper, NO_LIMIT)),
        capacity=flat(bins.capacity),
        scale=flat(1.0 / np.where(has_band, bins.target, 1.0)),
        share=share,
        goes_home=np.zeros(1, dtype=np.int64),
        counts_matter=np.array([int(count_column >= 0)]),
        holder=role_of.astype(np.int64),
        led_at=led_at,
        load=flat(loads(problem, Arrangement(problem.home, role_of))),
        penalty=np.zeros(problem.num_bins),
        count=np.bincount(led_at[led_at >= 0], minlength=problem.num_bins),
        best_worth=np.zeros(MOST_TRIED),
        best_hops=np.zeros(3 * MOST_TRIED, dtype=np.int64),
        first_into=np.full(problem.num_bins, NO_ITEM, dtype=np.int64),
        next_into=np.zeros(0, dtype=np.int64),
    )


def _by_weight(problem: Problem) -> IntArray:
    """Return ``(I,)`` the items, those of the lightest roles first."""
    # Of several resources the first that roles have a part in decides.
    weight = problem.role_weight[:, problem.role_weight.any(axis=0).argmax()]
    groups = np.argsort(weight, kind="stable")
    start = problem.group_start
    size = start[groups + 1] - start[groups]
    first = np.repeat(start[groups] - np.cumsum(size) + size, size)
    items: IntArray = first + np.arange(problem.num_items)
    return items


def _starts(bins: IndexArray, num_bins: int) -> IntArray:
    """Return where each bin starts among rows that are ordered by bin."""
    counts = np.bincount(bins, minlength=num_bins)
    return np.append(0, np.cumsum(counts))
