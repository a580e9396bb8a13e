"""Lines of a screen in a document: the same words for people and for pages."""

from collections.abc import Iterable

from planner.io.records import Record

Line = tuple[str, str]
"""Label and text; an indented label belongs to the line above that is not."""


class LineRecord(Record):
    """A line of the screen."""

    label: str
    text: str


def summary_of(lines: Iterable[Line]) -> list[LineRecord]:
    """
    Return lines as records; an indented label follows that of the line it belongs to.

    Examples
    --------
    >>> [line.label for line in summary_of([("Lost", "2"), (" leaders", "35 move")])]
    ['Lost', 'Lost: leaders']
    """
    records, parent = [], ""
    for label, text in lines:
        if label.startswith(" "):
            label = f"{parent}:{label}"  # noqa: PLW2901 - the label in full
        else:
            parent = label
        records.append(LineRecord(label=label, text=text))
    return records
