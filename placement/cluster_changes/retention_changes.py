"""
Changes of retention, and the resulting sizes of topics.

Kafka deletes the oldest segments once they are older than retention.ms, or the
partition is larger than retention.bytes, whichever comes first. With tiered storage
(KIP-405), local.retention.ms and local.retention.bytes limit the data on the brokers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

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
    Retention limits of each topic.

    Parameters
    ----------
    ms, bytes
        ``(T,)`` limits of the brokers' disks: milliseconds, and bytes of a partition;
        infinite without a limit.
    total_ms, total_bytes
        ``(T,)`` limits of all data, remote storage included; those of the disks except
        for tiered topics with local limits.
    is_tiered
        ``(T,)`` true for topics with remote storage.
    is_deleting
        ``(T,)`` true where old segments are deleted, not only compacted.
    """

    ms: RateArray
    bytes: RateArray
    total_ms: RateArray
    total_bytes: RateArray
    is_tiered: BoolArray
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
    topics = state.topics
    is_tiered = np.equal(topics.storage, Storage.TIERED) | np.array(
        [one.get("remote.storage.enable") == "true" for one in topics.configs], np.bool_
    )
    limits = [_limits(configs, defaults) for configs in topics.configs]
    total = np.array(limits, dtype=np.float64).reshape(-1, 2)
    own = [_local_limits(configs, defaults) for configs in topics.configs]
    local = np.array(own, dtype=np.float64).reshape(-1, 2)
    on_disk = np.where(is_tiered[:, None] & ~np.isnan(local), local, total)
    return Retention(
        ms=on_disk[:, 0],
        bytes=on_disk[:, 1],
        total_ms=total[:, 0],
        total_bytes=total[:, 1],
        is_tiered=is_tiered,
        is_deleting=np.array(
            [_is_deleting(configs, defaults) for configs in topics.configs], np.bool_
        ),
    )


def _is_deleting(configs: Mapping[str, str], defaults: Mapping[str, str]) -> bool:
    policy = configs.get("cleanup.policy", defaults.get("log.cleanup.policy", "delete"))
    return "delete" in [each.strip() for each in policy.split(",")]


def _limits(
    configs: Mapping[str, str], defaults: Mapping[str, str]
) -> tuple[float, float]:
    """Return retention.ms and retention.bytes; infinite without a limit."""
    ms = _number(configs.get("retention.ms"), _default_ms(defaults))
    most = _number(
        configs.get("retention.bytes"),
        _number(defaults.get("log.retention.bytes"), -1.0),
    )
    return _or_infinite(ms), _or_infinite(most)


def _local_limits(
    configs: Mapping[str, str], defaults: Mapping[str, str]
) -> tuple[float, float]:
    """Return local.retention.ms and .bytes; NaN where retention.* hold instead."""
    ms, most = (
        _number(
            configs.get(f"local.retention.{kind}"),
            _number(defaults.get(f"log.local.retention.{kind}"), AS_TOPIC),
        )
        for kind in ("ms", "bytes")
    )
    return (
        np.nan if ms == AS_TOPIC else _or_infinite(ms),
        np.nan if most == AS_TOPIC else _or_infinite(most),
    )


def _or_infinite(limit: float) -> float:
    return limit if limit >= 0 else np.inf


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
    These are limits of all data. Tiered topics with local limits keep them, so that
    their disks change only where the new limit is below the local one; their bytes in
    remote storage change in proportion.
    The size of a partition limited by time changes in proportion, up to its size limit.
    The size of a partition limited by bytes follows from the new time where its bytes
    in are known. Topics that are only compacted do not change.
    """
    state, partitions = variant.state, variant.state.partitions
    of = partitions.topic_idx
    size = np.maximum(partitions.size_bytes, 0).astype(np.float64)
    old_ms, old_most = limits.ms[of], limits.bytes[of]
    new = _changed_limits(limits, ms=ms, factor=factor, most_bytes=most_bytes)
    new_ms, new_most = new.ms[of], new.bytes[of]
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
    changed = _with_remote(changed, chosen & limits.is_deleting, limits, new)
    if not idle.any():
        return changed
    first = state.topics.names[int(np.nonzero(idle)[0][0])]
    count = int(idle.sum())
    named = (
        f"topic {first} is" if count == 1 else f"{count} topics, such as {first}, are"
    )
    return changed.noting(f"{named} only compacted: retention does not change the size")


def _changed_limits(
    limits: Retention,
    *,
    ms: float | None,
    factor: float | None,
    most_bytes: float | None,
) -> Retention:
    """Return the limits after a change of retention.ms or retention.bytes."""
    total_ms = np.full(len(limits.ms), ms) if ms is not None else limits.total_ms
    total_ms = total_ms * factor if factor is not None else total_ms
    total_bytes = limits.total_bytes
    if most_bytes is not None:
        total_bytes = np.full(len(limits.ms), most_bytes)
    has_own_ms = limits.ms != limits.total_ms
    has_own_bytes = limits.bytes != limits.total_bytes
    return replace(
        limits,
        ms=np.where(has_own_ms, np.minimum(limits.ms, total_ms), total_ms),
        bytes=np.where(
            has_own_bytes, np.minimum(limits.bytes, total_bytes), total_bytes
        ),
        total_ms=total_ms,
        total_bytes=total_bytes,
    )


def _with_remote(
    variant: Variant, chosen: BoolArray, old: Retention, new: Retention
) -> Variant:
    """Change the known bytes in remote storage of chosen tiered topics."""
    state, partitions = variant.state, variant.state.partitions
    of = partitions.topic_idx
    changes = (chosen & old.is_tiered)[of] & (partitions.remote_bytes > 0)
    if not changes.any():
        return variant
    is_timed = (
        np.isfinite(old.total_ms) & (old.total_ms > 0) & np.isfinite(new.total_ms)
    )
    ratio = np.where(is_timed, new.total_ms / np.where(is_timed, old.total_ms, 1), 1.0)
    kept = np.minimum(partitions.remote_bytes * ratio[of], new.total_bytes[of])
    remote = np.where(changes, kept, partitions.remote_bytes).astype(np.int64)
    after = replace(state, partitions=replace(partitions, remote_bytes=remote))
    return replace(variant, state=after)


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
    """
    Tier topics; data younger than `local_ms` milliseconds stays on disk.

    A topic with remote storage may then keep more data on disk than at present, up to
    retention.ms, retention.bytes and local.retention.bytes.
    """
    finite = np.where(np.isfinite(limits.ms), limits.ms, DEFAULT_MS)
    most_ms = np.where(limits.is_tiered, np.maximum(limits.total_ms, finite), finite)
    kept = np.minimum(local_ms, most_ms) / np.maximum(finite, 1.0)
    idle = chosen & ~limits.is_deleting
    tiered = tier(
        variant, chosen & limits.is_deleting, kept, limits.bytes, limits.is_tiered
    )
    if not idle.any():
        return tiered
    first = variant.state.topics.names[int(np.nonzero(idle)[0][0])]
    return tiered.noting(
        f"{int(idle.sum())} topics are compacted, such as {first}: Kafka tiers none"
    )
