"""
Cruise Control's files on brokers: capacities, broker sets, cluster configs.

``capacity.json``, ``capacityCores.json`` and ``capacityJBOD.json`` have one form:
numbers are strings, DISK is in MB of 2^20 bytes (for each log dir, with JBOD), NW_IN
and NW_OUT in KB/s of 1,024 bytes, CPU in percent of the machine or as a number of
cores; broker -1 stands for every broker that is not listed.
"""

import re
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, with_config

# Before Python 3.12 Pydantic cannot use the `TypedDict` of `typing`.
from typing_extensions import TypedDict

from planner.snapshot.formats.number_text import finite_number
from planner.snapshot.importers.inputs.import_source import Record, Source
from planner.snapshot.importers.inputs.input_text import Refusal, refuse_duplicates
from planner.snapshot.importers.inputs.json_input import read_document, validate
from planner.snapshot.tables.snapshot_columns import MAX_INT64
from planner.snapshot.tables.snapshot_records import Id

MB = 1 << 20
KB = 1 << 10
CAPACITY_KIND = "Cruise Control's capacity file"
SETS_KIND = "Cruise Control's broker sets"
_BROKER_ID = re.compile(r"-1|[0-9]{1,10}", re.ASCII)
_FOREIGN = with_config(ConfigDict(strict=True))
_Number = str | int | float
_Cores = TypedDict("_Cores", {"num.cores": _Number})
_KNOWN = frozenset(("doc", "version"))
_RESOURCES = ("DISK", "NW_IN", "NW_OUT")


@_FOREIGN
class _Capacity(TypedDict, total=False):
    DISK: _Number | dict[str, _Number]
    CPU: _Number | _Cores
    NW_IN: _Number
    NW_OUT: _Number


@_FOREIGN
class _BrokerCapacity(TypedDict):
    brokerId: str | int
    capacity: _Capacity


@_FOREIGN
class _Capacities(TypedDict):
    brokerCapacities: Annotated[list[_BrokerCapacity], Field(min_length=1)]


@_FOREIGN
class _BrokerSet(TypedDict):
    brokerSetId: Annotated[str, Field(min_length=1)]
    brokerIds: list[Id]


@_FOREIGN
class _BrokerSets(TypedDict):
    brokerSets: Annotated[list[_BrokerSet], Field(min_length=1)]


_CAPACITIES: TypeAdapter[Any] = TypeAdapter(_Capacities)
_BROKER_SETS: TypeAdapter[Any] = TypeAdapter(_BrokerSets)


def read_capacity(data: bytes, *, file: str) -> Source:
    """
    Read a capacity file of Cruise Control.

    Parameters
    ----------
    data
        The whole file, gzipped or not; plain, with cores or with JBOD.
    file
        Name of the file in problems.

    Returns
    -------
    Source
        Capacities of brokers, log dirs with sizes for JBOD, and defaults for brokers
        that are not listed.

    Raises
    ------
    BadInputError
        With every value that is wrong.
    """
    refusal = Refusal(file, CAPACITY_KIND, "capacity")
    document = read_document(data, refusal)
    entries = validate(_CAPACITIES, document, refusal, known=_KNOWN)["brokerCapacities"]
    read = [_Entry(at, entry, refusal) for at, entry in enumerate(entries)]
    refuse_duplicates(((one.broker, one.place) for one in read), refusal)
    _refuse_mixed_cpu_units(entries, refusal)
    refusal.raise_problems()
    listed = [one for one in read if one.broker >= 0]
    default = next((one for one in read if one.broker < 0), None)
    return Source(
        file=file,
        kind=CAPACITY_KIND,
        brokers=tuple(one.record() for one in listed),
        log_dirs=tuple(d for one in listed for d in one.log_dirs()),
        default_broker=None if default is None else default.record(),
        default_log_dirs=() if default is None else tuple(default.log_dirs()),
        is_configuration=True,
        notes=refusal.notes(),
    )


def _refuse_mixed_cpu_units(entries: list[dict[str, Any]], refusal: Refusal) -> None:
    """Reject CPUs in cores for some brokers and in percent for others."""
    styles = [
        (at, isinstance(entry["capacity"]["CPU"], dict))
        for at, entry in enumerate(entries)
        if "CPU" in entry["capacity"]
    ]
    for at, has_cores in styles:
        if has_cores != styles[0][1]:
            rule = "all brokers must give CPU in the same form: num.cores, or percent"
            refusal.add(f"brokerCapacities[{at}].CPU", rule, "use one form for all")


