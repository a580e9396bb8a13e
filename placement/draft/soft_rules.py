"""Relaxations of soft rules in a plan."""

from dataclasses import dataclass

from placement.array_types import BoolArray
from placement.model.load import WeightArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Eased:
    """
    Relaxations of soft rules that a plan cannot keep.

    Parameters
    ----------
    rules
        Names of the relaxed rules.
    is_measured
        Whether the plan measures the necessary relaxation: the rules are then goals,
        and there are no bands. Otherwise they are hard, with the limits of these
        tables.
    rack_most
        ``(P,)`` replicas of a partition that a rack may hold; 0 for the rack rule.
    capacity
        ``(B, R)`` load that a broker may carry, if that exceeds the rule.
    host_capacity
        ``(H, R)`` load that a host may carry, if that exceeds the rule.
    dir_capacity
        ``(D,)`` bytes that a log dir may hold, if that exceeds the rule.
    strays
        ``(B, sets)`` replicas of each broker set's topics that a broker of another set
        may hold.
    more_shared
        Number of brokers that topics apart may share, in addition to the fewest
        possible.
    parted
        ``(P,)`` partitions that need not be with those they belong together with.
    far
        ``(P,)`` partitions whose replicas may change their racks.
    movers
        ``(R,)`` replicas of these partitions that may move though they need not.
    """

    rules: frozenset[str]
    is_measured: bool
    rack_most: WeightArray | None = None
    capacity: WeightArray | None = None
    host_capacity: WeightArray | None = None
    dir_capacity: WeightArray | None = None
    strays: WeightArray | None = None
    more_shared: int = 0
    parted: BoolArray | None = None
    far: BoolArray | None = None
    movers: BoolArray | None = None
