"""Status of a cluster: its current problems."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from planner.snapshot import Snapshot
from planner.status.find_status import Status, status_of
from planner.status.status_document import status_document
from planner.status.status_screen import status_screen
from planner.status.trouble_sentences import Address

ADDRESS = Address(snapshot="SNAP", place="SNAP")


@dataclass(frozen=True, repr=False)
class StatusResult:
    """
    Current problems of a cluster, as far as its snapshot shows.

    Parameters
    ----------
    status
        The findings; see `planner.status`.
    """

    status: Status

    @property
    def ok(self) -> bool:
        """Whether no known fact is a problem."""
        return not self.status.is_wrong

    @property
    def verdict(self) -> str:
        """``wrong``, ``fine``, or ``unknown`` if the snapshot lacks facts."""
        return self.status.verdict

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The document that `kafka-planner status --format json` prints."""
        return status_document(self.status, ADDRESS, now=datetime.now(UTC))

    def __repr__(self) -> str:
        return "\n".join(status_screen(self.status, ADDRESS, now=datetime.now(UTC)))


def cluster_status(snapshot: Snapshot) -> StatusResult:
    """
    Find the current problems of a cluster.

    Parameters
    ----------
    snapshot
        The cluster; see `planner.read_snapshot` and `planner.take_snapshot`.

    Examples
    --------
    >>> import planner
    >>> from planner.demo import SNAPSHOT_FILE
    >>> planner.cluster_status(planner.read_snapshot(SNAPSHOT_FILE)).ok
    True
    """
    return StatusResult(status_of(snapshot))
