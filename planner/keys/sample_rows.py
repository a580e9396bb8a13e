"""Rows of a sample as its reader finds them, and the problems of its keys."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from planner.errors import BadInputError, InputProblem
from planner.io.problems import problem, refuse_all

SOME_SIZES = "must have the bytes of every record, or of none"
MOST_PROBLEMS = 1000
"""Problems after which the rest of a sample is not read."""


NUMBER_COLUMNS: Mapping[str, tuple[pa.DataType, int]] = {
    "bytes": (pa.int64(), 2**62),
    "partition": (pa.int32(), 2**31 - 1),
}
"""Type and largest value of the columns of numbers."""


def number_rule(name: str) -> str:
    """Return the rule that a value of a column of numbers breaks."""
    return f"{name} must be a whole number from 0 to {NUMBER_COLUMNS[name][1]}"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SampleRows:
    """
    ``R`` rows of a sample.

    Parameters
    ----------
    keys
        ``(R,)`` keys, not serialized: strings, integers, bytes or null.
    sizes
        ``(R,)`` bytes of each record, int64, null where a record has none; `None` if
        no record has them.
    partitions
        ``(R,)`` partition of each record, int32; `None` if the sample has none.
    first
        Number of the first row, for messages.
    unit
        Unit that rows are counted in: ``line`` or ``row``.
    numbers
        ``(R,)`` number of each row, if some are left out; else `None`.
    """

    keys: pa.Array
    sizes: pa.Array | None = None
    partitions: pa.Array | None = None
    first: int = 1
    unit: str = "line"
    numbers: Sequence[int] | None = None

    def place(self, row: int) -> str:
        """Return the place of a row in messages."""
        number = self.first + row if self.numbers is None else self.numbers[row]
        return f"{self.unit} {number}"


@dataclass(slots=True)
class SampleProblems:
    """
    Problems of a sample, all of them up to a limit, and notes on its format.

    Parameters
    ----------
    file
        Name of the sample in messages.
    """

    file: str
    found: list[InputProblem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, place: str, value: Any, rule: str, remedy: str = "") -> None:  # noqa: ANN401 - any value
        """
        Add a problem.

        Raises
        ------
        BadInputError
            If the limit is reached.
        """
        self.found.append(problem(self.file, place, value, rule, remedy))
        if len(self.found) >= MOST_PROBLEMS:
            self.raise_all()

    def raise_all(self) -> None:
        """
        Raise all problems, if there are any.

        Raises
        ------
        BadInputError
            With every problem.
        """
        if self.found:
            msg = f"the sample {self.file} cannot be read"
            raise refuse_all(msg, self.found)


@dataclass(slots=True)
class SizeCheck:
    """
    Check that all records of a sample have sizes, or none.

    Parameters
    ----------
    has_sizes
        Whether the records seen have sizes; `None` before the first.
    """

    has_sizes: bool | None = None

    def add(self, rows: SampleRows, problems: SampleProblems) -> None:
        """
        Check the next rows.

        Raises
        ------
        BadInputError
            If a record has no size though others have, or the other way round.
        """
        wrong = self._first_wrong(rows)
        if wrong is not None:
            remedy = "fill the column, or leave it out and give --record-bytes"
            problems.add(rows.place(wrong), None, SOME_SIZES, remedy)
            problems.raise_all()

    def _first_wrong(self, rows: SampleRows) -> int | None:
        if not len(rows.keys):
            return None
        is_changed = self.has_sizes not in {None, rows.sizes is not None}
        self.has_sizes = rows.sizes is not None
        if rows.sizes is not None and rows.sizes.null_count:
            return int(rows.sizes.is_null().index(True).as_py())
        return 0 if is_changed else None


def no_column(
    file: str, column: str, present: Iterable[str], *, place: str = ""
) -> BadInputError:
    """Return the error for a sample without the column of keys."""
    names = list(present)
    found = problem(
        file,
        place,
        column,
        f"has no column {column}; its columns are: {', '.join(names) or 'none'}",
        _column_remedy(column, names),
    )
    msg = f"the sample {file} has no keys"
    return BadInputError(msg, [found])


def _column_remedy(column: str, names: Sequence[str]) -> str:
    same = [name for name in names if name.casefold() == column.casefold()]
    if same:
        return f"did you mean {same[0]}? Then give --key-column {same[0]}"
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        return "separate the columns by commas"
    return (
        "name the column of the key with --key-column; a CSV file needs the names of "
        "its columns in its first line"
    )


def untyped_numbers(file: str) -> BadInputError:
    """Return the error for numbers of unknown width."""
    found = problem(
        file,
        "",
        None,
        "the keys are numbers, whose bytes depend on the producer's serializer",
        "give --key-type int, long or string",
    )
    msg = f"the type of the keys of {file} is unknown"
    return BadInputError(msg, [found])


def check_topics(
    topics: Iterable[str | None],
    wanted: str | None,
    rows: SampleRows,
    problems: SampleProblems,
) -> None:
    """Add a problem for each row of another topic than the one named."""
    for row, topic in _others(topics, wanted):
        problems.add(
            rows.place(row),
            topic,
            f"the record is of another topic than --topic {wanted}",
            "give a sample of one topic",
        )


def _others(
    topics: Iterable[str | None], wanted: str | None
) -> Iterator[tuple[int, str]]:
    for row, topic in enumerate(topics):
        if topic is not None and wanted is not None and topic != wanted:
            yield row, topic
