"""Records of the document of `group assign`, for its JSON Schema."""

from typing import Any, Literal

from planner.io.records import Number, Record

Named = dict[str, dict[str, list[int]]]


class GroupProofRecord(Record):
    """The proof of a lower bound: its kind and its witness."""

    kind: Literal["count", "cover", "flow-dual", "heaviest", "water-fill"]
    witness: dict[str, Any]


class GroupBoundRecord(Record):
    """
    A value, its lower bound and the gap; the gap is null if only the bound is 0.

    `lower_bound` and the gap can be computed again from the proof. `solver_bound` is a
    bound that only the solver claims: for the busiest member over any assignment, for
    the moved partitions over assignments that are as even.
    """

    value: Number
    lower_bound: Number
    gap: float | None
    proof: GroupProofRecord | None
    solver_bound: Number | None = None
    solver: str | None = None


class GroupCertificateRecord(Record):
    """
    Proven lower bounds.

    `busiest` is the largest ratio of load to capacity; its bound holds for any
    assignment. `moved` holds for assignments that are as even (equal weights) or no
    busier; null where it is not computed.
    """

    busiest: GroupBoundRecord
    moved: GroupBoundRecord | None


class GroupFindingRecord(Record):
    """A rule that the assignment breaks."""

    rule: str
    message: str
    member: str | None
    topic: str | None
    partition: int | None


class GroupSecondsRecord(Record):
    """Wall-clock seconds by phase."""

    read: float
    solve: float
    check: float
    total: float


class UnevenTopicRecord(Record):
    """A topic whose subscribers' numbers of partitions differ by more than 1."""

    name: str
    least: int
    most: int


class GroupAssignmentRecord(Record):
    """The document of `group assign --format json`."""

    group_id: str
    assignor: str
    assignment: Named
    moved: int
    revoked: Named
    unassigned: dict[str, list[int]]
    idle_members: list[str]
    uneven_topics: list[UnevenTopicRecord]
    load: dict[str, float]
    certificate: GroupCertificateRecord
    findings: list[GroupFindingRecord]
    notes: list[str]
    seconds: GroupSecondsRecord
