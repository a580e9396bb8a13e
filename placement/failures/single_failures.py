"""Effects of the loss of each broker, log dir or rack."""

import numpy as np

from placement.array_types import CountArray, RateArray
from placement.failures.failure_domains import DomainKind
from placement.failures.failure_outlook import Outlook, Parts, parts_of
from placement.failures.failure_table import Failures
from placement.failures.rebuilt_use import brokers_left, fullest_levels, unplaced
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
    waiting, waiting_load = unplaced(given, parts, (first, second))
    rebuilt = parts.copyable - waiting_load
    levels, even = fullest_levels(given, parts, (first, second), rebuilt)
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
        rebuilt_bytes=rebuilt[:, 0],
        unplaced=waiting,
        rebuild_s=_rebuild_seconds(given, parts, rebuilt[:, 0], waiting),
        scale=given.scale,
        num_possible=count,
    )


def _rebuild_seconds(
    given: Outlook, parts: Parts, rebuilt: CountArray, waiting: CountArray
) -> RateArray:
    busiest = np.zeros(len(rebuilt), dtype=np.int64)
    np.maximum.at(busiest, parts.gains.failure, parts.gains.sent_bytes)
    # It counts what is sent for every lost replica, also for those with no place.
    busiest[waiting > 0] = 0
    first = np.arange(len(rebuilt), dtype=np.int32)
    left = brokers_left(given, parts, (first, np.full_like(first, ABSENT)))
    seconds = np.maximum(busiest, rebuilt / np.maximum(left, 1))
    return np.where(left > 0, seconds / given.bandwidth_bytes_per_s, np.nan)
