"""Identity of a plan: its cluster, its topics, and the digest of what is left of it."""

import hashlib
import json
from collections.abc import Iterator, Sequence

from planner.errors import BadInputError
from planner.execution.stages import Stage
from planner.io.plan_file_names import DOCUMENT_NAME
from planner.io.problems import problem
from planner.plan.input.plan_input import (
    PlanInput,
    planned_topic_ids,
)
from planner.snapshot import Snapshot
from planner.verify.state_rows import Key, entries_of

_ID_LENGTH = 12


def refuse_other_cluster(plan: PlanInput, now: Snapshot) -> None:
    """
    Refuse a plan of another cluster.

    Raises
    ------
    BadInputError
        If both ids are known and differ.
    """
    snapshot = plan.document.get("snapshot")
    planned = snapshot.get("cluster_id") if isinstance(snapshot, dict) else None
    if None in {planned, now.cluster_id} or planned == now.cluster_id:
        return
    found = problem(
        str(plan.path / DOCUMENT_NAME),
        "snapshot.cluster_id",
        str(planned),
        f"must be {now.cluster_id}, the id of the cluster",
        "name the cluster that the plan was made for",
    )
    msg = "the plan is of another cluster"
    raise BadInputError(msg, [found])


def recreated(plan: PlanInput, now: Snapshot) -> Iterator[Key]:
    """Yield the partitions of topics that were deleted and created again."""
    planned = planned_topic_ids(plan)
    topics = now.topics
    ids = dict(
        zip(topics["topic"].to_pylist(), topics["topic_id"].to_pylist(), strict=True)
    )
    for entry in entries_of(plan.reassignment):
        was, is_now = planned.get(entry.key[0]), ids.get(entry.key[0])
        if was is not None and is_now is not None and was != is_now:
            yield entry.key


def plan_id_of(stages: Sequence[Stage]) -> str:
    """Return the id of what is left of a plan: a digest of its requests."""
    digest = hashlib.sha256()
    for text in _request_texts(stages):
        digest.update(text.encode())
    return digest.hexdigest()[:_ID_LENGTH]


def _request_texts(stages: Sequence[Stage]) -> Iterator[str]:
    """Yield the parts of a JSON list of all requests; the whole would be large."""
    for number, stage in enumerate(stages):
        yield f"{',' if number else '['}[{_compact(stage.kind)},["
        # Copies are admitted by size, and partitions grow from the preview to the run.
        for n, change in enumerate(sorted(stage.changes, key=lambda one: one.key)):
            steps = [[one.replicas, one.log_dirs] for one in change.steps]
            yield ("," if n else "") + _compact([*change.key, steps])
        yield "]"
        if stage.creation is not None:
            yield f",{_compact(stage.creation.document)}"
        yield "]"
    yield "]" if stages else "[]"


def _compact(document: object) -> str:
    return json.dumps(document, separators=(",", ":"))
