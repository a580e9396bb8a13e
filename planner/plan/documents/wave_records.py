"""Records of waves.json, for its JSON Schema and its reader."""

from typing import Annotated, Literal

from pydantic import Field

from planner.plan.documents.check_records import Int32, Record
from planner.plan.documents.plan_records import WaveSettingsRecord

File = Annotated[str, Field(pattern=r"^waves/[a-z]+-\d{3,}\.json$")]

Part = Annotated[str, Field(pattern=r"^waves/wave-\d{3,}-\d{3,}\.json$")]


class StageRecord(Record):
    """
    Why one stage needs so many waves: copies of one broker, or partition, over its cap.

    `topic` and `partition` where the direction is ``partition``, `broker` elsewhere.
    """

    waves: int
    broker: Int32 | None
    direction: Literal["in", "out", "both", "partition"]
    copies: int
    cap: int
    topic: str | None = None
    partition: int | None = None


class DegreeProofRecord(Record):
    """The least number of waves, stage by stage."""

    kind: Literal["wave-degree"]
    stages: list[StageRecord]


class BytesProofRecord(Record):
    """The busiest end: its bytes over the bandwidth is the least time."""

    kind: Literal["wave-bytes"]
    broker: Int32 | None
    direction: Literal["in", "out"] | None
    bytes: int


class BoundedWavesRecord(Record):
    """How many waves, and how many at least."""

    value: int
    lower_bound: int
    gap: float | None
    proof: DegreeProofRecord


class BoundedSecondsRecord(Record):
    """How long copies take without waiting for waves, and at least."""

    value: float
    lower_bound: float
    gap: float | None
    proof: BytesProofRecord


class WaveCertificateRecord(Record):
    """What is proven about the waves."""

    waves: BoundedWavesRecord
    seconds: BoundedSecondsRecord


class BrokerTrafficRecord(Record):
    """What one broker copies in one wave."""

    broker: Int32
    copies_in: int
    copies_out: int
    bytes_in: int
    bytes_out: int
    log_dirs: int
    log_dir_bytes: int


class FullestDiskRecord(Record):
    """The fullest disk while a wave runs, as a fraction of its capacity."""

    broker: Int32
    use: float


class NetworkRecord(Record):
    """The broker whose network slows a wave, and what it carries without copies."""

    broker: Int32
    direction: Literal["in", "out"]
    load_bytes_per_s: float


class WaveRecord(Record):
    """One wave."""

    number: int
    kind: Literal["copies", "drops", "leaders"]
    file: File
    rollback_file: File
    election_file: File | None
    parts: list[Part] = Field(default_factory=list)
    partitions: int
    copies: int
    bytes: int
    log_dirs: int
    log_dir_bytes: int
    drops: int
    brokers: list[BrokerTrafficRecord]
    bandwidth_bytes_per_s: float | None = None
    network: NetworkRecord | None = None
    throttle_bytes_per_s: int | None
    least_throttle_bytes_per_s: int | None
    wildcard_topics: list[str] = Field(default_factory=list)
    wildcard_least_throttle_bytes_per_s: int | None = None
    log_dir_throttle_bytes_per_s: int | None
    seconds: float
    fullest_disk: FullestDiskRecord | None
    elections: int


class HopRecord(Record):
    """A replica that is put aside on another broker for a while."""

    topic: str
    partition: int
    from_: Int32 = Field(alias="from")
    via: Int32
    to: Int32
    bytes: int


class StuckRecord(Record):
    """Why the rest of the copies has no safe order."""

    brokers: list[Int32]
    short_bytes: int
    copies_left: int
    message: str


class WavesRecord(Record):
    """waves.json."""

    format: Literal["kafka-planner/waves"]
    version: Literal[1]
    settings: WaveSettingsRecord
    disk_threshold: float
    in_threshold: float = 1.0
    out_threshold: float = 1.0
    is_limited_by_disk: bool
    certificate: WaveCertificateRecord
    seconds_wave_by_wave: float
    waves: list[WaveRecord]
    hops: list[HopRecord]
    stuck: StuckRecord | None
    notes: list[str]


WAVE_DOCUMENTS = {"waves": WavesRecord}
"""Documents by their names in `schema`."""
