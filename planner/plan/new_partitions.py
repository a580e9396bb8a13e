"""Plans of partitions that do not exist yet: new topics, and more of a topic."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from placement.check import CheckSettings, Finding, is_ok
from placement.cluster import UNKNOWN, BoolArray, ClusterState
from placement.errors import (
    AdminOperationError,
    InvalidPartitionsError,
    KafkaRefusalError,
)
from placement.new_partitions import (
    Expected,
    Grown,
    place_by_hand,
    place_new,
    with_more_partitions,
    with_new_topic,
)
from placement.placers.brokers import PlacerBrokers
from placement.placers.manual import (
    ManualAssignment,
    check_added_partitions,
    check_new_topic,
    growth_refusal,
    read_replica_assignment,
)
from placement.placers.striped import check_replication_factor
from placement.planning import PlannedPlacement
from placement.score import score_placement
from planner.errors import BadInputError, InputProblem
from planner.plan.check_new import ADD_PARTITIONS, NEW_TOPIC, check_new
from planner.plan.document import (
    Plan,
    fingerprint,
    make_plan,
    score_document,
    to_document,
)
from planner.plan.folder import dump_document, lists_of, replace_plan
from planner.plan.moves_file import format_moves
from planner.plan.option_reader import OptionReader
from planner.plan.reassignment_file import (
    ReassignmentFile,
    format_election,
    format_reassignment,
)
from planner.plan.request import PlanRequest, Wishes, read_request

ASSIGNMENT_NAME = "replica-assignment.txt"
MOST_NAME = 249
LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRequest:
    """
    What is asked for, as given.

    Parameters
    ----------
    plan
        The options that all plans share; its goal says which operation, its one
        topic which topic.
    partitions
        How many the topic shall have, those that exist included.
    replication_factor
        Of a new topic.
    in_bytes_per_s, out_bytes_per_s, size_bytes
        What the whole topic is expected to carry, with or without units.
    replica_assignment
        Where the replicas go, as Kafka's tool takes it: ``0:1,1:0``.
    """

    plan: PlanRequest
    partitions: int | None = None
    replication_factor: int | None = None
    in_bytes_per_s: str | None = None
    out_bytes_per_s: str | None = None
    size_bytes: str | None = None
    replica_assignment: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlannedNew:
    """
    Where new partitions go, and what the independent checker says of it.

    Parameters
    ----------
    before
        The cluster as it is.
    plan
        Of the cluster with the new partitions; nothing that exists changes in it.
    is_new
        ``(P,)`` its partitions that do not exist yet.
    topic, first
        The topic, and the number of its first new partition.
    findings
        What the new partitions cause, and what was wrong before.
    """

    before: ClusterState
    plan: Plan
    is_new: BoolArray
    topic: str
    first: int
    findings: tuple[Finding, ...]

    @property
    def is_ok(self) -> bool:
        """Whether the plan causes no finding."""
        return is_ok(self.findings)

    @property
    def status(self) -> str:
        """Status of interface.md; there is always something to do."""
        return str(self.plan.placed.solution.status)

    @property
    def lists(self) -> ReassignmentFile:
        """The new partitions, as a reassignment file has them."""
        return _lists(self.plan.placed, self.is_new)

    @property
    def assignment(self) -> str:
        """
        The text that ``kafka-topics --replica-assignment`` takes.

        It names the partitions that exist as well, which the tool passes over.
        """
        of = self.before.partitions.topic_idx
        names = self.before.topics.names
        rows = [p for p in range(len(of)) if names[of[p]] == self.topic]
        old = [self.before.brokers_of(p) for p in rows] if self.first else []
        return ",".join(":".join(map(str, row)) for row in [*old, *self.lists.replicas])


def _lists(placed: PlannedPlacement, is_new: BoolArray) -> ReassignmentFile:
    rows = np.nonzero(is_new)[0]
    broker_idx = placed.reassignment.broker_idx
    return lists_of(placed.reassignment.before, broker_idx, rows, has_dirs=False)


def make_new(
    state: ClusterState, request: NewRequest, *, taken_at: str | None = None
) -> PlannedNew:
    """
    Plan where new partitions go.

    Raises
    ------
    BadInputError
        With every option that is wrong for this cluster, in Kafka's words where
        Kafka would refuse it.
    """
    check_new_request(state, request)
    wishes = read_request(replace(request.plan, topic=()), state)
    asked = _Asked(state, request)
    grown = asked.grown
    goal, settings = request.plan.goal, wishes.settings
    if asked.lists is None:
        placed = place_new(goal, grown, settings)
    else:
        placed = place_by_hand(goal, grown, asked.lists, settings)
    document = wishes.document | asked.document
    plan = make_plan(goal, placed, taken_at=taken_at, settings=document)
    return PlannedNew(
        before=state,
        plan=plan,
        is_new=grown.is_new,
        topic=asked.topic,
        first=asked.first,
        findings=check_new(
            state, placed.reassignment.after(), grown.is_new, _rules(plan, wishes)
        ),
    )


def check_new_request(state: ClusterState, request: NewRequest) -> None:
    """
    Refuse options that are wrong for a cluster.

    Raises
    ------
    BadInputError
        With every option that is wrong.
    """
    problems: list[InputProblem] = []
    for work in (
        lambda: read_request(replace(request.plan, topic=()), state),
        lambda: _Asked(state, request),
    ):
        try:
            work()
        except BadInputError as error:
            problems += error.problems
    if problems:
        msg = "bad options"
        raise BadInputError(msg, problems)


def _rules(plan: Plan, wishes: Wishes) -> CheckSettings:
    settings = wishes.settings
    thresholds = settings.capacity_thresholds
    return CheckSettings(
        capacity_thresholds={str(r): value for r, value in thresholds.items()},
    )


class _Asked:
    """A request held against a cluster: all that is wrong, or what is to be placed."""

    def __init__(self, state: ClusterState, request: NewRequest) -> None:
        self.state, self.request = state, request
        self.reader = OptionReader(state)
        self.topic = self._topic()
        self.current = self._current()
        self.first = len(self.current)
        self.is_new_topic = request.plan.goal == NEW_TOPIC
        self.brokers = PlacerBrokers.of(state, np.arange(state.num_brokers))
        self.expected = self._expected()
        self.lists = self._by_hand()
        self.count = self._count()
        self.factor = self._factor()
        self.reader.raise_problems()

    @property
    def document(self) -> dict[str, Any]:
        """What plan.json says under `settings` of this operation."""
        expected, request = self.expected, self.request
        rates = (expected.in_bytes_per_s, expected.out_bytes_per_s)
        inbound, outbound = (None if np.isnan(rate) else rate for rate in rates)
        size = expected.size_bytes
        return {
            "topic": [self.topic],
            "partitions": self.count,
            "replication_factor": self.factor,
            "in_bytes_per_s": inbound,
            "out_bytes_per_s": outbound,
            "size_bytes": None if size == UNKNOWN else size,
            "replica_assignment": request.replica_assignment,
        }

    @property
    def grown(self) -> Grown:
        """The cluster with the new partitions, lying anywhere."""
        if self.is_new_topic:
            return with_new_topic(
                self.state, self.topic, self.count, self.factor, self.expected
            )
        return with_more_partitions(self.state, self.topic, self.count, self.expected)

    def _refuse(self, option: str, value: object, error: KafkaRefusalError) -> None:
        self.reader.refuse(option, value, str(error), _REMEDIES[option])

    def _topic(self) -> str:
        named = tuple(self.request.plan.topic)
        if len(named) != 1:
            rule = "one topic must be named"
            self.reader.refuse("--topic", ",".join(named) or "nothing", rule, "name it")
            return ""
        topic = named[0]
        exists = topic in self.state.topics.names
        if self.request.plan.goal == ADD_PARTITIONS:
            if not exists:
                error = AdminOperationError(
                    f"Topic '{topic}' does not exist as expected"
                )
                self._refuse("--topic", topic, error)
            return topic
        if exists:
            error = AdminOperationError(f"Topic '{topic}' already exists.")
            self._refuse("--topic", topic, error)
        elif problem := _name_problem(topic):
            self.reader.refuse("--topic", topic, problem, "choose another name")
        return topic

    def _current(self) -> list[int]:
        """Return the replication factor of each partition that the topic has."""
        names, of = self.state.topics.names, self.state.partitions.topic_idx
        rows = [p for p in range(len(of)) if names[of[p]] == self.topic]
        return [int(self.state.replication_factor[p]) for p in rows]

    def _expected(self) -> Expected:
        request, reader = self.request, self.reader
        inbound = reader.rate("--in-bytes-per-s", request.in_bytes_per_s)
        outbound = reader.rate("--out-bytes-per-s", request.out_bytes_per_s)
        size = reader.bytes_of("--size-bytes", request.size_bytes)
        return Expected(
            in_bytes_per_s=np.nan if inbound is None else float(inbound),
            out_bytes_per_s=np.nan if outbound is None else float(outbound),
            size_bytes=UNKNOWN if size is None else size,
        )

    def _by_hand(self) -> tuple[tuple[int, ...], ...] | None:
        request = self.request
        if request.replica_assignment is None:
            return None
        read = read_replica_assignment(request.replica_assignment)
        if self.is_new_topic:
            for option, value in (
                ("--partitions", request.partitions),
                ("--replication-factor", request.replication_factor),
            ):
                if value is not None:
                    rule = (
                        f'Option "[{option.removeprefix("--")}]" can\'t be used with '
                        'option "[replica-assignment]"'
                    )
                    self.reader.refuse(option, value, rule, "leave one out")
            read = check_new_topic(read, self.brokers)
        elif self.current and request.partitions is not None:
            read = check_added_partitions(
                read,
                self.brokers,
                topic=self.topic,
                current=self.current,
                num_partitions=request.partitions,
            )
        self._refuse_all(read)
        return read.lists

    def _refuse_all(self, read: ManualAssignment) -> None:
        for refusal in read.refusals:
            where = "" if refusal.place is None else f" of partition {refusal.place}"
            is_growth = isinstance(refusal.error, InvalidPartitionsError)
            option = "--partitions" if is_growth else "--replica-assignment"
            self.reader.refuse(
                option,
                self.request.partitions
                if is_growth
                else self.request.replica_assignment,
                str(refusal.error),
                f"mend the list{where}" if not is_growth else _REMEDIES[option],
            )

    def _count(self) -> int:
        count = self.request.partitions
        if self.is_new_topic and self.lists is not None:
            return len(self.lists)
        if count is None:
            rule = "the number of partitions must be given"
            remedy = _REMEDIES["--partitions"]
            self.reader.refuse("--partitions", "nothing", rule, remedy)
            return 1
        if self.is_new_topic:
            if count <= 0:
                words = "Number of partitions must be larger than 0."
                self._refuse("--partitions", count, InvalidPartitionsError(words))
            return count
        growth = growth_refusal(self.topic, self.first, count)
        if growth is not None and self.current and self.lists is None:
            self._refuse("--partitions", count, growth)
        return count

    def _factor(self) -> int:
        if not self.is_new_topic:
            return self.current[0] if self.current else 1
        if self.lists is not None:
            return len(self.lists[0]) if self.lists else 1
        factor = self.request.replication_factor
        if factor is None:
            rule = "the replication factor must be given"
            remedy = _REMEDIES["--replication-factor"]
            self.reader.refuse("--replication-factor", "nothing", rule, remedy)
            return 1
        live = PlacerBrokers.of(self.state)
        try:
            check_replication_factor(live, factor)
        except KafkaRefusalError as error:
            self._refuse("--replication-factor", factor, error)
        return factor


_REMEDIES: Mapping[str, str] = {
    "--topic": "check the name",
    "--partitions": "give how many the topic shall have, more than now",
    "--replication-factor": "give a number up to that of the live brokers",
}


def _name_problem(topic: str) -> str | None:
    """Return what Kafka says to a name that no topic may have."""
    if not topic:
        return "Topic name is invalid: the empty string is not allowed"
    if topic in {".", ".."}:
        return "Topic name is invalid: '.' or '..' is not allowed"
    if len(topic) > MOST_NAME:
        return (
            f"Topic name is invalid: the length of '{topic[:20]}…' is longer than the "
            f"max allowed length {MOST_NAME}"
        )
    if not LEGAL_NAME.fullmatch(topic):
        return (
            f"Topic name is invalid: '{topic}' contains one or more characters other "
            "than ASCII alphanumerics, '.', '_' and '-'"
        )
    return None


def new_document(planned: PlannedNew) -> dict[str, Any]:
    """Return plan.json of new partitions."""
    document = to_document(planned.plan)
    lists, before = planned.lists, planned.before
    placed = planned.plan.placed
    thresholds = placed.draft.settings.capacity_thresholds
    score = score_placement(
        before, placed.shares, before.partitions.leader_idx, thresholds
    )
    snapshot = document["snapshot"] | {"fingerprint": fingerprint(before)}
    moves = dict.fromkeys(document["moves"], 0)
    return document | {
        "status": planned.status,
        "snapshot": snapshot,
        "moves": moves,
        "before": score_document(before, score),
        "new_partitions": {
            "topic": planned.topic,
            "first": planned.first,
            "partitions": len(lists),
            "replicas": sum(map(len, lists.replicas)),
        },
    }


def new_files(planned: PlannedNew) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file of the folder."""
    nothing = ReassignmentFile((), (), (), ())
    yield "plan.json", dump_document(new_document(planned))
    yield "reassignment.json", format_reassignment(planned.lists) + "\n"
    yield "rollback.json", format_reassignment(nothing) + "\n"
    yield "preferred-election.json", format_election([]) + "\n"
    yield "moves.csv", format_moves([])
    yield ASSIGNMENT_NAME, planned.assignment + "\n"


def write_new(planned: PlannedNew, path: Path) -> list[str]:
    """
    Write the folder, all of it or nothing; a plan that stands there goes.

    Raises
    ------
    BadInputError
        If something else stands there, or nothing can be written there.
    """
    return replace_plan(dict(new_files(planned)), path)


def tool_text(planned: PlannedNew, folder: Path) -> str:
    """Return how Kafka's own tool makes the partitions."""
    what = f"--create --topic {planned.topic}"
    if planned.first:
        count = planned.first + len(planned.lists)
        what = f"--alter --topic {planned.topic} --partitions {count}"
    return (
        f"kafka-topics.sh {what}, with the text of {folder / ASSIGNMENT_NAME} as its "
        "--replica-assignment; or this command again with --apply"
    )
