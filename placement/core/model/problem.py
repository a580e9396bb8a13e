"""
The core's problem: items on bins, as frozen tables of integers.

``I`` items in ``G`` groups, ``N`` bins, ``R`` resources, ``L`` levels. The core knows
nothing of what these are: replicas of partitions on brokers, partitions on members
of a consumer group, or anything else that fills the tables.

* **Bins stand in levels.** Level 0 is the bins themselves; a higher level joins bins
  to nodes (a host, a rack). A cap on the items of one group, capacities and bands may
  stand at any level, and the price of a move goes by the lowest level that both its
  ends share.
* **Items** belong to a group, stored as compressed rows. An item's weight is that of
  its group, plus an `extra` of its own while it lies in its home bin.
* **A role** (a leader) is held by one item of a group; it adds weights to its bin, and
  moving it inside the group costs no copy.
* **Movability is input**: which items must, may or must not move, which bins may
  receive, which roles may change hands.
"""

from dataclasses import dataclass, field, fields
from enum import IntEnum

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
IndexArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
CodeArray = npt.NDArray[np.int8]

NOWHERE = -1
"""No bin: an item that has no home yet, a group without a role."""
NO_LIMIT = 2**62
"""A capacity or an upper bound that nothing reaches."""


def _no_rows() -> IndexArray:
    return np.zeros(0, dtype=np.int32)


def _no_pairs() -> IndexArray:
    return np.zeros((2, 0), dtype=np.int32)


def _no_caps() -> IntArray:
    return np.zeros(0, dtype=np.int64)


class Movability(IntEnum):
    """What may happen to an item."""

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
        ``(M, R)`` hard; a node over it already takes nothing more of the resource.
    lower, upper
        ``(M, R)`` the band. Soft: the solver comes as near as it can.
    target
        ``(M, R)`` unit in which distances from the band are measured. 0: no band.
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
        For messages: "broker", "rack".
    node_of_bin
        ``(N,)`` the node each bin belongs to; `NOWHERE` for bins outside the level.
    num_nodes
        Number of nodes, ``M``.
    group_cap
        ``(G,)`` most items of one group in one node; 0: no cap. `None`: none at all.
    is_even
        Whether a node may not hold two items of a group more than another node of
        the level that still has a bin free for it.
    open_bins
        ``(M,)`` bins of each node that count for `is_even`.
    limits
        Capacities and bands of the nodes, or `None`.
    price
        Of a move whose two ends share this level and no lower one, per unit of the
        group's cost.
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
        Names, ``R`` of them.
    group_start
        ``(G + 1,)`` items of group ``g`` are rows ``group_start[g]:group_start[g+1]``.
    group_class
        ``(G,)`` row of `is_eligible`.
    weight
        ``(G, R)`` what each item of the group adds to its bin.
    role_weight
        ``(G, R)`` what the holder of the role adds besides.
    cost
        ``(G,)`` of copying one item (bytes).
    home
        ``(I,)`` bin each item is in now, or `NOWHERE`.
    extra
        ``(I, R)`` added to the weight while the item is in its home bin; ``(0, R)``
        if all are 0.
    movability
        ``(I,)`` a `Movability` each; items without a home are not `NEVER`.
    role_home
        ``(G,)`` item (row of ``I``) that holds the role now, or `NOWHERE` for groups
        without one.
    is_role_movable
        ``(G,)`` whether the role may change hands although its holder stays.
    may_receive
        ``(N,)`` bins that may take items which are not at home there.
    may_hold_role
        ``(N,)`` bins whose items may take a role.
    must_release_role
        ``(N,)`` bins whose items must hand on a role that may change hands.
    bin_class
        ``(N,)`` column of `is_eligible`.
    is_eligible
        ``(group classes, bin classes)`` where an item may go.
    levels
        Level 0 first: the bins themselves, in order.
    is_transient
        ``(R,)`` whether an item that leaves still fills its old bin until all copies
        are made; capacities must hold meanwhile.
    price_across
        Of a move whose ends share no level, per unit of cost.
    price_per_move
        Of any move, in units of cost.
    collection_of
        ``(G,)`` the collection each group belongs to (a topic); empty: none.
    collection_cap
        ``(C,)`` soft: the search brings no more items of a collection into one bin
        as long as it gets into the bands without.
    collection_role_cap
        ``(C,)`` the same for roles; empty: none.
    collection_fixed, collection_fixed_roles
        ``(2, n)`` collection and bin of items, and of roles, that count towards these
        caps though they are no part of the problem.
    max_cost, max_moves
        Hard caps on the cost of all moves together (without the price per move) and
        on their number.
    zone_of_bin, source_zone
        ``(N,)`` the zone each bin stands in, and ``(G,)`` the one that a group's items
        are copied from, `NOWHERE` where from none; both empty where `max_crossing` is
        `NO_LIMIT`.
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
        """Whether the cost or the number of all moves is capped, or what crosses."""
        most = min(self.max_cost, self.max_moves, self.max_crossing)
        return most < NO_LIMIT

    @property
    def has_zones(self) -> bool:
        """Whether moves between zones are capped."""
        return self.max_crossing < NO_LIMIT

    @property
    def least_price(self) -> int:
        """The least that any move pays per unit of its group's cost."""
        # Two bins share a node of level 0 only if they are one bin.
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
            wrong.append("what lies nowhere cannot stay there")
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
