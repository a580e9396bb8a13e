"""
The problem and the state of a search as flat tables of records.

Flat, because then the same code runs on numpy arrays when compiled and on Python
lists when not, which are several times faster than arrays to index one by one; few
and wide, because a record in one cache line is quick to read, and because the compiler
takes its time over every array it is handed. Field ``f`` of row ``i`` of a table of
width ``w`` is ``table[i * w + f]``.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from placement.core.problem import (
    NO_LIMIT,
    Arrangement,
    Level,
    Problem,
    loads,
)
from placement.core.value import open_bins

Column = Any
"""A one-dimensional numpy array, or the same as a list."""

# groups: one more row than groups, so that the items of g end where g + 1 starts;
# from GROUP_WEIGHTS on R weights, R role weights, and a cap per level with caps.
GROUP_START, GROUP_CLASS, GROUP_COST, GROUP_ROLE_MOVES = 0, 1, 2, 3
GROUP_ROLE_HOME, GROUP_WEIGHTS = 4, 5
# items
ITEM_GROUP, ITEM_HOME, ITEM_KIND, ITEM_WIDTH = 0, 1, 2, 3
# bins: from BIN_NODES on the node at every level with limits, with caps, with a price
BIN_RECEIVES, BIN_LEADS, BIN_RELEASES, BIN_CLASS, BIN_NODES = 0, 1, 2, 3, 4
# limits of a node's resource, the row `node * R + r`
ROW_LOWER, ROW_UPPER, ROW_CAPACITY, ROW_WIDTH = 0, 1, 2, 3
# loads, of the same rows
LOAD_NOW, LOAD_PEAK, LOAD_WIDTH = 0, 1, 2
# links of items, ends of bins
LINK_AFTER, LINK_BEFORE, LINK_WIDTH = 0, 1, 2
END_HEAD, END_CURSOR, END_WIDTH = 0, 1, 2


class Tables(NamedTuple):
    """
    What does not change in a search.

    `base_price` is added to the price of every move in the scores: without it many
    small items win over a few that fit. `is_of_role` marks resources in which a role
    weighs something. `node_first` and `open_bins` are of the nodes of levels with
    caps, `is_even` of these levels; `price` is of every level. `scale` turns an excess
    into targets.
    """

    num_items: int
    num_groups: int
    num_bins: int
    num_resources: int
    num_nodes: int
    num_load_levels: int
    num_cap_levels: int
    num_price_levels: int
    num_bin_classes: int
    group_width: int
    bin_width: int
    has_extra: int
    price_across: int
    price_per_move: int
    base_price: float
    groups: Column
    items: Column
    bins: Column
    limits: Column
    scale: Column
    extra: Column
    is_eligible: Column
    is_transient: Column
    is_of_role: Column
    is_even: Column
    node_first: Column
    open_bins: Column
    price: Column


class State(NamedTuple):
    """
    What a search changes.

    `distance` holds the squared distance of each load from its band and `penalty` the
    sum of a node's; `links` and `ends` the items of each bin as linked lists, with a
    cursor where the next scan starts; `noise` the state of the random numbers.
    """

    bin_of: Column
    role_of: Column
    loads: Column
    distance: Column
    penalty: Column
    links: Column
    ends: Column
    noise: Column


def _as_column(values: Any, *, is_compiled: bool) -> Column:  # noqa: ANN401
    flat = np.ascontiguousarray(values).reshape(-1)
    if not is_compiled:
        return flat.tolist()
    # Numba compiles anew for a read-only array; the problem's own are just that.
    return flat if flat.flags.writeable else flat.copy()


def build_tables(problem: Problem, *, is_compiled: bool) -> Tables:
    """Lay a problem out flat, as arrays for compiled kernels, else as lists."""
    loaded = [level for level in problem.levels if level.limits is not None]
    capped = [level for level in problem.levels if level.group_cap is not None]
    groups = _group_table(problem, capped)
    bins = _bin_table(problem, loaded, capped)
    columns = {
        "groups": groups,
        "items": np.stack(
            [problem.group_of, problem.home, problem.movability.astype(np.int32)], 1
        ),
        "bins": bins,
        "extra": problem.extra,
        "is_eligible": problem.is_eligible.astype(np.uint8),
        "is_transient": problem.is_transient.astype(np.uint8),
        "is_of_role": (problem.role_weight > 0).any(axis=0).astype(np.uint8),
        **_limit_columns(problem, loaded),
        "is_even": np.array([level.is_even for level in capped], dtype=np.uint8),
        "node_first": _first_nodes(capped),
        "open_bins": np.concatenate(
            [open_bins(level) for level in capped] or [np.zeros(0, np.int64)]
        ),
        "price": np.array([level.price for level in problem.levels], dtype=np.int64),
    }
    return Tables(
        num_items=problem.num_items,
        num_groups=problem.num_groups,
        num_bins=problem.num_bins,
        num_resources=problem.num_resources,
        num_nodes=sum(level.num_nodes for level in loaded),
        num_load_levels=len(loaded),
        num_cap_levels=len(capped),
        num_price_levels=len(problem.levels),
        num_bin_classes=problem.is_eligible.shape[1],
        group_width=groups.shape[1],
        bin_width=bins.shape[1],
        has_extra=int(len(problem.extra) > 0),
        price_across=problem.price_across,
        price_per_move=problem.price_per_move,
        base_price=1.0,
        **{
            name: _as_column(column, is_compiled=is_compiled)
            for name, column in columns.items()
        },
    )


def _group_table(problem: Problem, capped: Sequence[Level]) -> Any:  # noqa: ANN401
    width = GROUP_WEIGHTS + 2 * problem.num_resources + len(capped)
    table = np.zeros((problem.num_groups + 1, width), dtype=np.int64)
    table[:, GROUP_START] = problem.group_start
    rows, first = table[:-1], GROUP_WEIGHTS + problem.num_resources
    rows[:, GROUP_CLASS] = problem.group_class
    rows[:, GROUP_COST] = problem.cost
    rows[:, GROUP_ROLE_MOVES] = problem.is_role_movable
    rows[:, GROUP_ROLE_HOME] = problem.role_home
    rows[:, GROUP_WEIGHTS:first] = problem.weight
    rows[:, first : first + problem.num_resources] = problem.role_weight
    for position, level in enumerate(capped):
        if level.group_cap is not None:
            rows[:, first + problem.num_resources + position] = level.group_cap
    return table


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
    """Return where the nodes of each level start, when all are numbered through."""
    return np.cumsum([0, *(level.num_nodes for level in levels)]).astype(np.int32)


def _limit_columns(problem: Problem, levels: Sequence[Level]) -> dict[str, Any]:
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
        # Where there is no band, excess over a capacity is measured in capacities.
        unit = np.where(has_band, limits.target, np.maximum(limits.capacity, 1))
        scale.append((1.0 / unit).reshape(-1))
    return {"limits": np.concatenate(table), "scale": np.concatenate(scale)}


def build_state(
    problem: Problem, tables: Tables, at: Arrangement, seed: int, *, is_compiled: bool
) -> State:
    """Return the state of a search that starts at `at`."""
    now = _node_loads(problem, at)
    peak = now + _departed(problem, at)
    links, ends = _links(at.bin_of, problem.num_bins)
    columns = {
        "bin_of": at.bin_of.astype(np.int32),
        "role_of": at.role_of.astype(np.int64),
        "loads": np.stack([now, peak], axis=1),
        "distance": np.zeros(len(now)),
        "penalty": np.zeros(tables.num_nodes),
        "links": links,
        "ends": ends,
        "noise": np.array([(seed * 2 + 1) & 0x7FFFFFFF], dtype=np.int64),
    }
    return State(
        **{
            name: _as_column(column.copy(), is_compiled=is_compiled)
            for name, column in columns.items()
        }
    )


def _node_loads(problem: Problem, at: Arrangement) -> Any:  # noqa: ANN401
    """Return the flat ``(M, R)`` loads of the nodes of all levels with limits."""
    brought = loads(problem, at) - problem.bins.fixed
    rows = []
    for level in problem.levels:
        if level.limits is not None:
            total = level.limits.fixed.copy()
            inside = np.greater_equal(level.node_of_bin, 0)
            np.add.at(total, level.node_of_bin[inside], brought[inside])
            rows.append(total.reshape(-1))
    return np.concatenate(rows)


def _departed(problem: Problem, at: Arrangement) -> Any:  # noqa: ANN401
    """Return what items that left still take at home, in transient resources."""
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


def _links(bin_of: Any, num_bins: int) -> tuple[Any, Any]:  # noqa: ANN401
    """Return the linked lists of the items of each bin, ascending."""
    ends = np.full((num_bins, END_WIDTH), -1, dtype=np.int32)
    links = np.full((len(bin_of), LINK_WIDTH), -1, dtype=np.int32)
    order = np.argsort(bin_of, kind="stable").astype(np.int32)
    order = order[np.greater_equal(bin_of[order], 0)]
    if len(order):
        place = bin_of[order]
        same = place[1:] == place[:-1]
        links[order[:-1][same], LINK_AFTER] = order[1:][same]
        links[order[1:][same], LINK_BEFORE] = order[:-1][same]
        first = np.concatenate(([True], ~same))
        ends[place[first], END_HEAD] = order[first]
        ends[place[first], END_CURSOR] = order[first]
    return links, ends
