"""Lines of a plan's screen that its cluster determines: time, and survived losses."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from placement.failures.controller_majority import Voter
from placement.model.cluster import ClusterState
from placement.model.listed_reassignment import reassignment_to
from placement.model.reassignment import Reassignment
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.options.overrides import with_rack_map
from planner.plan.documents.plan_figures import DEFAULT_RATE_BYTES_PER_S
from planner.plan.screen.survival import survival_text, time_text

Line = tuple[str, str]


def estimate_lines(
    document: Mapping[str, Any],
    lists: ReassignmentFile,
    waves: Mapping[str, Any] | None,
    before: ClusterState,
    voters: Sequence[Voter],
) -> tuple[Line, ...]:
    """
    Return label and text of each line; none for lists that do not fit the cluster.

    Parameters
    ----------
    document
        plan.json.
    lists
        reassignment.json.
    waves
        waves.json; `None` for a plan without waves.
    before
        The cluster before the plan.
    voters
        Its controllers.
    """
    state = with_rack_map(before, document["settings"].get("rack_map") or {})
    reassignment = _reassignment(lists, state) if state.num_partitions else None
    if reassignment is None:
        return ()
    settings = {} if waves is None else waves["settings"]
    rate = settings.get("bandwidth_bytes_per_s") or DEFAULT_RATE_BYTES_PER_S
    return tuple(_lines(document, reassignment, rate, voters))


def _lines(
    document: Mapping[str, Any],
    reassignment: Reassignment,
    rate: float,
    voters: Sequence[Voter],
) -> Iterator[Line]:
    if document["moves"]["bytes"]:
        yield "time", time_text(reassignment, rate)
    yield "survives", survival_text(reassignment.after(), voters)


def _reassignment(lists: ReassignmentFile, state: ClusterState) -> Reassignment | None:
    """Return the lists on the cluster; `None` if one names what it does not have."""
    topic_of = {name: row for row, name in enumerate(state.topics.names)}
    broker_of = {each: row for row, each in enumerate(state.brokers.ids.tolist())}
    try:
        topics = [topic_of[name] for name in lists.topics]
        brokers = [[broker_of[each] for each in listed] for listed in lists.replicas]
    except KeyError:
        return None
    rows = _partition_rows(state, topics, lists.partitions)
    if rows is None:
        return None
    return reassignment_to(state, dict(zip(rows, brokers, strict=True)))


def _partition_rows(
    state: ClusterState, topics: Sequence[int], partitions: Sequence[int]
) -> list[int] | None:
    """Return the row of each partition; `None` if the cluster lacks one."""
    width = int(max(state.partitions.partition.max(), *partitions, 0)) + 1
    keys = state.partitions.topic_idx.astype(np.int64) * width
    keys += state.partitions.partition
    wanted = np.array(topics, np.int64) * width + np.array(partitions, np.int64)
    order = np.argsort(keys, kind="stable")
    found = np.searchsorted(keys, wanted, sorter=order)
    rows = order[np.minimum(found, len(keys) - 1)]
    return rows.tolist() if np.array_equal(keys[rows], wanted) else None
