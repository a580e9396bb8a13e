"""Lines of text that the group commands print."""

from collections.abc import Collection, Sequence

MAX_SHOWN = 20
"""Most members, topics and findings to show."""


def row(label: str, text: object) -> str:
    """Return a labelled line, wrapped to 80 columns."""
    import textwrap

    lines = textwrap.wrap(
        str(text), 67, break_on_hyphens=False, break_long_words=False
    ) or [""]
    return "\n".join(
        f"{label if not at else '':<12} {line}".rstrip()
        for at, line in enumerate(lines)
    )


def some(names: Collection[str]) -> str:
    """Return the first three names."""
    shown = list(names)[:3]
    return ", ".join(shown) + (" …" if len(names) > len(shown) else "")


def count(number: int, what: str) -> str:
    """Return a number and its noun."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def span(least: int, most: int) -> str:
    """Return a range of numbers, or the single number."""
    return str(most) if least == most else f"{least} to {most}"


def cut(text: str, width: int) -> str:
    """Return a text cut to a number of characters."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def ranges(numbers: Sequence[int]) -> str:
    """Return numbers as ranges: ``0-3,7``."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
