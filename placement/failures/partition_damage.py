r"""
Damage to partitions by each failure, and by each pair of failures.

The damage to a partition depends on the number of its lost replicas. So a pair differs
from the sum of its halves only by partitions with replicas in both domains:

.. math:: D(i, j) = D(i) + D(j) + \sum_{p \ni i, j} d_p(i, j) - d_p(i) - d_p(j).

The cost of all pairs is the number of pairs of domains inside single partitions: three
per partition at replication factor three.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, CountArray, RowArray
from placement.failures.failure_domains import Incidence


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lost:
    """``(X,)`` partitions, and counts of replicas that one or more failures take."""

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
Kinds of damage to a partition, worst first; each counts only where it is new.

``offline``: no replica may be elected cleanly. ``gone``: no replica serves, so not even
an unclean election is possible. ``under_min_isr``: producers with acks=all are refused.
``at_min_isr``: the next loss refuses such producers. ``under_replicated``: the ISR is
below the replication factor.
"""


def single_damage(table: Incidence) -> dict[str, CountArray]:
    """Return ``(N,)`` number of partitions that each domain's loss damages, by kind."""
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
    Return the damage of pairs of domains beyond the sum of both halves.

    Returns
    -------
    ``(X,)`` keys ``i * N + j`` with ``i < j``, ascending, of the pairs that share a
    partition; per kind ``(X,)`` the correction to add to the damage of both halves.
    """
    first, second = table.neighbours
    keys = table.domain[first] * table.num_domains + table.domain[second]
    distinct, at = np.unique(keys, return_inverse=True)
    added = _joint_changes(table, first, second)
    return distinct, {
        # Integers far below 2^53 are exact as floats.
        name: np.bincount(at, weights=row, minlength=len(distinct)).astype(np.int64)
        for name, row in zip(KINDS, added, strict=True)
    }


def _joint_changes(
    table: Incidence, first: RowArray, second: RowArray
) -> npt.NDArray[np.int8]:
    """Return ``(kinds, X)`` damage of both together minus that of each alone."""

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
