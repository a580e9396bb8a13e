"""What `failures` prints, for its JSON Schema."""

from typing import Literal

from pydantic import BaseModel, Field

from planner.plan.documents.check_records import Int32, Record


class BusiestRecord(Record):
    """The busiest survivor in one resource; `use` where capacities are known."""

    broker: Int32
    load: float
    use: float | None


class BusiestOfAllRecord(Record):
    """The busiest survivors in what leaders bring."""

    out: BusiestRecord | None
    cpu: BusiestRecord | None
    leaders: BusiestRecord | None


class OnReturnRecord(Record):
    """
    The survivors once every follower fetches again; a warning, not the verdict.

    `busiest` and `pushed_over_threshold` beside it are while what is lost is gone.
    """

    busiest_out: BusiestRecord | None
    over_threshold: int


class LossOnReturnRecord(OnReturnRecord):
    """
    The same for one loss, and while its replicas catch up, or are rebuilt.

    Each broker that sends then sends the bandwidth besides. `catch_up_s_per_hour`: for
    each hour away, at that bandwidth; null where no rate is known.
    """

    busiest_out_while_copying: BusiestRecord | None
    catch_up_s_per_hour: float | None


class NoSourceRecord(Record):
    """A partition without a replica to copy from; `last_copies` are down."""

    topic: str
    partition: int
    last_copies: list[Int32]


class NoSourcesRecord(Record):
    """Partitions that cannot be copied: all counted, the first 1,000 named."""

    count: int
    partitions: list[NoSourceRecord]


class FullestRecord(Record):
    """How full the fullest survivor is at least when everything lost is rebuilt."""

    disk: float | None
    in_: float | None = Field(alias="in")


class FailureRecord(Record):
    """
    One failure, or one pair; partitions count only where the failure causes it.

    Loads and times are null where nobody told what they rest on.
    """

    lost: list[str] = Field(min_length=1, max_length=2)
    offline: int
    gone: int
    under_min_isr: int
    at_min_isr: int
    under_replicated: int
    leaders_moved: int
    busiest: BusiestOfAllRecord
    pushed_over_threshold: int
    on_return: OnReturnRecord
    fullest_when_rebuilt: FullestRecord
    rebuilt_bytes: int | None
    rebuild_s: float | None
    survives: bool


class FractionRecord(Record):
    """A fraction of all pairs; `error` is 0 where all were looked at."""

    fraction: float
    error: float


class FractionsRecord(Record):
    """Which fraction of the pairs does what."""

    offline: FractionRecord
    gone: FractionRecord
    under_min_isr: FractionRecord
    not_survived: FractionRecord


class PairsRecord(Record):
    """Pairs of one kind, the worst of them listed."""

    possible: int
    looked_at: int
    fractions: FractionsRecord
    worst: list[FailureRecord]


class CountsRecord(Record):
    """How many partitions are in each state."""

    offline: int
    gone: int
    under_min_isr: int
    at_min_isr: int
    under_replicated: int


class AssumptionsRecord(Record):
    """What the figures rest on."""

    bandwidth_bytes_per_s: int
    capacity_threshold: dict[str, float]
    eligible_leader_replicas: bool


class LossAssumptionsRecord(AssumptionsRecord):
    """What the figures of one loss rest on; brokers are killed, or stopped in order."""

    clean_shutdown: bool


class SurvivorRecord(Record):
    """The survivor that is nearest to a threshold by leading, or past it most."""

    resource: str
    broker: Int32
    use: float
    threshold: float


class KindVerdictRecord(Record):
    """Whether any one of a kind may fail; null where that is not known."""

    survives: bool | None
    controllers_keep_majority: bool | None


class VerdictRecord(Record):
    """The verdict by kind."""

    broker: KindVerdictRecord
    log_dir: KindVerdictRecord
    rack: KindVerdictRecord


class SinglesRecord(Record):
    """Every single failure by kind, the worst first."""

    broker: list[FailureRecord]
    log_dir: list[FailureRecord]
    rack: list[FailureRecord]


class AllFailuresRecord(Record):
    """What `failures SNAP` prints."""

    cluster_id: str | None
    taken_at: str | None
    data_age_s: int | None
    brokers: int
    partitions: int
    assumptions: AssumptionsRecord
    now: CountsRecord
    no_source: NoSourcesRecord
    verdict: VerdictRecord
    single: SinglesRecord
    pairs: dict[Literal["broker", "rack", "log_dir"], PairsRecord]
    notes: list[str]


class StageRecord(CountsRecord):
    """The cluster at one stage of a scenario."""

    leader_not_preferred: int
    busiest: BusiestOfAllRecord


class StagesRecord(Record):
    """Before, while it is away, once it is back, after a preferred election."""

    now: StageRecord
    lost: StageRecord
    returned: StageRecord
    elected: StageRecord


class RebuildRecord(Record):
    """What is copied anew if nothing comes back; null where no size is known."""

    replicas: int
    bytes: int | None
    seconds: float | None
    busiest_sender: Int32 | None
    fullest: FullestRecord


class UncleanRecord(Record):
    """What an unclean election would elect, and lose; null where not known."""

    leader: Int32 | None
    lost_bytes_at_least: int | None


class PartitionRecord(Record):
    """One partition with a replica lost."""

    topic: str
    partition: int
    state: Literal["offline", "under-min-isr", "at-min-isr", "under-replicated"]
    replicas: list[Int32]
    leader_before: Int32 | None
    leader: Int32 | None
    leader_returned: Int32 | None
    isr: list[Int32]
    elr: list[Int32]
    unclean: UncleanRecord | None


class AutomaticRecord(Record):
    """What the next automatic preferred election changes after the return."""

    is_enabled: bool
    has_threshold: bool
    changes: int
    passes: int


class ScenarioRecord(Record):
    """What `failures SNAP --broker 7` prints; the worst 1,000 partitions are listed."""

    cluster_id: str | None
    taken_at: str | None
    data_age_s: int | None
    lost: list[str]
    assumptions: LossAssumptionsRecord
    stages: StagesRecord
    caused: CountsRecord
    leaders_moved: int
    pushed_over_threshold: int
    binding: SurvivorRecord | None
    rebuild: RebuildRecord
    on_return: LossOnReturnRecord
    no_source: NoSourcesRecord
    num_partitions: int
    partitions: list[PartitionRecord]
    automatic_election: AutomaticRecord
    controllers_keep_majority: bool | None
    survives: bool
    notes: list[str]


FAILURE_DOCUMENTS: dict[str, type[BaseModel]] = {
    "failures": AllFailuresRecord,
    "failures-scenario": ScenarioRecord,
}
"""By the name that `schema` knows them by."""
