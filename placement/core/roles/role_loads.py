"""
Balance of loads by handovers of roles, with counts kept even.

An exchange relieves a bin out of its band: a cycle of handovers through the bin, which
keeps all counts, or a single handover between two bins whose counts may be exchanged.
All cycles of up to three bins through a bin are evaluated together, and the best are
applied while they still help (`kernels.role_cycles`). In the end, changed roles return
to their initial holders where that leaves the bands unchanged.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from placement.array_types import FloatArray, IndexArray, IntArray
from placement.core.model.arrangement import Arrangement, loads, rows_by_bin
from placement.core.model.deadline import Deadline
from placement.core.model.problem import NO_LIMIT, Problem
from placement.core.roles.kernels.role_cycles import (
    MOST_TRIED,
    NO_ITEM,
    Hops,
    Roles,
    measure,
    relieve,
)
from placement.core.search.kernels.jit import compiled, is_at_hand, is_running
from placement.core.verify.role_claims import may_take_role

PLAIN_ITEMS = 4_000
"""Number of items up to which the kernel is not compiled from the start."""
LOADING_S, COMPILING_S = 0.5, 5.0
"""
Seconds that loading the compiled kernel from disk takes, and compiling it.

After as much uncompiled work about as much is likely to follow. The answer is the same
either way.
"""
MOST_SWEEPS = 6
"""Largest number of sweeps over all bins out of their bands."""
FEW_EXCHANGES, MOST_EXCHANGES = 1_000, 30_000
"""
Approximate numbers of exchanges per bin evaluated together; of more, a sample.

