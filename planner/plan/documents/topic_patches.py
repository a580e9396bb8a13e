"""Changes of Kubernetes resources of topics (KafkaTopic) that a plan requires."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from placement.draft.draft import Note
from placement.model.cluster import ClusterState
from placement.model.reassignment import Reassignment
from planner.kafka_files.creation import Creation
from planner.text.format import plural
from planner.topic_resources import TopicResource

_NAMES_SHOWN = 5
FOLDER = "kafkatopics"
"""Folder of the scripts within the folder of a plan."""
PAUSE, PATCH, UNDO = (f"{FOLDER}/{name}.sh" for name in ("pause", "patch", "undo"))
"""Scripts before a plan, after it, and after its rollback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPatch:
    """
    Change of one number of a KafkaTopic resource.

    Parameters
    ----------
    topic
        Name of the topic.
    resource
        Resource of the topic.
    field
        Key of its spec: ``replicas`` or ``partitions``.
    now, then
        Numbers before and after the plan; `now` is `None` if partitions differ in it.
    """

    topic: str
    resource: TopicResource
    field: str
    now: int | None
    then: int


def factor_patches(
    reassignment: Reassignment, resources: Mapping[str, TopicResource]
) -> list[TopicPatch]:
    """
    Return the patches for topics whose replication factor changes.

    Topics whose partitions differ in it after the plan have none: no number is right.
    """
    if not resources:
        return []
    before, after = reassignment.before, reassignment.after()
    changes = before.replication_factor != after.replication_factor
    now, then = _factors(before), _factors(after)
    patches = []
    for topic_idx in np.unique(before.partitions.topic_idx[changes]).tolist():
        resource = resources.get(before.topics.names[topic_idx])
        if resource is not None and then[topic_idx]:
            patches.append(
                TopicPatch(
                    topic=before.topics.names[topic_idx],
                    resource=resource,
                    field="replicas",
                    now=now[topic_idx] or None,
                    then=then[topic_idx],
                )
            )
    return patches


def _factors(state: ClusterState) -> list[int]:
    """Return the replication factor of each topic; 0 if its partitions differ."""
    factors, topic_idx = state.replication_factor, state.partitions.topic_idx
    least = np.full(len(state.topics.names), np.iinfo(np.int64).max)
    most = np.zeros(len(state.topics.names), dtype=np.int64)
    np.minimum.at(least, topic_idx, factors)
    np.maximum.at(most, topic_idx, factors)
    own: list[int] = np.where(least == most, most, 0).tolist()
    return own


def factor_patch_notes(patches: list[TopicPatch]) -> Iterator[Note]:
    """Yield a note if Strimzi's Topic Operator would change the factors back."""
    if patches:
        yield Note(
            what="topic-operator",
            message=f"Strimzi's Topic Operator manages {_named(patches)}, and changes "
            f"replication factors back: run {PAUSE} before the plan and {PATCH} after "
            "it, see RUNBOOK.md",
            where={"topic": patches[0].topic} if len(patches) == 1 else {},
        )


def partition_patches(
    creation: Creation, resources: Mapping[str, TopicResource]
) -> list[TopicPatch]:
    """Return the patch for a topic that exists and grows, if it has a resource."""
    resource = resources.get(creation.topic)
    if resource is None or creation.is_new_topic:
        return []
    return [
        TopicPatch(
            topic=creation.topic,
            resource=resource,
            field="partitions",
            now=creation.first,
            then=creation.count,
        )
    ]


def partition_patch_notes(patches: list[TopicPatch]) -> Iterator[Note]:
    """Yield a note if Strimzi's Topic Operator manages a topic that grows."""
    for patch in patches:
        yield Note(
            what="topic-operator",
            message=f"Strimzi's Topic Operator manages {_named(patches)}: run {PATCH} "
            "after the plan, see RUNBOOK.md; earlier, the operator would place the "
            "partitions itself",
            where={"topic": patch.topic},
        )


def _named(patches: list[TopicPatch]) -> str:
    names = [patch.topic for patch in patches[:_NAMES_SHOWN]]
    more = len(patches) - len(names)
    rest = f" and {more} more" if more else ""
    return f"{plural(len(patches), 'topic')} of this plan ({', '.join(names)}{rest})"
