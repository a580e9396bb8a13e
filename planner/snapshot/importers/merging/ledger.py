"""Values of several files on the same entities, their origins, and contradictions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

from planner.errors import InputProblem
from planner.snapshot.importers.inputs.import_source import (
    PartitionColumns,
    Record,
    Source,
)
from planner.snapshot.importers.inputs.input_text import harmless

_REMEDY = "take both files at the same time, correct one, or leave one out"
_SAME_CAPACITY = 1e-3
"""Tolerance: tools round capacities to 0.001 MB, and disks to a file system."""

_SETS = frozenset(
    (
        "isr",
        "elr",
        "last_known_elr",
        "adding_replicas",
        "removing_replicas",
        "offline_replicas",
    )
)
_ABSENT = -1


@dataclass(frozen=True, slots=True)
class Origin:
    """File and place of a value."""

    file: str
    place: str

    def __str__(self) -> str:
        return f"{self.file}: {self.place}" if self.place else self.file


def contradiction(
    first: Origin, second: Origin, what: str, known: object, value: object
) -> InputProblem:
    """Return the problem that two files disagree, with both places."""
    shown = harmless(known)
    which = f", which has {shown}" if shown else ""
    return InputProblem(
        file=second.file,
        place=f"{second.place}, {what}" if second.place else what,
        value=harmless(value),
        rule=f"must agree with {first}{which}",
        remedy=_REMEDY,
    )


class RecordLedger:
    """
    Records of brokers, of log dirs, of topics, or of the whole cluster.

    The first value of a field is kept with its place; a different later value is a
    contradiction.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.values: dict[Any, dict[str, Any]] = {}
        self.problems: list[InputProblem] = []
        self._origins: dict[Any, dict[str, Origin]] = {}

    def add(self, source: Source, record: Record) -> None:
        """Add the values of a record."""
        origin = Origin(source.file, record.place)
        values = self.values.setdefault(record.key, {})
        origins = self._origins.setdefault(record.key, {"": origin})
        for name, value in record.values.items():
            if value is None:
                continue
            known = values.get(name)
            merged = value if known is None else _merged(name, known, value)
            if merged is None:
                what = f"{name} of {self._name(record.key)}"
                first = origins[name]
                self.problems.append(contradiction(first, origin, what, known, value))
                continue
            values[name] = merged
            origins.setdefault(name, origin)

    def origin(self, key: object, name: str = "") -> Origin:
        """Return the origin of a value, or else of the first record of its key."""
        origins = self._origins[key]
        return origins.get(name, origins[""])

    def _name(self, key: object) -> str:
        if isinstance(key, tuple):
            return f"{self.what} {key[1]} of broker {key[0]}"
        return f"{self.what} {key}".rstrip()


def _merged(name: str, known: Any, value: Any) -> Any:  # noqa: ANN401 - any field
    """Return two values merged; `None` if they contradict."""
    if known == value:
        return known
    if name == "state":
        # A more specific state of a live broker takes precedence over alive.
        if known == "alive" or value == "alive":
            other = value if known == "alive" else known
            return other if other in {"new", "demoted", "shutting-down"} else None
        return None
    if isinstance(known, Mapping):
        differs = any(known[key] != value[key] for key in known.keys() & value.keys())
        return None if differs else {**known, **value}
    if name == "fetch_age_ms":
        # The files are of different times; the longer age is the safer one.
        return max(known, value)
    is_near = isinstance(known, int | float) and isclose(
        known, value, rel_tol=_SAME_CAPACITY
    )
    return known if is_near else None


