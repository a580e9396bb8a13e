"""
Offsets in Kafka's own file: what ``--export`` prints, and ``--from-file`` takes.

A line for each partition, without headings: ``topic,partition,offset``, or with the
group before it where there were several.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from planner.errors import BadInputError, InputProblem
from planner.group.group_files import read_text
from planner.group.offsets.target_offsets import Name
from planner.io.problems import problem

_QUOTED_FROM = 25
_MAX_PARTITION = 2**31 - 1
_MAX_OFFSET = 2**63 - 1


def format_offsets(offsets: Iterable[tuple[Name, int]]) -> str:
    """Return the lines of a file, byte for byte as Kafka's tool prints them."""
    return "".join(
        f"{_cell(topic)},{number},{offset}\n" for (topic, number), offset in offsets
    )


def _cell(topic: str) -> str:
    # Kafka's writer quotes what is too long for it to look through.
    return f'"{topic}"' if len(topic) >= _QUOTED_FROM else topic


def read_offsets_file(path: Path, group_id: str) -> dict[Name, int]:
    """
    Return the offsets of one group, in the order of the file.

    Parameters
    ----------
    path
        Lines of three cells, or of four: those of other groups are left out.
    group_id
        Which group.

    Raises
    ------
    BadInputError
        If a line cannot be read or names a partition again, or no line is of the
        group; names every such line.
    """
    file = str(path)
    found: dict[Name, int] = {}
    problems: list[InputProblem] = []
    for line, cells in enumerate(_lines(path), 1):
        if not cells:
            continue
        own = _own_cells(cells, group_id)
        if own is None:
            continue
        if rule := _rule(own, found):
            remedy = "write topic,partition,offset"
            value = ",".join(cells)
            problems.append(problem(file, f"line {line}", value, rule, remedy))
        else:
            topic, number, offset = own
            found[topic.strip(), int(number)] = int(offset)
    if not found and not problems:
        rule = f"must have a line for group {group_id}"
        problems.append(problem(file, "", None, rule, "write topic,partition,offset"))
    if problems:
        msg = f"{file} has no offsets to set"
        raise BadInputError(msg, problems)
    return found


def _lines(path: Path) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(read_text(path))))
    except csv.Error as error:  # a cell that never ends
        remedy = "write topic,partition,offset"
        found = problem(str(path), "", None, "must be lines of short cells", remedy)
        msg = f"{path} has no offsets to set"
        raise BadInputError(msg, [found]) from error


def _own_cells(cells: Sequence[str], group_id: str) -> Sequence[str] | None:
    """Return a line without its group; `None` if it is of another."""
    if len(cells) != 4:  # topic, partition, offset, and a group before them
        return cells
    return cells[1:] if cells[0].strip() == group_id else None


def _rule(cells: Sequence[str], found: dict[Name, int]) -> str:
    """Return what is wrong with a line; nothing if nothing is."""
    if len(cells) != 3:
        return "must have three cells, or four with the group first"
    topic, number, offset = (cell.strip() for cell in cells)
    if not topic:
        return "must name a topic"
    if not _is_number(number) or int(number) > _MAX_PARTITION:
        return "must have a partition's number"
    if not _is_number(offset.removeprefix("-")) or abs(int(offset)) > _MAX_OFFSET:
        return "must have an offset"
    return "must name a partition once" if (topic, int(number)) in found else ""


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
