"""
Problem and state of a search as two flat arrays.

The arrays are flat so that the same code runs on numpy arrays when compiled and on
Python lists when not; single elements of lists are several times faster to index. There
are two arrays only, because compiled code passes every array at every call that is not
inlined, and compile time grows with each array. `layout` names the columns.
"""

import mmap
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from placement.core.model.arrangement import Arrangement, loads
from placement.core.model.objective import (
    crossing_costs,
    is_moved,
    move_costs,
    open_bins,
)
from placement.core.model.problem import (
    NO_LIMIT,
    Level,
    Problem,
)
from placement.core.search.kernels import layout
from placement.core.search.kernels.item_lists import list_columns
from placement.core.search.kernels.layout import (
    BASE_PRICE,
    BLOCK,
    COST,
    COST_UNIT,
    FLOAT_HEADER,
    GROUP_COST,
    GROUP_KIND,
    GROUP_ROLE_HOME,
    GROUP_START,
    GROUP_WEIGHTS,
    HEADER,
    HOME_BITS,
    IS_FULL,
    IS_LOGGING,
    KIND_BITS,
    LIST_ROOM,
    LIST_WIDTH,
    LOG_SIZE,
    LOG_WIDTH,
    LOGGED,
    NOISE,
    ROW_CAPACITY,
    ROW_LOWER,
    ROW_UPPER,
    ROW_WIDTH,
    SHORT_LIST,
    SLOT_TOP,
    STILL_COUNT,
)
from placement.core.search.tables.collection_counts import (
    collection_columns,
    count_collection_roles,
    count_collections,
    num_collection_cells,
    num_role_cells,
)
from placement.core.search.tables.columns import (
    ROWS_AT_ONCE,
    Part,
    plain,
    table_of,
    zeros,
)
from placement.core.search.tables.fill_goals import fill_units, is_shared

Columns = Mapping[str, Part]
Column = Any
"""One-dimensional numpy array or list."""


class Memory(NamedTuple):
    """
    Data of the kernels: arrays for compiled kernels, else lists.

    Parameters
    ----------
    ints
        Header, tables of the problem, and present arrangement.
    floats
        Scales, distances and penalties, and scratch for scores.
    """

    ints: Column
    floats: Column


def lay_out(problem: Problem, at: Arrangement, seed: int) -> Memory:
    """Return the memory of a search that starts from an arrangement, as arrays."""
    loaded = [level for level in problem.levels if level.limits is not None]
    capped = [level for level in problem.levels if level.group_cap is not None]
    tables, scales = _problem_columns(problem, loaded, capped)
    state, state_floats = _state_columns(problem, at)
    ints, starts = _concatenated({**tables, **state}, HEADER, np.dtype(np.int64))
    floats, float_starts = _concatenated(
        {**scales, **state_floats}, FLOAT_HEADER, np.dtype(np.float64)
    )
    cost_resource, cost_unit = _cost_resource(problem)
    floats[COST_UNIT] = cost_unit
    scalars = {
        "NUM_ITEMS": problem.num_items,
        "NUM_GROUPS": problem.num_groups,
        "NUM_BINS": problem.num_bins,
        "NUM_RESOURCES": problem.num_resources,
        "NUM_NODES": sum(level.num_nodes for level in loaded),
        "NUM_LOAD_LEVELS": len(loaded),
        "NUM_CAP_LEVELS": len(capped),
        "NUM_PRICE_LEVELS": len(problem.levels),
        "NUM_BIN_CLASSES": problem.is_eligible.shape[1],
        "GROUP_WIDTH": _group_width(problem, capped),
        "BIN_WIDTH": tables["BINS"].size // problem.num_bins,
        "HAS_EXTRA": int(len(problem.extra) > 0),
        "PRICE_ACROSS": problem.price_across,
        "PRICE_PER_MOVE": problem.price_per_move,
        "COST_RESOURCE": cost_resource,
        "NUM_RECEIVERS": tables["RECEIVERS"].size,
        "NUM_SLOTS": state["SLOTS"].size,
        "HAS_CAPS": int(problem.has_caps),
        "HAS_ROLE_CAPS": int(len(problem.collection_role_cap) > 0),
        "MAX_COST": problem.max_cost,
        "MAX_MOVES": problem.max_moves,
        "MAX_CROSSING": problem.max_crossing if problem.has_zones else -1,
        **starts,
        **float_starts,
    }
    for name, value in scalars.items():
        ints[getattr(layout, name)] = value
    return _started(Memory(ints, floats), problem, at, seed)


