"""Places of a snapshot's problems in the file that was read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from planner.errors import BadInputError, InputProblem
from planner.io.problems import problem, refuse_all
from planner.text.printable import printable

SEE_SCHEMA = "see 'kafka-planner schema snapshot'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    A row that violates a rule.

    Parameters
    ----------
    table, row, column
        Name of the table, row in the order of the file, and name of the column.
    value
        Invalid value.
    rule, remedy
        Violated rule, and remedy.
    """

    table: str
    row: int
    column: str
    value: object
    rule: str
    remedy: str = ""


class Places(Protocol):
    """Places of rows in an input."""

    def place_of(self, table: str, row: int, column: str) -> str:
        """Return the place of a cell."""
        ...


@dataclass(frozen=True, slots=True)
class JsonPlaces:
    """
    Places in the JSON document: ``topics[3].partitions[0].replicas``.

    Parameters
    ----------
    dir_start
        ``(B + 1,)`` log dirs of broker ``b`` are rows ``dir_start[b]`` and on.
    partition_start
        ``(T + 1,)`` partitions of topic ``t`` are rows ``partition_start[t]`` and on.
    """

    dir_start: npt.NDArray[np.int64]
    partition_start: npt.NDArray[np.int64]

    def place_of(self, table: str, row: int, column: str) -> str:
        """Return the place of a cell."""
        if table == "log_dirs":
            broker, at = _split(self.dir_start, row)
            return f"brokers[{broker}].log_dirs[{at}].{column}"
        if table == "partitions":
            topic, at = _split(self.partition_start, row)
            return f"topics[{topic}].partitions[{at}].{column}"
        if table in {"brokers", "topics"}:
            return f"{table}[{row}].{'name' if column == 'topic' else column}"
        return column


def _split(start: npt.NDArray[np.int64], row: int) -> tuple[int, int]:
    owner = int(np.searchsorted(start, row, side="right")) - 1
    return owner, row - int(start[owner])


_KEYS = {
    "brokers": {"id": "broker"},
    "log_dirs": {"broker_id": "broker", "path": "log dir"},
    "topics": {"topic": "topic"},
    "partitions": {"topic": "topic", "partition": "partition"},
}


@dataclass(frozen=True, slots=True)
class TablePlaces:
    """
    Places in tables: ``partitions.parquet: topic orders, partition 3, replicas``.

    Parameters
    ----------
    tables
        The Arrow tables by name, rows as read.
    """

    tables: Mapping[str, Any]

    def place_of(self, table: str, row: int, column: str) -> str:
        """Return the place of a cell."""
        if table not in _KEYS:
            return f"snapshot.json: {column}"
        columns = self.tables[table]
        keys = [
            f"{word} {columns.column(key)[row].as_py()}"
            for key, word in _KEYS[table].items()
        ]
        return f"{table}.parquet: {', '.join([*keys, column])}"


def as_problems(
    findings: Iterable[Finding], places: Places, *, file: str
) -> list[InputProblem]:
    """Return findings as problems of a file, with their places."""
    return [
        problem(
            file,
            places.place_of(finding.table, finding.row, finding.column),
            finding.value,
            finding.rule,
            finding.remedy,
        )
        for finding in findings
    ]


def refuse(file: str, problems: list[InputProblem]) -> BadInputError:
    """Return the error that rejects a whole snapshot."""
    return refuse_all(f"{printable(file)} is not a snapshot", problems)