class PartitionLedger:
    """
    Partitions with their values from files, as columns of one length.

    Parameters
    ----------
    sources
        Sources with values of partitions, in the order in which they are added.
    unknown_topics, excess_partitions
        By file: topics that no file lists, and ``topic-partition`` of partitions past
        the last one of a listed topic.
    """

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self.topics: list[str] = []
        self.partitions: list[int] = []
        self.columns: dict[str, list[Any]] = {}
        self.row_of: dict[tuple[str, int], int] = {}
        self.problems: list[InputProblem] = []
        self.unknown_topics: dict[str, list[str]] = {}
        self.excess_partitions: dict[str, list[str]] = {}
        self._source_idx: dict[str, list[int]] = {}
        self._first: list[int] = []

    def __len__(self) -> int:
        return len(self.topics)

    def add_placement(self, source: Source, columns: PartitionColumns) -> None:
        """Add the partitions that a source lists, with their values."""
        at = self._add_source(source)
        rows = [
            self.row_of.setdefault(key, len(self.row_of))
            for key in zip(columns.topics, columns.partitions, strict=True)
        ]
        if len(set(rows)) < len(rows):
            self._refuse_duplicates(source, columns, rows)
        for row, topic, partition in zip(
            rows, columns.topics, columns.partitions, strict=True
        ):
            if row == len(self.topics):
                self.topics.append(topic)
                self.partitions.append(partition)
                self._first.append(at)
        self._add_columns(at, columns, rows)

    def add_measures(self, source: Source, columns: PartitionColumns) -> None:
        """Add a source's values of partitions that other sources list."""
        at = self._add_source(source)
        rows = [
            self.row_of.get(key, _ABSENT)
            for key in zip(columns.topics, columns.partitions, strict=True)
        ]
        known = [row for row in rows if row != _ABSENT]
        if len(set(known)) < len(known):
            self._refuse_duplicates(source, columns, rows)
        self._keep_unknown(source.file, columns, rows)
        self._add_columns(at, columns, rows)

    def _keep_unknown(
        self, file: str, columns: PartitionColumns, rows: Sequence[int]
    ) -> None:
        """Record the names of topics, and of further partitions, that no file lists."""
        keys = zip(rows, columns.topics, columns.partitions, strict=True)
        lacking = [(topic, number) for row, topic, number in keys if row == _ABSENT]
        if not lacking:
            return
        known = set(self.topics)
        if unknown := {topic for topic, _ in lacking if topic not in known}:
            self.unknown_topics[file] = sorted(unknown)
        if excess := sorted(key for key in lacking if key[0] in known):
            self.excess_partitions[file] = [
                f"{topic}-{number}" for topic, number in excess
            ]

    def _add_source(self, source: Source) -> int:
        self.sources.append(source)
        return len(self.sources) - 1

    def _refuse_duplicates(
        self, source: Source, columns: PartitionColumns, rows: Sequence[int]
    ) -> None:
        seen: dict[int, int] = {}
        for at, row in enumerate(rows):
            first = seen.setdefault(row, at)
            if first == at or row == _ABSENT:
                continue
            name = f"{columns.topics[at]}-{columns.partitions[at]}"
            place = columns.place_of(first)
            self.problems.append(
                InputProblem(
                    file=source.file,
                    place=columns.place_of(at),
                    value="",
                    rule=f"a partition must occur once; {name} is also at {place}",
                    remedy="remove one of the two",
                )
            )

    def _add_columns(
        self, at: int, columns: PartitionColumns, rows: Sequence[int]
    ) -> None:
        is_all = len(rows) == len(self) and rows == list(range(len(rows)))
        for name, values in columns.values.items():
            if is_all and name not in self.columns:
                self.columns[name] = list(values)
                self._source_idx[name] = [at] * len(rows)
            else:
                self._add_column(at, name, columns, rows)

    def _add_column(
        self, at: int, name: str, columns: PartitionColumns, rows: Sequence[int]
    ) -> None:
        column = self._grown(self.columns, name, None)
        source_idx = self._grown(self._source_idx, name, _ABSENT)
        for place, (row, value) in enumerate(
            zip(rows, columns.values[name], strict=True)
        ):
            if row == _ABSENT or value is None:
                continue
            known = column[row]
            if known is None:
                column[row], source_idx[row] = value, at
            elif known != value:
                self._merge(at, name, row, place)

    def _grown(self, columns: dict[str, list[Any]], name: str, fill: Any) -> list[Any]:  # noqa: ANN401 - any cell
        column = columns.setdefault(name, [])
        column += [fill] * (len(self) - len(column))
        return column

    def _merge(self, at: int, name: str, row: int, place: int) -> None:
        columns = self.sources[at].partitions
        if columns is None:  # pragma: no cover - it was added for them
            return
        value, known = columns.values[name][place], self.columns[name][row]
        if name in _SETS and set(known) == set(value):
            return
        if name == "log_dirs" and len(known) == len(value):
            pairs = list(zip(known, value, strict=True))
            if all(a is None or b is None or a == b for a, b in pairs):
                self.columns[name][row] = [b if a is None else a for a, b in pairs]
                return
        first = self.origin(row, name)
        second = Origin(self.sources[at].file, columns.place_of(place))
        what = f"{name} of {self.name_of(row)}"
        self.problems.append(contradiction(first, second, what, known, value))

    def name_of(self, row: int) -> str:
        """Return ``topic-partition``."""
        return f"{self.topics[row]}-{self.partitions[row]}"

    def column(self, name: str) -> list[Any]:
        """Return a column, with `None` for values that no file has."""
        return self._grown(self.columns, name, None)

    def origin(self, row: int, name: str = "replicas") -> Origin:
        """Return the origin of a partition's value, or else of its listing."""
        source_idx = self._source_idx.get(name, [])
        at = source_idx[row] if row < len(source_idx) else _ABSENT
        source = self.sources[at if at != _ABSENT else self._first[row]]
        columns = source.partitions
        key = (self.topics[row], self.partitions[row])
        if columns is None:  # pragma: no cover - only sources with columns are added
            return Origin(source.file, "")
        rows = enumerate(zip(columns.topics, columns.partitions, strict=True))
        found = next((at for at, other in rows if other == key), None)
        return Origin(source.file, "" if found is None else columns.place_of(found))

    def missing_partitions(self) -> Iterator[InputProblem]:
        """Yield partitions missing from sources that must list complete topics."""
        total = Counter(self.topics)
        for source in self.sources:
            columns = source.partitions
            if columns is None or not source.lists_complete_topics:
                continue
            here = Counter(columns.topics)
            lacking = {topic for topic, num in here.items() if num != total[topic]}
            if lacking:
                yield from self._missing(source, columns, lacking)

    def _missing(
        self, source: Source, columns: PartitionColumns, lacking: set[str]
    ) -> Iterator[InputProblem]:
        keys = set(zip(columns.topics, columns.partitions, strict=True))
        for row, topic in enumerate(self.topics):
            if topic in lacking and (topic, self.partitions[row]) not in keys:
                yield InputProblem(
                    file=source.file,
                    place=f"topic {topic}",
                    value="",
                    rule=f"must list {self.name_of(row)}, as {self.origin(row)} does",
                    remedy=_REMEDY,
                )
