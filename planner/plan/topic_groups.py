"""Topics that are kept apart, as options say."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from placement.rules.apart import TopicsApart
from planner.plan.option_reader import OptionReader

APART = "--topics-apart"
SIDES = "="
"""Stands between sides: no topic has it in its name."""


def read_apart(reader: OptionReader, texts: Sequence[str]) -> list[TopicsApart]:
    """Read ``REGEX=REGEX`` texts, a rule each; problems are the reader's."""
    return list(_read_apart(reader, texts))


def _read_apart(reader: OptionReader, texts: Sequence[str]) -> Iterator[TopicsApart]:
    for text in texts:
        sides = text.split(SIDES)
        if len(sides) < 2 or not all(sides):
            rule = "must be REGEX=REGEX, of topics that share no broker"
            reader.refuse(APART, text, rule, "write 'orders.*=payments.*'")
            continue
        patterns = [reader.pattern(APART, side) for side in sides]
        if reader.state is None or None in patterns:
            continue
        names = reader.state.topics.names
        side_of = side_of_topics(names, sides)
        for name, found in side_of.items():
            if len(found) > 1:
                twice = " and ".join(sides[s] for s in found)
                rule = "a topic is on one side"
                reader.refuse(APART, name, rule, f"{twice} match it: narrow one")
        rows = [side_of[name][0] if side_of[name] else -1 for name in names]
        yield TopicsApart(np.array(rows, dtype=np.int32), tuple(sides))


def side_of_topics(names: Sequence[str], sides: Sequence[str]) -> dict[str, list[int]]:
    """Return the sides whose pattern matches each topic."""
    return {
        name: [s for s, side in enumerate(sides) if re.fullmatch(side, name)]
        for name in names
    }
