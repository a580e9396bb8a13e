"""
Columns of the tables that Kafka's group tools print: headings, and cells below them.

Cells begin in the column of their heading. Ids may contain spaces, so the positions of
the headings separate the cells; where a value is wider than its column, spaces separate
them if that gives one cell for each heading. Kafka 0.9 puts commas between cells,
Kafka 0.8 has other headings, and until Kafka 1.1 no space separates a long member id
from its host.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

NONE = "-"
_HEADING = re.compile(r"\S+(?: \(ID\))?")
_COORDINATOR = "COORDINATOR (ID)"
_FIRST = frozenset(("GROUP", "TOPIC", "CONSUMER-ID", _COORDINATOR))
_OTHERS = frozenset(
    (
        *("TOPIC", "PARTITION", "CURRENT-OFFSET", "START-OFFSET", "OFFSET-LAG", "LAG"),
        *("CONSUMER-ID", "HOST", _COORDINATOR, "STATE", "TYPE", "PROTOCOL"),
        *("ASSIGNMENT-STRATEGY", "#MEMBERS", "#PARTITIONS", "MEMBER", "PROCESS"),
    )
)
_OLD: Mapping[str, str] = MappingProxyType(
    {
        "GROUP": "GROUP",
        "TOPIC": "TOPIC",
        "PARTITION": "PARTITION",
        "PID": "PARTITION",
        "OFFSET": "CURRENT-OFFSET",
        "CURRENT OFFSET": "CURRENT-OFFSET",
        "CURRENT-OFFSET": "CURRENT-OFFSET",
        "LOGSIZE": "LOG-END-OFFSET",
        "LOG END OFFSET": "LOG-END-OFFSET",
        "LOG-END-OFFSET": "LOG-END-OFFSET",
        "LAG": "LAG",
        "OWNER": "CONSUMER-ID",
    }
)
_NUMBERS = frozenset(
    (
        *("PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "START-OFFSET"),
        *("OFFSET-LAG", "#PARTITIONS", "#MEMBERS"),
    )
)
_REQUIRED = frozenset(("GROUP", "TOPIC", "CONSUMER-ID", "HOST"))
_NUMBER = re.compile(r"-|[0-9]{1,19}", re.ASCII)
_OFFSET = re.compile(r"-|-?[0-9]{1,19}", re.ASCII)
_OFFSETS = frozenset(("CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "START-OFFSET"))
"""Columns that may be negative: a lag past the end of a log, or -1 for no offset."""
_KNOWN = frozenset(
    (
        *("GROUP", "CLIENT-ID", "GROUP-INSTANCE-ID", "LEADER-EPOCH", "ASSIGNMENT"),
        *("CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"),
        *("GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH", "UPGRADED", "MEMBER-EPOCH"),
    )
)
"""Further headings that Kafka's tools print, besides `_OTHERS`."""
_NO_VALUE = re.compile(r"none|unknown", re.IGNORECASE)
_OLD_OWNER = re.compile(r"(?P<client>.+)_(?P<host>/\S+)")
_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_WHOLE_ID = re.compile(rf"\S.*-{_UUID}|[\w-]{{22}}")
_TOUCHING = re.compile(rf"(?P<id>\S+-{_UUID})(?P<host>/\S+)")


