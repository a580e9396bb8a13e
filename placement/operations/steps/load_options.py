"""Options of partitions that change the loads of brokers, and the worth of a choice."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from placement.array_types import IndexArray, RowArray
from placement.core.model.problem import Limits
from placement.model.load import WeightArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Options:
    """
    Options of ``G`` partitions: ``O`` options with ``D`` load changes.

    Parameters
    ----------
    start
        ``(G + 1,)`` options of the g-th partition are ``start[g]:start[g + 1]``, the
        preferred one first; at least one each.
    change_start
        ``(O + 1,)`` start of the changes of each option.
    broker_idx
        ``(D,)`` broker of each change.
    change
        ``(D, R)`` load added to this broker.
    """

    start: RowArray
    change_start: RowArray
    broker_idx: IndexArray
    change: WeightArray


class Worth(NamedTuple):
    """
    Worth of a choice; the least is best.

    Parameters
    ----------
    excess
        Sum of the loads over capacities, in targets.
    largest, total
        Largest distance from the bands and the sum of all, in targets, of the loads
        that options change.
    later
        Sum of the positions of the options chosen.
    """

    excess: float
    largest: float
    total: float
    later: int


def worth_of(
    options: Options, load: WeightArray, limits: Limits, chosen: RowArray
) -> Worth:
    """Return the worth of a choice; parameters as for `choose`."""
    after = load.astype(np.float64)
    for option in chosen.tolist():
        span = slice(*options.change_start[option : option + 2])
        np.add.at(after, options.broker_idx[span], options.change[span])
    unit = np.where(limits.target > 0, limits.target, 1.0)
    outside = np.maximum(after - limits.upper, limits.lower - after).clip(min=0) / unit
    changed = np.zeros(load.shape, dtype=np.bool_)
    np.logical_or.at(changed, options.broker_idx, options.change != 0)
    outside[~changed | (limits.target <= 0)] = 0.0
    excess = ((after - limits.capacity) / unit).clip(min=0).sum()
    later = int((chosen - options.start[:-1]).sum())
    largest, total = float(outside.max(initial=0.0)), float(outside.sum())
    return Worth(round(float(excess), 9), round(largest, 7), round(total, 7), later)
