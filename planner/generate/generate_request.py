"""What is asked of `generate`, and what of a cluster that concerns."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from placement.array_types import BoolArray, RowArray
from placement.model.cluster import ClusterState
from placement.placers.usable_brokers import PlacerBrokers


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateRequest:
    """
    What is asked for, as given.

    Parameters
    ----------
    topics
        Names, in the order of the file.
    broker_ids
        The brokers to use, in the order of the list.
    is_rack_aware
        Whether replicas of a partition are spread over racks.
    is_from_scratch
        Whether to print Kafka's own proposal, whatever it moves.
    seed
        Of that proposal's random numbers.
    file
        What problems with topics name as their file.
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
    """Return the lists of the topics that exist, by partition number."""
    lists: dict[str, list[list[int]]] = {}
    names, of = state.topics.names, state.partitions.topic_idx
    ids = state.brokers.ids[state.replicas.broker_idx].tolist()
    spans = list(pairwise(state.replicas.start.tolist()))
    for row in chosen_rows(state, request).tolist():
        start, stop = spans[row]
        lists.setdefault(names[of[row]], []).append(ids[start:stop])
    return lists


def is_chosen(state: ClusterState, request: GenerateRequest) -> BoolArray:
    """Return ``(T,)`` true for the topics."""
    wanted = set(request.topics)
    return np.array([name in wanted for name in state.topics.names], dtype=np.bool_)


def chosen_rows(state: ClusterState, request: GenerateRequest) -> RowArray:
    """Return the rows of the topics' partitions."""
    of = state.partitions.topic_idx
    return np.nonzero(is_chosen(state, request)[of])[0]


def is_open(state: ClusterState, request: GenerateRequest) -> BoolArray:
    """Return ``(B,)`` true for brokers of the list that are live."""
    is_listed: BoolArray = np.isin(state.brokers.ids, request.broker_ids)
    return is_listed & state.brokers.is_live


def placer_brokers(state: ClusterState, request: GenerateRequest) -> PlacerBrokers:
    """Return these brokers as placers take them."""
    brokers = PlacerBrokers.of(state, np.nonzero(is_open(state, request))[0])
    return brokers if request.is_rack_aware else brokers.without_racks()
