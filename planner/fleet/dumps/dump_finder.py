"""Dumps in a folder: ``CLUSTER/TIME/files``, or ``CLUSTER/TIME.json``."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from typing import Self

_TIME = re.compile(
    r"(?:[a-z_]+=)?(?P<y>\d{4})-?(?P<m>\d\d)-?(?P<d>\d\d)"
    r"(?:[T_ -]?(?P<H>\d\d)[:.-]?(?P<M>\d\d)(?:[:.-]?(?P<S>\d\d)(?:[.,]\d+)?)?)?"
    r"(?:Z|(?P<sign>[+-])(?P<oh>\d\d):?(?P<om>\d\d))?",
    re.ASCII,
)
_SUFFIXES = re.compile(r"(\.(json|txt|csv|parquet|gz|yaml|yml))+$")
_HIVE = re.compile(r"[a-z_]+=")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """
    A file of a dump.

    Parameters
    ----------
    name
        Path inside the folder of all dumps.
    size_bytes
        Size of the file in bytes.
    changed_ns
        Time of the last write in nanoseconds since 1970; 0 if unknown.
    """

    name: str
    size_bytes: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class Dump:
    """
    Files that describe one cluster at one time.

    Parameters
    ----------
    name
        Path of the dump's folder, or of its only file, inside the folder of all dumps.
    cluster_id
        Name of the folder above; `None` if there is none. It is the id of the cluster
        if the files have none.
    taken_at
        Time in the dump's name, ISO 8601 in UTC; `None` if the name is not a time.
    files
        Files of the dump, sorted by name.
    """

    name: str
    cluster_id: str | None
    taken_at: str | None
    files: tuple[FoundFile, ...]

    @property
    def size_bytes(self) -> int:
        """Total size of the files in bytes."""
        return sum(file.size_bytes for file in self.files)

    @property
    def signature(self) -> str:
        """Hash of the names, sizes and times of all files."""
        listed = [[f.name, f.size_bytes, f.changed_ns] for f in self.files]
        return sha256(json.dumps(listed).encode()).hexdigest()[:32]

    def to_text(self) -> str:
        """Return the dump as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Parse the JSON that `to_text` returned."""
        found = json.loads(text)
        files = tuple(FoundFile(**file) for file in found.pop("files"))
        return cls(**found, files=files)


def find_dumps(files: Iterable[FoundFile]) -> list[Dump]:
    """
    Group files into dumps, by their paths.

    Parameters
    ----------
    files
        All files below a folder. Files below the same folder of the second level are
        one dump, and so is each file above that level.

    Examples
    --------
    >>> names = ["eu/20261121T080000Z/t.txt", "eu/20261121T080000Z/d.txt", "b.json"]
    >>> for dump in find_dumps(FoundFile(name, 1, 0) for name in names):
    ...     print(dump.name, dump.cluster_id, dump.taken_at, len(dump.files))
    b.json None None 1
    eu/20261121T080000Z eu 2026-11-21T08:00:00Z 2
    """
    groups: dict[str, list[FoundFile]] = defaultdict(list)
    for file in files:
        groups["/".join(file.name.split("/")[:2])].append(file)
    return [_dump(name, groups[name]) for name in sorted(groups)]


def _dump(name: str, files: Sequence[FoundFile]) -> Dump:
    cluster, _, moment = name.rpartition("/")
    return Dump(
        name=name,
        cluster_id=_HIVE.sub("", cluster, count=1) or None,
        taken_at=moment_of(_SUFFIXES.sub("", moment)),
        files=tuple(sorted(files, key=lambda file: file.name)),
    )


def moment_of(text: str) -> str | None:
    """
    Parse a name as a time; return ISO 8601 in UTC, or `None` if it is not a time.

    Examples
    --------
    >>> moment_of("time=2026-11-21T08-30+0100")
    '2026-11-21T07:30:00Z'
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    numbers = [int(found[part] or 0) for part in "ymdHMS"]
    away = timedelta(hours=int(found["oh"] or 0), minutes=int(found["om"] or 0))
    try:
        zone = timezone(-away if found["sign"] == "-" else away)
        moment = datetime(*numbers, tzinfo=zone)  # type: ignore[arg-type,misc] # six ints
        return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError):
        return None
