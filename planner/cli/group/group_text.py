"""Lines of text that the group commands print."""

from planner.text.format import labelled

MAX_SHOWN = 20
"""Most members, topics and findings to show."""
LABEL_WIDTH = 13


def row(label: str, text: object) -> str:
    """Return the lines of a label and a text, as one text."""
    return "\n".join(labelled(label, str(text), LABEL_WIDTH))


def span(least: int, most: int) -> str:
    """Return a range of numbers, or the single number."""
    return str(most) if least == most else f"{least} to {most}"
