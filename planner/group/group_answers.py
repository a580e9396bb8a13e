"""What the group commands print, for their JSON Schema."""

from typing import Any, Literal

from planner.group.group_records import Record

Named = dict[str, dict[str, list[int]]]


class GroupProofRecord(Record):
    """Why nothing is below a bound."""

    kind: Literal["count", "cover", "flow-dual", "heaviest", "water-fill"]
    witness: dict[str, Any]


class GroupBoundRecord(Record):
    """
    A value, and what is proven about it; the gap is null if only the bound is 0.

    `lower_bound` and the gap to it can be worked out again from the proof.
    `solver_bound` is what a solver says beyond that: of the busiest member for any
    assignment, of what is moved where loads are as near to what members may carry.
    """

    value: float
    lower_bound: float
    gap: float | None
    proof: GroupProofRecord | None
    solver_bound: float | None = None
    solver: str | None = None


class GroupCertificateRecord(Record):
    """
    Proven lower bounds.

    `busiest` is the largest load over capacity, and holds for any assignment. `moved`
    holds for assignments that are as even (equal weights) or no busier; null where
    nothing is computed.
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
    """Time spent."""

    read: float
    solve: float
    check: float
    total: float


class UnevenTopicRecord(Record):
    """A topic of which subscribers read more than one partition more than others."""

    name: str
    least: int
    most: int


class GroupAssignmentRecord(Record):
    """What `group assign --format json` prints."""

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
