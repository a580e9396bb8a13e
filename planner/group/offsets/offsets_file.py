"""
Offsets in Kafka's own format: output of ``--export``, input of ``--from-file``.

Each partition has a line, without headings: ``topic,partition,offset``, or
``group,topic,partition,offset`` where the file has several groups.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from planner.errors import InputProblem, raise_problems
from planner.group.files.group_files import read_text
from planner.group.offsets.target_offsets import Name
from planner.io.problems import problem, refusal

_QUOTED_FROM = 25
_MAX_PARTITION = 2**31 - 1
_MAX_OFFSET = 2**63 - 1


def format_offsets(offsets: Iterable[tuple[Name, int]]) -> str:
    """Return the text of a file, byte for byte as Kafka's tool prints it."""
    return "".join(
        f"{_cell(topic)},{number},{offset}\n" for (topic, number), offset in offsets
    )


def _cell(topic: str) -> str:
    # Kafka's writer quotes long names without looking for separators in them.
    return f'"{topic}"' if len(topic) >= _QUOTED_FROM else topic


def read_offsets_file(path: Path, group_id: str) -> dict[Name, int]:
    """
    Return the offsets of one group, in the order of the file.

    Parameters
    ----------
    path
        File with lines of three cells, or of four; lines of other groups are ignored.
    group_id
        Id of the group.

    Raises
    ------
    BadInputError
        If a line cannot be read or repeats a partition, or if no line belongs to the
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
    raise_problems(f"{file} has no offsets to set", problems)
    return found


def _lines(path: Path) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(read_text(path))))
    except csv.Error as error:  # a cell that never ends
        remedy = "write topic,partition,offset"
        rule, msg = "must be lines of short cells", f"{path} has no offsets to set"
        raise refusal(msg, str(path), rule, remedy) from error


def _own_cells(cells: Sequence[str], group_id: str) -> Sequence[str] | None:
    """Return the cells without the group; `None` if the line is of another group."""
    if len(cells) != 4:  # topic, partition, offset, and a group before them
        return cells
    return cells[1:] if cells[0].strip() == group_id else None


def _rule(cells: Sequence[str], found: dict[Name, int]) -> str:
    """Return the rule that a line breaks; empty if the line is valid."""
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
