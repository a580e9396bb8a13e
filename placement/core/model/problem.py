"""
Problem of the core: items on bins, as frozen tables of integers.

``I`` items in ``G`` groups, ``N`` bins, ``R`` resources, ``L`` levels. The core does
not know their meaning: replicas of partitions on brokers, partitions on members of a
consumer group, or anything else that fills the tables.

* **Levels** group the bins. Level 0 is the bins themselves; a higher level joins bins
  to nodes (a host, a rack). Any level may have caps on the items of one group,
  capacities and bands. The price of a move depends on the lowest level that source and
  target share.
* **Items** belong to a group, stored as compressed rows. The weight of an item is that
  of its group, plus an `extra` of its own while the item is in its home bin.
* **A role** (a leader) is held by one item of a group and adds weights to its bin.
  Moving the role inside the group copies nothing.
* **Movability is input**: which items must, may or must not move, which bins may
  receive items, which roles may change hands.
"""

from dataclasses import dataclass, field, fields
from enum import IntEnum

import numpy as np

from placement.array_types import BoolArray, CodeArray, FloatArray, IndexArray, IntArray

NOWHERE = -1
"""Index of no bin or no item: an item without a home, a group without a role."""
NO_LIMIT = 2**62
"""Value of an unlimited capacity or upper bound."""


def _no_rows() -> IndexArray:
    return np.zeros(0, dtype=np.int32)


def _no_pairs() -> IndexArray:
    return np.zeros((2, 0), dtype=np.int32)


def _no_caps() -> IntArray:
    return np.zeros(0, dtype=np.int64)


class Movability(IntEnum):
    """Permission of an item to leave its home bin."""

    MAY = 0
    MUST = 1
    NEVER = 2


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Limits:
    """
    Capacities and bands of the nodes of one level.

    Parameters
    ----------
    fixed
        ``(M, R)`` load that no item brings.
    capacity
        ``(M, R)`` hard limit; a node already over it takes no more of the resource.
    lower, upper
        ``(M, R)`` ends of the band, a soft constraint: the solver minimises the
        distance outside.
    target
        ``(M, R)`` unit of distances outside the band. 0: no band.
    """

    fixed: IntArray
    capacity: IntArray
    lower: IntArray
    upper: IntArray
    target: FloatArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Level:
    """
    One level of the bins.

    Parameters
    ----------
    name
        Name in messages: "broker", "rack".
    node_of_bin
        ``(N,)`` node of each bin; `NOWHERE` for bins outside the level.
    num_nodes
        Number of nodes, ``M``.
    group_cap
        ``(G,)`` largest number of items of one group in one node; 0: no cap. `None`: no
        caps at this level.
    is_even
        Whether a node may not hold two items of a group more than another node of
        the level that still has a free bin.
    open_bins
        ``(M,)`` number of bins of each node that count for `is_even`; `None`: all.
    limits
        Capacities and bands of the nodes, or `None`.
    price
        Price per unit of the group's cost of a move whose source and target share a
        node of this level and of no lower one.
    """

    name: str
    node_of_bin: IndexArray
    num_nodes: int
    group_cap: IndexArray | None = None
    is_even: bool = False
    open_bins: IndexArray | None = None
    limits: Limits | None = None
    price: int = 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, weakref_slot=True)
