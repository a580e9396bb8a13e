"""Records of waves.json, for its JSON Schema and its reader."""

from typing import Annotated, Literal

from pydantic import Field

from planner.io.records import Int32, Record
from planner.plan.documents.plan_records import WaveSettingsRecord

File = Annotated[str, Field(pattern=r"^waves/[a-z]+-\d{3,}\.json$")]

Part = Annotated[str, Field(pattern=r"^waves/wave-\d{3,}-\d{3,}\.json$")]


class StageRecord(Record):
    """
    Lower bound on the waves of one stage: copies of one place over the cap.

    The place is a partition if the direction is ``partition``, else a broker.
    """

    waves: int
    broker: Int32 | None
    direction: Literal["in", "out", "both", "partition"]
    copies: int
    cap: int
    topic: str | None = None
    partition: int | None = None


class DegreeProofRecord(Record):
    """Proof of the least number of waves, stage by stage."""

    kind: Literal["wave-degree"]
    stages: list[StageRecord]


class BytesProofRecord(Record):
    """Proof of the least time: bytes of the busiest broker over the bandwidth."""

    kind: Literal["wave-bytes"]
    broker: Int32 | None
    direction: Literal["in", "out"] | None
    bytes: int


class BoundedWavesRecord(Record):
    """Number of waves, with its lower bound."""

    value: int
    lower_bound: int
    gap: float | None
    proof: DegreeProofRecord


class BoundedSecondsRecord(Record):
    """Seconds of copies that do not wait for waves, with a lower bound."""

    value: float
    lower_bound: float
    gap: float | None
    proof: BytesProofRecord


class WaveCertificateRecord(Record):
    """Bounds on the number of waves and on their duration."""

    waves: BoundedWavesRecord
    seconds: BoundedSecondsRecord


class BrokerTrafficRecord(Record):
    """Copies of one broker in one wave."""

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
    """The broker whose network slows a wave, and its load without copies."""

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
    """A replica that is copied by way of a third broker."""

    topic: str
    partition: int
    from_: Int32 = Field(alias="from")
    via: Int32
    to: Int32
    bytes: int


class StuckRecord(Record):
    """Reason why the remaining copies have no safe order."""

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
