"""What a plan was allowed to do, so that it is held to just that."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from placement.check.case.finding import Finding
from placement.check.case.target_placement import Target
from placement.model.cluster import ClusterState

CustomRule = Callable[[ClusterState, Target], Iterable[Finding]]
"""A user's own rule: the cluster before and the target, to what is wrong with it."""

DEFAULT_CAPACITY_THRESHOLDS: Mapping[str, float] = MappingProxyType(
    {"disk": 0.8, "in": 0.8, "out": 0.8, "cpu": 0.7}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HardGoals:
    """
    Goals without which a plan is not there.

    Parameters
    ----------
    names
        ``band-disk``, …, ``potential-out``, ``leader-in``, ``spread-topics``,
        ``spread-topic-leaders``, ``min-topic-leaders``.
    bands
        Width of the band per resource.
    resources
        Those that were named to be balanced; `None`: all that are known.
    not_balanced
        Those that the operation cannot balance.
    low_utilization
        A resource of which less than this is used was not balanced.
    spreads_racks
        Whether the rack rule limits what a rack can hold.
    old_may_be_low
        Whether brokers that are neither new nor `filled` may stay below their band.
    is_cruise_control
        Whether counts and leaders' in have the limits that Cruise Control gives them.
    filled
        Ids of brokers that were named to be filled.
    is_order_only
        Whether brokers without a replica have no share of leaders.
    set_of_topic
        Name of each topic's broker set, ``""``: none; `None`: there are no sets.
    spread_topics, spread_topic_leaders
        Names of the topics of which the replicas, or the leaders, are spread.
    spread_band, spread_gap
        How far from the mean these may be: part of it, and the least and the most.
    topic_leaders
        Leaders on every broker by the name of the topic.
    is_inside
        Whether the band of disk is that of log dirs inside their brokers.
    emptied
        Broker id and path of log dirs that have no share.
    """

    names: frozenset[str]
    bands: Mapping[str, float] = field(default_factory=dict)
    resources: tuple[str, ...] | None = None
    not_balanced: frozenset[str] = frozenset()
    low_utilization: Mapping[str, float] = field(default_factory=dict)
    spreads_racks: bool = True
    old_may_be_low: bool = False
    is_cruise_control: bool = False
    filled: frozenset[int] = frozenset()
    is_order_only: bool = False
    set_of_topic: Mapping[str, str] | None = None
    spread_topics: frozenset[str] = frozenset()
    spread_topic_leaders: frozenset[str] = frozenset()
    spread_band: float = 1.8
    spread_gap: tuple[int, int] = (2, 40)
    topic_leaders: Mapping[str, int] = field(default_factory=dict)
    is_inside: bool = False
    emptied: frozenset[tuple[int, str]] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """
    The limits and exclusions that a plan was made under.

    Parameters
    ----------
    capacity_thresholds
        Fraction of each capacity that no broker may exceed, by resource (``disk``,
        ``in``, ``out``, ``cpu``); those not named keep the default. In (0, 1].
    host_thresholds
        The same of what the brokers of a host have together; by default none.
    allow_replication_factor_change
        Whether lists may be longer or shorter than before.
    excluded_for_replicas, excluded_for_leaders
        Ids of brokers that get no new replica, and no new leader.
    excluded_topics
        Names of topics that stay as they are.
    leaving_brokers
        Ids of live brokers that the plan empties: they count as no place to be.
    brokers_to_come
        Ids of brokers that did not exist when the plan was made: unknown, not gone.
    rollback
        The lists before, as the plan recorded them, to tell a stale plan; or `None`.
    topic_ids
        Kafka's id of each topic when the plan was made, where known.
    soft
        Names of rules that may give way: ``rack``, ``max-replicas``, ``broker-set``,
        ``capacity`` and ``host`` (each also of one resource: ``capacity-disk``).
    hard_goals
        Goals without which there is no plan; `None`: there are none.
    custom
        Rules of the user's own.
    skipped
        Names of rules that are not looked at.
    asks_racks_of_changed
        Whether the rack rule is asked only of partitions that change their racks: in
        the others each replica is to stay in its own.
    leaves_log_dirs_to_brokers
        Whether the plan was asked to name no log dirs: what a broker's own choice
        overfills then is a goal that is missed.

    Raises
    ------
    ValueError
        If a threshold names no such resource or lies outside (0, 1].
    """

    capacity_thresholds: Mapping[str, float] = field(
        default_factory=lambda: DEFAULT_CAPACITY_THRESHOLDS
    )
    host_thresholds: Mapping[str, float] = field(default_factory=dict)
    allow_replication_factor_change: bool = False
    excluded_for_replicas: frozenset[int] = frozenset()
    excluded_for_leaders: frozenset[int] = frozenset()
    excluded_topics: frozenset[str] = frozenset()
    leaving_brokers: frozenset[int] = frozenset()
    brokers_to_come: frozenset[int] = frozenset()
    rollback: Target | None = None
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    soft: frozenset[str] = frozenset()
    hard_goals: HardGoals | None = None
    custom: tuple[CustomRule, ...] = ()
    skipped: frozenset[str] = frozenset()
    asks_racks_of_changed: bool = False
    leaves_log_dirs_to_brokers: bool = False

    def __post_init__(self) -> None:
        both = (*self.capacity_thresholds.items(), *self.host_thresholds.items())
        for resource, fraction in both:
            if resource not in DEFAULT_CAPACITY_THRESHOLDS:
                known = ", ".join(DEFAULT_CAPACITY_THRESHOLDS)
                msg = f"no capacity threshold for {resource!r}; there are: {known}"
                raise ValueError(msg)
            if not 0 < fraction <= 1:
                msg = f"threshold of {resource} must be in (0, 1], got {fraction}"
                raise ValueError(msg)

    def threshold_of(self, resource: str) -> float:
        """Return the fraction of the capacity of a resource that may be used."""
        default = DEFAULT_CAPACITY_THRESHOLDS[resource]
        return self.capacity_thresholds.get(resource, default)
