"""Plans of new partitions: new topics, and more partitions of a topic."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from placement.array_types import BoolArray
from placement.check import Finding, is_ok
from placement.draft.draft import Note
from placement.model.cluster import ClusterState
from placement.planning.new_partitions.plan_new_partitions import (
    explain_new,
    place_by_hand,
    place_new,
)
from placement.planning.outcome.result import PlannedPlacement
from placement.score import score_placement
from planner.errors import BadInputError, InputProblem
from planner.kafka_files.reassignment_columns import listing
from planner.kafka_files.reassignment_file import (
    ReassignmentFile,
    format_election,
    format_reassignment,
)
from planner.options.cluster_options import ResolvedOptions, read_request
from planner.options.plan_request import PlanRequest
from planner.plan.documents.cluster_fingerprint import fingerprint
from planner.plan.documents.infeasibility import with_remedies
from planner.plan.documents.placement_score import score_document
from planner.plan.documents.plan_document import (
    Plan,
    make_plan,
    note_document,
    to_document,
)
from planner.plan.documents.topic_patches import TopicPatch, partition_patch_notes
from planner.plan.folder.moves_file import format_moves
from planner.plan.folder.patch_scripts import partition_scripts
from planner.plan.folder.plan_folder import dump_document, replace_plan
from planner.plan.folder.runbook import NAME as RUNBOOK_NAME
from planner.plan.folder.runbook import new_runbook
from planner.plan.run.check_new_partitions import check_new
from planner.plan.run.key_notes import key_notes
from planner.plan.run.make_plan import rules_of
from planner.plan.run.new_partitions_request import Asked
from planner.progress import stage
from planner.topic_resources import NO_RESOURCES, TopicResource

ASSIGNMENT_NAME = "replica-assignment.txt"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlannedNew:
    """
    Planned places of new partitions, and findings of the independent checker.

    Parameters
    ----------
    before
        The cluster as it is.
    plan
        Plan of the cluster with the new partitions; existing ones do not change in it.
    is_new
        ``(P,)`` true for partitions that do not exist yet.
    topic, first
        Name of the topic, and number of its first new partition.
    configs
        Topic configs of a new topic by name.
    findings
        Findings that the new partitions cause, and those that existed before.
    """

    before: ClusterState
    plan: Plan
    is_new: BoolArray
    topic: str
    first: int
    configs: Mapping[str, str]
    findings: tuple[Finding, ...]

    @property
    def is_ok(self) -> bool:
        """Whether the plan causes no finding."""
        return is_ok(self.findings)

    @property
    def status(self) -> str:
        """Status of the plan (docs/plans.md, "Status"), never `nothing-to-do`."""
        return str(self.plan.placed.solution.status)

    @property
    def lists(self) -> ReassignmentFile:
        """The new partitions in the form of a reassignment file."""
        return _lists(self.plan.placed, self.is_new)

    @property
    def patches(self) -> list[TopicPatch]:
        """Patch of the KafkaTopic resource of a topic that exists, if it has one."""
        resource = self.plan.resources.get(self.topic)
        if resource is None or not self.first:
            return []
        return [
            TopicPatch(
                topic=self.topic,
                resource=resource,
                field="partitions",
                now=self.first,
                then=self.first + len(self.lists),
            )
        ]

    @property
    def assignment(self) -> str:
        """
        Text for ``kafka-topics --replica-assignment``.

        It includes the existing partitions, which the tool skips.
        """
        of = self.before.partitions.topic_idx
        names = self.before.topics.names
        rows = [p for p in range(len(of)) if names[of[p]] == self.topic]
        old = [self.before.brokers_of(p) for p in rows] if self.first else []
        return ",".join(":".join(map(str, row)) for row in [*old, *self.lists.replicas])


def _lists(placed: PlannedPlacement, is_new: BoolArray) -> ReassignmentFile:
    rows = np.nonzero(is_new)[0]
    found = placed.reassignment
    return listing(found.before, rows, found.broker_idx, start=found.start).to_file()


def make_new(
    state: ClusterState,
    request: PlanRequest,
    *,
    cluster_configs: Mapping[str, str] = MappingProxyType({}),
    taken_at: str | None = None,
    resources: Mapping[str, TopicResource] = NO_RESOURCES,
) -> PlannedNew:
    """
    Plan the placement of new partitions.

    Parameters
    ----------
    state
        The cluster.
    request
        The operation and its options; the only topic is the topic concerned.
    cluster_configs
        Configs of the whole cluster, from the snapshot.
    taken_at
        Time of the snapshot, as the snapshot gives it.

    Raises
    ------
    BadInputError
        With every option that is wrong for this cluster, in Kafka's words if Kafka
        would reject it.
    """
    asked, resolved = read_new_request(state, request, cluster_configs)
    grown = asked.grown
    goal, settings = request.goal, resolved.settings
    stage("placing new partitions")
    infeasible_set = None
    if asked.lists is None:
        placed = place_new(grown, settings)
        infeasible_set = explain_new(grown, settings, placed)
        placed = with_remedies(placed, infeasible_set)
    else:
        placed = place_by_hand(grown, asked.lists, settings)
    placed = replace(placed, notes=(*placed.notes, *_key_notes(asked)))
    # What came of the options stands last, in one group.
    resolved.document.pop("replication_factor", None)
    document = resolved.document | asked.document
    plan = make_plan(
        goal,
        placed,
        taken_at=taken_at,
        settings=document,
        infeasible_set=infeasible_set,
    )
    return PlannedNew(
        before=state,
        plan=replace(plan, resources=resources),
        is_new=grown.is_new,
        topic=asked.topic,
        first=asked.first,
        configs=asked.expected.configs,
        findings=check_new(
            state, placed.reassignment.after(), grown.is_new, rules_of(plan, resolved)
        ),
    )


def _key_notes(asked: Asked) -> Iterator[Note]:
    """Return the note on keys that change partition, if the topic exists already."""
    topics = asked.state.topics
    configs = dict(zip(topics.names, topics.configs, strict=True)).get(asked.topic, {})
    default = asked.cluster_configs.get("log.cleanup.policy", "delete")
    is_compacted = "compact" in configs.get("cleanup.policy", default)
    total = asked.first + int(asked.grown.is_new.sum())
    return key_notes(asked.topic, asked.first, total, is_compacted=is_compacted)


def read_new_request(
    state: ClusterState, request: PlanRequest, cluster_configs: Mapping[str, str]
) -> tuple[Asked, ResolvedOptions]:
    """
    Return the checked request, and its options parsed for a cluster.

    Raises
    ------
    BadInputError
        With every option that is wrong.
    """
    problems: list[InputProblem] = []
    asked, resolved, to_be = None, None, state
    try:
        asked = Asked(state, request, cluster_configs)
        to_be = asked.grown.state
    except BadInputError as error:
        problems += error.problems
    try:
        resolved = _resolved(request, to_be)
    except BadInputError as error:
        problems += error.problems
    if asked is None or resolved is None:
        msg = "bad options"
        raise BadInputError(msg, problems)
    return asked, resolved


def _resolved(request: PlanRequest, to_be: ClusterState) -> ResolvedOptions:
    """
    Return the options parsed for the cluster that includes the new partitions.

    The rule `locality_scoped` is left out: new replicas have no rack to stay in.
    """
    plan = request.changed(topic=(), locality_scoped=False)
    return read_request(plan, to_be)


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
    patch_notes = map(note_document, partition_patch_notes(planned.patches))
    return document | {
        "status": planned.status,
        "snapshot": snapshot,
        "moves": moves,
        "notes": [*document["notes"], *patch_notes],
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
    yield from partition_scripts(planned.patches)
    yield (
        RUNBOOK_NAME,
        new_runbook(
            planned.topic,
            planned.first,
            len(planned.lists),
            has_resource=bool(planned.patches),
        ),
    )


def write_new(planned: PlannedNew, path: Path) -> list[str]:
    """
    Write the folder atomically; an earlier plan is replaced.

    Raises
    ------
    BadInputError
        If something other than a plan is in its place, or the folder cannot be written.
    """
    return replace_plan(dict(new_files(planned)), path)


def tool_text(planned: PlannedNew, folder: Path) -> str:
    """Return the command of Kafka's own tool that creates the partitions."""
    what = f"--create --topic {planned.topic}"
    if planned.first:
        count = planned.first + len(planned.lists)
        what = f"--alter --topic {planned.topic} --partitions {count}"
    configs = [f"{key}={value}" for key, value in planned.configs.items()]
    what += "".join(f" --config {shlex.quote(one)}" for one in configs)
    return (
        f"kafka-topics.sh {what}, with the text of {folder / ASSIGNMENT_NAME} as its "
        "--replica-assignment; or this command again with --apply"
    )
