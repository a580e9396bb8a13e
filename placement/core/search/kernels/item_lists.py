"""Lists of the items of each bin, which grow in place."""

from typing import Any

import numpy as np
import numpy.typing as npt

from placement.array_types import IndexArray
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import Movability, Problem
from placement.core.search.kernels.layout import (
    LIST_COUNT,
    LIST_ROOM,
    LIST_START,
    LIST_WIDTH,
    STILL_COUNT,
    STILL_START,
)
from placement.core.search.tables.columns import Part, plain

FEW_BINS = 2**16
"""Number of bins below which 16-bit keys allow a radix sort."""


def list_columns(problem: Problem, at: Arrangement) -> dict[str, Part]:
    """
    Return the lists of all bins, items ascending, with room for a quarter more.

    The immovable items of all bins come first, then a list of movable items per bin.
    """
    placed, num_bins = np.greater_equal(at.bin_of, 0), problem.num_bins
    may_move = np.not_equal(problem.movability, Movability.NEVER)
    still, still_count = _by_bin(at.bin_of, placed & ~may_move, num_bins)
    free, count = _by_bin(at.bin_of, placed & may_move, num_bins)
    num_free = int(np.count_nonzero(may_move))
    room = np.maximum(count, num_free // max(num_bins, 1)) * 5 // 4 + 16
    lists = np.zeros((num_bins, LIST_WIDTH), dtype=np.int64)
    lists[:, STILL_START], lists[:, STILL_COUNT] = _starts(still_count), still_count
    lists[:, LIST_START], lists[:, LIST_COUNT] = len(still) + _starts(room), count
    lists[:, LIST_ROOM] = room
    within = np.arange(len(free)) - np.repeat(_starts(count), count)

    def write_slots(into: npt.NDArray[Any]) -> None:
        into[: len(still)] = still
        into[np.repeat(lists[:, LIST_START], count) + within] = free

    def write_slot_of(into: npt.NDArray[Any]) -> None:
        into[free] = within

    # All rooms fit for any counts; the rest is for lists that outgrow their room.
    num_slots = problem.num_items - num_free + 3 * num_free + 20 * num_bins + 64
    return {
        "SLOTS": Part(num_slots, write_slots, needs_zeros=False),
        "SLOT_OF": Part(problem.num_items, write_slot_of, needs_zeros=False),
        "LISTS": plain(lists),
    }


def _starts(count: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.cumsum(count) - count


def _by_bin(
    bin_of: IndexArray, is_chosen: npt.NDArray[np.bool_], num_bins: int
) -> tuple[IndexArray, npt.NDArray[np.int64]]:
    """Return the chosen items, by bin and then by number, and each bin's count."""
    chosen = np.nonzero(is_chosen)[0].astype(np.int32)
    place = bin_of[chosen]
    key = place.astype(np.uint16) if num_bins < FEW_BINS else place
    order = chosen[np.argsort(key, kind="stable")]
    return order, np.bincount(place, minlength=num_bins).astype(np.int64)
