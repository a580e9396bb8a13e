"""How many waves a stage needs at least: copies of its busiest broker over a cap."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.waves.colouring import least_waves

RowArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageBound:
    """
    Why one stage needs so many waves.

    Parameters
    ----------
    waves
        Waves that it needs at least: `copies` over `cap`, rounded up.
    broker_idx
        Row of the broker that decides.
    direction
        ``in``, ``out`` or ``both``.
    copies, cap
        What it gets or sends in all, and may in one wave.
    """

    waves: int
    broker_idx: int
    direction: str
    copies: int
    cap: int


def bound_of(ends: Sequence[tuple[str, RowArray, int]]) -> StageBound:
    """Return the bound of the busiest end: its name, its brokers by copy, its cap."""
    return max((_busiest(*end) for end in ends), key=lambda bound: bound.waves)


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
