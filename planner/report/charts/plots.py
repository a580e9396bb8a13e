"""
Pictures drawn as text, for terminals and logs.

A line never is wider than asked. Without colours the marks differ in form; where a
terminal cannot show blocks, ASCII is drawn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from planner.report.charts.pictures import LoadPicture, Number
from planner.text.printable import cell_width, printable, shorten

LEAST_CANVAS = 8
LEAST_WITH_NUMBERS = 44
"""Smallest width of a line with the numbers behind the bars."""
MOST_LABEL = 16


@dataclass(frozen=True, slots=True)
class Marks:
    """
    Characters of a picture, and the names of their colours.

    Parameters
    ----------
    now, before, target, band, limit
        Characters of the bar, the load before, the target, the band, the threshold.
    has_colours
        Whether they are coloured.
    """

    now: str = "█"
    before: str = "○"
    target: str = "│"
    band: str = "░"
    limit: str = "┊"
    has_colours: bool = False


BLOCKS = Marks()
ASCII = Marks(now="#", before="o", target="|", band=".", limit="!")
COLOURS = {"now": 34, "before": 33, "target": 1, "band": 2, "limit": 31}
"""ANSI codes of the marks."""


def plot_lines(
    pictures: Sequence[LoadPicture], width: int, marks: Marks = BLOCKS
) -> Iterator[str]:
    """
    Yield the lines of pictures, one below the other, with a legend at the end.

    A picture with words of its own has its own legend.

    Parameters
    ----------
    pictures
        The pictures.
    width
        Largest width of a line, in cells.
    marks
        Characters and colours.

    Examples
    --------
    >>> picture = LoadPicture(
    ...     name="brokers-disk", resource="disk", level="broker", unit="GB",
    ...     places=["1", "2"], now=[4.0, 8.0], before=[8.0, 4.0], target=[6.0, 6.0],
    ... )
    >>> for line in plot_lines([picture], 30, ASCII):
    ...     print(line)
    disk by broker, GB
    1 ###############      |     o
    2 ##############o######|######
    # after  o before  | target
    """
    for picture in pictures:
        yield from _picture_lines(picture, width, marks)
        if picture.legend:
            yield from _legend([picture], width, marks)
    usual = [picture for picture in pictures if not picture.legend]
    if usual:
        yield from _legend(usual, width, marks)


def _picture_lines(picture: LoadPicture, width: int, marks: Marks) -> Iterator[str]:
    yield shorten(printable(picture.title), width)
    names = [printable(place) for place in picture.places]
    widest = max(map(cell_width, names), default=0)
    label = min(widest, MOST_LABEL, max(width // 3, 1))
    numbers = [_numbers(picture, row) for row in range(len(names))]
    tail = max(map(len, numbers), default=0) + 1 if width >= LEAST_WITH_NUMBERS else 0
    canvas = max(width - label - 1 - tail, 1)
    for row, name in enumerate(names):
        text = shorten(name, label)
        head = text + " " * (label - cell_width(text)) + " "
        bar = _bar(picture, row, canvas, marks)
        end = f" {numbers[row]}" if tail else ""
        yield f"{head}{bar}{end}".rstrip()
    if picture.omitted:
        text = f"and {picture.omitted} more {picture.rest}"
        yield shorten(text, width)


def _numbers(picture: LoadPicture, row: int) -> str:
    now = _text(picture.now[row])
    if picture.before is None:
        return now
    before = _text(picture.before[row])
    return now if before == now else f"{before} -> {now}"


def _text(value: Number) -> str:
    return "?" if value is None else f"{value:.3g}"


def _bar(picture: LoadPicture, row: int, canvas: int, marks: Marks) -> str:
    """Return the bar of a place; marks lie over it, the most important last."""
    most = _most(picture)
    cells = [" "] * canvas

    def at(value: float) -> int:
        return min(int(value / most * canvas), canvas - 1)

    def fill(name: str, begin: Number, end: Number) -> None:
        if begin is not None and end is not None and end > 0:
            for cell in range(at(begin), at(end) + 1):
                cells[cell] = _marked(marks, name)

    if picture.lower:
        fill("band", picture.lower[row], picture.upper[row])
    fill("now", 0.0, picture.now[row])
    for name in ("target", "threshold", "before"):
        values = getattr(picture, name)
        if values and values[row] is not None:
            mark = "limit" if name == "threshold" else name
            cells[at(values[row])] = _marked(marks, mark)
    return "".join(cells)


def _most(picture: LoadPicture) -> float:
    """Return the number at the right end of the bars."""
    sides = (picture.now, picture.before or (), picture.target, picture.upper)
    values = [value for side in (*sides, picture.threshold) for value in side if value]
    return max(values, default=1.0)


def _marked(marks: Marks, name: str) -> str:
    mark: str = getattr(marks, name)
    return f"\x1b[{COLOURS[name]}m{mark}\x1b[0m" if marks.has_colours else mark


def _legend(pictures: Sequence[LoadPicture], width: int, marks: Marks) -> Iterator[str]:
    is_plan = any(picture.before is not None for picture in pictures)
    words = {"now": "after" if is_plan else "now"}
    words |= {"before": "before"} if is_plan else {}
    words["target"] = "target"
    words |= {"band": "band"} if any(each.lower for each in pictures) else {}
    words |= {"limit": "threshold"} if any(each.threshold for each in pictures) else {}
    words |= {name: word for name, word in pictures[0].legend.items() if name in words}
    plain = replace(marks, has_colours=False)
    texts = [f"{getattr(plain, name)} {word}" for name, word in words.items()]
    line = "  ".join(texts)
    yield from [line] if cell_width(line) <= width else texts
