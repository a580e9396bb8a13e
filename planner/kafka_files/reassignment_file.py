"""
Reassignment and election files, as Kafka's own tools read and print them.

::

    {"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[1,2],
     "log_dirs":["any","/data/d1"]}]}

A file that Kafka's tool cannot parse is bad input, reported with every problem. Entries
that the tool parses and then rejects (a partition or a broker named twice, an empty
list) are read, and are findings of `placement.check`. Keys that Kafka ignores are
ignored.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from planner.errors import InputProblem, raise_problems
from planner.io.json_reader import JsonTextError, is_unicode, parse_json
from planner.io.problems import refusal
from planner.process import no_garbage_collection

ANY = "any"
MAX_INT32 = 2**31 - 1
REASSIGNMENT_NAME = "reassignment.json"
_TOOL_HEADINGS = (
    "Current partition replica assignment",
    "Proposed partition reassignment configuration",
)
LogDirs = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class ReassignmentFile:
    """
    Lists of one reassignment file, in its order; one entry per partition.

    Parameters
    ----------
    topics
        Topic of each entry.
    partitions
        Kafka's partition number of each entry.
    replicas
        Broker ids of each entry, preferred leader first.
    log_dirs
        Absolute path per replica, `None` for any; `None` instead of a whole list if the
        file gives none.
    """

    topics: tuple[str, ...]
    partitions: tuple[int, ...]
    replicas: tuple[tuple[int, ...], ...]
    log_dirs: tuple[LogDirs | None, ...]

    def __len__(self) -> int:
        return len(self.topics)

    def joined(self, other: "ReassignmentFile") -> "ReassignmentFile":
        """Return the entries of this file, then those of another."""
        return ReassignmentFile(
            self.topics + other.topics,
            self.partitions + other.partitions,
            self.replicas + other.replicas,
            self.log_dirs + other.log_dirs,
        )


def read_plan_file(path: Path) -> ReassignmentFile:
    """
    Read a PLAN: a plan folder (its reassignment.json), or a reassignment file.

    Raises
    ------
    BadInputError
        If there is no such file, or Kafka's tool could not parse it.
    """
    return read_reassignment_file(path / REASSIGNMENT_NAME if path.is_dir() else path)


def read_reassignment_file(path: Path) -> ReassignmentFile:
    """
    Read one reassignment JSON file: Kafka's, ours, or one written by hand.

    Raises
    ------
    BadInputError
        If the file cannot be read or Kafka's tool could not parse it: not JSON, a
        version other than 1, a wrong type, an integer beyond 32 bits, log dirs that
        are not one per replica, or a relative path. Every problem is named.
    """
    with no_garbage_collection():
        return _read(path)


def _read(path: Path) -> ReassignmentFile:
    return parse_reassignment(read_json(path), file=str(path))


def parse_reassignment(document: object, *, file: str) -> ReassignmentFile:
    """
    Read the document of a reassignment file.

    Raises
    ------
    BadInputError
        If Kafka's tool could not read it; every problem is named.
    """
    reader = _Reader(file)
    entries = reader.entries_of(document)
    found = [
        (entry["topic"], entry["partition"], tuple(entry["replicas"]), _log_dirs(entry))
        for place, entry in enumerate(entries)
        if reader.accepts(place, entry)
    ]
    reader.raise_problems()
    topics, partitions, replicas, log_dirs = (
        zip(*found, strict=True) if found else _NONE
    )
    # A name that occurs in a thousand entries is stored once.
    return ReassignmentFile(
        tuple(map(sys.intern, topics)), partitions, replicas, log_dirs
    )


_NONE: tuple[tuple[Any, ...], ...] = ((), (), (), ())


def _log_dirs(entry: dict[str, Any]) -> LogDirs | None:
    paths = entry.get("log_dirs")
    if paths is None:
        return None
    return tuple([None if path == ANY else path for path in paths])


def format_reassignment(file: ReassignmentFile) -> str:
    """
    Return the entries as Kafka's tool prints them: one line, without a line break.

    Sorted by topic and partition; an entry without log dirs has "any" throughout.
    """
    return join_entries(",".join(entry_texts(file)))


def join_entries(texts: str) -> str:
    """Return the file of formatted entries, given with commas between them."""
    return f'{{"version":1,"partitions":[{texts}]}}'


def entry_texts(file: ReassignmentFile) -> list[str]:
    """Return the text of each entry, sorted by topic and partition."""
    order = sorted(range(len(file)), key=lambda e: (file.topics[e], file.partitions[e]))
    # Formatted by hand, and each name only once, for a hundred thousand entries.
    name_of = {name: _one_line(name) for name in set(file.topics)}
    dirs_of = {dirs: _dirs_text(dirs) for dirs in set(file.log_dirs) if dirs}
    any_of = {n: _dirs_text((None,) * n) for n in {*map(len, file.replicas)}}
    return [
        f'{{"topic":{name_of[file.topics[e]]},"partition":{file.partitions[e]},'
        f'"replicas":[{",".join(map(str, file.replicas[e]))}],'
        f'"log_dirs":{_listed(file, e, dirs_of, any_of)}}}'
        for e in order
    ]


def _listed(
    file: ReassignmentFile,
    entry: int,
    dirs_of: Mapping[LogDirs, str],
    any_of: Mapping[int, str],
) -> str:
    dirs = file.log_dirs[entry]
    if dirs is None:
        return any_of[len(file.replicas[entry])]
    return dirs_of.get(dirs, "[]")


def _dirs_text(dirs: LogDirs) -> str:
    return _one_line([path or ANY for path in dirs])


def format_election(pairs: Iterable[tuple[str, int]]) -> str:
    """Return (topic, partition) pairs as `kafka-leader-election` takes them, sorted."""
    listed = [{"topic": topic, "partition": number} for topic, number in sorted(pairs)]
    return _one_line({"partitions": listed})


def _one_line(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def read_json(path: Path, *, remedy: str | None = None) -> object:
    """
    Read a file of UTF-8 JSON.

    Parameters
    ----------
    path
        The file.
    remedy
        Remedy for a file that is not JSON; `None`: that of a reassignment.

    Raises
    ------
    BadInputError
        If the file cannot be read, is not UTF-8 or not JSON, or is nested too deep.
    """
    text = _read_text(path)
    try:
        return parse_json(text)
    except JsonTextError as error:
        is_syntax = bool(error.place)
        other = (remedy or _remedy_for(text)) if is_syntax else "correct the file"
        _refuse(path, error.place, error.rule, other)


def _read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        _refuse(path, "", f"must be readable: {reason}", "check the path")
    if data.startswith(b"\xef\xbb\xbf"):
        rule = "must be UTF-8 without a byte order mark"
        _refuse(path, "byte 0", rule, "save it without one")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        _refuse(path, f"byte {error.start}", "must be UTF-8", "save it as UTF-8")


def _remedy_for(text: str) -> str:
    if any(heading in text for heading in _TOOL_HEADINGS):
        return (
            "this is an output of kafka-reassign-partitions; keep only the one line of "
            "JSON that you want to use"
        )
    return "give reassignment JSON, as kafka-reassign-partitions takes it"


def _refuse(path: Path, place: str, rule: str, remedy: str) -> NoReturn:
    msg = f"{path} cannot be read"
    raise refusal(msg, str(path), rule, remedy, place=place)


class _Reader:
    """Validator of the entries of one file, which keeps their problems."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[InputProblem] = []

    def entries_of(self, document: object) -> list[Any]:
        if not isinstance(document, dict):
            self._add("", document, "must be an object", "write {…} around it")
            return []
        # A bool is an int to Python, not to Kafka.
        version = document.get("version", 1)
        if type(version) is not int or version != 1:
            self._add("version", version, "must be 1", "write 1, or leave it out")
        entries = document.get("partitions")
        if not isinstance(entries, list):
            remedy = "give reassignment JSON, as kafka-reassign-partitions takes it"
            self._add("partitions", entries, "must be a list", remedy)
            return []
        return entries

    def accepts(self, place: int, entry: Any) -> bool:  # noqa: ANN401 - JSON
        if _is_plain(entry):
            return True
        before = len(self.problems)
        for inner, value, rule, remedy in _entry_problems(entry):
            self._add(f"partitions[{place}]{inner}", value, rule, remedy)
        return len(self.problems) == before

    def raise_problems(self) -> None:
        raise_problems(
            f"{self.file} is not a reassignment that Kafka's tool takes", self.problems
        )

    def _add(self, place: str, value: object, rule: str, remedy: str) -> None:
        self.problems.append(
            InputProblem(
                file=self.file,
                place=place,
                value=_shown(value),
                rule=rule,
                remedy=remedy,
            )
        )


