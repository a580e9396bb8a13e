"""What a plan was allowed to do, so that it is held to just that."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from placement.check.finding import Finding
from placement.check.target import Target
from placement.cluster import ClusterState

CustomRule = Callable[[ClusterState, Target], Iterable[Finding]]
"""A user's own rule: the cluster before and the target, to what is wrong with it."""

DEFAULT_CAPACITY_THRESHOLDS: Mapping[str, float] = MappingProxyType(
    {"disk": 0.8, "in": 0.8, "out": 0.8, "cpu": 0.7}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """
    The limits and exclusions that a plan was made under.

    Parameters
    ----------
    capacity_thresholds
        Fraction of each capacity that no broker may exceed, by resource (``disk``,
        ``in``, ``out``, ``cpu``); those not named keep the default. In (0, 1].
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
    custom
        Rules of the user's own.
    skipped
        Names of rules that are not looked at.

    Raises
    ------
    ValueError
        If a threshold names no such resource or lies outside (0, 1].
    """

    capacity_thresholds: Mapping[str, float] = field(
        default_factory=lambda: DEFAULT_CAPACITY_THRESHOLDS
    )
    allow_replication_factor_change: bool = False
    excluded_for_replicas: frozenset[int] = frozenset()
    excluded_for_leaders: frozenset[int] = frozenset()
    excluded_topics: frozenset[str] = frozenset()
    leaving_brokers: frozenset[int] = frozenset()
    brokers_to_come: frozenset[int] = frozenset()
    rollback: Target | None = None
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    custom: tuple[CustomRule, ...] = ()
    skipped: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for resource, fraction in self.capacity_thresholds.items():
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
