"""Small problems of the core for hypothesis, with all that a Problem may hold."""

from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
from hypothesis import strategies as st

from placement.core.model.problem import (
    NO_LIMIT,
    NOWHERE,
    Level,
    Limits,
    Movability,
    Problem,
)

MOST_ARRANGEMENTS = 20_000
"""Groups are added to a problem only while brute force stays about this small."""


def bin_level(num_bins: int, num_groups: int, limits: Limits, price: int = 1) -> Level:
    """Level 0: the bins themselves, one item of a group in each."""
    return Level(
        name="bin",
        node_of_bin=np.arange(num_bins, dtype=np.int32),
        num_nodes=num_bins,
        group_cap=np.ones(num_groups, dtype=np.int32),
        limits=limits,
        price=price,
    )


def least_cap(size: int, open_bins: list[int]) -> int:
    """The least cap for which nodes with so many bins can take `size` items."""
    cap = 0
    while sum(min(cap, n) for n in open_bins) < size and cap < max(open_bins):
        cap += 1
    return cap


def make_problem(
    homes: list[list[int]],
    *,
    num_bins: int,
    weight: Any = 1,
    role_weight: Any = 0,
    cost: Any = 1,
    lower: Any = 0,
    upper: Any = NO_LIMIT,
    target: Any = 0.0,
    capacity: Any = NO_LIMIT,
    fixed: Any = 0,
    racks: list[int] | None = None,
    rack_cap: Any = 1,
    **columns: Any,
) -> Problem:
    """
    A problem with one resource, read at a glance: home bins of the items per group.

    The first item of a group holds its role; weights and costs are one value for all
    or one per group, limits one value or one per bin; anything else by its name.
    """
    groups, items = len(homes), sum(map(len, homes))

    def column(value: Any, rows: int, dtype: Any) -> Any:
        flat = np.broadcast_to(np.array(value, dtype), (rows,))
        return flat.reshape(rows, 1).copy()

    limits = Limits(
        fixed=column(fixed, num_bins, np.int64),
        capacity=column(capacity, num_bins, np.int64),
        lower=column(lower, num_bins, np.int64),
        upper=column(upper, num_bins, np.int64),
        target=column(target, num_bins, np.float64),
    )
    levels = [bin_level(num_bins, groups, limits)]
    if racks is not None:
        caps = column(rack_cap, groups, np.int32)[:, 0]
        levels.append(
            Level(
                name="rack",
                node_of_bin=np.array(racks, dtype=np.int32),
                num_nodes=max(racks) + 1,
                group_cap=caps,
            )
        )
    start = np.cumsum([0, *map(len, homes)], dtype=np.int64)
    every = np.ones(num_bins, dtype=np.bool_)
    table: dict[str, Any] = {
        "resources": ("load",),
        "group_start": start,
        "group_class": np.zeros(groups, dtype=np.int32),
        "weight": column(weight, groups, np.int64),
        "role_weight": column(role_weight, groups, np.int64),
        "cost": column(cost, groups, np.int64)[:, 0],
        "home": np.array([b for home in homes for b in home], dtype=np.int32),
        "extra": np.zeros((0, 1), dtype=np.int64),
        "movability": np.full(items, Movability.MAY, dtype=np.int8),
        "role_home": start[:-1],
        "is_role_movable": np.ones(groups, dtype=np.bool_),
        "may_receive": every,
        "may_hold_role": every.copy(),
        "must_release_role": ~every,
        "bin_class": np.zeros(num_bins, dtype=np.int32),
        "is_eligible": np.ones((1, 1), dtype=np.bool_),
        "levels": tuple(levels),
        "is_transient": np.zeros(1, dtype=np.bool_),
    }
    changed = {name: np.array(value) for name, value in columns.items()}
    plain = {"levels", "price_per_move", "price_across", "max_cost", "max_moves"}
    plain |= {"max_crossing"}
    for name in plain & columns.keys():
        changed[name] = columns[name]
    if "movability" in changed:
        changed["movability"] = changed["movability"].astype(np.int8)
    return Problem(**(table | changed))


@st.composite
def zoned(draw: Any, max_crossing: int = 0) -> Problem:
    """Draw a problem whose bins stand in zones, with a cap on moves between them."""
    problem = draw(problems())
    zones = draw(st.integers(1, 3))
    return replace(
        problem,
        max_crossing=max_crossing,
        zone_of_bin=_choices(draw, problem.num_bins, zones),
        source_zone=_choices(draw, problem.num_groups, zones + 1) - np.int32(1),
    )


@dataclass(frozen=True)
class _Shape:
    """Sizes of a problem being drawn, and which bins are being emptied."""

    sizes: list[int]
    num_bins: int
    num_resources: int
    leaves: list[bool]

    @property
    def group_of(self) -> Any:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def start(self) -> Any:
        return np.cumsum([0, *self.sizes], dtype=np.int64)


