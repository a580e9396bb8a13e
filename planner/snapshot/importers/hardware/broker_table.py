"""
Table of brokers as CSV, with facts that no tool of Kafka prints.

::

    id,rack,disk_bytes,in_bytes_per_s,log_dirs
    1,a,,100MB/s,/data/d1=1TB;/data/d2=1TB

Only `id` is required; an empty cell is unknown. The table lists all brokers that exist.
"""

from collections.abc import Callable, Mapping
from typing import Any

from planner.snapshot.formats.number_text import finite_number
from planner.snapshot.importers.hardware.msk_types import MSK_TYPES, msk_type
from planner.snapshot.importers.inputs.csv_text import Row, as_integer, read_csv
from planner.snapshot.importers.inputs.import_source import Record, Source
from planner.snapshot.importers.inputs.input_text import (
    Refusal,
    parse_quantity,
    refuse_duplicates,
)
from planner.snapshot.tables.snapshot_columns import (
    BROKER_STATES,
    MAX_INT32,
    MAX_INT64,
    MAX_RATE,
)

KIND = "a table of brokers"
_COLUMNS = {
    **{name: name for name in ("id", "rack", "host", "state", "broker_set")},
    **{
        name: name
        for name in ("disk_bytes", "in_bytes_per_s", "out_bytes_per_s", "cpu_cores")
    },
    **{name: name for name in ("max_replicas", "instance_type", "log_dirs")},
    "broker": "id",
    "broker_id": "id",
    "disk": "disk_bytes",
    "in": "in_bytes_per_s",
    "out": "out_bytes_per_s",
    "cpu": "cpu_cores",
}


def read_broker_table(data: bytes, *, file: str) -> Source:
    """
    Read a table of brokers.

    Parameters
    ----------
    data
        CSV with a heading, gzipped or not. Sizes and rates take units; `log_dirs` is
        ``path=size;path=size``; `instance_type` of Amazon MSK (``kafka.m5.2xlarge``)
        sets the most replicas with which the broker can still be updated.
    file
        Name of the file in problems.

    Returns
    -------
    Source
        Brokers and log dirs; the brokers are complete.

    Raises
    ------
    BadInputError
        With every cell that is wrong.
    """
    refusal = Refusal(file, KIND, "brokers")
    _, rows = read_csv(data, _COLUMNS, ("id",), refusal)
    brokers, log_dirs = [], []
    for row in rows:
        cells = _Cells(row, refusal)
        record = cells.broker()
        if record is not None:
            brokers.append(record)
            log_dirs += cells.log_dirs(record.key)
    refuse_duplicates(((one.key, one.place) for one in brokers), refusal)
    refusal.raise_problems()
    return Source(
        file=file,
        kind=KIND,
        brokers=tuple(brokers),
        log_dirs=tuple(log_dirs),
        lists_members=True,
        notes=refusal.notes(),
    )


class _Cells:
    """Cells of one line."""

    def __init__(self, row: Row, refusal: Refusal) -> None:
        number, self.cells = row
        self.place = f"line {number}"
        self.refusal = refusal

    def broker(self) -> Record | None:
        rule = f"must be an integer from 0 to {MAX_INT32}"
        broker_id = self._read("id", _as_id, rule)
        values = {
            name: self._read(name, read, rule)
            for name, (read, rule) in _READERS.items()
            if name in self.cells
        }
        instance = values.pop("instance_type", None)
        if instance is not None and values.get("max_replicas") is None:
            values["max_replicas"] = instance
        if broker_id is None:
            if not self.cells["id"]:
                self.refusal.add(self.place, "id must not be empty", "write the id")
            return None
        known = {name: value for name, value in values.items() if value is not None}
        return Record(key=broker_id, values=known, place=self.place)

    def _read(self, name: str, read: Callable[[str], Any], rule: str) -> Any:  # noqa: ANN401 - a cell's value
        text = self.cells[name]
        if not text:
            return None
        value = read(text)
        if value is None:
            place = f"{self.place}, {name}"
            self.refusal.add_cell(place, rule, "correct the cell", text)
        return value

    def log_dirs(self, broker_id: int) -> list[Record]:
        found = []
        for part in filter(None, self.cells.get("log_dirs", "").split(";")):
            path, _, size = part.strip().partition("=")
            size_bytes = _as_bytes(size) if size else None
            if not path.startswith("/") or (size and size_bytes is None):
                rule = "must be path=size;path=size with absolute paths"
                self.refusal.add(f"{self.place}, log_dirs", rule, "correct the cell")
                continue
            values = {} if size_bytes is None else {"size_bytes": size_bytes}
            key = (broker_id, path.rstrip("/") or "/")
            found.append(Record(key=key, values=values, place=self.place))
        return found


def _as_id(text: str) -> int | None:
    number = as_integer(text)
    return number if number is not None and number <= MAX_INT32 else None


def _as_bytes(text: str) -> int | None:
    value = None if text.endswith("/s") else parse_quantity(text)
    return round(value) if value is not None and value <= MAX_INT64 else None


def _as_rate(text: str) -> float | None:
    value = parse_quantity(text)
    return value if value is not None and value <= MAX_RATE else None


def _as_cores(text: str) -> float | None:
    cores = finite_number(text)
    return cores if cores is not None and 0 <= cores <= MAX_RATE else None


def _as_count(text: str) -> int | None:
    return as_integer(text)


def _as_state(text: str) -> str | None:
    return text if text in BROKER_STATES else None


def _as_text(text: str) -> str | None:
    return text if text.isprintable() else None


def _max_replicas(text: str) -> int | None:
    found = msk_type(text)
    return None if found is None else found.replicas


_SIZE = "must be bytes, such as 1000000000000, 500GB or 2TiB"
_RATE = "must be bytes/s, such as 100000000 or 50MB/s"
_READERS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "rack": (_as_text, "must be printable text"),
    "host": (_as_text, "must be printable text"),
    "state": (_as_state, f"must be one of {', '.join(BROKER_STATES)}"),
    "broker_set": (_as_text, "must be printable text"),
    "disk_bytes": (_as_bytes, _SIZE),
    "in_bytes_per_s": (_as_rate, _RATE),
    "out_bytes_per_s": (_as_rate, _RATE),
    "cpu_cores": (_as_cores, "must be a number of cores, such as 8 or 7.5"),
    "max_replicas": (_as_count, "must be a number of replicas"),
    "instance_type": (
        _max_replicas,
        f"must be a type of MSK: {MSK_TYPES}",
    ),
}