def lay_again(memory: Memory, problem: Problem, at: Arrangement, seed: int) -> Memory:
    """Return memory as `lay_out` does, rewriting only the state."""
    columns, float_columns = _state_columns(problem, at)
    ints, floats = np.asarray(memory.ints), np.asarray(memory.floats)
    for into, columns_of in ((ints, columns), (floats, float_columns)):
        for name, part in columns_of.items():
            start = int(ints[getattr(layout, name)])
            part.put(into[start : start + part.size])
    return _started(Memory(ints, floats), problem, at, seed)


def limit_rows(problem: Problem) -> npt.NDArray[Any]:
    """Return the limits of all nodes as stored in the memory, flat."""
    loaded = [level for level in problem.levels if level.limits is not None]
    return _limit_columns(problem, loaded)[0].reshape(-1)


def as_lists(memory: Memory) -> Memory:
    """Return the memory as Python lists, for uncompiled kernels."""
    return Memory(memory.ints.tolist(), memory.floats.tolist())


def arrangement_of(memory: Memory, problem: Problem) -> Arrangement:
    """Return the present arrangement."""
    first = [int(memory.ints[start]) for start in (layout.BIN_OF, layout.ROLE_OF)]
    bin_of = memory.ints[first[0] : first[0] + problem.num_items]
    role_of = memory.ints[first[1] : first[1] + problem.num_groups]
    return Arrangement(
        np.array(bin_of, dtype=np.int32), np.array(role_of, dtype=np.int64)
    )


def _concatenated(
    columns: Columns, header: int, dtype: np.dtype[Any]
) -> tuple[npt.NDArray[Any], dict[str, int]]:
    """Write columns into one array behind a header; return it and their starts."""
    total = header + sum(part.size for part in columns.values())
    flat = _zeros(total, dtype)
    starts, first = {}, header
    for name, part in columns.items():
        starts[name] = first
        part.write(flat[first : first + part.size])
        first += part.size
    return flat, starts