_INT_ONLY = {int}
Problem = tuple[str, object, str, str]


def _is_plain(entry: Any) -> bool:  # noqa: ANN401 - JSON
    """Return whether an entry is surely valid; other entries are checked slowly."""
    try:
        replicas = entry["replicas"]
        return (
            type(replicas) is list
            and set(map(type, replicas)) == _INT_ONLY
            and min(replicas) >= 0
            and max(replicas) <= MAX_INT32
            and type(entry["partition"]) is int
            and 0 <= entry["partition"] <= MAX_INT32
            and entry["topic"].isascii()
            and _are_plain_dirs(entry.get("log_dirs"), len(replicas), entry)
        )
    except (KeyError, TypeError, AttributeError):
        return False


def _are_plain_dirs(paths: Any, length: int, entry: dict[str, Any]) -> bool:  # noqa: ANN401
    if paths is None:
        return "log_dirs" not in entry
    return (
        type(paths) is list
        and len(paths) == length
        and all(
            path == ANY or (path.startswith("/") and path.isascii()) for path in paths
        )
    )


def _entry_problems(entry: object) -> Iterator[Problem]:
    if not isinstance(entry, dict):
        yield "", entry, "must be an object", "write topic, partition and replicas"
        return
    yield from _topic_problems(entry.get("topic"))
    yield from _int_problems(".partition", entry.get("partition"))
    yield from _replica_problems(entry.get("replicas"))
    if "log_dirs" in entry:
        yield from _log_dir_problems(entry["log_dirs"], entry.get("replicas"))


