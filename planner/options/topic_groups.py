"""Options for topics that share no broker, and topics on the same brokers."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from placement.rules.anti_affinity import TopicsApart
from placement.rules.colocation import TopicsTogether
from planner.options.option_reader import OptionReader

APART = "--topics-apart"
TOGETHER = "--topics-together"
SIDES = "="
"""Separator of sides, which no topic has in its name."""


def read_apart(reader: OptionReader, texts: Sequence[str]) -> list[TopicsApart]:
    """Parse ``REGEX=REGEX`` texts, one rule each; the reader keeps the problems."""
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


def read_together(reader: OptionReader, texts: Sequence[str]) -> list[TopicsTogether]:
    """Parse regular expressions, one rule each; the reader keeps the problems."""
    return list(_read_together(reader, texts))


def _read_together(
    reader: OptionReader, texts: Sequence[str]
) -> Iterator[TopicsTogether]:
    taken: dict[str, str] = {}
    for text in texts:
        pattern = reader.pattern(TOGETHER, text)
        if pattern is None or reader.state is None:
            continue
        state = reader.state
        rows = [
            t for t, name in enumerate(state.topics.names) if pattern.fullmatch(name)
        ]
        count = np.bincount(state.partitions.topic_idx, minlength=len(state.topics))
        if len({int(count[t]) for t in rows}) > 1:
            told = ", ".join(f"{state.topics.names[t]} has {count[t]}" for t in rows)
            rule = "topics that lie together must have as many partitions each"
            reader.refuse(TOGETHER, told, rule, "add partitions, or leave one out")
        for name in (state.topics.names[t] for t in rows):
            if name in taken:
                rule = "a topic lies together with those of one pattern"
                both = f"{taken[name]} and {text} match it"
                reader.refuse(TOGETHER, name, rule, f"{both}: join them by |")
            taken[name] = text
        yield TopicsTogether(tuple(rows))