class Problem:
    """
    Items, bins, and what may move where.

    Parameters
    ----------
    resources
        ``R`` names.
    group_start
        ``(G + 1,)`` items of group ``g`` are rows ``group_start[g]:group_start[g+1]``.
    group_class
        ``(G,)`` row of `is_eligible`.
    weight
        ``(G, R)`` load that each item of the group adds to its bin, not negative.
    role_weight
        ``(G, R)`` load that the holder of the role adds besides.
    cost
        ``(G,)`` cost of copying one item (bytes), not negative.
    home
        ``(I,)`` present bin of each item, or `NOWHERE`.
    extra
        ``(I, R)`` weight added while the item is in its home bin; ``(0, R)`` if all
        are 0.
    movability
        ``(I,)`` `Movability` of each item; items without a home are not `NEVER`.
    role_home
        ``(G,)`` item (row of ``I``) that holds the role now, or `NOWHERE` for groups
        without a role.
    is_role_movable
        ``(G,)`` whether the role may change hands although its holder stays.
    may_receive
        ``(N,)`` whether the bin may take items whose home is elsewhere.
    may_hold_role
        ``(N,)`` whether items of the bin may take a role.
    must_release_role
        ``(N,)`` whether items of the bin must hand on a role that may change hands.
    bin_class
        ``(N,)`` column of `is_eligible`.
    is_eligible
        ``(group classes, bin classes)`` whether items of the groups may go to the bins.
    levels
        Levels of the bins, level 0 (the bins themselves, in order) first.
    is_transient
        ``(R,)`` whether an item that leaves still fills its old bin until all copies
        are made; capacities must hold during that time.
    price_across
        Price per unit of cost of a move whose source and target share no node.
    price_per_move
        Price of any move, in units of cost.
    collection_of
        ``(G,)`` collection of each group (a topic); empty: none.
    collection_cap
        ``(C,)`` soft cap on the items of a collection in one bin; the search exceeds it
        only to reach the bands.
    collection_role_cap
        ``(C,)`` soft cap on the roles of a collection in one bin; empty: none.
    collection_fixed, collection_fixed_roles
        ``(2, n)`` collection and bin of items, and of roles, outside the problem that
        count towards these caps.
    max_cost, max_moves
        Hard caps on the total cost of all moves (without the price per move) and on
        their number.
    zone_of_bin, source_zone
        ``(N,)`` zone of each bin, and ``(G,)`` zone that a group's items are copied
        from, or `NOWHERE`; both empty where `max_crossing` is `NO_LIMIT`.
    max_crossing
        Hard cap on the cost of all moves to bins outside the group's source zone.
    """

    resources: tuple[str, ...]
    group_start: IntArray
    group_class: IndexArray
    weight: IntArray
    role_weight: IntArray
    cost: IntArray
    home: IndexArray
    extra: IntArray
    movability: CodeArray
    role_home: IntArray
    is_role_movable: BoolArray
    may_receive: BoolArray
    may_hold_role: BoolArray
    must_release_role: BoolArray
    bin_class: IndexArray
    is_eligible: BoolArray
    levels: tuple[Level, ...]
    is_transient: BoolArray
    price_across: int = 1
    price_per_move: int = 0
    collection_of: IndexArray = field(default_factory=_no_rows)
    collection_cap: IntArray = field(default_factory=_no_caps)
    collection_role_cap: IntArray = field(default_factory=_no_caps)
    collection_fixed: IndexArray = field(default_factory=_no_pairs)
    collection_fixed_roles: IndexArray = field(default_factory=_no_pairs)
    max_cost: int = NO_LIMIT
    max_moves: int = NO_LIMIT
    zone_of_bin: IndexArray = field(default_factory=_no_rows)
    source_zone: IndexArray = field(default_factory=_no_rows)
    max_crossing: int = NO_LIMIT
    group_of: IndexArray = field(init=False)

    def __post_init__(self) -> None:
        counts = np.diff(self.group_start)
        group_of = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        object.__setattr__(self, "group_of", group_of)
        if problems := self._problems():
            raise ValueError("; ".join(problems))
        for column in fields(self):
            value = getattr(self, column.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def num_items(self) -> int:
        """Number of items, ``I``."""
        return len(self.home)

    @property
    def num_groups(self) -> int:
        """Number of groups, ``G``."""
        return len(self.cost)

    @property
    def num_bins(self) -> int:
        """Number of bins, ``N``."""
        return len(self.may_receive)

    @property
    def num_resources(self) -> int:
        """Number of resources, ``R``."""
        return len(self.resources)

    @property
    def has_caps(self) -> bool:
        """Whether the number, the cost or the zone crossings of moves are capped."""
        most = min(self.max_cost, self.max_moves, self.max_crossing)
        return most < NO_LIMIT

    @property
    def has_zones(self) -> bool:
        """Whether moves between zones are capped."""
        return self.max_crossing < NO_LIMIT

    @property
    def least_price(self) -> int:
        """Lowest price of any move, per unit of its group's cost."""
        # Two different bins share no node of level 0.
        return min([self.price_across, *(level.price for level in self.levels[1:])])

    @property
    def bins(self) -> Limits:
        """Capacities and bands of the bins themselves."""
        limits = self.levels[0].limits
        if limits is None:
            msg = "level 0 has no limits; give it capacities and bands."
            raise ValueError(msg)
        return limits

    def _problems(self) -> list[str]:
        items, groups, bins = len(self.home), len(self.cost), len(self.may_receive)
        resources = len(self.resources)
        shapes = {
            "group_start": (groups + 1,),
            "group_class": (groups,),
            "weight": (groups, resources),
            "role_weight": (groups, resources),
            "movability": (items,),
            "role_home": (groups,),
            "is_role_movable": (groups,),
            "may_hold_role": (bins,),
            "must_release_role": (bins,),
            "bin_class": (bins,),
            "is_transient": (resources,),
        }
        wrong = [
            f"{name} must have shape {shape}, got {getattr(self, name).shape}"
            for name, shape in shapes.items()
            if getattr(self, name).shape != shape
        ]
        zones = len(self.zone_of_bin), len(self.source_zone)
        if self.has_zones and zones != (bins, groups):
            wrong.append(f"a cap on what crosses needs zones of {bins} and {groups}")
        is_kept = np.equal(self.movability, Movability.NEVER)
        if items == len(is_kept) and (is_kept & (self.home < 0)).any():
            wrong.append("an item without a home cannot stay at home")
        if self.extra.shape not in {(0, resources), (items, resources)}:
            wrong.append(f"extra must have shape ({items} or 0, {resources})")
        if len(self.collection_cap) and len(self.collection_of) != groups:
            wrong.append(f"collection_of must have shape ({groups},)")
        if len(self.collection_role_cap) not in {0, len(self.collection_cap)}:
            wrong.append("collection_role_cap must be as long as collection_cap, or 0")
        if not self.levels or self.levels[0].num_nodes != bins:
            wrong.append("level 0 must be the bins themselves")
        if (self.weight < 0).any() or (self.cost < 0).any():
            wrong.append("weights and costs must not be negative")
        return wrong
