"""Records of the document of `what-if`, for its JSON Schema."""

from pydantic import Field

from planner.io.records import DatedRecord, Int32, Record


class PointRecord(Record):
    """Point of a sweep; parameters that do not vary are null."""

    traffic: float | None
    brokers: int | None
    days: float | None


class UseRecord(Record):
    """Use of a capacity, as fractions; `broker` is the fullest one."""

    max_use: float
    mean_use: float
    broker: Int32
    over_threshold: int


class UsesRecord(Record):
    """
    Use by resource; null where capacities or loads are unknown.

    The capacity for `replicas` is the largest allowed number per broker.
    """

    disk: UseRecord | None
    in_: UseRecord | None = Field(alias="in")
    out: UseRecord | None
    cpu: UseRecord | None
    replicas: UseRecord | None


class BindingRecord(Record):
    """Resource and broker with the largest ratio of use to threshold."""

    resource: str
    broker: Int32
    use: float
    threshold: float


class BalanceRecord(Record):
    """The resource with the largest deviation from the fair shares."""

    resource: str
    max_deviation: float
    brokers_out_of_band: int


class ViolationsRecord(Record):
    """Number of partitions in each state."""

    rack: int
    offline: int
    gone: int
    under_min_isr: int
    at_min_isr: int
    under_replicated: int


class CopiesRecord(Record):
    """
    Copies of the plan; no plan that reaches the same bands copies under `least_bytes`.

    Bytes and seconds are null where no size is known.
    """

    replicas: int
    bytes: int | None
    least_bytes: int | None
    seconds: float | None
    busiest_broker: Int32 | None
    cross_rack_bytes: int | None


class PriceRecord(Record):
    """
    Costs of a cluster for one period, and one-time costs of copies.

    A part is null where its price is not given or its amount is unknown.
    """

    brokers: float | None
    cross_rack: float | None
    remote: float | None
    total: float | None
    copying: float | None


class SurvivesOneRecord(Record):
    """Whether any one domain of a kind may be lost, and the hardest loss."""

    survives: bool | None
    hardest: str | None
    reason: str | None
    fails: int
    controllers_keep_majority: bool | None


class SurvivesRecord(Record):
    """Survival by kind of the lost domain."""

    broker: SurvivesOneRecord
    rack: SurvivesOneRecord


class FullRecord(Record):
    """The first threshold passed by growth; null where none is within ten years."""

    days: float | None
    broker: Int32 | None
    resource: str | None
    log_dir: str | None


class ScenarioOutcomeRecord(Record):
    """Figures of one scenario, or of today's cluster."""

    name: str
    sweep: str | None
    point: PointRecord | None
    after: str | None
    then: str | None
    status: str
    holds: bool
    brokers: int
    partitions: int
    replicas: int
    resources: UsesRecord
    out_on_return: UseRecord | None = Field(
        description="Once every follower fetches again; null where nothing is gone."
    )
    binding: BindingRecord | None
    balance: BalanceRecord
    brokers_over_threshold: int
    log_dirs_over_threshold: list[str] = Field(
        description="As broker:path, on brokers that are not over it."
    )
    violations: ViolationsRecord
    copies: CopiesRecord
    cross_rack_bytes_per_s: float | None
    price: PriceRecord | None
    survives: SurvivesRecord
    full: FullRecord | None
    is_checked: bool | None
    shortfalls: list[str]
    notes: list[str]


class PricesToldRecord(Record):
    """Period and currency of the prices."""

    per: str
    currency: str


class WhatIfAssumptionsRecord(Record):
    """Assumptions of the figures; `growth` is whether growth was given."""

    capacity_threshold: dict[str, float]
    bandwidth_bytes_per_s: int
    growth: bool
    prices: PricesToldRecord | None


class WhatIfRecord(DatedRecord):
    """The document of `what-if --format json`."""

    assumptions: WhatIfAssumptionsRecord
    today: ScenarioOutcomeRecord
    scenarios: list[ScenarioOutcomeRecord]
