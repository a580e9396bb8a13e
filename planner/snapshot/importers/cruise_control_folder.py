"""A folder of Cruise Control's files and answers, told apart by what they hold."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from planner.errors import BadInputError, InputProblem
from planner.snapshot.importers.capacity import read_broker_sets, read_capacity
from planner.snapshot.importers.cruise_control import (
    read_cluster_state,
    read_load,
    read_partition_load,
)
from planner.snapshot.importers.files import read_bytes
from planner.snapshot.importers.json_input import read_document
from planner.snapshot.importers.source import Source
from planner.snapshot.importers.text import Refusal
from planner.snapshot.problems import printable

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
    ("progress", "Cruise Control was still working", "ask again with its User-Task-ID"),
    ("errorMessage", "Cruise Control answered with an error", "mend it and ask again"),
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
    documents = _Documents(folder)
    readers = documents.readers()
    has_cores = any("NumCore" in documents.texts[file] for file in documents.texts)
    sources = []
    for file, read in readers.items():
        options = {"has_cores": has_cores} if read is read_partition_load else {}
        try:
            sources.append(read(documents.data[file], file=file, **options))
        except BadInputError as error:
            documents.problems += error.problems
    documents.raise_problems()
    return sources


class _Documents:
    """The files of a folder, and what is wrong with them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[InputProblem] = []
        self.data: dict[str, bytes] = {}
        self.texts: dict[str, str] = {}
        try:
            paths = sorted(folder.iterdir())
        except OSError as error:
            reason = error.strerror or str(error)
            self._refuse("", f"the folder must be readable: {reason}", "check the path")
            paths = []
        for path in paths:
            if path.name.endswith(_SUFFIXES) and path.is_file():
                self.data[printable(str(path))] = read_bytes(path)
        if not self.data and not self.problems:
            rule = f"must hold files that end in {' or '.join(_SUFFIXES)}"
            self._refuse("", rule, "save Cruise Control's answers there, json=true")
        self.raise_problems()

    def _refuse(self, name: str, rule: str, remedy: str) -> None:
        self.problems.append(
            InputProblem(
                file=name or printable(str(self.folder)),
                place="",
                value="",
                rule=rule,
                remedy=remedy,
            )
        )

    def raise_problems(self) -> None:
        if self.problems:
            msg = f"{printable(str(self.folder))} is not {KIND}"
            raise BadInputError(msg, self.problems)

    def readers(self) -> dict[str, Callable[..., Source]]:
        """Return how to read each file that can be read."""
        found: dict[str, Callable[..., Source]] = {}
        for file, data in self.data.items():
            try:
                refusal = Refusal(file, "an answer of Cruise Control, or a file of its")
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
        rule = "is none of Cruise Control's files that are read"
        self._refuse(file, rule, "move it out of the folder")
        return None

    def _with_one_capacity(
        self, readers: dict[str, Callable[..., Source]]
    ) -> dict[str, Callable[..., Source]]:
        files = [file for file, read in readers.items() if read is read_capacity]
        if len(files) < 2:
            return readers
        named = set(self._named_capacity())
        chosen = [file for file in files if Path(file).name in named]
        if len(chosen) != 1:
            rule = "there must be one capacity file, or its properties must name one"
            self._refuse("", rule, "leave the one that Cruise Control reads")
        return {f: read for f, read in readers.items() if f not in files or f in chosen}

    def _named_capacity(self) -> Iterator[str]:
        path = self.folder / _PROPERTIES
        if path.is_file():
            for found in _CAPACITY_FILE.findall(read_bytes(path)):
                yield Path(found.decode("utf-8", "replace")).name
