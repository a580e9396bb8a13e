"""Records of the documents of `failures`, for their JSON Schemas."""

from typing import Literal

from pydantic import Field

from planner.io.records import DatedRecord, Int32, Record
from planner.io.summary_lines import LineRecord

PartitionState = Literal["offline", "under-min-isr", "at-min-isr", "under-replicated"]


class BusiestRecord(Record):
    """The busiest survivor in a resource; `use` is null for unknown capacities."""

    broker: Int32
    load: float
    use: float | None


class BusiestOfAllRecord(Record):
    """The busiest survivors in the resources that leaders use."""

    out: BusiestRecord | None
    cpu: BusiestRecord | None
    leaders: BusiestRecord | None


class OnReturnRecord(Record):
    """
    Survivors once every follower fetches again; a warning, not part of the verdict.

    `busiest` and `pushed_over_threshold` of the failure are for the time of the loss.
    """

    busiest_out: BusiestRecord | None
    over_threshold: int


class LossOnReturnRecord(OnReturnRecord):
    """
    Survivors once every follower fetches again, and while replicas are copied.

    Each broker that sends copies then sends the bandwidth in addition.
    `catch_up_s_per_hour` are seconds to catch up per hour of loss at that bandwidth;
    null where no rate is known.
    """

    busiest_out_while_copying: BusiestRecord | None
    catch_up_s_per_hour: float | None


class NoSourceRecord(Record):
    """A partition without a source; the brokers in `last_copies` are down."""

    topic: str
    partition: int
    last_copies: list[Int32]


class NoSourcesRecord(Record):
    """Partitions without a source: `count` has all, `partitions` the first 1,000."""

    count: int
    partitions: list[NoSourceRecord]


class FullestRecord(Record):
    """Lower bound on the use of the fullest survivor once all replicas are rebuilt."""

    disk: float | None
    in_: float | None = Field(alias="in")


class FailureRecord(Record):
    """
    One failure, or one pair; partitions count only in states that the failure causes.

    Loads and times are null where the loads of partitions are unknown.
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
    unplaced_replicas: int
    survives: bool


class FractionRecord(Record):
    """A fraction of all pairs; `error` is 0 where all pairs were computed."""

    fraction: float
    error: float


class FractionsRecord(Record):
    """Fractions of the pairs by effect."""

    offline: FractionRecord
    gone: FractionRecord
    under_min_isr: FractionRecord
    not_survived: FractionRecord


class PairsRecord(Record):
    """Pairs of one kind; the worst ones are listed."""

    possible: int
    looked_at: int
    fractions: FractionsRecord
    worst: list[FailureRecord]


class CountsRecord(Record):
    """Number of partitions in each state."""

    offline: int
    gone: int
    under_min_isr: int
    at_min_isr: int
    under_replicated: int


class AssumptionsRecord(Record):
    """Assumptions of the figures."""

    bandwidth_bytes_per_s: int
    capacity_threshold: dict[str, float]
    eligible_leader_replicas: bool


class LossAssumptionsRecord(AssumptionsRecord):
    """Assumptions of one loss; without `clean_shutdown`, brokers are killed."""

    clean_shutdown: bool


class SurvivorRecord(Record):
    """The survivor with the largest ratio of use to threshold."""

    resource: str
    broker: Int32
    use: float
    threshold: float


class KindVerdictRecord(Record):
    """Whether any one domain of a kind may fail; null where unknown."""

    survives: bool | None
    controllers_keep_majority: bool | None


class VerdictRecord(Record):
    """The verdict by kind."""

    broker: KindVerdictRecord
    log_dir: KindVerdictRecord
    rack: KindVerdictRecord


class SinglesRecord(Record):
    """Single failures by kind, the worst first."""

    broker: list[FailureRecord]
    log_dir: list[FailureRecord]
    rack: list[FailureRecord]


class AllFailuresRecord(DatedRecord):
    """The document of `failures SNAP`."""

    brokers: int
    partitions: int
    assumptions: AssumptionsRecord
    now: CountsRecord
    no_source: NoSourcesRecord
    verdict: VerdictRecord
    single: SinglesRecord
    pairs: dict[Literal["broker", "rack", "log_dir"], PairsRecord]
    notes: list[str]
    summary: list[LineRecord] = Field(description="Lines of the screen.")


class StageRecord(CountsRecord):
    """The cluster at one stage of a scenario."""

    leader_not_preferred: int
    busiest: BusiestOfAllRecord


class StagesRecord(Record):
    """Stages: before, during the loss, on return, after a preferred election."""

    now: StageRecord
    lost: StageRecord
    returned: StageRecord
    elected: StageRecord


class RebuildRecord(Record):
    """
    Copies that rebuild lost replicas; null where no size is known.

    `unplaced_replicas` have a source, but no broker is left to hold them.
    """

    replicas: int
    unplaced_replicas: int
    bytes: int | None
    seconds: float | None
    busiest_sender: Int32 | None
    fullest: FullestRecord


class UncleanRecord(Record):
    """Leader and lost bytes of an unclean election; null where unknown."""

    leader: Int32 | None
    lost_bytes_at_least: int | None


class PartitionRecord(Record):
    """One partition with a lost replica."""

    topic: str
    partition: int
    state: PartitionState
    replicas: list[Int32]
    leader_before: Int32 | None
    leader: Int32 | None
    leader_returned: Int32 | None
    isr: list[Int32]
    elr: list[Int32]
    unclean: UncleanRecord | None


class AutomaticRecord(Record):
    """Changes by the next automatic preferred election after the return."""

    is_enabled: bool
    has_threshold: bool
    changes: int
    passes: int


class ScenarioRecord(DatedRecord):
    """The document of `failures SNAP --broker 7`, with the worst 1,000 partitions."""

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
    summary: list[LineRecord] = Field(description="Lines of the screen.")
