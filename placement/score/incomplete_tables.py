"""Signs of a table that is still being loaded: missing topics or partitions."""

from collections.abc import Iterator, Sequence

import numpy as np

from placement.array_types import CountArray
from placement.draft.draft import Note
from placement.model.cluster import ClusterState

WHAT = "incomplete"
NO_PARTITIONS = "a cluster without partitions may be a table that is still being loaded"
NO_PARTITION = "a topic has one partition at least; its rows may be still to come"
GAPS = "partitions are numbered from 0 without gaps; rows may be still to come"
_MOST_NAMED = 5


def missing_partitions(partitions: CountArray, last: CountArray) -> CountArray:
    """
    Return ``(T,)`` number of missing partition numbers of each topic.

    Parameters
    ----------
    partitions
        ``(T,)`` number of distinct partitions of each topic.
    last
        ``(T,)`` largest partition number of each topic, -1 without a partition.
    """
    missing: CountArray = last + 1 - partitions
    return missing


def is_complete(state: ClusterState) -> bool:
    """Return whether no partition number is missing and each topic has a partition."""
    count, missing = _counted(state)
    return bool(state.num_partitions) and bool(count.all()) and not missing.any()


def _counted(state: ClusterState) -> tuple[CountArray, CountArray]:
    """Return ``(T,)`` number of partitions of each topic, and number missing."""
    topic = state.partitions.topic_idx
    count = np.bincount(topic, minlength=len(state.topics)).astype(np.int64)
    last = np.full(len(state.topics), -1, dtype=np.int64)
    np.maximum.at(last, topic, state.partitions.partition)
    return count, missing_partitions(count, last)


def incomplete_notes(state: ClusterState) -> Iterator[Note]:
    """Yield a note for each way in which the cluster may be loaded in part."""
    if not state.num_partitions:
        yield Note(what=WHAT, message=f"there are no partitions: {NO_PARTITIONS}")
        return
    names = state.topics.names
    count, missing = _counted(state)
    empty = [names[t] for t in np.nonzero(count == 0)[0].tolist()]
    if empty:
        message = f"without partitions: {_named(empty)}. {_sentence(NO_PARTITION)}"
        yield Note(what=WHAT, message=message, have=float(len(empty)))
    gaps = [
        f"{names[t]} ({missing[t]} of {missing[t] + count[t]})"
        for t in np.nonzero(missing > 0)[0].tolist()
    ]
    if gaps:
        message = f"missing partitions: {_named(gaps)}. {_sentence(GAPS)}"
        yield Note(what=WHAT, message=message, have=float(missing.sum()))


def _named(names: Sequence[str]) -> str:
    rest = len(names) - _MOST_NAMED
    more = f" and {rest} more topics" if rest > 0 else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
