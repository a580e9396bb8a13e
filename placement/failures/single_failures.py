"""Effects of the loss of each broker, log dir or rack."""

import numpy as np

from placement.array_types import RateArray
from placement.failures.failure_domains import DomainKind
from placement.failures.failure_outlook import Outlook, Parts, parts_of
from placement.failures.failure_table import Failures
from placement.failures.rebuilt_use import fullest_levels
from placement.failures.survivor_loads import peaks_of_singles
from placement.model.cluster import ABSENT


def single_failures(given: Outlook, kind: DomainKind) -> Failures:
    """
    Return the effects of the loss of each domain of a kind.

    Notes
    -----
    Takes time and memory in proportion to the replicas (and a sort of them).
    """
    parts = parts_of(given, kind)
    domains, count = parts.domains, len(parts.domains)
    first = np.arange(count, dtype=np.int32)
    second = np.full(count, ABSENT, dtype=np.int32)
    levels, even = fullest_levels(given, parts, (first, second), parts.rebuilt)
    return Failures(
        domains=domains,
        first=first,
        second=second,
        damage=parts.damage,
        leaders_moved=parts.leaders_moved,
        peaks=peaks_of_singles(
            given.carried,
            parts.gains,
            domains,
            given.scale,
            given.state.brokers.is_live,
        ),
        levels=levels,
        even_levels=even,
        rebuilt_bytes=parts.rebuilt[:, 0],
        rebuild_s=_rebuild_seconds(given, parts),
        scale=given.scale,
        num_possible=count,
    )


def _rebuild_seconds(given: Outlook, parts: Parts) -> RateArray:
    domains = parts.domains
    busiest = np.zeros(len(domains), dtype=np.int64)
    np.maximum.at(busiest, parts.gains.failure, parts.gains.sent_bytes)
    is_live = given.state.brokers.is_live
    whole = domains.of_broker[is_live & (domains.of_broker != ABSENT)]
    left = int(is_live.sum()) - np.bincount(whole, minlength=len(domains))
    received = parts.rebuilt[:, 0] / np.maximum(left, 1)
    seconds = np.maximum(busiest, received) / given.bandwidth_bytes_per_s
    return np.where(left > 0, seconds, np.nan)
