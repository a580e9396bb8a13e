"""
Lower bound on the number of waves of a stage.

The bound is the copies of the busiest broker, or partition, over its cap.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from placement.array_types import RowArray
from placement.model.cluster import ABSENT
from placement.waves.edge_colouring import least_waves


@dataclass(frozen=True, slots=True, kw_only=True)
class StageBound:
    """
    Lower bound on the waves of one stage, with the broker or partition that causes it.

    Parameters
    ----------
    waves
        Lower bound: `copies` over `cap`, rounded up.
    broker_idx
        Row of the broker with the largest bound; `ABSENT` where a partition has it.
    direction
        ``in``, ``out``, ``both`` or ``partition``.
    copies, cap
        Copies of that broker or partition in all, and its maximum in one wave.
    partition_idx
        Row of the partition with the largest bound, or `ABSENT`.
    """

    waves: int
    broker_idx: int
    direction: str
    copies: int
    cap: int
    partition_idx: int = ABSENT


def bound_of(
    ends: Sequence[tuple[str, RowArray, int]], partition_idx: RowArray, most: int
) -> StageBound:
    """
    Return the largest lower bound of a stage.

    Parameters
    ----------
    ends
        Direction, broker row of each copy, and cap, for each end of copies.
    partition_idx
        ``(E,)`` partition of each copy between brokers.
    most
        Maximum number of new replicas of a partition in one wave.
    """
    bounds = [_busiest(*end) for end in ends]
    bounds.append(_most_copied(partition_idx, most))
    return max(bounds, key=lambda bound: bound.waves)


def _most_copied(partition_idx: RowArray, most: int) -> StageBound:
    counts = np.bincount(partition_idx, minlength=1)
    return StageBound(
        waves=least_waves(partition_idx, most),
        broker_idx=ABSENT,
        direction="partition",
        copies=int(counts.max()),
        cap=most,
        partition_idx=int(counts.argmax()),
    )


def _busiest(direction: str, brokers: RowArray, cap: int) -> StageBound:
    counts = np.bincount(brokers, minlength=1)
    broker = int(counts.argmax())
    return StageBound(
        waves=least_waves(brokers, cap),
        broker_idx=broker,
        direction=direction,
        copies=int(counts[broker]),
        cap=cap,
    )
