"""Note on the skew of topics that get more partitions without a sample of keys."""

from collections.abc import Mapping

import numpy as np

from placement.model.cluster import ClusterState
from planner.text.format import plural


def partitions_note(state: ClusterState, counts: Mapping[int, int]) -> str | None:
    """
    Return what is known of the skew of topics that get more partitions.

    Parameters
    ----------
    state
        The cluster before.
    counts
        New number of partitions by topic row.

    Returns
    -------
    str | None
        The note; `None` if no topic gets more.
    """
    of = state.partitions.topic_idx
    now = np.bincount(of, minlength=len(state.topics))
    grown = [topic for topic, count in sorted(counts.items()) if count > now[topic]]
    if not grown:
        return None
    first, count = grown[0], counts[grown[0]]
    what = f"{state.topics.names[first]}: {now[first]} to {count} partitions"
    if len(grown) > 1:
        what = f"more partitions of {plural(len(grown), 'topic')}"
    return (
        f"{what}: {_skew_text(state, grown)}. How keys spread over more partitions is "
        'not known without a sample of them: { change = "keys", sample = … }'
    )


def _skew_text(state: ClusterState, topics: list[int]) -> str:
    skews = {t: skew for t in topics if (skew := _skew(state, t)) is not None}
    if not skews:
        return "rates are not known, and so their skew is not"
    worst = max(skews, key=lambda topic: skews[topic])
    whose = "the busiest" if len(topics) == 1 else state.topics.names[worst]
    unknown = len(topics) - len(skews)
    rest = f", rates of {plural(unknown, 'topic')} are not known" if unknown else ""
    return (
        f"{whose} has {skews[worst]:.2f} x the mean rate today and is taken to keep "
        f"it, the new ones to have the mean{rest}"
    )


def _skew(state: ClusterState, topic: int) -> float | None:
    """Return the rate of the busiest partition over the mean; `None` if unknown."""
    rates = state.partitions.in_bytes_per_s[state.partitions.topic_idx == topic]
    if np.isnan(rates).any() or rates.sum() <= 0:
        return None
    return float(rates.max() / rates.mean())
