"""What a file is, told from its first bytes; its name says nothing."""

import re
import zlib
from collections.abc import Sequence

SNAPSHOT = "snapshot"
RATES = "rates"
PLACEMENTS = ("topics", "kcat", "assignment")
"""Kinds that say where the replicas are, besides snapshots."""

_HEAD = 100_000
_GZIP = b"\x1f\x8b"
_PATTERNS: tuple[tuple[str, str], ...] = (
    (SNAPSHOT, r'"format"\s*:\s*"kafka-planner/snapshot"'),
    ("topics", r"^[ \t]*Topic: ?\S+\s"),
    ("log_dirs", r'"logDirs"\s*:'),
    ("kcat", r'"originating_broker"\s*:|"isrs"\s*:'),
    ("capacity", r'"brokerCapacities"\s*:'),
    ("broker_sets", r'"brokerSets"\s*:'),
    ("prometheus", r'"resultType"\s*:'),
    ("strimzi", r"kafka\.strimzi\.io/"),
    ("list_endpoints", r"^ID\s+HOST\s+PORT|^Cluster ID: "),
    (
        "assignment",
        r'"partitions"\s*:\s*\[\s*\{\s*"(topic|partition|replicas)"',
    ),
)
_BROKER_CELLS = frozenset(("id", "broker", "broker_id"))


def kind_of(data: bytes) -> str | None:
    """
    Tell what a file is.

    Parameters
    ----------
    data
        The file, gzipped or not, or at least its beginning.

    Returns
    -------
    `SNAPSHOT`, or a key of `planner.snapshot.importers.load.READERS`; `None`: neither.

    Examples
    --------
    >>> kind_of(b"topic,partition,in_bytes_per_s"), kind_of(b"dear diary")
    ('rates', None)
    """
    if data[:4] == b"PAR1":
        return RATES
    text = _head(data)
    for kind, pattern in _PATTERNS:
        if re.search(pattern, text, re.MULTILINE):
            return kind
    return _table_kind(text.partition("\n")[0].split(","))


def _table_kind(cells: Sequence[str]) -> str | None:
    """Tell by its heading what a CSV file is."""
    names = {cell.strip().strip('"').lower() for cell in cells}
    if {"topic", "partition"} <= names:
        return RATES
    return "brokers" if len(cells) > 1 and names & _BROKER_CELLS else None


def _head(data: bytes) -> str:
    if data.startswith(_GZIP):
        try:
            data = zlib.decompressobj(31).decompress(data, _HEAD)
        except zlib.error:
            return ""
    return data[:_HEAD].decode("utf-8-sig", errors="replace")