@st.composite
def problems(
    draw: Any,
    *,
    max_bins: int = 4,
    max_groups: int = 5,
    max_items: int = 3,
    is_plain: bool = False,
    has_loaded_racks: bool = False,
    has_transient: bool = False,
    has_extra: bool = True,
    has_collections: bool = False,
) -> Problem:
    """
    Draw any small problem.

    Several resources and roles, items that must or must never move, bins that are
    being emptied or closed, caps on bins and racks with even spread, capacities, extra
    weights, two classes of bins, prices. `is_plain`: one that an exact model takes.
    `has_loaded_racks`: racks have capacities and bands, too. `has_transient`: items
    that leave may fill their old bin until all is done. `has_extra`: items may weigh
    more or less at home than elsewhere. `has_collections`: groups belong to
    collections with soft caps.
    """
    shape = _draw_shape(draw, max_bins, max_groups, max_items)
    groups, items = len(shape.sizes), sum(shape.sizes)
    orders = [draw(st.permutations(range(shape.num_bins))) for _ in shape.sizes]
    homes = [b for row, n in zip(orders, shape.sizes, strict=True) for b in row[:n]]
    home = np.array(homes, dtype=np.int32)
    movability = _draw_movability(draw, shape, homes)
    if not is_plain:
        lost = _flags(draw, items, 19)
        home[lost], movability[lost] = NOWHERE, Movability.MAY
    weight = _table(draw, shape, 0, 9, groups)
    extra = np.zeros((0, shape.num_resources), dtype=np.int64)
    if has_extra and items and draw(st.booleans()):
        # An item never weighs less than nothing.
        extra = np.maximum(_table(draw, shape, -4, 4, items), -weight[shape.group_of])
    leaves = np.array(shape.leaves)
    may_hold = ~leaves & ~_flags(draw, shape.num_bins, 5)
    num_classes = draw(st.integers(1, 2))
    price = 1 if is_plain else draw(st.integers(0, 2))
    total = weight[shape.group_of].sum(axis=0)
    limits = _draw_limits(draw, shape, total, shape.num_bins)
    racks = _draw_racks(draw, shape, total, has_limits=has_loaded_racks, price=price)
    return Problem(
        resources=tuple(f"r{r}" for r in range(shape.num_resources)),
        group_start=shape.start,
        group_class=_choices(draw, groups, num_classes),
        weight=weight,
        role_weight=_table(draw, shape, 0, 5, groups),
        cost=np.array([draw(st.integers(0, 9)) for _ in shape.sizes], dtype=np.int64),
        home=home,
        extra=extra,
        movability=movability,
        role_home=_draw_roles(draw, shape, home),
        is_role_movable=~_flags(draw, groups, 5),
        may_receive=~leaves & ~_flags(draw, shape.num_bins, 5),
        may_hold_role=may_hold,
        must_release_role=~may_hold & ~leaves & ~_flags(draw, shape.num_bins, 1),
        bin_class=_choices(draw, shape.num_bins, num_classes),
        is_eligible=~_flags(draw, num_classes**2, 5).reshape(num_classes, -1),
        levels=(bin_level(shape.num_bins, groups, limits), racks),
        **(_draw_collections(draw, groups) if has_collections else {}),
        is_transient=_flags(draw, shape.num_resources, 1) & has_transient,
        price_across=1 if is_plain else draw(st.integers(1, 2)),
        price_per_move=draw(st.sampled_from([0, 0, 3])),
    )


@st.composite
def unevenly_banded(draw: Any, **kind: Any) -> Problem:
    """Draw a problem of one price whose bands lie anywhere about their targets."""
    problem = draw(problems(**kind))
    limits = problem.bins

    def table(low: int, high: int) -> Any:
        size = limits.target.size
        values = draw(st.lists(st.integers(low, high), min_size=size, max_size=size))
        return np.array(values, dtype=np.int64).reshape(limits.target.shape)

    ends = table(0, 4)
    lower = np.where(ends == 1, 0, table(-2, 10))
    banded = replace(
        limits,
        lower=lower,
        upper=np.where(ends == 2, NO_LIMIT, lower + table(0, 6)),
        target=np.where(ends == 0, 0.0, table(1, 24) / np.where(ends == 3, 7, 2)),
    )
    first, *others = (replace(level, price=1) for level in problem.levels)
    levels = (replace(first, limits=banded), *others)
    return replace(problem, price_across=1, levels=levels)


