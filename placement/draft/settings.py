"""Settings of a plan besides operation and cluster, and the notes of a plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from placement.array_types import BoolArray
from placement.draft.rule import Rule
from placement.draft.soft_rules import Eased
from placement.model.load import Resource
from placement.model.targets import DEFAULT_BAND

DEFAULT_THRESHOLDS = {
    Resource.DISK: 0.8,
    Resource.IN: 0.8,
    Resource.OUT: 0.8,
    Resource.CPU: 0.7,
}


@dataclass(frozen=True, slots=True)
class Note:
    """
    A remark for the reader of a plan.

    Parameters
    ----------
    what
        Kind of the note: ``not-balanced``, ``left-alone``, ``band-widened``.
    message
        One sentence.
    where
        Topic, partition, broker, rack, log_dir or resource, by these names.
    have, need
        Actual and required amount, if there are amounts.
    is_existing
        Whether the note is on a violation that existed before the plan and is no worse.
    """

    what: str
    message: str
    where: Mapping[str, str | int] = field(default_factory=dict)
    have: float | None = None
    need: float | None = None
    is_existing: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Settings:
    """
    Settings of a plan, apart from the operation and the cluster.

    Parameters
    ----------
    bands
        Width of the band of each resource, as a fraction of the target; 0.10 if absent.
    resources
        Resources to balance; `None` for all that are sufficiently known.
    capacity_thresholds
        Usable fraction of the capacity of each resource.
    host_thresholds
        Usable fraction of the joint capacity of the brokers of a host, for each
        resource; none by default.
    destination_brokers
        Ids of brokers that may receive replicas; `None` for all.
    excluded_for_replicas, excluded_for_leaders
        Ids of brokers that receive no further replicas, or no further leaders.
    excluded_topics
        ``(T,)`` topics whose replicas and leaders stay; `None` for none.
    unmatched_topics
        Options with a regular expression that matches no topic, as written.
    frees_the_rest
        Whether an operation may also move replicas that need not move.
    price_per_move_bytes
        Price of a move besides its bytes, in bytes.
    prefers_moves
        Whether few moves count as well as few bytes: a move then costs the mean size of
        a replica, unless a price is given.
    max_moves, max_bytes, max_cross_rack_bytes
        Caps on the number of copies, their bytes, and their bytes across racks, in
        total; `None` for no cap.
    effort
        ``quick``, ``normal``, ``thorough`` or ``exact``.
    seed
        Seed of the random numbers.
    topic_slack
        Number of replicas of one topic that a plan may bring to a broker above its
        share without need; `None` for any number.
    is_disk_transient
        Whether a leaving replica fills its old disk until all copies are made, so that
        disks keep to their threshold even if all copies are made at once.
    deadline_s
        Seconds after which the search ends with the incumbent; `None` for no limit.
    names_log_dirs
        Whether the plan names the log dirs of copies, and balances log dirs that copies
        may enter; if `None`, only where a broker's own choice would overfill a log dir.
    lifted
        Hard rules that are not applied: ``rack``, ``max-replicas``, ``log-dirs``.
    soft
        Names of rules that may be relaxed if a plan cannot keep all, the first one
        first.
    hard
        Names of goals that every plan has to meet: ``band-disk``, ``leader-in``, ….
    eased
        Relaxations of soft rules; `None` if no rule is relaxed.
    is_rack_strict
        Whether a rack holds at most one replica of a partition, however few racks
        exist.
    max_replicas
        Maximum number of replicas of any broker, besides the brokers' own limits.
    low_utilization
        Least utilization at which a resource is balanced, as a fraction.
    rules
        Further rules, in the order in which they fill the draft.
    """

    bands: Mapping[Resource, float] = field(default_factory=dict)
    resources: tuple[Resource, ...] | None = None
    capacity_thresholds: Mapping[Resource, float] = field(
        default_factory=lambda: DEFAULT_THRESHOLDS
    )
    host_thresholds: Mapping[Resource, float] = field(default_factory=dict)
    destination_brokers: frozenset[int] | None = None
    excluded_for_replicas: frozenset[int] = frozenset()
    excluded_for_leaders: frozenset[int] = frozenset()
    excluded_topics: BoolArray | None = None
    unmatched_topics: tuple[str, ...] = ()
    frees_the_rest: bool = False
    price_per_move_bytes: int = 0
    prefers_moves: bool = False
    max_moves: int | None = None
    max_bytes: int | None = None
    max_cross_rack_bytes: int | None = None
    effort: str = "normal"
    seed: int = 1
    topic_slack: int | None = 2
    is_disk_transient: bool = False
    deadline_s: float | None = None
    names_log_dirs: bool | None = None
    lifted: frozenset[str] = frozenset()
    soft: tuple[str, ...] = ()
    hard: frozenset[str] = frozenset()
    eased: Eased | None = None
    is_rack_strict: bool = False
    max_replicas: int | None = None
    low_utilization: Mapping[Resource, float] = field(default_factory=dict)
    rules: tuple[Rule[Any], ...] = ()

    def gives_way(self, rule: str) -> bool:
        """Return whether a rule is soft and relaxed in this plan."""
        return self.eased is not None and rule in self.eased.rules

    def is_measured(self, rule: str) -> bool:
        """Return whether a relaxed rule is a goal, to measure its relaxation."""
        eased = self.eased
        return eased is not None and eased.is_measured and rule in eased.rules

    def band(self, resource: Resource) -> float:
        """Return the width of the band of a resource."""
        return self.bands.get(resource, DEFAULT_BAND)
