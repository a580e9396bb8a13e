"""Quantities as text for people, and lines that fit a screen."""

import re
import shlex
import textwrap

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


def percent_text(fraction: float) -> str:
    """Return a fraction as a percentage, with decimals only below 10 %."""
    percent = 100 * fraction
    if percent == 0 or abs(percent) >= 10:
        return f"{percent:.0f} %"
    return f"{percent:.2g} %"


def use_text(use: float, most: float) -> str:
    """
    Return the use of a capacity and its limit, with decimals where both look equal.

    Examples
    --------
    >>> use_text(0.9, 0.8), use_text(0.8013, 0.8), use_text(0.80004, 0.8)
    ('90 % of 80 %', '80.13 % of 80 %', 'just over 80 %')
    """
    told, limit = percent_text(use), percent_text(most)
    if use <= most or told != limit:
        return f"{told} of {limit}"
    near, edge = (f"{100 * each:.2f} %" for each in (use, most))
    return f"just over {limit}" if near == edge else f"{near} of {limit}"


def ids_text(ids: list[int]) -> str:
    """
    Return broker ids as ranges.

    Examples
    --------
    >>> ids_text([1, 2, 3, 7, 9, 10])
    '1-3,7,9-10'
    """
    parts: list[str] = []
    start = 0
    for i in range(1, len(ids) + 1):
        if i == len(ids) or ids[i] != ids[i - 1] + 1:
            low, high = ids[start], ids[i - 1]
            parts.append(str(low) if low == high else f"{low}-{high}")
            start = i
    return ",".join(parts)


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


def labelled(label: str, text: str) -> list[str]:
    """Return the lines of a label and its text, wrapped with a hanging indent."""
    lines = wrapped(text, SCREEN_WIDTH - LABEL_WIDTH) or [""]
    head = [label] + [""] * (len(lines) - 1)
    return [
        f"{first:<{LABEL_WIDTH}}{line}".rstrip()
        for first, line in zip(head, lines, strict=True)
    ]


def wrapped(text: str, width: int = SCREEN_WIDTH) -> list[str]:
    """Break a text into lines between words, but not before a unit."""
    joined = _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text)
    # Long paths stay whole, so that they can be copied.
    lines = textwrap.wrap(joined, width, break_on_hyphens=False, break_long_words=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


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
    head = [label] + [""] * (len(texts) - 1)
    return [
        f"{first:<{LABEL_WIDTH}}{text}" for first, text in zip(head, texts, strict=True)
    ]
