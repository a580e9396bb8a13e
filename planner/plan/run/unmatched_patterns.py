"""Notes on regular expressions of topics that match no topic of the cluster."""

import re
from collections.abc import Iterator, Sequence

from placement.draft.draft import Note
from planner.options.declared.plan_options import OPTIONS, PlanOptions
from planner.options.declared.value_readers import read_pattern
from planner.text.suggest import near

MOST_COMPARED = 10_000
"""Largest number of topics whose names are compared with an expression."""


def unmatched_pattern_notes(
    names: Sequence[str], options: PlanOptions
) -> Iterator[Note]:
    """
    Yield a note for each expression of topics that matches none.

    A slip in such an expression leaves topics out of a plan, or unprotected in it.

    Parameters
    ----------
    names
        Names of the topics of the cluster.
    options
        The options of the plan.
    """
    for name, declared in OPTIONS.items():
        pattern = getattr(options, name)
        if declared.option.read is not read_pattern or pattern is None:
            continue
        if not any(map(re.compile(pattern).fullmatch, names)):
            # Only a close name is worth showing, and a search of all may take seconds.
            close = near(pattern, names[:MOST_COMPARED], otherwise=" ")
            rest = f"; {close}" if close.strip() else ""
            message = f"no topic matches {declared.flag} {pattern}{rest}"
            yield Note(what="no-topic", message=message)