@dataclass(frozen=True, slots=True)
class Columns:
    """
    Headings of one table.

    Parameters
    ----------
    names
        Headings, as newer releases of Kafka print them.
    starts
        Index of the first character of each heading; empty where `separator` or single
        blanks separate the cells.
    separator
        A comma or a tab between cells, or empty.
    is_old
        Whether Kafka 0.10.1 or older printed the table, with owners instead of members.
    """

    names: tuple[str, ...]
    starts: tuple[int, ...] = ()
    separator: str = ""
    is_old: bool = False

    def cells(self, line: str, *, aligned: bool = False) -> dict[str, str] | None:
        """
        Return the cells of a line by heading; `None` if the numbers of both differ.

        Parameters
        ----------
        line
            The line.
        aligned
            Whether cells must begin in the column of their heading.
        """
        if aligned and not self.separator and not self._is_aligned(line):
            return None
        found = self._cells(line)
        if found is None:
            return None
        cells = dict(zip(self.names, found, strict=True))
        return _renewed(cells) if self.is_old else cells

    def _cells(self, line: str) -> list[str] | None:
        if self.separator and self.separator in line:
            found = [cell.strip() for cell in line.split(self.separator)]
            return found if len(found) == len(self.names) else None
        if not self.separator and self._is_aligned(line):
            stops = [*self.starts[1:], len(line)]
            return [line[a:b].strip() for a, b in zip(self.starts, stops, strict=True)]
        words = line.split()
        if len(words) == len(self.names) - 1 and "HOST" in self.names:
            words = _split_touching_ids(words)
        return words if len(words) == len(self.names) else None

    def _is_aligned(self, line: str) -> bool:
        """Return whether each cell begins exactly where its column begins."""
        if not self.starts or line[: self.starts[0]].strip():
            return False
        for at, stop in zip(self.starts, [*self.starts[1:], len(line)], strict=True):
            is_begun = at > 0 and line[at - 1 : at] not in {"", " "}
            is_late = line[at : at + 1] == " " and bool(line[at:stop].strip())
            if is_begun or is_late:
                return False
        return True

    @property
    def has_numbers(self) -> bool:
        """Whether a column holds numbers, by which rows differ from noise."""
        return not _NUMBERS.isdisjoint(self.names)

    @property
    def unused(self) -> tuple[str, ...]:
        """Headings that none of Kafka's group tools prints."""
        known = _KNOWN | _OTHERS | {*_OLD.values()}
        return tuple(name for name in self.names if name not in known)

    @property
    def is_cut(self) -> bool:
        """Whether the last heading is only the beginning of one that Kafka prints."""
        last, known = self.names[-1], _KNOWN | _OTHERS
        return last not in known and any(one.startswith(last) for one in known)

    def has_cut_ids(self, rows: Sequence[Mapping[str, str]]) -> bool:
        """
        Return whether member ids in the last column are cut on the right.

        Kafka prints further columns behind them. Of ids that are cut, several may look
        like one, and all end in the same column before their random part does.
        """
        if self.names[-1] != "CONSUMER-ID" or not self.starts or self.is_old:
            return False
        ids = {cells["CONSUMER-ID"] for cells in rows} - {NONE}
        return (
            len(set(map(len, ids))) == 1
            and all(len(one) >= len("CONSUMER-ID") for one in ids)
            and not any(_WHOLE_ID.fullmatch(one) for one in ids)
        )

    def invalid_cell(self, cells: Mapping[str, str]) -> tuple[str, str] | None:
        """Return the heading of the first invalid cell, with the broken rule."""
        for name in self.names:
            number = _OFFSET if name in _OFFSETS else _NUMBER
            if name in _NUMBERS and not number.fullmatch(cells[name]):
                return name, "must be a whole number or a dash"
            if name in _REQUIRED and not cells[name]:
                return name, "must not be empty: the line was cut"
        return None


def columns_of(line: str) -> Columns | None:
    """Return the columns of a line of headings; `None` for any other line."""
    separator = "\t" if "\t" in line.strip() else ", " if ", " in line else ""
    if separator:
        cells = [cell.strip() for cell in line.split(separator)]
        return _columns(cells, (), separator)
    found = list(_HEADING.finditer(line))
    # Where runs of blanks were squeezed, cells are not below their headings.
    is_squeezed = "  " not in line.strip()
    starts = () if is_squeezed else tuple(one.start() for one in found)
    return _columns([one.group() for one in found], starts, "")


def _columns(
    headings: list[str], starts: tuple[int, ...], separator: str
) -> Columns | None:
    upper = [heading.upper() for heading in headings]
    if len(upper) == 7 and all(heading in _OLD for heading in upper):
        names = tuple(_OLD[heading] for heading in upper)
        return Columns(names, starts, separator, is_old=True)
    is_heading = (
        len(upper) > 1
        and headings == upper
        and upper[0] in _FIRST
        and any(heading in _OTHERS for heading in upper[1:])
        and len(set(upper)) == len(upper)
    )
    return Columns(tuple(upper), starts, separator) if is_heading else None


def _split_touching_ids(words: list[str]) -> list[str]:
    """Split a member id from the host that follows without a space."""
    parted: list[str] = []
    for word in words:
        found = _TOUCHING.fullmatch(word)
        parted += [found["id"], found["host"]] if found else [word]
    return parted


def _renewed(cells: dict[str, str]) -> dict[str, str]:
    """Convert the cells of an old release to those that newer releases print."""
    renewed = {
        name: NONE if name in _NUMBERS and _NO_VALUE.fullmatch(cell) else cell
        for name, cell in cells.items()
    }
    owner = renewed["CONSUMER-ID"]
    if _NO_VALUE.fullmatch(owner):
        return {**renewed, "CONSUMER-ID": NONE}
    found = _OLD_OWNER.fullmatch(owner)
    if found is None:
        return renewed
    return {**renewed, "CLIENT-ID": found["client"], "HOST": found["host"]}
