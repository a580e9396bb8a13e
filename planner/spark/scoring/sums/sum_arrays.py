"""
Input and output arrays of the kernel.

They are passed as named tuples, with one array type per field, since numba compiles
anew for other types.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from placement.model.load import RESOURCES
from planner.spark.scoring.kernels.tally import BLOCK, COUNTED, FIRSTS, HELD, LED

Ints = npt.NDArray[Any]
LOADS = tuple(str(resource) for resource in RESOURCES)
HEAVIEST = ("max_disk", "max_in", "max_out", "max_cpu")
"""Loads whose heaviest single replica is recorded per place."""
_SMALL = {
    "topic",
    "number",
    "start",
    "replicas",
    "path",
    "future",
    "leader",
    "isr_start",
    "isr",
    "adding_start",
    "adding",
    "removing_start",
    "removing",
    "row_of",
    "rack",
    "snapshot",
}
"""Arrays of 32 bits: arrays that are read only once should be small."""
_KINDS = {"b": np.bool_, "i": np.int64, "f": np.float64}


class RowArrays(NamedTuple):
    """
    Columns of ``P`` partitions and their ``N`` replicas.

    Brokers are numbers whose rows `GroundArrays.row_of` has.
    """

    topic: Any
    number: Any
    is_named: Any
    is_unlike: Any
    start: Any
    replicas: Any
    path: Any
    future: Any
    own: Any
    leader: Any
    isr_start: Any
    isr: Any
    tells_isr: Any
    adding_start: Any
    adding: Any
    failed: Any
    removing_start: Any
    removing: Any
    size: Any
    inbound: Any
    outbound: Any
    leader_cpu: Any
    follower_cpu: Any
    has_future: bool
    has_own: bool
    has_adding: bool
    has_failed: bool
    has_removing: bool


class GroundArrays(NamedTuple):
    """
    Columns of brokers, racks, topics, places and factors that partitions depend on.

    The place of a replica is the row of its broker times `stride`, plus its path.
    `snapshot` has the index of the snapshot of each topic, `first_rack` the first rack
    of each snapshot, `caps_min_isr` a flag and `rack_limit` a row per snapshot.
    """

    row_of: Any
    is_live: Any
    rack: Any
    in_rack: Any
    first_rack: Any
    rack_limit: Any
    snapshot: Any
    is_shared: Any
    min_isr: Any
    caps_min_isr: Any
    is_offline: Any
    has_offline: bool
    stride: int


class SumArrays(NamedTuple):
    """
    Sums and counts by topic, by place, by snapshot, and by snapshot and factor.

    `suspects` has a flag per partition: whether the partition may violate a rule.
    """

    counts: Any
    first: Any
    last: Any
    is_run: Any
    is_loaded: Any
    total: Any
    largest: Any
    least: Any
    origin: Any
    square: Any
    whole: Any
    held: Any
    led: Any
    firsts: Any
    strangers: Any
    suspects: Any


class ScratchArrays(NamedTuple):
    """
    Loads and places of the partitions of a block, and of their replicas.

    Also, for the current partition: its brokers, which of them count for the rack rule,
    and the number of these in each rack.
    """

    each: Any
    extra: Any
    is_sound: Any
    leads: Any
    place: Any
    future: Any
    disk: Any
    cpu: Any
    broker: Any
    counts: Any
    in_rack: Any


_Arrays = TypeVar("_Arrays", RowArrays, GroundArrays)


def uniform(arrays: _Arrays) -> _Arrays:
    """Return arrays of fixed types: each new combination of types is compiled anew."""
    wanted = {
        name: _uniform(each, np.int32 if name in _SMALL else _KINDS[each.dtype.kind])
        for name, each in arrays._asdict().items()
        if isinstance(each, np.ndarray)
    }
    return type(arrays)(**{**arrays._asdict(), **wanted})


def _uniform(array: Any, kind: Any) -> Any:  # noqa: ANN401 - an array of that kind
    # Arrays of Arrow are read-only; if all are, none has to be copied.
    found = np.require(array, kind, ["C"]).view()
    found.setflags(write=False)
    return found


def empty_places(count: int) -> tuple[Ints, Ints]:
    """Return zeros by place: `SumArrays.held` and `SumArrays.led`."""
    held = np.zeros((count + 1, len(HELD)), dtype=np.int64)
    return _by_line(held), np.zeros((count, len(LED)), dtype=np.int64)


def empty_sums(
    snapshots: int, topics: int, partitions: int, longest: int, held: Ints, led: Ints
) -> SumArrays:
    """
    Return zeros for `partitions` partitions of at most `longest` replicas each.

    The arrays by place, `held` and `led`, are kept and added to.
    """
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
        origin=zeros(topics, width),
        square=np.zeros((topics, width)),
        whole=np.zeros((snapshots, width)),
        held=held,
        led=led,
        firsts=np.zeros((snapshots, longest + 1, len(FIRSTS)), dtype=np.int64),
        strangers=np.zeros(snapshots, dtype=np.int64),
        suspects=np.zeros(partitions, dtype=np.bool_),
    )


def _by_line(table: Ints) -> Ints:
    """Return all rows of a table but one, aligned so that each is one cache line."""
    rows, columns = table.shape
    skipped = -table.ctypes.data % table.strides[0] // table.itemsize
    flat = table.reshape(-1)[skipped : skipped + (rows - 1) * columns]
    return flat.reshape(rows - 1, columns)


def scratch_of(replicas: int, longest: int, racks: int) -> ScratchArrays:
    """Return scratch arrays for a block of partitions of at most `longest` replicas."""
    width = len(RESOURCES)
    size = min(replicas, BLOCK * longest)
    place, future, disk, cpu = np.zeros((4, size), dtype=np.int64)
    return ScratchArrays(
        each=np.zeros((BLOCK, width), dtype=np.int64),
        extra=np.zeros((BLOCK, width), dtype=np.int64),
        is_sound=np.zeros(BLOCK, dtype=np.bool_),
        leads=np.zeros(BLOCK, dtype=np.int64),
        place=place,
        future=future,
        disk=disk,
        cpu=cpu,
        broker=np.zeros(longest, dtype=np.int64),
        counts=np.zeros(longest, dtype=np.bool_),
        in_rack=np.zeros(racks, dtype=np.int64),
    )
