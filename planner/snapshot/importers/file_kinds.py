"""Detection of a file's kind from its first bytes, regardless of its name."""

import re

from planner.pasted_text import head_of, recognise
from planner.snapshot.importers.importer_registry import READERS

SNAPSHOT = "snapshot"
RATES = "rates"
CRUISE_CONTROL = "cruise_control"
PLACEMENTS = ("topics", "kcat", "assignment", CRUISE_CONTROL)
"""Kinds with the placement of replicas, besides snapshots."""

_SNAPSHOT = re.compile(r'"format"\s*:\s*"kafka-planner/snapshot"')


def kind_of(data: bytes) -> str | None:
    """
    Return the kind of a file.

    Parameters
    ----------
    data
        The file, gzipped or not, or at least its beginning.

    Returns
    -------
    `SNAPSHOT`, `CRUISE_CONTROL`, or the name of an importer; `None`: none of them.

    Examples
    --------
    >>> kind_of(b"topic,partition,in_bytes_per_s"), kind_of(b"dear diary")
    ('rates', None)
    """
    if data[:4] == b"PAR1":
        return RATES
    text = head_of(data)
    if _SNAPSHOT.search(text):
        return SNAPSHOT
    found = recognise(text)
    is_read = found is not None and found.name in {*READERS, CRUISE_CONTROL}
    return found.name if found is not None and is_read else None
