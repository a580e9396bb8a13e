"""Topics whose partitions differ strongly in load, and the command that says why."""

from collections.abc import Iterator

import numpy as np

from placement.array_types import BoolArray, RateArray
from placement.model.copies import INTERNAL
from placement.model.load import RESOURCES, Resource
from placement.score.cluster_score import ClusterScore
from planner.text.format import command_lines, labelled

SKEWED = 2.0
"""Busiest partition over the mean of its topic, above which the topic is skewed."""
LEAST_OF_BROKER = 0.01
"""Least load of a hot partition, as a fraction of the mean load of a broker."""
BY_PREFERENCE = (Resource.IN, Resource.DISK)
"""Resources by which partitions are compared: the first whose loads are all known."""


def skew_lines(score: ClusterScore) -> Iterator[str]:
    """Yield the most skewed topic, and the command that shows its keys."""
    found = skewed_topics(score)
    if found is None:
        return
    resource, excess = found
    topic = int(excess.argmax())
    name = score.state.topics.names[topic]
    factor = score.topics.spread[RESOURCES.index(resource)].max_over_mean[topic]
    others = int((excess > 0).sum()) - 1
    more = f"; and {others} more such topics" if others else ""
    yield from labelled(
        "Skew",
        f"{name}: its busiest partition has {factor:.1f} x the mean of its "
        f"{score.topics.partitions[topic]} by {resource}{more}. Its keys:",
    )
    words = ["kafka-planner", "keys", "skew", "--bootstrap-server", "H:P"]
    yield from command_lines("", [*words, "--topic", name])


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
