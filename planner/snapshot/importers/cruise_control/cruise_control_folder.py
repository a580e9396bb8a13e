"""A folder of Cruise Control's files and answers, recognised by their contents."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from planner.errors import BadInputError, InputProblem, raise_problems
from planner.snapshot.importers.cruise_control.capacity_files import (
    read_broker_sets,
    read_capacity,
)
from planner.snapshot.importers.cruise_control.partition_load import read_partition_load
from planner.snapshot.importers.cruise_control.rest_answers import (
    read_cluster_state,
    read_load,
)
from planner.snapshot.importers.inputs.foreign_files import read_bytes
from planner.snapshot.importers.inputs.import_source import Source
from planner.snapshot.importers.inputs.input_text import Refusal
from planner.snapshot.importers.inputs.json_input import read_document
from planner.text.printable import printable

KIND = "a folder of Cruise Control's files"
_PROPERTIES = "cruisecontrol.properties"
_CAPACITY_FILE = re.compile(
    rb"^[ \t]*capacity\.config\.file[ \t]*[=:][ \t]*(\S+)[ \t\r]*$", re.MULTILINE
)
_SUFFIXES = (".json", ".json.gz")
_READERS: tuple[tuple[str, Callable[..., Source]], ...] = (
    ("KafkaPartitionState", read_cluster_state),
    ("records", read_partition_load),
    ("brokerCapacities", read_capacity),
    ("brokerSets", read_broker_sets),
    ("brokers", read_load),
)
_REFUSED = (
    (
        "progress",
        "Cruise Control was still working",
        "query again with its User-Task-ID",
    ),
    (
        "errorMessage",
        "Cruise Control answered with an error",
        "resolve it and query again",
    ),
)


def read_cruise_control(folder: Path) -> list[Source]:
    """
    Read every JSON file of a folder that Cruise Control wrote or reads.

    Parameters
    ----------
    folder
        With any of: answers of ``kafka_cluster_state``, ``load`` and
        ``partition_load``, a capacity file, ``brokerSets.json``. Of several capacity
        files, the one that ``cruisecontrol.properties`` names is read.

    Raises
    ------
    BadInputError
        With everything that is wrong with any of them.
    """
    name = printable(str(folder))
    documents = _Documents(name, _contents(folder, name), _named_capacities(folder))
    return documents.sources()


def read_answers(name: str, contents: Mapping[str, bytes]) -> list[Source]:
    """
    Read answers of Cruise Control that are in memory.

    Parameters
    ----------
    name
        File name in problems that concern all files.
    contents
        By name: answers and capacity files, as in a folder.

    Raises
    ------
    BadInputError
        With everything that is wrong with any of them.
    """
    return _Documents(name, contents, frozenset()).sources()


def _contents(folder: Path, name: str) -> dict[str, bytes]:
    """Return the JSON files of a folder by their paths."""
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        rule = f"the folder must be readable: {error.strerror or error}"
        raise _refusal(name, rule, "check the path") from error
    found = {
        printable(str(path)): read_bytes(path)
        for path in paths
        if path.name.endswith(_SUFFIXES) and path.is_file()
    }
    if not found:
        rule = f"must contain files that end in {' or '.join(_SUFFIXES)}"
        raise _refusal(name, rule, "save Cruise Control's answers with json=true in it")
    return found


def _refusal(name: str, rule: str, remedy: str) -> BadInputError:
    problem = InputProblem(file=name, place="", value="", rule=rule, remedy=remedy)
    msg = f"{name} is not {KIND}"
    return BadInputError(msg, [problem])


def _named_capacities(folder: Path) -> frozenset[str]:
    """Return the names of the capacity files that Cruise Control reads."""
    path = folder / _PROPERTIES
    if not path.is_file():
        return frozenset()
    found = _CAPACITY_FILE.findall(read_bytes(path))
    return frozenset(Path(name.decode("utf-8", "replace")).name for name in found)


class _Documents:
    """JSON files of a folder, and their problems."""

    def __init__(
        self, name: str, data: Mapping[str, bytes], capacities: frozenset[str]
    ) -> None:
        self.name = name
        self.data = data
        self.capacities = capacities
        self.problems: list[InputProblem] = []
        self.texts: dict[str, str] = {}

    def sources(self) -> list[Source]:
        """Return the source of each file."""
        readers = self.readers()
        has_cores = any("NumCore" in text for text in self.texts.values())
        sources = []
        for file, read in readers.items():
            options = {"has_cores": has_cores} if read is read_partition_load else {}
            try:
                sources.append(read(self.data[file], file=file, **options))
            except BadInputError as error:
                self.problems += error.problems
        raise_problems(f"{self.name} is not {KIND}", self.problems)
        return sources

    def _refuse(self, file: str, rule: str, remedy: str) -> None:
        self.problems += _refusal(file or self.name, rule, remedy).problems

    def readers(self) -> dict[str, Callable[..., Source]]:
        """Return the reader of each file that can be read."""
        found: dict[str, Callable[..., Source]] = {}
        for file, data in self.data.items():
            try:
                refusal = Refusal(file, "an answer or a file of Cruise Control")
                document = read_document(data, refusal)
                self.texts[file] = refusal.original
            except BadInputError as error:
                self.problems += error.problems
                continue
            read = self._reader(file, document)
            if read is not None:
                found[file] = read
        return self._with_one_capacity(found)

    def _reader(self, file: str, document: object) -> Callable[..., Source] | None:
        keys: Mapping[str, Any] = document if isinstance(document, dict) else {}
        for key, rule, remedy in _REFUSED:
            if key in keys:
                self._refuse(file, rule, remedy)
                return None
        for key, read in _READERS:
            if key in keys:
                return read
        if "min.insync.replicas" in keys:
            return None
        rule = "must be a file or an answer of Cruise Control that can be read"
        self._refuse(file, rule, "move it out of the folder")
        return None

    def _with_one_capacity(
        self, readers: dict[str, Callable[..., Source]]
    ) -> dict[str, Callable[..., Source]]:
        files = [file for file, read in readers.items() if read is read_capacity]
        if len(files) < 2:
            return readers
        chosen = [file for file in files if Path(file).name in self.capacities]
        if len(chosen) != 1:
            rule = f"must have one capacity file, or {_PROPERTIES} must name one"
            self._refuse(
                "", rule, "leave only the capacity file that Cruise Control reads"
            )
        return {f: read for f, read in readers.items() if f not in files or f in chosen}