def _draw_collections(draw: Any, groups: int) -> dict[str, Any]:
    count = draw(st.integers(1, 2))
    caps, of_roles = ([draw(st.integers(1, 3)) for _ in range(count)] for _ in range(2))
    has_roles = draw(st.booleans())
    return {
        "collection_of": _choices(draw, groups, count),
        "collection_cap": np.array(caps, dtype=np.int64),
        "collection_role_cap": np.array(of_roles if has_roles else [], dtype=np.int64),
    }


def _flags(draw: Any, length: int, others: int) -> Any:
    """``(length,)`` flags, each true in one case and false in `others`."""
    return np.array(
        [draw(st.integers(0, others)) == others for _ in range(length)], bool
    )


def _choices(draw: Any, length: int, num: int) -> Any:
    return np.array([draw(st.integers(0, num - 1)) for _ in range(length)], np.int32)


def _table(draw: Any, shape: _Shape, low: int, high: int, rows: int) -> Any:
    size = rows * shape.num_resources
    values = draw(st.lists(st.integers(low, high), min_size=size, max_size=size))
    return np.array(values, dtype=np.int64).reshape(rows, shape.num_resources)


def _draw_shape(draw: Any, max_bins: int, max_groups: int, max_items: int) -> _Shape:
    num_bins = draw(st.integers(1, max_bins))
    wanted = draw(
        st.lists(st.integers(1, min(num_bins, max_items)), max_size=max_groups)
    )
    sizes, ways = [], 1
    for size in wanted:
        # So many sets of bins, times who holds the role.
        ways *= comb(num_bins, size) * size
        if ways <= MOST_ARRANGEMENTS:
            sizes.append(size)
    return _Shape(
        sizes=sizes,
        num_bins=num_bins,
        num_resources=draw(st.integers(1, 2)),
        leaves=_flags(draw, num_bins, 5).tolist(),
    )


def _draw_movability(draw: Any, shape: _Shape, homes: list[int]) -> Any:
    """Items of bins being emptied mostly must move; a few others must, or must not."""
    usual = [Movability.MAY] * 9 + [Movability.NEVER, Movability.MUST]
    leaving = [Movability.MUST] * 6 + [Movability.NEVER]
    kinds = [
        draw(st.sampled_from(leaving if shape.leaves[b] else usual)) for b in homes
    ]
    return np.array(kinds, dtype=np.int8)


def _draw_roles(draw: Any, shape: _Shape, home: Any) -> Any:
    """Any item of the group that has a home, or now and then none."""
    roles = []
    for first, size in zip(shape.start.tolist(), shape.sizes, strict=False):
        item = first + draw(st.integers(0, size - 1))
        has_role = home[item] >= 0 and draw(st.integers(0, 9)) > 0
        roles.append(item if has_role else NOWHERE)
    return np.array(roles, dtype=np.int64)


def _draw_limits(draw: Any, shape: _Shape, total: Any, nodes: int) -> Limits:
    """Bands around an even share, some shifted, some missing; capacities seldom."""
    size = (nodes, shape.num_resources)
    share = np.broadcast_to(total / max(nodes, 1), size)
    factor = [
        [draw(st.sampled_from([0.0, 0.5, 1.0, 1.0, 1.0, 1.5])) for _ in range(size[1])]
        for _ in range(nodes)
    ]
    target = share * np.array(factor).reshape(size)
    width = draw(st.sampled_from([0.0, 0.1, 0.5]))
    capacity = np.full(size, NO_LIMIT, dtype=np.int64)
    for place in np.ndindex(*size):
        if draw(st.integers(0, 4)) == 4:
            capacity[place] = int(share[place] * draw(st.integers(1, 4)) / 2)
    return Limits(
        fixed=_table(draw, shape, 0, 3, nodes),
        capacity=capacity,
        lower=np.floor(target * (1 - width)).astype(np.int64),
        upper=np.ceil(target * (1 + width)).astype(np.int64),
        target=target,
    )


def _draw_racks(
    draw: Any, shape: _Shape, total: Any, *, has_limits: bool, price: int
) -> Level:
    """Racks of the bins that stay; where spread is even, the cap is the least one."""
    num_racks = draw(st.integers(1, 3))
    node = np.array(
        [
            NOWHERE if off else draw(st.integers(0, num_racks - 1))
            for off in shape.leaves
        ],
        dtype=np.int32,
    )
    is_even = draw(st.booleans())
    counts = np.bincount(node[node >= 0], minlength=num_racks).tolist()
    caps = [
        least_cap(size, counts) if is_even else draw(st.integers(0, 2))
        for size in shape.sizes
    ]
    return Level(
        name="rack",
        node_of_bin=node,
        num_nodes=num_racks,
        group_cap=np.array(caps, dtype=np.int32),
        is_even=is_even,
        limits=_draw_limits(draw, shape, total, num_racks) if has_limits else None,
        price=price,
    )
