"""Records of the documents of `group show` and `group offsets`, for JSON Schema."""

from planner.io.records import Record


class ShownTopicRecord(Record):
    """A topic of the group; lags are null where they are unknown."""

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
    """A member, with the number of its partitions, its load and its lag."""

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
    """The member with the largest ratio of load to capacity."""

    busiest: str
    load: float
    max_over_mean: float


class SkewRecord(Record):
    """Skew of the members by the weights of the file and by lag."""

    load: BusiestRecord | None
    lag: BusiestRecord | None


class WorthHavingRecord(Record):
    """Largest useful number of members by count, by load and by lag of partitions."""

    by_count: int
    by_load: int
    by_lag: int | None = None


class NeededRecord(Record):
    """
    Number of members needed to catch up in time.

    Fewer than `at_least` cannot catch up; `enough` can. Partitions that are too heavy
    for one reader are left out; `too_heavy` names the first hundred.
    """

    at_least: int
    enough: int
    too_heavy: list[str]
    num_too_heavy: int


class MembersAdviceRecord(Record):
    """Number of members: now (null if unknown), useful at most, and needed."""

    now: int | None
    worth_having: WorthHavingRecord
    needed: NeededRecord | None


class HoldsBackRecord(Record):
    """The partition with the largest lag."""

    topic: str
    partition: int
    lag: int
    share: float
    member: str | None


class AdviceRecord(Record):
    """Advice; `sayings` has it in sentences."""

    skew: SkewRecord
    members: MembersAdviceRecord
    holds_back: HoldsBackRecord | None
    unknown_lags: int
    sayings: list[str]


class GroupShowRecord(Record):
    """
    The document of `group show --format json`.

    `num_members` and `unowned` are null where the source of the group does not name the
    members, or the partitions that they own.
    """

    group_id: str
    type: str | None
    state: str | None
    assignor: str | None
    coordinator: int | None
    num_members: int | None
    num_partitions: int
    unowned: int | None
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
    A group of a cluster; `coordinator` is a broker id.

    `lag` is the sum over all partitions, null where any of them is unknown.
    """

    group_id: str
    type: str
    protocol_type: str
    state: str | None
    coordinator: int
    lag: int | None


class GroupListRecord(Record):
    """The document of `group show --bootstrap-server --format json` without a group."""

    groups: list[ListedGroupRecord]
    notes: list[str]


class OffsetRowRecord(Record):
    """
    Offsets of a partition; unknown, uncommitted and unrequested ones are null.

    `lag` is counted from the new offset if there is one; `error` is the reason why the
    new offset was not set.
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
    """The document of `group offsets --format json`; `target` is an option's name."""

    group_id: str
    state: str | None
    target: str | None
    done: bool
    offsets: list[OffsetRowRecord]
    notes: list[str]
