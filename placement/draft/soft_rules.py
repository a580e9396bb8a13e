"""Rules that give way where the user lets them, and how far they have to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from placement.model.cluster import BoolArray
from placement.model.load import RESOURCES, WeightArray

_LIMITED = ("disk", "in", "out", "cpu")

CAPS: Mapping[str, str] = {
    "max-moves": "max_moves",
    "max-bytes": "max_bytes",
    "max-cross-rack-bytes": "max_cross_rack_bytes",
}
"""Caps on the plan as a whole, with the names that settings have for them."""

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
"""The hard rules that may be soft, by the names that users have for them."""

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
"""The goals that may be hard, by the names that users have for them."""

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
"""Those that may not, and why."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Eased:
    """
    Soft rules that give way because a plan cannot keep them all.

    Parameters
    ----------
    rules
        Their names.
    is_measured
        Whether it is to be found out how far they have to: they are goals then, and
        there are no bands. Otherwise they are as hard as ever, with the room that
        the tables give besides.
    rack_most
        ``(P,)`` replicas that a rack may hold of a partition; 0: as the rule says.
    capacity
        ``(B, R)`` load that a broker may carry, where that is more than the rule says.
    host_capacity
        ``(H, R)`` the same of hosts.
    dir_capacity
        ``(D,)`` bytes that a log dir may hold, where that is more than the rule says.
    strays
        ``(B, sets)`` replicas of each broker set's topics that a broker of another
        set may hold.
    more_shared
        Brokers that topics kept apart may share besides those that they cannot do
        without.
    parted
        ``(P,)`` partitions that need not lie with those they belong together with.
    far
        ``(P,)`` partitions whose replicas may change their racks.
    movers
        ``(R,)`` replicas of these that may move though they need not.
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
    Return the rules that users mean by some names.

    Examples
    --------
    >>> sorted(rules_named(["rack", "capacity-in"]))
    ['capacity-in', 'rack']
    """
    return frozenset(rule for name in names for rule in SOFT.get(name, ()))


def goals_named(names: Iterable[str]) -> frozenset[str]:
    """
    Return the goals that users mean by some names.

    Examples
    --------
    >>> sorted(goals_named(["band-in", "leader-in"]))
    ['band-in', 'leader-in']
    """
    return frozenset(goal for name in names for goal in HARD.get(name, ()))
