"""Texts as a terminal shows them: escaped, measured and shortened."""

import re
from typing import Literal

Cut = Literal["start", "middle", "end"]
"""Part of a text that an ellipsis replaces."""
ELLIPSIS = "…"
HIDDEN = (
    r"[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f"
    r"\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)
"""
Characters that no page shows: controls, and marks that reorder the text around them.

A regular expression of Python and of JavaScript.
"""


def printable(text: str) -> str:
    r"""
    Escape characters that terminals or UTF-8 reject: controls, lone surrogates.

    Examples
    --------
    >>> print(printable("rack\x1b[31m"), printable("été"))
    rack\u001b[31m été
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def visible(text: str) -> str:
    r"""
    Escape the characters that no page shows; line ends, tabs and joiners stay.

    A name with an override of the direction would turn around the words after it.

    Examples
    --------
    >>> print(visible("rack \u202eb"), visible("été\n"), end="")
    rack \u202eb été
    """
    if text.isprintable():
        return text
    return re.sub(HIDDEN, lambda found: f"\\u{ord(found[0]):04x}", text)


def cell_width(text: str) -> int:
    """
    Return the cells of a terminal that a text takes; a wide character takes two.

    Examples
    --------
    >>> cell_width("rack"), cell_width("東京")
    (4, 4)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def shorten(text: str, width: int, cut: Cut = "end") -> str:
    """
    Return a text of at most `width` cells; an ellipsis replaces what is cut.

    Parameters
    ----------
    text
        One line.
    width
        Cells of a terminal, at least 1.
    cut
        Part to cut; a cut in the middle keeps both ends of a name.

    Examples
    --------
    >>> shorten("orders-eu-17", 7), shorten("orders-eu-17", 7, "middle")
    ('orders…', 'ord…-17')
    """
    if cell_width(text) <= width:
        return text
    head = {"start": 0, "middle": (width - 1) // 2, "end": width - 1}[cut]
    return f"{_head(text, head)}{ELLIPSIS}{_tail(text, width - 1 - head)}"


def _head(text: str, width: int) -> str:
    """Return the longest start of a text that fits."""
    ends = range(min(len(text), width), 0, -1)
    return next((text[:end] for end in ends if cell_width(text[:end]) <= width), "")


def _tail(text: str, width: int) -> str:
    """Return the longest end of a text that fits."""
    starts = range(max(len(text) - width, 0), len(text))
    return next((text[at:] for at in starts if cell_width(text[at:]) <= width), "")
