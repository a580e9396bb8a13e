"""
Changes of retention, and the resulting sizes of topics.

Kafka deletes the oldest segments once they are older than retention.ms, or the
partition is larger than retention.bytes, whichever comes first. With tiered storage
(KIP-405), local.retention.ms and local.retention.bytes limit the data on the brokers.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, RateArray
from placement.cluster_changes.load_changes import tier, with_sizes
from placement.cluster_changes.variant import Variant
from placement.model.cluster import ClusterState, Storage

DEFAULT_MS = 604_800_000.0
"""Kafka's default retention: log.retention.hours is 168."""
AS_TOPIC = -2
"""Value of local.retention.* that means the value of retention.*."""
NEARLY_FULL = 0.9
"""Fraction of retention.bytes above which a partition counts as limited by it."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Retention:
    """
    Retention limits of each topic on the brokers' disks.

    Parameters
    ----------
    ms
        ``(T,)`` milliseconds; infinite without a time limit.
    bytes
        ``(T,)`` bytes of a partition; infinite without a size limit.
    is_deleting
        ``(T,)`` true where old segments are deleted, not only compacted.
    """

    ms: RateArray
    bytes: RateArray
    is_deleting: BoolArray


def retention_of(state: ClusterState, defaults: Mapping[str, str]) -> Retention:
    """
    Return the retention limits of a cluster's topics.

    Parameters
    ----------
    state
        Cluster with the topic configs.
    defaults
        Default configs of the brokers, by broker or topic config name.
    """
    rows = [
        _limits(configs, defaults, is_tiered=storage == Storage.TIERED)
        for configs, storage in zip(
            state.topics.configs, state.topics.storage.tolist(), strict=True
        )
    ]
    return Retention(
        ms=np.array([ms for ms, _, _ in rows], dtype=np.float64),
        bytes=np.array([most for _, most, _ in rows], dtype=np.float64),
        is_deleting=np.array([deletes for _, _, deletes in rows], dtype=np.bool_),
    )


def _limits(
    configs: Mapping[str, str], defaults: Mapping[str, str], *, is_tiered: bool
) -> tuple[float, float, bool]:
    policy = configs.get("cleanup.policy", defaults.get("log.cleanup.policy", "delete"))
    ms = _number(configs.get("retention.ms"), _default_ms(defaults))
    most = _number(
        configs.get("retention.bytes"),
        _number(defaults.get("log.retention.bytes"), -1.0),
    )
    if is_tiered:
        local_ms = _number(configs.get("local.retention.ms"), AS_TOPIC)
        local_most = _number(configs.get("local.retention.bytes"), AS_TOPIC)
        ms = ms if local_ms == AS_TOPIC else local_ms
        most = most if local_most == AS_TOPIC else local_most
    return (
        ms if ms >= 0 else np.inf,
        most if most >= 0 else np.inf,
        "delete" in policy.split(","),
    )


def _default_ms(defaults: Mapping[str, str]) -> float:
    for name, unit in (
        ("retention.ms", 1.0),
        ("log.retention.ms", 1.0),
        ("log.retention.minutes", 60_000.0),
        ("log.retention.hours", 3_600_000.0),
    ):
        if name in defaults:
            value = _number(defaults[name], DEFAULT_MS)
            return value * unit if value >= 0 else value
    return DEFAULT_MS


def _number(text: str | None, otherwise: float) -> float:
    try:
        return otherwise if text is None else float(text)
    except ValueError:
        return otherwise


def keep(
    variant: Variant,
    chosen: BoolArray,
    limits: Retention,
    *,
    ms: float | None = None,
    factor: float | None = None,
    most_bytes: float | None = None,
) -> Variant:
    """
    Change the retention of topics, and their sizes accordingly.

    Parameters
    ----------
    variant
        Cluster to change.
    chosen
        ``(T,)`` true for the topics to change.
    limits
        Present retention limits.
    ms, factor
        New retention time in milliseconds, or as a factor of the present time.
    most_bytes
        New size limit of a partition, in bytes.

    Notes
    -----
    The size of a partition limited by time changes in proportion, up to its size limit.
    The size of a partition limited by bytes follows from the new time where its bytes
    in are known. Topics that are only compacted do not change.
    """
    state, partitions = variant.state, variant.state.partitions
    of = partitions.topic_idx
    size = np.maximum(partitions.size_bytes, 0).astype(np.float64)
    old_ms, old_most = limits.ms[of], limits.bytes[of]
    new_ms = old_ms * factor if factor is not None else (old_ms if ms is None else ms)
    new_ms = np.broadcast_to(np.asarray(new_ms, dtype=np.float64), old_ms.shape)
    new_most = old_most if most_bytes is None else np.full(len(of), most_bytes)
    is_full = size >= NEARLY_FULL * old_most
    by_time = _by_time(size, old_ms, new_ms, is_full, partitions.in_bytes_per_s)
    if most_bytes is not None:
        # The unlimited size is unknown: assume growth in proportion to the new limit.
        unknown = is_full & ~np.isfinite(partitions.in_bytes_per_s)
        by_time = np.where(
            unknown, size * np.maximum(most_bytes / old_most, 1), by_time
        )
    kept = np.minimum(by_time, new_most)
    changes = (chosen & limits.is_deleting)[of]
    idle = chosen & ~limits.is_deleting
    changed = with_sizes(variant, np.where(changes, np.rint(kept), size))
    if not idle.any():
        return changed
    first = state.topics.names[int(np.nonzero(idle)[0][0])]
    return changed.noting(
        f"{int(idle.sum())} topics are only compacted, such as {first}: retention "
        "does not change their size"
    )


def _by_time(
    size: RateArray,
    old_ms: RateArray,
    new_ms: RateArray,
    is_full: BoolArray,
    in_bytes_per_s: RateArray,
) -> RateArray:
    """Return ``(P,)`` bytes of partitions with the time limit alone."""
    written = in_bytes_per_s * new_ms / 1000
    is_timed = np.isfinite(old_ms) & (old_ms > 0) & np.isfinite(new_ms)
    ratio = np.where(is_timed, new_ms / np.where(is_timed, old_ms, 1.0), 1.0)
    # Without a binding time limit, only the rate gives the size for a time.
    is_derived = np.isfinite(written) & (is_full | ~np.isfinite(old_ms))
    in_proportion: RateArray = size * np.where(is_full, np.maximum(ratio, 1.0), ratio)
    estimated = np.where(np.isfinite(old_ms), written, np.minimum(size, written))
    return np.where(is_derived, estimated, in_proportion)


def tier_down_to(
    variant: Variant, chosen: BoolArray, limits: Retention, local_ms: float
) -> Variant:
    """Tier topics; data younger than `local_ms` milliseconds stays on disk."""
    finite = np.where(np.isfinite(limits.ms), limits.ms, DEFAULT_MS)
    kept = np.minimum(local_ms / np.maximum(finite, 1.0), 1.0)
    idle = chosen & ~limits.is_deleting
    tiered = tier(variant, chosen & limits.is_deleting, kept)
    if not idle.any():
        return tiered
    first = variant.state.topics.names[int(np.nonzero(idle)[0][0])]
    return tiered.noting(
        f"{int(idle.sum())} topics are compacted, such as {first}: Kafka tiers none"
    )
