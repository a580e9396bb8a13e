"""Quantities as text for people, and lines that fit a screen."""

import re
import shlex
import textwrap
from collections.abc import Collection, Iterable, Iterator

from planner.text.printable import cell_width, printable

SCREEN_WIDTH = 80
LABEL_WIDTH = 11
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=([kMGTPE]?B|s|min|h|d)\b|%)")
BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def bytes_text(value: float, digits: int = 3, *, is_padded: bool = False) -> str:
    """
    Return bytes with a decimal unit; `is_padded` keeps trailing zeros.

    Examples
    --------
    >>> bytes_text(1_283_000_000_000, 4)
    '1.283 TB'
    """
    size, unit = float(value), 0
    while abs(size) >= 999.5 and unit < len(BYTE_UNITS) - 1:
        size /= 1000
        unit += 1
    if is_padded and unit:
        decimals = max(digits - len(f"{abs(size):.0f}"), 0)
        return f"{size:.{decimals}f} {BYTE_UNITS[unit]}"
    text = f"{size:.{digits}g}"
    return f"{text if 'e' not in text else f'{size:.0f}'} {BYTE_UNITS[unit]}"


def duration_text(seconds: float) -> str:
    """
    Return a duration in its two largest units.

    Examples
    --------
    >>> duration_text(8580)
    '2 h 23 min'
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h"


LEAST_PERCENT = 0.0001
"""Smallest percentage that is shown as a number, without an exponent."""


def percent_text(fraction: float) -> str:
    """Return a fraction as a percentage, with decimals only below 10 %."""
    percent = 100 * fraction
    if percent == 0 or abs(percent) >= 10:
        return f"{percent:.0f} %"
    if 0 < percent < LEAST_PERCENT * (1 - 1e-9):
        return f"<{LEAST_PERCENT} %"
    return f"{percent:.2g} %"


def use_text(use: float, most: float) -> str:
    """
    Return the use of a capacity and its limit, with decimals where both look equal.

    Examples
    --------
    >>> use_text(0.9, 0.8), use_text(0.8013, 0.8), use_text(0.80004, 0.8)
    ('90 % of 80 %', '80.13 % of 80 %', 'just over 80 %')
    """
    used, limit = percent_text(use), percent_text(most)
    if use <= most or used != limit:
        return f"{used} of {limit}"
    near, edge = (f"{100 * each:.2f} %" for each in (use, most))
    return f"just over {limit}" if near == edge else f"{near} of {limit}"


def ids_text(ids: Iterable[int]) -> str:
    """
    Return the ids of brokers or partitions as ranges, in the order given.

    Examples
    --------
    >>> ids_text([1, 2, 3, 7, 9, 10]), ids_text([4, 2])
    ('1-3,7,9-10', '4,2')
    """
    ranges: list[list[int]] = []
    for number in ids:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def brokers_text(ids: Collection[int]) -> str:
    """
    Return brokers in words, in ascending order.

    Examples
    --------
    >>> brokers_text([3]), brokers_text([1, 2, 5])
    ('broker 3', 'brokers 1-2,5')
    """
    return f"broker{'' if len(ids) == 1 else 's'} {ids_text(sorted(ids))}"


def span_text(low: float, high: float, unit: str = "") -> str:
    """Return ``low-high`` without decimals, or one number where both are equal."""
    first, last = f"{low:.0f}", f"{high:.0f}"
    return (first if first == last else f"{first}-{last}") + unit


def plural(count: int, noun: str) -> str:
    """
    Return a count with its noun.

    Examples
    --------
    >>> plural(1, "broker"), plural(3, "broker")
    ('1 broker', '3 brokers')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def counted(count: int, noun: str) -> str:
    """
    Return a count that may be large with its noun.

    Examples
    --------
    >>> counted(1, "dump"), counted(20_000, "dump")
    ('1 dump', '20,000 dumps')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def labelled(label: str, text: str, width: int = LABEL_WIDTH) -> list[str]:
    """
    Return the lines of a label and its text, wrapped with a hanging indent.

    Examples
    --------
    >>> labelled("Kafka", "version 4.1", 8)
    ['Kafka   version 4.1']
    """
    lines = wrapped(text, SCREEN_WIDTH - width) or [""]
    return _hanging(label, lines, width)


def labelled_lines(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of labels and texts, each pair as `labelled` does."""
    for label, text in lines:
        yield from labelled(label, text)


def _hanging(label: str, lines: list[str], width: int) -> list[str]:
    """Return the lines with the label before the first one."""
    shown = printable(label)
    room = " " * max(width - cell_width(shown), 1)
    first, *rest = lines
    return [
        f"{shown}{room}{first}".rstrip(),
        *(f"{' ' * width}{line}".rstrip() for line in rest),
    ]


def wrapped(text: str, width: int = SCREEN_WIDTH) -> list[str]:
    """Break a text into lines between words, but not before a unit."""
    joined = _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text)
    # Long paths stay whole, so that they can be copied.
    lines = textwrap.wrap(joined, width, break_on_hyphens=False, break_long_words=False)
    return [printable(line.replace("\N{NO-BREAK SPACE}", " ")) for line in lines]


def command_lines(label: str, words: list[str]) -> list[str]:
    """Return the lines of a shell command, with backslashes at line breaks."""
    width = SCREEN_WIDTH - LABEL_WIDTH - len(" \\")
    lines: list[str] = []
    for word in map(shlex.quote, words):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word if not lines else f"  {word}")
    texts = [*(f"{line} \\" for line in lines[:-1]), *lines[-1:]]
    return _hanging(label, texts, LABEL_WIDTH)
