"""Which partitions a plan leaves alone, as a judge sees it."""

import re
from collections.abc import Iterator

from fuzz.drawn import Drawn
from placement.model.cluster import ClusterState, LogDirState, Storage


def why_left_alone(
    case: Drawn, state: ClusterState, p: int, brokers: set[int]
) -> str | None:
    """Return why nothing of a partition may change, as this judge sees it."""
    request = case.request
    options = request.options
    name = state.topics.names[int(state.partitions.topic_idx[p])]
    if options.topics and not re.fullmatch(options.topics, name):
        return "not among the topics asked for"
    if options.exclude_topics and re.fullmatch(options.exclude_topics, name):
        return "excluded"
    if request.goal == "remove-brokers":
        # What else is left alone makes the plan a partial one.
        return None
    leaves = brokers if request.goal == "replace-broker" else set()
    return next(why_unsettled(state, p, leaves), None)


def why_unsettled(state: ClusterState, p: int, leaves: set[int]) -> Iterator[str]:
    """Yield what keeps a partition from being moved safely now."""
    replicas, log_dirs = state.replicas, state.log_dirs
    start, stop = replicas.start[p : p + 2].tolist()
    if state.topics.storage[state.partitions.topic_idx[p]] == Storage.UNKNOWN:
        yield "of unknown storage"
    for r in range(start, stop):
        broker, log_dir = int(replicas.broker_idx[r]), int(replicas.log_dir_idx[r])
        if replicas.is_adding[r] or replicas.is_removing[r]:
            yield "being reassigned"
        if (
            not state.brokers.is_live[broker]
            and state.brokers.ids[broker] not in leaves
        ):
            yield "on a broker that is not live"
        if log_dir >= 0 and log_dirs.state[log_dir] == LogDirState.OFFLINE:
            yield "in an offline log dir"
