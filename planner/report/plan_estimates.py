"""Lines of a plan's screen that its cluster determines: time, and survived losses."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
    reassignment = _reassignment(lists, state)
    if reassignment is None or not state.num_partitions:
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
    names = zip(
        state.partitions.topic_idx.tolist(),
        state.partitions.partition.tolist(),
        strict=True,
    )
    topics = state.topics.names
    row_of = {(topics[topic], number): row for row, (topic, number) in enumerate(names)}
    broker_of = {each: row for row, each in enumerate(state.brokers.ids.tolist())}
    try:
        return reassignment_to(
            state,
            {
                row_of[name]: [broker_of[broker] for broker in listed]
                for name, listed in zip(
                    zip(lists.topics, lists.partitions, strict=True),
                    lists.replicas,
                    strict=True,
                )
            },
        )
    except KeyError:
        return None
