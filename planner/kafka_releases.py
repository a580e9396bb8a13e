"""Releases of Kafka: what a snapshot proves, and what depends on it."""

import re
from collections.abc import Mapping
from types import MappingProxyType

Release = tuple[int, int]
"""Major and minor number of a release of Kafka."""

METADATA_VERSION = "metadata.version"
_NAMES = (
    *("3.0-IV1", "3.1-IV0", "3.2-IV0", "3.3-IV0", "3.3-IV1", "3.3-IV2", "3.3-IV3"),
    *("3.4-IV0", "3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2"),
    *("3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0"),
    *("4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0"),
    *("4.2-IV1", "4.3-IV0", "4.4-IV0"),
)
METADATA_LEVELS: Mapping[str, int] = MappingProxyType(
    {name: level for level, name in enumerate(_NAMES, 1)}
)
"""Levels of ``metadata.version`` by the names that brokers print."""
_LATER_FEATURES = (
    *("kraft.version", "transaction.version", "group.version"),
    *("eligible.leader.replicas.version", "share.version", "streams.version"),
)
"""Features of which no release before `_FIRST_WITH_LATER` knows level 1."""
_FIRST_WITH_LATER: Release = (3, 9)
CAPS_MIN_ISR: Release = (3, 7)
"""
First release whose brokers take the number of replicas for a larger min ISR:
`effectiveMinIsr` of `kafka.cluster.Partition` (KAFKA-15583, apache/kafka#14594).
"""


def release_of(text: str | None) -> Release | None:
    """
    Return the release of Kafka that a version names; `None` where it names none.

    Versions from 7.0 on are of Confluent Platform, whose minor releases go along with
    those of Kafka: 7.7 has Kafka 3.7, and 8.0 has Kafka 4.0.

    Examples
    --------
    >>> release_of("4.3.1"), release_of("3.9-IV0"), release_of("7.6.1-ccs")
    ((4, 3), (3, 9), (3, 6))
    >>> release_of("latest") is None
    True
    """
    match = re.match(r"(\d+)\.(\d+)", text or "")
    if match is None:
        return None
    major, minor = int(match[1]), int(match[2])
    return (major - 4, minor) if major >= 7 else (major, minor)


def oldest_release(version: str | None, features: Mapping[str, int]) -> Release | None:
    """
    Return the oldest release that all brokers can have; `None` where none is proven.

    A level is finalized only if every broker supports it. A level of an older release
    proves nothing newer: brokers are often newer than the levels.

    Parameters
    ----------
    version
        Version of Kafka in the snapshot.
    features
        Finalized levels of the cluster's features.

    Examples
    --------
    >>> oldest_release(None, {"metadata.version": 15})
    (3, 7)
    >>> oldest_release("3.9.0", {"metadata.version": 15})
    (3, 9)
    """
    is_later = any(features.get(name, 0) > 0 for name in _LATER_FEATURES)
    found = [_FIRST_WITH_LATER] if is_later else []
    level = min(features.get(METADATA_VERSION, 0), len(_NAMES))
    named = [version, _NAMES[level - 1] if level > 0 else None]
    found += [release for text in named if (release := release_of(text)) is not None]
    return max(found, default=None)


def caps_min_isr(version: str | None, features: Mapping[str, int]) -> bool:
    """
    Return whether brokers take the number of replicas for a larger min ISR.

    False where the release is unknown: ``min.insync.replicas`` then counts as it is
    set, so that no partition that refuses producers is called fine.

    Examples
    --------
    >>> caps_min_isr("3.6.2", {}), caps_min_isr("3.7.0", {}), caps_min_isr(None, {})
    (False, True, False)
    """
    release = oldest_release(version, features)
    return release is not None and release >= CAPS_MIN_ISR
