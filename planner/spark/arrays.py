"""
The arrays that the kernel adds up, and adds to.

They go through as named tuples, all of one kind per name: numba compiles for kinds.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from placement.load import RESOURCES
from planner.spark.kernel import COUNTED, FIRSTS

Ints = npt.NDArray[np.int64]
HEAVIEST = ("max_disk", "max_in", "max_out", "max_cpu")
"""Of what the heaviest single replica of a place is told."""
_KINDS = {"b": np.bool_, "i": np.int64, "f": np.float64}


class RowArrays(NamedTuple):
    """Columns of ``P`` partitions and their ``N`` replicas; brokers are rows."""

    topic: Any
    number: Any
    is_named: Any
    is_unlike: Any
    start: Any
    broker: Any
    place: Any
    future: Any
    own: Any
    leader: Any
    isr_start: Any
    isr: Any
    tells_isr: Any
    adding_start: Any
    adding: Any
    size: Any
    inbound: Any
    outbound: Any
    leader_cpu: Any
    follower_cpu: Any
    has_future: bool
    has_own: bool


class GroundArrays(NamedTuple):
    """Of brokers, racks, topics, places, and by factor: what partitions must know."""

    is_live: Any
    rack: Any
    in_rack: Any
    rack_limit: Any
    is_shared: Any
    min_isr: Any
    is_offline: Any


class SumArrays(NamedTuple):
    """By topic, by place, by factor: what is added up."""

    counts: Any
    first: Any
    last: Any
    is_run: Any
    is_loaded: Any
    total: Any
    largest: Any
    least: Any
    whole: Any
    square: Any
    loads: Any
    most: Any
    copied: Any
    is_target: Any
    firsts: Any


class ScratchArrays(NamedTuple):
    """Of the partition at hand: what weighs; of all, their loads."""

    each: Any
    extra: Any
    own: Any
    held: Any
    loads: Any
    is_sound: Any


_Arrays = TypeVar("_Arrays", RowArrays, GroundArrays)


def uniform(arrays: _Arrays) -> _Arrays:
    """Return arrays of one kind, or else each mixture of kinds is compiled anew."""
    wanted = {
        name: np.require(each, _KINDS[each.dtype.kind], ["C", "W"])
        for name, each in arrays._asdict().items()
        if isinstance(each, np.ndarray)
    }
    return type(arrays)(**{**arrays._asdict(), **wanted})


def empty_sums(topics: int, places: int, longest: int) -> SumArrays:
    """Return nothing added up, of partitions of at most so many replicas."""
    width = len(RESOURCES)

    def zeros(rows: int, columns: int) -> Ints:
        return np.zeros((rows, columns), dtype=np.int64)

    return SumArrays(
        counts=zeros(topics, len(COUNTED)),
        first=np.zeros(topics, dtype=np.int64),
        last=np.zeros(topics, dtype=np.int64),
        is_run=np.ones(topics, dtype=np.bool_),
        is_loaded=np.zeros(topics, dtype=np.bool_),
        total=zeros(topics, width),
        largest=zeros(topics, width),
        least=zeros(topics, width),
        whole=np.zeros((topics, width)),
        square=np.zeros((topics, width)),
        loads=zeros(places, width),
        most=zeros(places, len(HEAVIEST)),
        copied=np.zeros(places, dtype=np.int64),
        is_target=np.zeros(places, dtype=np.bool_),
        firsts=zeros(longest + 1, len(FIRSTS)),
    )


def scratch_of(partitions: int, racks: int) -> ScratchArrays:
    """Return room for what is known of one partition at a time."""
    width = len(RESOURCES)
    return ScratchArrays(
        each=np.zeros(width, dtype=np.int64),
        extra=np.zeros(width, dtype=np.int64),
        own=np.zeros(1, dtype=np.int64),
        held=np.zeros(racks, dtype=np.int64),
        loads=np.zeros((partitions, width), dtype=np.int64),
        is_sound=np.zeros(partitions, dtype=np.bool_),
    )
