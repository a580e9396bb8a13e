"""Request of `generate`, and the topics and brokers of a cluster that it selects."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from placement.array_types import BoolArray, RowArray
from placement.model.cluster import ClusterState
from placement.placers.usable_brokers import PlacerBrokers


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateRequest:
    """
    Options of `generate`.

    Parameters
    ----------
    topics
        Names of the topics, in the order of the file.
    broker_ids
        Ids of the brokers to use, in the order of the list.
    is_rack_aware
        Whether the replicas of a partition are spread over racks.
    is_from_scratch
        Whether to print the proposal of Kafka's tool, however much it moves.
    seed
        Seed of the random numbers of that proposal.
    file
        Name of the file in problems with topics.
    """

    topics: tuple[str, ...]
    broker_ids: tuple[int, ...]
    is_rack_aware: bool = True
    is_from_scratch: bool = False
    seed: int = 1
    file: str = "topics to move"


def current_lists(
    state: ClusterState, request: GenerateRequest
) -> dict[str, list[list[int]]]:
    """Return the current replica lists of existing topics, by partition number."""
    lists: dict[str, list[list[int]]] = {}
    names, of = state.topics.names, state.partitions.topic_idx
    ids = state.brokers.ids[state.replicas.broker_idx].tolist()
    spans = list(pairwise(state.replicas.start.tolist()))
    for row in chosen_rows(state, request).tolist():
        start, stop = spans[row]
        lists.setdefault(names[of[row]], []).append(ids[start:stop])
    return lists


def is_chosen(state: ClusterState, request: GenerateRequest) -> BoolArray:
    """Return ``(T,)`` true for the topics of the request."""
    wanted = set(request.topics)
    return np.array([name in wanted for name in state.topics.names], dtype=np.bool_)


def chosen_rows(state: ClusterState, request: GenerateRequest) -> RowArray:
    """Return the rows of the partitions of the requested topics."""
    of = state.partitions.topic_idx
    return np.nonzero(is_chosen(state, request)[of])[0]


def is_open(state: ClusterState, request: GenerateRequest) -> BoolArray:
    """Return ``(B,)`` true for live brokers of the list."""
    is_listed: BoolArray = np.isin(state.brokers.ids, request.broker_ids)
    return is_listed & state.brokers.is_live


def placer_brokers(state: ClusterState, request: GenerateRequest) -> PlacerBrokers:
    """Return the live brokers of the list as the input of Kafka's placers."""
    brokers = PlacerBrokers.of(state, np.nonzero(is_open(state, request))[0])
    return brokers if request.is_rack_aware else brokers.without_racks()
