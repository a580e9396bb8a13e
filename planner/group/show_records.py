"""What `group show` prints, for its JSON Schema."""

from planner.group.group_records import Record


class ShownTopicRecord(Record):
    """A topic; lags are null where nothing is known."""

    name: str
    partitions: int
    committed: int
    lag: int | None
    known_lag: int | None
    largest_lag: int | None
    least_per_member: int | None
    most_per_member: int | None


class PastEndRecord(Record):
    """An offset that was committed past the end of its log."""

    topic: str
    partition: int
    committed: int
    log_end: int


class ShownMemberRecord(Record):
    """A member, what it reads and how far behind that is."""

    member_id: str
    group_instance_id: str | None
    client_id: str | None
    host: str | None
    rack: str | None
    topics: list[str]
    partitions: int
    load: float
    lag: int | None


class BusiestRecord(Record):
    """The member that carries most for its capacity."""

    busiest: str
    load: float
    max_over_mean: float


class SkewRecord(Record):
    """How uneven members are, by the weights of the file and by lag."""

    load: BusiestRecord | None
    lag: BusiestRecord | None


class WorthHavingRecord(Record):
    """Members beyond which nobody is relieved, by what makes partitions heavy."""

    by_count: int
    by_load: int
    by_lag: int | None = None


class NeededRecord(Record):
    """
    Members that reach the aim.

    Fewer than `at_least` cannot; `enough` can. Partitions that are too heavy for one
    reader are left out; the first hundred are named.
    """

    at_least: int
    enough: int
    too_heavy: list[str]
    num_too_heavy: int


class MembersAdviceRecord(Record):
    """How many members there are, and should be."""

    now: int
    worth_having: WorthHavingRecord
    needed: NeededRecord | None


class HoldsBackRecord(Record):
    """The partition that is furthest behind."""

    topic: str
    partition: int
    lag: int
    share: float
    member: str | None


class AdviceRecord(Record):
    """What would help; `sayings` has what is worth doing, in words."""

    skew: SkewRecord
    members: MembersAdviceRecord
    holds_back: HoldsBackRecord | None
    unknown_lags: int
    sayings: list[str]


class GroupShowRecord(Record):
    """What `group show --format json` prints."""

    group_id: str
    type: str | None
    state: str | None
    assignor: str | None
    coordinator: int | None
    num_members: int
    num_partitions: int
    unowned: int
    claimed_twice: int
    idle_members: list[str]
    lag: int | None
    known_lag: int | None
    unknown_lags: int
    past_end: list[PastEndRecord]
    topics: list[ShownTopicRecord]
    members: list[ShownMemberRecord]
    notes: list[str]
    advice: AdviceRecord


class ListedGroupRecord(Record):
    """
    A group of a cluster; `coordinator` is a broker.

    `lag` is that of all partitions together, null where any part is unknown.
    """

    group_id: str
    type: str
    protocol_type: str
    state: str | None
    coordinator: int
    lag: int | None


class GroupListRecord(Record):
    """What `group show --bootstrap-server --format json` prints without a group."""

    groups: list[ListedGroupRecord]
    notes: list[str]


class OffsetRowRecord(Record):
    """
    A partition; what is not known, not committed or not asked for is null.

    `lag` is counted from the new offset where there is one; `error` is why it was not
    set.
    """

    topic: str
    partition: int
    current: int | None
    new: int | None
    log_start: int | None
    log_end: int | None
    lag: int | None
    error: str | None


class GroupOffsetsRecord(Record):
    """What `group offsets --format json` prints; `target` is an option's name."""

    group_id: str
    state: str | None
    target: str | None
    done: bool
    offsets: list[OffsetRowRecord]
    notes: list[str]
