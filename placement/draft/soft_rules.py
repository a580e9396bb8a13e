"""Soft rules, hard goals, and the relaxations of soft rules in a plan."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from placement.array_types import BoolArray
from placement.model.load import RESOURCES, WeightArray

_LIMITED = ("disk", "in", "out", "cpu")

CAPS: Mapping[str, str] = {
    "max-moves": "max_moves",
    "max-bytes": "max_bytes",
    "max-cross-rack-bytes": "max_cross_rack_bytes",
}
"""Caps on the plan as a whole, with their fields in the settings."""

SOFT: Mapping[str, tuple[str, ...]] = {
    "rack": ("rack",),
    "capacity": tuple(f"capacity-{name}" for name in _LIMITED),
    **{f"capacity-{name}": (f"capacity-{name}",) for name in _LIMITED},
    "host": tuple(f"host-{name}" for name in _LIMITED),
    **{f"host-{name}": (f"host-{name}",) for name in _LIMITED},
    "max-replicas": ("max-replicas",),
    "broker-set": ("broker-set",),
    "topics-apart": ("topics-apart",),
    "topics-together": ("topics-together",),
    "locality-scoped": ("locality-scoped",),
    **{name: (name,) for name in CAPS},
}
"""Hard rules that may be soft, by their names in options."""

BAND = "band-"
GOALS = (
    "potential-out",
    "leader-in",
    "spread-topics",
    "spread-topic-leaders",
    "min-topic-leaders",
    "even-positions",
)
"""Goals besides the bands, by the names of their options."""
_BANDS = tuple(f"{BAND}{resource}" for resource in RESOURCES)

HARD: Mapping[str, tuple[str, ...]] = {
    "bands": _BANDS,
    **{name: (name,) for name in (*_BANDS, *GOALS)},
}
"""Goals that may be hard, by their names in options."""

_TOUCH = "says what a plan may touch, which is no goal"
ALWAYS_HARD: Mapping[str, str] = {
    "one-per-broker": "is Kafka's own: a broker holds one replica of a partition",
    "log-dirs": "is Kafka's own: an offline or cordoned log dir takes nothing",
    "transient-disk": "guards disks while copies are made: leave it out, or cut waves",
    **dict.fromkeys(
        (
            "topics",
            "exclude-topics",
            "keep-topics",
            "keep-leaders",
            "only-over-threshold",
            "only-trades",
            "destination-broker-list",
            "exclude-brokers-for-replicas",
            "exclude-brokers-for-leaders",
        ),
        _TOUCH,
    ),
}
"""Rules that may not be soft, with the reason."""


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


def rules_named(names: Iterable[str]) -> frozenset[str]:
    """
    Return the rules that option names stand for.

    Examples
    --------
    >>> sorted(rules_named(["rack", "capacity-in"]))
    ['capacity-in', 'rack']
    """
    return frozenset(rule for name in names for rule in SOFT.get(name, ()))


def goals_named(names: Iterable[str]) -> frozenset[str]:
    """
    Return the goals that option names stand for.

    Examples
    --------
    >>> sorted(goals_named(["band-in", "leader-in"]))
    ['band-in', 'leader-in']
    """
    return frozenset(goal for name in names for goal in HARD.get(name, ()))
