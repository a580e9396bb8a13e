"""What changes a plan apart from the operation and the cluster, and what it says."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from placement.draft.rule import Rule
from placement.draft.soft_rules import Eased
from placement.model.cluster import BoolArray
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
    Something that a reader of the plan should know.

    Parameters
    ----------
    what
        A short name: ``not-balanced``, ``left-alone``, ``band-widened``.
    message
        One sentence.
    where
        Topic, partition, broker, rack, log_dir or resource, by these names.
    have, need
        Amounts, where there are any.
    is_existing
        Whether something was wrong before the plan, and is no worse with it.
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
    What changes a plan, apart from the operation and the cluster.

    Parameters
    ----------
    bands
        Width of the band per resource, as a fraction; absent: 0.10.
    resources
        Which to balance; `None`: all that are known well enough.
    capacity_thresholds
        Fraction of a capacity that may be used, per resource.
    host_thresholds
        Fraction that the brokers of a host together may use of what they have
        together, per resource; none by default.
    destination_brokers
        Broker ids that may receive replicas; `None`: all.
    excluded_for_replicas, excluded_for_leaders
        Broker ids that get no replicas, or no leaders, that they have not.
    excluded_topics
        ``(T,)`` topics whose replicas and leaders stay; `None`: none.
    frees_the_rest
        Whether an operation may also move what it need not.
    price_per_move_bytes
        What a move costs besides its bytes.
    prefers_moves
        Whether few moves count as well as few bytes: a move is then priced at the
        mean size of a replica, unless a price is given.
    max_moves, max_bytes, max_cross_rack_bytes
        Caps on the copies, their bytes, and the bytes of those that cross racks,
        altogether; `None`: none.
    effort
        ``quick``, ``normal``, ``thorough`` or ``exact``.
    seed
        Of the random numbers.
    topic_slack
        Replicas of one topic above a broker's share of it that a plan may bring there
        without need; `None`: any.
    is_disk_transient
        Whether a replica that leaves still fills its old disk until all is copied, so
        that disks keep to their threshold even if all copies are made at once.
    deadline_s
        Seconds after which the search ends with what it has; `None`: none.
    names_log_dirs
        Whether copies are given a log dir of their broker, and log dirs are balanced
        where copies may come; `None`: where the choice of a broker would overfill one.
    lifted
        Hard rules that are not kept: ``rack``, ``max-replicas``, ``log-dirs``.
    soft
        Names of rules that give way where a plan cannot keep all, the first one first.
    hard
        Names of goals without which there is no plan: ``band-disk``, ``leader-in``, ….
    eased
        How they do, where that is so.
    is_rack_strict
        Whether a rack holds one replica of a partition at most, however few racks.
    max_replicas
        Most replicas of any broker, besides what the brokers themselves say.
    low_utilization
        Resources of which less than this fraction is used are not balanced.
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
    rules: tuple[Rule, ...] = ()

    def gives_way(self, rule: str) -> bool:
        """Return whether a rule is soft, and gives way in this plan."""
        return self.eased is not None and rule in self.eased.rules

    def is_measured(self, rule: str) -> bool:
        """Return whether a rule is a goal, to find out how far it has to give way."""
        eased = self.eased
        return eased is not None and eased.is_measured and rule in eased.rules

    def band(self, resource: Resource) -> float:
        """Return the width of one resource's band."""
        return self.bands.get(resource, DEFAULT_BAND)
