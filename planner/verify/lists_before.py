"""Lists of each partition before a plan, by partition."""

from array import array
from collections.abc import Iterator

from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.verify.partition_status import Before
from planner.verify.state_rows import ClusterRows, Key

_NONE = -1


class ListsBefore:
    """
    Lists of each partition before a plan.

    A row of the file for each partition of the cluster: a dictionary with an object per
    partition takes ten times as much.

    Parameters
    ----------
    rows
        The cluster now.
    file
        Lists before the plan; `None`: not known.
    """

    def __init__(self, rows: ClusterRows, file: ReassignmentFile | None) -> None:
        self._rows, self._file = rows, file
        self._entry_of = array("i", [_NONE]) * len(rows.row_of)
        if file is None:
            return
        for entry, key in enumerate(zip(file.topics, file.partitions, strict=True)):
            if (row := rows.row_of.get(key)) is not None:
                self._entry_of[row] = entry

    def get(self, key: Key) -> Before | None:
        """Return the lists of a partition of the cluster before, where known."""
        row = self._rows.row_of.get(key)
        if self._file is None or row is None:
            return None
        entry = self._entry_of[row]
        if entry == _NONE:
            return None
        return Before(self._file.replicas[entry], self._file.log_dirs[entry])

    def brokers(self) -> Iterator[int]:
        """Yield every broker of the lists, as often as it is named."""
        for replicas in () if self._file is None else self._file.replicas:
            yield from replicas