def _zeros(count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """
    Return zeros in memory pages of the usual size.

    numpy requests huge pages. On a virtual machine that returns free memory to its
    host, allocating these takes ten times as long as filling the tables.
    """
    return np.frombuffer(mmap.mmap(-1, count * dtype.itemsize), dtype=dtype)


def _started(memory: Memory, problem: Problem, at: Arrangement, seed: int) -> Memory:
    """Return memory with its scalars initialised for the first step."""
    ints = memory.ints
    first = int(ints[layout.LISTS])
    lists = ints[first : first + LIST_WIDTH * problem.num_bins].reshape(-1, LIST_WIDTH)
    ints[SLOT_TOP] = lists[:, STILL_COUNT].sum() + lists[:, LIST_ROOM].sum()
    ints[COST] = move_costs(problem, at).sum()
    ints[layout.MOVED] = is_moved(problem, at).sum()
    ints[layout.CROSSED] = crossing_costs(problem, at).sum()
    ints[IS_FULL] = ints[LOGGED] = ints[IS_LOGGING] = 0
    ints[layout.MINDS_SPREAD] = 1
    ints[NOISE] = (seed * 2 + 1) & 0x7FFFFFFF
    memory.floats[BASE_PRICE] = 1.0
    return memory


def _problem_columns(
    problem: Problem, loaded: Sequence[Level], capped: Sequence[Level]
) -> tuple[Columns, Columns]:
    limits, scale = _limit_columns(problem, loaded)
    ints = {
        "GROUPS": _group_table(problem, capped),
        "ITEMS": _item_table(problem),
        "BINS": plain(_bin_table(problem, loaded, capped)),
        "LIMITS": plain(limits),
        "EXTRA": plain(problem.extra),
        "IS_ELIGIBLE": plain(problem.is_eligible),
        "IS_TRANSIENT": plain(problem.is_transient),
        "IS_OF_ROLE": plain(np.any(problem.role_weight > 0, axis=0)),
        "IS_SHARED": plain(is_shared(problem)),
        "RECEIVERS": plain(np.nonzero(problem.may_receive)[0]),
        "IS_EVEN": plain(np.array([level.is_even for level in capped], np.int64)),
        "NODE_FIRST": plain(_first_nodes(capped)),
        "OPEN_BINS": plain(
            np.concatenate(
                [open_bins(level) for level in capped] or [np.zeros(0, np.int64)]
            )
        ),
        "PRICE": plain(np.array([level.price for level in problem.levels], np.int64)),
        "ZONE_OF_BIN": plain(problem.zone_of_bin),
        "SOURCE_ZONE": plain(problem.source_zone),
        **{name: plain(one) for name, one in collection_columns(problem).items()},
    }
    return ints, {
        "SCALE": plain(scale),
        "FILL_UNIT": plain(fill_units(problem, _cost_resource(problem)[0])),
    }


def _state_columns(problem: Problem, at: Arrangement) -> tuple[Columns, Columns]:
    now = _node_loads(problem, at)
    peak = now + _departed(problem, at) if problem.is_transient.any() else now
    nodes = len(now) // max(problem.num_resources, 1)
    num_blocks = -(-problem.num_bins // BLOCK)
    ints = {
        "BIN_OF": plain(at.bin_of),
        "ROLE_OF": plain(at.role_of),
        "LOADS": plain(np.stack([now, peak], axis=1)),
        **list_columns(problem, at),
        "LOG": zeros(LOG_WIDTH * LOG_SIZE),
        "SHORT": zeros(SHORT_LIST),
        "COLLECTION_COUNT": Part(
            num_collection_cells(problem), partial(count_collections, problem, at)
        ),
        "COLLECTION_ROLES": Part(
            num_role_cells(problem), partial(count_collection_roles, problem, at)
        ),
        **dict.fromkeys(("STUCK", "HUNGRY", "FAT"), zeros(problem.num_bins)),
        **dict.fromkeys(("BLOCK_WORST", "BLOCK_IS_KNOWN"), zeros(num_blocks)),
    }
    floats = {
        "DISTANCE": zeros(len(now)),
        "PENALTY": zeros(nodes),
        "WORTH": zeros(SHORT_LIST),
        "EXCESS": zeros(problem.num_bins),
    }
    return ints, floats


def _group_width(problem: Problem, capped: Sequence[Level]) -> int:
    return GROUP_WEIGHTS + 2 * problem.num_resources + len(capped)


def _group_table(problem: Problem, capped: Sequence[Level]) -> Part:
    width, resources = _group_width(problem, capped), problem.num_resources
    first = GROUP_WEIGHTS + resources
    columns: dict[int, npt.NDArray[Any]] = {
        GROUP_START: problem.group_start,
        GROUP_KIND: 2 * problem.group_class + problem.is_role_movable,
        GROUP_COST: problem.cost,
        GROUP_ROLE_HOME: problem.role_home,
        GROUP_WEIGHTS: problem.weight,
        first: problem.role_weight,
    }
    for row, level in enumerate(capped, first + resources):
        if level.group_cap is not None:
            columns[row] = level.group_cap
    return table_of(problem.num_groups + 1, width, columns)


def _item_table(problem: Problem) -> Part:
    def write(into: npt.NDArray[Any]) -> None:
        for start in range(0, len(into), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            packed = problem.group_of[rows].astype(np.int64) << HOME_BITS
            packed = (packed + problem.home[rows] + 1) << KIND_BITS
            into[rows] = packed + problem.movability[rows]

    return Part(problem.num_items, write, needs_zeros=False)


def _bin_table(
    problem: Problem, loaded: Sequence[Level], capped: Sequence[Level]
) -> Any:  # noqa: ANN401
    nodes = [
        np.where(level.node_of_bin >= 0, level.node_of_bin + first, -1)
        for levels in (loaded, capped)
        for level, first in zip(levels, _first_nodes(levels), strict=False)
    ]
    nodes += [level.node_of_bin for level in problem.levels]
    columns = [
        problem.may_receive,
        problem.may_hold_role,
        problem.must_release_role,
        problem.bin_class,
        *nodes,
    ]
    return np.stack([column.astype(np.int32) for column in columns], axis=1)


def _first_nodes(levels: Sequence[Level]) -> Any:  # noqa: ANN401 - (levels + 1,)
    """Return the first node of each level, with nodes numbered over all levels."""
    return np.cumsum([0, *(level.num_nodes for level in levels)]).astype(np.int32)


def _limit_columns(
    problem: Problem, levels: Sequence[Level]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    table, scale = [], []
    for level in levels:
        limits = level.limits
        if limits is None:
            continue
        has_band = limits.target > 0
        rows = np.zeros((*limits.target.shape, ROW_WIDTH), dtype=np.int64)
        rows[..., ROW_LOWER] = np.where(has_band, limits.lower, 0)
        band = np.where(has_band, limits.upper, NO_LIMIT)
        rows[..., ROW_UPPER] = np.minimum(band, limits.capacity)
        rows[..., ROW_CAPACITY] = limits.capacity
        table.append(rows.reshape(-1, ROW_WIDTH))
        # Without a band, excess over a capacity is measured in capacities.
        unit = np.where(has_band, limits.target, np.maximum(limits.capacity, 1))
        scale.append((1.0 / unit).reshape(-1))
    return np.concatenate(table), np.concatenate(scale)


def _cost_resource(problem: Problem) -> tuple[int, float]:
    """Return the resource with weights proportional to costs, and the factor."""
    total = float(problem.cost.sum())
    for r in range(problem.num_resources):
        weight = problem.weight[:, r]
        held = float(weight.sum())
        if held > 0 and total > 0:
            off = np.abs(weight * (total / held) - problem.cost).sum()
            if off <= 0.01 * total:
                return r, total / held
    return -1, 0.0


def _node_loads(problem: Problem, at: Arrangement) -> Any:  # noqa: ANN401
    """Return the flat ``(M, R)`` loads of the nodes of all levels with limits."""
    brought = loads(problem, at) - problem.bins.fixed
    rows = []
    for level in problem.levels:
        if level.limits is problem.bins:
            rows.append((brought + problem.bins.fixed).reshape(-1))
        elif level.limits is not None:
            total = level.limits.fixed.copy()
            inside = np.greater_equal(level.node_of_bin, 0)
            np.add.at(total, level.node_of_bin[inside], brought[inside])
            rows.append(total.reshape(-1))
    return np.concatenate(rows)


def _departed(problem: Problem, at: Arrangement) -> Any:  # noqa: ANN401
    """Return the load of departed items that still fill their home, if transient."""
    left = (at.bin_of != problem.home) & (problem.home >= 0)
    rows = np.nonzero(left)[0]
    weight = problem.weight[problem.group_of[rows]]
    if len(problem.extra):
        weight = weight + problem.extra[rows]
    weight = weight * problem.is_transient
    parts = []
    for level in problem.levels:
        if level.limits is not None:
            total = np.zeros_like(level.limits.fixed)
            node = level.node_of_bin[problem.home[rows]]
            place = at.bin_of[rows]
            now = np.where(place >= 0, level.node_of_bin[place], -1)
            inside = (node >= 0) & (node != now)
            np.add.at(total, node[inside], weight[inside])
            parts.append(total.reshape(-1))
    return np.concatenate(parts)
