r"""
What each failure, and each pair of failures, does to the partitions.

A partition is damaged by how many of its replicas are lost, so one with replicas in
both domains of a pair is all that makes a pair differ from the sum of its halves:

.. math:: D(i, j) = D(i) + D(j) + \sum_{p \ni i, j} d_p(i, j) - d_p(i) - d_p(j).

All pairs cost as much as the pairs of domains inside single partitions: three each at
replication factor three.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.failures.failure_domains import CountArray, Incidence
from placement.model.cluster import BoolArray

RowArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lost:
    """``(X,)`` partitions, and how many replicas of each one or more failures take."""

    partition_idx: RowArray
    serving: CountArray
    in_sync: CountArray
    electable: CountArray


def _offline(table: Incidence, lost: Lost) -> BoolArray:
    p = lost.partition_idx
    is_last = np.equal(lost.electable, table.num_electable[p]) & (lost.electable > 0)
    return table.is_led[p] & is_last


def _gone(table: Incidence, lost: Lost) -> BoolArray:
    return np.equal(lost.serving, table.num_serving[lost.partition_idx])


def _under_min_isr(table: Incidence, lost: Lost) -> BoolArray:
    p = lost.partition_idx
    was_enough: BoolArray = np.greater_equal(table.num_in_sync[p], table.min_isr[p])
    left = table.num_in_sync[p] - lost.in_sync
    found: BoolArray = was_enough & np.less(left, table.min_isr[p])
    return found


def _at_min_isr(table: Incidence, lost: Lost) -> BoolArray:
    p = lost.partition_idx
    had_more: BoolArray = np.greater(table.num_in_sync[p], table.min_isr[p])
    found: BoolArray = had_more & np.equal(
        table.num_in_sync[p] - lost.in_sync, table.min_isr[p]
    )
    return found


def _under_replicated(table: Incidence, lost: Lost) -> BoolArray:
    p = lost.partition_idx
    had_all: BoolArray = np.greater_equal(table.num_in_sync[p], table.factor[p])
    # With replicas being added, a partition may have more in sync than its factor.
    left = table.num_in_sync[p] - lost.in_sync
    found: BoolArray = had_all & np.less(left, table.factor[p])
    return found


KINDS: dict[str, Callable[[Incidence, Lost], BoolArray]] = {
    "offline": _offline,
    "gone": _gone,
    "under_min_isr": _under_min_isr,
    "at_min_isr": _at_min_isr,
    "under_replicated": _under_replicated,
}
"""
What a failure may do to a partition, worst first; each counts only where it was not so.

``offline``: nobody may lead it cleanly. ``gone``: no replica serves, so not even
uncleanly. ``under_min_isr``: producers with acks=all are refused. ``at_min_isr``: the
next loss does that. ``under_replicated``: the ISR is below the replication factor.
"""


def single_damage(table: Incidence) -> dict[str, CountArray]:
    """Return ``(N,)`` partitions that the loss of each domain damages, by kind."""
    lost = Lost(
        partition_idx=table.partition_idx,
        serving=table.serving,
        in_sync=table.in_sync,
        electable=table.electable,
    )
    return {
        name: np.bincount(
            table.domain[is_damaged(table, lost)], minlength=table.num_domains
        )
        for name, is_damaged in KINDS.items()
    }


def joint_damage(table: Incidence) -> tuple[RowArray, dict[str, CountArray]]:
    """
    Return what pairs of domains damage besides what each does alone.

    Returns
    -------
    ``(X,)`` keys ``i * N + j`` with ``i < j``, ascending, of the pairs that share a
    partition; per kind ``(X,)`` the damage to add to that of both halves.
    """
    first, second = table.neighbours
    keys = table.domain[first] * table.num_domains + table.domain[second]
    distinct, at = np.unique(keys, return_inverse=True)
    added = _joint_changes(table, first, second)
    return distinct, {
        # Whole numbers far below 2^53, so exact as floats.
        name: np.bincount(at, weights=row, minlength=len(distinct)).astype(np.int64)
        for name, row in zip(KINDS, added, strict=True)
    }


def _joint_changes(
    table: Incidence, first: RowArray, second: RowArray
) -> npt.NDArray[np.int8]:
    """Return ``(kinds, X)`` damage of both together less that of each alone."""

    def lost(*rows: RowArray) -> Lost:
        return Lost(
            partition_idx=table.partition_idx[first],
            serving=_added([table.serving[row] for row in rows]),
            in_sync=_added([table.in_sync[row] for row in rows]),
            electable=_added([table.electable[row] for row in rows]),
        )

    both, one, other = lost(first, second), lost(first), lost(second)
    return np.array(
        [
            is_damaged(table, both).astype(np.int8)
            - is_damaged(table, one)
            - is_damaged(table, other)
            for is_damaged in KINDS.values()
        ]
    )


def _added(columns: list[CountArray]) -> CountArray:
    total = columns[0].copy()
    for column in columns[1:]:
        total += column
    return total
