"""Answer of `group assign`: the assignment, its changes, and its proven bounds."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planner.errors import BadInputError
from planner.group.assignor_registry import UserAssignor
from planner.group.group_answers import (
    GroupAssignmentRecord,
    GroupBoundRecord,
    GroupCertificateRecord,
    GroupFindingRecord,
    GroupProofRecord,
    GroupSecondsRecord,
)
from planner.group.group_document import GroupDocument
from planner.group.group_problems import refuse
from planner.io.problems import problem, refusal
from planner.text.format import plural

if TYPE_CHECKING:
    from assignment.assignors import Assignor
    from assignment.certificate import Certificate
    from assignment.check import Finding
    from assignment.group import Group
    from assignment.outcome import Assignment
    from placement.core.model.solution import Bounded

_REASONS = {
    "share": "its members share partitions, so that no assignment limits them",
    "streams": "its tasks are assigned by the broker from the topology",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """
    An assignment with its certificate and the findings of the checker.

    Parameters
    ----------
    group
        The group before the assignment.
    assignor
        Name of the assignor.
    assignment
        The member of each partition.
    certificate
        Proven lower bounds on the busiest member and on the moved partitions.
    findings
        Rules that the assignment breaks, as the checker finds them.
    notes
        Sentences on idle members, unread topics and assumptions of the import.
    seconds
        Wall-clock seconds of the phases ``solve`` and ``check``.
    """

    group: "Group"
    assignor: str
    assignment: "Assignment"
    certificate: "Certificate"
    findings: Sequence["Finding"] = ()
    notes: Sequence[str] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    def to_record(self, seconds: Mapping[str, float]) -> GroupAssignmentRecord:
        """
        Return the document of `--format json`.

        Parameters
        ----------
        seconds
            Wall-clock seconds of the phases ``read`` and ``total``.
        """
        from assignment.outcome import idle_members, is_moved
        from planner.group.assignor_comparison import uneven_topics

        group, assignment = self.group, self.assignment
        load, moved = assignment.load(group).tolist(), self.certificate.moved
        taken = {**self.seconds, **seconds}
        return GroupAssignmentRecord(
            group_id=group.group_id,
            assignor=self.assignor,
            assignment=names_by_member(group, assignment.member_idx),
            moved=int(np.count_nonzero(is_moved(group, assignment))),
            revoked=_revoked(group, assignment),
            unassigned=_unassigned(group, assignment),
            idle_members=idle_members(group, assignment),
            uneven_topics=uneven_topics(group, assignment.member_idx),
            load=dict(zip(group.members.ids, load, strict=True)),
            certificate=GroupCertificateRecord(
                busiest=_bounded(self.certificate.busiest),
                moved=_bounded(moved) if moved else None,
            ),
            findings=[GroupFindingRecord.model_validate(one) for one in self.findings],
            notes=list(self.notes),
            seconds=GroupSecondsRecord(
                **{name: round(value, 6) for name, value in taken.items()}
            ),
        )


_REBALANCING = frozenset({"PreparingRebalance", "CompletingRebalance"})


def refuse_other_kinds(document: GroupDocument, file: str) -> None:
    """
    Refuse groups that have no assignment to plan.

    Raises
    ------
    BadInputError
        If the group is a share or a streams group, is in a rebalance and the
        subscriptions of its members are unknown, or its source does not name the
        members or the partitions that they own.
    """
    _refuse_unknown_subscriptions(document, file)
    kind = document.record.type
    if kind in _REASONS:
        rule = f"a {kind} group cannot be assigned: {_REASONS[kind]}"
        found = problem(file, "type", kind, rule, "'group show' shows it")
        msg = f"{document.record.group_id or file} is a {kind} group"
        raise BadInputError(msg, [found])
    if not document.has_owners:
        rule = "the source of the group does not say who owns which partitions"
        remedy = "give --describe, or --describe --members --verbose, of the group"
        raise refuse(file, [problem(file, "members", None, rule, remedy)])


def _refuse_unknown_subscriptions(document: GroupDocument, file: str) -> None:
    members, state = document.record.members, document.record.state
    if state not in _REBALANCING or any(one.topics or one.pattern for one in members):
        return
    if members:
        rule = f"subscriptions are unknown while the group is {state}"
        remedy = "run the command again once the group is Stable"
        msg = f"{document.record.group_id or file} is in a rebalance"
        raise refusal(msg, file, rule, remedy, place="members")


def answer(
    group: "Group", assignor: "Assignor | UserAssignor", notes: Sequence[str] = ()
) -> Answer:
    """
    Compute an assignment and its findings.

    Raises
    ------
    AssignmentError
        If the assignor refuses the group, or is a class of the user and fails.
    """
    from assignment.outcome import Assignment

    started = time.perf_counter()
    if isinstance(assignor, UserAssignor):
        member_idx, findings = _ask_user(group, assignor)
        assignment, certificate = Assignment(member_idx), None
    else:
        assignment, certificate = _ask(group, assignor)
        findings = []
    solved = time.perf_counter()
    if not isinstance(assignor, UserAssignor):
        findings = _check(group, assignor.name, assignment)
    certificate = certificate or _certificate(group, assignment)
    checked = time.perf_counter()
    return Answer(
        group=group,
        assignor=assignor.name,
        assignment=assignment,
        certificate=certificate,
        findings=findings,
        notes=[*notes, *_notes(group, assignment), *_uneven(group, assignment)],
        seconds={"solve": solved - started, "check": checked - solved},
    )


def _ask(
    group: "Group", assignor: "Assignor"
) -> "tuple[Assignment, Certificate | None]":
    from assignment.balanced.balanced_assignor import Balanced
    from planner.group.assignor_comparison import assign_as_kafka

    if isinstance(assignor, Balanced):
        solved = assignor.solve(group)
        return solved.assignment, solved.certificate
    return assign_as_kafka(group, assignor), None


def _ask_user(
    group: "Group", assignor: UserAssignor
) -> "tuple[npt.NDArray[np.int32], list[Finding]]":
    from assignment.check import check_named

    claims, findings = check_named(group, assignor.answer(group))
    member_idx = np.full(group.num_partitions, -1, dtype=np.int32)
    # If several members claim a partition, the first of the claims counts here.
    member_idx[claims.partition_idx[::-1]] = claims.member_idx[::-1]
    return member_idx, findings


def _check(group: "Group", name: str, assignment: "Assignment") -> "list[Finding]":
    from assignment.check import check

    is_cooperative = name == "cooperative-sticky"
    return check(group, assignment.member_idx, is_cooperative=is_cooperative)


def _certificate(group: "Group", assignment: "Assignment") -> "Certificate":
    from assignment.certificate import Certificate, bound_busiest

    return Certificate(busiest=bound_busiest(group, assignment))


def _notes(group: "Group", assignment: "Assignment") -> list[str]:
    num_read = int(group.is_read[group.partitions.topic_idx].sum())
    notes = []
    if num_read < group.num_members:
        notes.append(
            f"{plural(group.num_members, 'member')} for "
            f"{plural(num_read, 'partition')}: "
            f"{_idle_text(group.num_members - num_read)}"
        )
    unread = np.nonzero(~group.is_read & (group.topics.num_partitions > 0))[0].tolist()
    if unread:
        names = ", ".join(group.topics.names[topic] for topic in unread[:5])
        more = " …" if len(unread) > 5 else ""
        notes.append(f"no member subscribes to {names}{more}")
    missing = np.nonzero(np.equal(group.topics.num_partitions, 0))[0].tolist()
    if missing:
        names = ", ".join(group.topics.names[topic] for topic in missing[:5])
        notes.append(f"subscribed to, but not there: {names}")
    return notes


def _idle_text(num_idle: int) -> str:
    verb = "has" if num_idle == 1 else "have"
    return f"at least {num_idle} {verb} nothing to read"


def _uneven(group: "Group", assignment: "Assignment") -> Iterator[str]:
    """Yield a note on the most unevenly read topic and the assignors that even it."""
    from planner.group.assignor_comparison import options_of, uneven_text, uneven_topics

    if not uneven_topics(group, assignment.member_idx):
        return
    options = options_of(group, None, group.partitions.weight)
    text = uneven_text(group, assignment.member_idx, options)
    if text is not None:
        yield text


def names_by_member(
    group: "Group", member_idx: npt.NDArray[np.int32]
) -> dict[str, dict[str, list[int]]]:
    """Return an assignment as a mapping: member to topic to partition numbers."""
    rows = np.nonzero(member_idx >= 0)[0]
    rows = rows[np.argsort(member_idx[rows], kind="stable")]
    named: dict[str, dict[str, list[int]]] = {m: {} for m in group.members.ids}
    for member, topic, numbers in _blocks(group, member_idx[rows], rows):
        named[member][topic] = numbers
    return named


def _blocks(
    group: "Group", members: npt.NDArray[Any], rows: npt.NDArray[np.int64]
) -> list[tuple[str, str, list[int]]]:
    """Return each run of rows with one member and topic: names, partition numbers."""
    topics = group.partitions.topic_idx[rows]
    numbers = rows - group.topics.start[topics]
    if not len(rows):
        return []
    is_new = np.ones(len(rows), dtype=np.bool_)
    is_new[1:] = (np.diff(members) != 0) | (np.diff(topics) != 0)
    starts = np.nonzero(is_new)[0].tolist()
    return [
        (
            group.members.ids[members[start]],
            group.topics.names[topics[start]],
            numbers[start:stop].tolist(),
        )
        for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True)
    ]


def _revoked(
    group: "Group", assignment: "Assignment"
) -> dict[str, dict[str, list[int]]]:
    from assignment.outcome import is_revoked

    gone = is_revoked(group, assignment)
    owner, rows = group.owned.owner[gone], group.owned.idx[gone].astype(np.int64)
    order = np.lexsort((rows, owner))
    revoked: dict[str, dict[str, list[int]]] = {}
    for member, topic, numbers in _blocks(group, owner[order], rows[order]):
        revoked.setdefault(member, {})[topic] = numbers
    return revoked


def _unassigned(group: "Group", assignment: "Assignment") -> dict[str, list[int]]:
    rows = np.nonzero(assignment.member_idx < 0)[0]
    numbers = group.number[rows]
    left: dict[str, list[int]] = {}
    topics = group.partitions.topic_idx[rows].tolist()
    for topic, number in zip(topics, numbers.tolist(), strict=True):
        left.setdefault(group.topics.names[topic], []).append(number)
    return left


def _bounded(bounded: "Bounded") -> GroupBoundRecord:
    return GroupBoundRecord(
        value=bounded.value,
        lower_bound=bounded.lower_bound,
        gap=bounded.gap,
        proof=None
        if bounded.proof is None
        else GroupProofRecord.model_validate(bounded.proof),
        solver_bound=bounded.solver_bound,
        solver=bounded.solver,
    )