class _Entry:
    """One entry of a capacity file."""

    def __init__(self, at: int, entry: dict[str, Any], refusal: Refusal) -> None:
        self.place = f"brokerCapacities[{at}]"
        self.refusal = refusal
        self.broker = self._broker(entry["brokerId"])
        self.values: dict[str, Any] = {}
        self.dirs: dict[str, int] = {}
        capacity = entry["capacity"]
        for name in _RESOURCES:
            if name not in capacity:
                self._refuse(name, "the resource is missing", "add it")
        self._read_disk(capacity.get("DISK"))
        for name, field in (("NW_IN", "in"), ("NW_OUT", "out")):
            rate = self._number(name, capacity.get(name))
            if rate is not None:
                self.values[f"{field}_bytes_per_s"] = rate * KB
        cores = capacity.get("CPU")
        if isinstance(cores, dict):
            self.values["cpu_cores"] = self._number("CPU", cores["num.cores"])

    def _refuse(self, name: str, rule: str, remedy: str, value: object = "") -> None:
        place = f"{self.place}.{name}"
        if value == "":
            self.refusal.add(place, rule, remedy)
        else:
            self.refusal.add_cell(place, rule, remedy, value)

    def _broker(self, text: str | int) -> int:
        if isinstance(text, str) and not _BROKER_ID.fullmatch(text):
            self._refuse(
                "brokerId", "must be a broker id, or -1", "correct the id", text
            )
            return 0
        broker = int(text)
        if not -1 <= broker < 1 << 31:
            rule = "must be a broker id of 32 bits, or -1"
            self._refuse("brokerId", rule, "correct the id", text)
            return 0
        return broker

    def _number(self, name: str, value: _Number | None) -> float | None:
        if value is None:
            return None
        text = value.strip() if isinstance(value, str) else repr(value)
        number = finite_number(text)
        if number is None or number < 0:
            rule = "must be a finite number that is not negative"
            self._refuse(name, rule, "write it as a string of digits", value)
            return None
        return number

    def _read_disk(self, disk: _Number | dict[str, _Number] | None) -> None:
        if not isinstance(disk, dict):
            size = self._bytes(disk)
            if size is not None:
                self.values["disk_bytes"] = size
            return
        if not disk:
            self._refuse("DISK", "must list a log dir", "add one, or write one size")
        for path, value in disk.items():
            size = self._bytes(value)
            if not path.startswith("/"):
                rule = "log dirs must be absolute paths"
                self._refuse("DISK", rule, "begin each path with /")
            elif size is not None:
                self.dirs[path.rstrip("/") or "/"] = size

    def _bytes(self, value: _Number | None) -> int | None:
        size = self._number("DISK", value)
        if size is not None and size * MB > MAX_INT64:
            rule = "must be in MB, and fit 64 bits in bytes"
            self._refuse("DISK", rule, "correct the size", value)
            return None
        return None if size is None else round(size * MB)

    def record(self) -> Record:
        return Record(key=self.broker, values=self.values, place=self.place)

    def log_dirs(self) -> list[Record]:
        return [
            Record(
                key=(self.broker, path), values={"size_bytes": size}, place=self.place
            )
            for path, size in self.dirs.items()
        ]


def read_broker_sets(data: bytes, *, file: str) -> Source:
    """
    Read the broker sets of Cruise Control.

    Parameters
    ----------
    data
        The whole of ``brokerSets.json``, gzipped or not.
    file
        Name of the file in problems.

    Raises
    ------
    BadInputError
        If it is not one, or a broker is in two sets.
    """
    refusal = Refusal(file, SETS_KIND, "broker_sets")
    document = read_document(data, refusal)
    sets = validate(_BROKER_SETS, document, refusal, known=_KNOWN)["brokerSets"]
    records = tuple(
        Record(
            key=broker,
            values={"broker_set": one["brokerSetId"]},
            place=f"brokerSets[{at}].brokerIds[{slot}]",
        )
        for at, one in enumerate(sets)
        for slot, broker in enumerate(one["brokerIds"])
    )
    refuse_duplicates(((one.key, one.place) for one in records), refusal)
    refusal.raise_problems()
    return Source(
        file=file,
        kind=SETS_KIND,
        brokers=records,
        is_configuration=True,
        notes=refusal.notes(),
    )