The small number relieves nearly every bin of a large problem in a tenth of the time;
the large number serves the remaining bins.
"""
GOLDEN = 0.6180339887498949
"""Golden-ratio step modulo 1, which distributes any number of steps evenly."""
BINS_AT_ONCE = 64
"""Number of bins between two checks of the deadline, if there is one."""


@dataclass(slots=True)
class PlainWork:
    """Seconds of uncompiled work of all balancers of a process."""

    seconds: float = 0.0


_plain = PlainWork()


class RoleBalancer:
    """
    Local search over the role holders of one problem, with their present state.

    Parameters
    ----------
    problem
        Problem whose items all stay.
    role_of
        ``(G,)`` initial holder of each role.
    count_column
        Resource of counts, whose evenness is kept; -1: counts are free.
    deadline
        Time at which to end with the present state.

    Attributes
    ----------
    is_compiled
        Whether the kernel runs compiled now.
    """

    def __init__(
        self,
        problem: Problem,
        role_of: IntArray,
        count_column: int,
        deadline: Deadline,
    ) -> None:
        self._problem, self._deadline = problem, deadline
        self.is_compiled = (
            problem.num_items > PLAIN_ITEMS
            or is_running([relieve])
            or self._pays_to_compile()
        )
        self._may_take = may_take_role(problem)
        self._items = _by_weight(problem)
        self._turn = 0.0
        self._columns = _columns(problem, count_column)
        self._weight = np.ascontiguousarray(problem.role_weight[:, self._columns])
        roles = _lay_out(problem, role_of, count_column, self._columns)
        self._kinds = [column.dtype for column in roles]
        self._roles = Roles(*(self._column(column) for column in roles))
        self._call(measure)

    def role_of(self) -> IntArray:
        """Return ``(G,)`` the item that holds each role now."""
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
        """Undo role changes that no band needs."""
        bins = np.arange(self._problem.num_bins)
        for _ in range(MOST_SWEEPS):
            hops = self._hops(MOST_EXCHANGES, goes_home=True)
            if not self._relieve(hops, bins, goes_home=True):
                break

    def _pays_to_compile(self) -> bool:
        """Return whether the kernel is to be compiled, or loaded, from now on."""
        left = self._deadline.left()
        has_time = left is None or left > 2 * COMPILING_S
        if _plain.seconds > COMPILING_S and has_time:
            return True
        return _plain.seconds > LOADING_S and is_at_hand([relieve])

    def _compile_if_it_pays(self) -> None:
        """Switch to the compiled kernel after much uncompiled work."""
        if self.is_compiled or not self._pays_to_compile():
            return
        self.is_compiled = True
        self._roles = Roles(
            *(
                np.array(column, dtype=kind)
                for column, kind in zip(self._roles, self._kinds, strict=True)
            )
        )

    def _hops(self, most_exchanges: int, *, goes_home: bool) -> Hops:
        """Return the handovers to try, for about `most_exchanges` exchanges per bin."""
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
        """Return items that may take a role, by weight, and the present holders."""
        items, group_of = self._items, self._problem.group_of
        role_of, first = self.role_of(), self._problem.role_home
        if goes_home:
            is_changed = (role_of >= 0) & (role_of != first) & (first >= 0)
            items = first[is_changed]
        held = role_of[group_of[items]]
        is_open = self._may_take[items] & (held >= 0) & (items != held)
        return items[is_open], held[is_open]

    def _cost(self, items: IntArray) -> IntArray:
        """Return the increase of role changes if each item takes its role."""
        groups = self._problem.group_of[items]
        first = self._problem.role_home[groups]
        is_first = np.equal(self.role_of()[groups], first)
        return is_first.astype(np.int64) - np.equal(items, first)

    def _some_of_each(self, tail: IndexArray, most: int) -> IntArray:
        """
        Return rows by bin, at most `most` of each, preferring heavy roles.

        A bin far above its band needs fewer exchanges of heavy roles for light ones.
        Every call returns another sample, so that later calls try other exchanges.
        """
        rows = rows_by_bin(tail, self._problem.num_bins)
        start = _starts(tail, self._problem.num_bins)
        count = np.diff(start)
        kept = np.minimum(count, most)
        of = np.repeat(np.arange(len(kept)), kept)
        place = np.arange(len(of)) - np.repeat(np.cumsum(kept) - kept, kept)
        self._turn = (self._turn + GOLDEN) % 1.0
        left = 1.0 - (place + self._turn) / kept[of]
        # A third of the average density near the lightest, increasing with weight.
        skipped = (count[of] - kept[of]) * (1.0 - left * left * left)
        some: IntArray = rows[start[of] + place + skipped.astype(np.int64)]
        return some

    def _column(self, values: IntArray | FloatArray) -> Any:  # noqa: ANN401 - array or list
        return values if self.is_compiled else values.tolist()

    def _call(self, entry: Any, *arguments: Any) -> int:  # noqa: ANN401 - kernels
        run = compiled(entry) if self.is_compiled else entry
        return int(run(self._roles, *arguments) or 0)

    def _relieve(self, hops: Hops, bins: IntArray, *, goes_home: bool) -> int:
        """Relieve bins one after the other; return the number of exchanges."""
        began = time.process_time()
        done = self._relieved(hops, bins, goes_home=goes_home)
        if not self.is_compiled:
            _plain.seconds += time.process_time() - began
            self._compile_if_it_pays()
        return done

    def _relieved(self, hops: Hops, bins: IntArray, *, goes_home: bool) -> int:
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
    """Return the limited resources with role weights, except the count of roles."""
    has_limit = (problem.bins.target > 0) | (problem.bins.capacity < NO_LIMIT)
    has_part = has_limit.any(axis=0) & problem.role_weight.any(axis=0)
    return np.nonzero(has_part & (np.arange(problem.num_resources) != count_column))[0]


def _lay_out(
    problem: Problem, role_of: IntArray, count_column: int, columns: IntArray
) -> Roles:
    """Return the tables of the kernel, with empty lists of exchanges."""
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
    # Sort by the first resource with role weights.
    weight = problem.role_weight[:, problem.role_weight.any(axis=0).argmax()]
    groups = np.argsort(weight, kind="stable")
    start = problem.group_start
    size = start[groups + 1] - start[groups]
    first = np.repeat(start[groups] - np.cumsum(size) + size, size)
    items: IntArray = first + np.arange(problem.num_items)
    return items


def _starts(bins: IndexArray, num_bins: int) -> IntArray:
    """Return ``(N + 1,)`` the start of each bin among rows sorted by bin."""
    counts = np.bincount(bins, minlength=num_bins)
    return np.append(0, np.cumsum(counts))