def _topic_problems(topic: object) -> Iterator[Problem]:
    if not isinstance(topic, str):
        yield ".topic", topic, "must be a string", "write the topic's name"
    elif not is_unicode(topic):
        yield ".topic", topic, "must be valid Unicode", "correct the \\u escape"


def _int_problems(place: str, value: object) -> Iterator[Problem]:
    if type(value) is not int:
        yield place, value, "must be an integer", "write a number without quotes"
    elif not -MAX_INT32 - 1 <= value <= MAX_INT32:
        yield place, value, "must fit in 32 bits", "Kafka's ids are 32-bit integers"


def _replica_problems(replicas: object) -> Iterator[Problem]:
    if not isinstance(replicas, list):
        yield ".replicas", replicas, "must be a list", "write broker ids, as [1,2,3]"
        return
    for slot, broker in enumerate(replicas):
        yield from _int_problems(f".replicas[{slot}]", broker)


def _log_dir_problems(paths: object, replicas: object) -> Iterator[Problem]:
    if not isinstance(paths, list):
        remedy = "write one entry per replica, or leave log_dirs out"
        yield ".log_dirs", paths, "must be a list", remedy
        return
    if isinstance(replicas, list) and len(paths) != len(replicas):
        rule = f"must have one entry per replica, which are {len(replicas)}"
        yield ".log_dirs", paths, rule, 'write "any" where it does not matter'
    for slot, path in enumerate(paths):
        if not isinstance(path, str):
            rule = "must be a string"
        elif not is_unicode(path):
            rule = "must be valid Unicode"
        elif path != ANY and not path.startswith("/"):
            rule = 'must be "any" or an absolute path'
        else:
            continue
        remedy = "write a path of the broker's log.dirs"
        yield f".log_dirs[{slot}]", path, rule, remedy


def _shown(value: object) -> str:
    """Return a short description of a value, which may be deep or huge."""
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, int) and abs(value) > 10**40:
        return f"an integer of {value.bit_length()} bits"
    text = ascii(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
