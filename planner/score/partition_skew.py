"""Topics whose partitions differ strongly in load, and the command that says why."""

import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from placement.array_types import BoolArray, RateArray
from placement.model.copies import INTERNAL
from placement.model.load import RESOURCES, Resource
from placement.score.cluster_score import ClusterScore
from planner.kafka_commands import ANY_SERVER
from planner.text.document_numbers import rounded
from planner.text.format import command_lines, labelled

SKEWED = 2.0
"""Busiest partition over the mean of its topic, above which the topic is skewed."""
LEAST_OF_BROKER = 0.01
"""Least load of a hot partition, as a fraction of the mean load of a broker."""
BY_PREFERENCE = (Resource.IN, Resource.DISK)
"""Resources by which partitions are compared: the first whose loads are all known."""


def skew_lines(score: ClusterScore) -> Iterator[str]:
    """Yield the most skewed topic, and the command that shows its keys."""
    documents = skew_documents(score)
    if not documents:
        return
    first, others = documents[0], len(documents) - 1
    more = f"; and {others} more such topics" if others else ""
    yield from labelled(
        "Skew",
        f"{first['topic']}: its busiest partition has {first['max_over_mean']:.1f} x "
        f"the mean of its {first['partitions']} by {first['resource']}{more}. Its "
        "keys:",
    )
    yield from command_lines("", _command_words(first["topic"]))


def skew_documents(score: ClusterScore) -> list[dict[str, Any]]:
    """Return the skewed topics as the document has them, the largest excess first."""
    found = skewed_topics(score)
    if found is None:
        return []
    resource, excess = found
    spread = score.topics.spread[RESOURCES.index(resource)]
    names, order = score.state.topics.names, np.argsort(-excess, kind="stable")
    return [
        {
            "topic": names[topic],
            "partitions": int(score.topics.partitions[topic]),
            "resource": str(resource),
            "max_over_mean": rounded(float(spread.max_over_mean[topic])),
            "command": shlex.join(_command_words(names[topic])),
        }
        for topic in order[: int((excess > 0).sum())].tolist()
    ]


def _command_words(topic: str) -> list[str]:
    """Return the words of the command; a snapshot does not say where its cluster is."""
    words = ["kafka-planner", "keys", "skew", *shlex.split(ANY_SERVER)]
    return [*words, "--topic", topic]


def skewed_topics(score: ClusterScore) -> tuple[Resource, RateArray] | None:
    """
    Return how far the busiest partition of each skewed topic exceeds the mean.

    Returns
    -------
    tuple[Resource, RateArray] | None
        The resource compared, and ``(T,)`` the busiest partition's load minus the mean,
        0 for topics that are not skewed. `None` if no topic is.
    """
    is_own = np.array([name in INTERNAL for name in score.state.topics.names], bool)
    for resource in BY_PREFERENCE:
        is_skewed = _is_skewed(score, resource) & ~is_own
        if is_skewed.any():
            spread = score.topics.spread[RESOURCES.index(resource)]
            return resource, np.where(is_skewed, spread.max - spread.mean, 0.0)
    return None


def _is_skewed(score: ClusterScore, resource: Resource) -> BoolArray:
    r = RESOURCES.index(resource)
    spread, known = score.topics.spread[r], score.topics.known_fraction[:, r]
    live = max(int(score.state.brokers.is_live.sum()), 1)
    least = LEAST_OF_BROKER * score.placed.resources[resource].total / live
    is_hot = (spread.max_over_mean > SKEWED) & (spread.max >= least)
    is_skewed: BoolArray = is_hot & np.equal(known, 1.0)
    return is_skewed
