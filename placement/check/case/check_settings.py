"""Limits and exclusions of a plan, which the checker applies."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from placement.check.case.finding import Finding
from placement.check.case.target_placement import Target
from placement.model.cluster import ClusterState

CustomRule = Callable[[ClusterState, Target], Iterable[Finding]]
"""User-defined rule: yields findings for a cluster before the plan and a target."""

DEFAULT_CAPACITY_THRESHOLDS: Mapping[str, float] = MappingProxyType(
    {"disk": 0.8, "in": 0.8, "out": 0.8, "cpu": 0.7}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HardGoals:
    """
    Goals that a plan must meet.

    Parameters
    ----------
    names
        Names of the goals: ``band-disk``, …, ``potential-out``, ``leader-in``,
        ``spread-topics``, ``spread-topic-leaders``, ``min-topic-leaders``.
    bands
        Half-width of the band per resource, as a fraction of the target.
    resources
        Resources named to be balanced; `None`: all known resources.
    not_balanced
        Resources that the operation cannot balance.
    low_utilization
        Fraction of the total capacity per resource below which it is not balanced.
    spreads_racks
        Whether the rack rule limits the load of a rack.
    old_may_be_low
        Whether brokers that are neither new nor `filled` may stay below their band.
    is_cruise_control
        Whether counts and leaders' bytes in have Cruise Control's limits.
    filled
        Ids of brokers named to be filled.
    is_order_only
        Whether brokers without a replica have no share of leaders.
    set_of_topic
        Name of each topic's broker set, ``""``: none; `None`: there are no sets.
    spread_topics, spread_topic_leaders
        Names of the topics whose replicas, or leaders, are spread.
    spread_band, spread_gap
        Allowed distance from the mean count: a fraction of the mean, and the smallest
        and largest distance as counts.
    topic_leaders
        Minimum number of leaders per broker, by topic name.
    is_inside
        Whether the disk band applies to log dirs inside their brokers.
    emptied
        Broker id and path of log dirs without a share.
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
    Limits and exclusions of a plan.

    Parameters
    ----------
    capacity_thresholds
        Fraction of each capacity that no broker may exceed, by resource (``disk``,
        ``in``, ``out``, ``cpu``); those not named keep the default. In (0, 1].
    host_thresholds
        Fraction of the summed capacity of a host's brokers that the host may use, by
        resource; by default none.
    allow_replication_factor_change
        Whether replica lists may be longer or shorter than before.
    excluded_for_replicas, excluded_for_leaders
        Ids of brokers that get no new replica, and no new leader.
    excluded_topics
        Names of topics whose partitions must not change.
    leaving_brokers
        Ids of live brokers that the plan empties. These get no new replica, and do not
        count for racks, hosts and shares.
    brokers_to_come
        Ids of brokers that did not exist when the plan was made. These are reported
        as unknown, not as stale.
    rollback
        Replica lists before the plan, as recorded in the plan, to detect a stale plan;
        or `None`.
    topic_ids
        Kafka's id of each topic when the plan was made, where known.
    soft
        Names of rules that are soft: ``rack``, ``max-replicas``, ``broker-set``,
        ``capacity`` and ``host`` (each also of one resource: ``capacity-disk``).
    hard_goals
        Goals that the plan must meet; `None`: none.
    custom
        User-defined rules.
    skipped
        Names of rules that are not checked.
    asks_racks_of_changed
        Whether the rack rule applies only to partitions that change their racks. Each
        replica of the others must stay in its rack.
    leaves_log_dirs_to_brokers
        Whether the plan was asked to name no log dirs. A log dir that only a broker's
        own choice would overfill is then a missed goal.

    Raises
    ------
    ValueError
        If a threshold names an unknown resource or is outside (0, 1].
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
        """Return the usable fraction of the capacity of a resource."""
        default = DEFAULT_CAPACITY_THRESHOLDS[resource]
        return self.capacity_thresholds.get(resource, default)
