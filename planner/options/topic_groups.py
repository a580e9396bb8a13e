"""Options for topics that share no broker, and topics on the same brokers."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from placement.rules.anti_affinity import TopicsApart
from placement.rules.colocation import TopicsTogether
from planner.options.declared.rule_readers import SIDES
from planner.options.option_reader import OptionReader

APART = "--topics-apart"
TOGETHER = "--topics-together"


def apart_rules(reader: OptionReader, texts: Sequence[str]) -> list[TopicsApart]:
    """Return a rule for each ``REGEX=REGEX`` text; the reader keeps the problems."""
    if reader.state is None:
        return []
    return [_apart(reader, reader.state.topics.names, text) for text in texts]


def _apart(reader: OptionReader, names: Sequence[str], text: str) -> TopicsApart:
    sides = text.split(SIDES)
    side_of = side_of_topics(names, sides)
    for name, found in side_of.items():
        if len(found) > 1:
            twice = " and ".join(sides[s] for s in found)
            rule = "a topic is on one side"
            reader.refuse(APART, name, rule, f"{twice} match it: narrow one")
    rows = [side_of[name][0] if side_of[name] else -1 for name in names]
    return TopicsApart(np.array(rows, dtype=np.int32), tuple(sides))


def side_of_topics(names: Sequence[str], sides: Sequence[str]) -> dict[str, list[int]]:
    """Return the sides whose pattern matches each topic."""
    return {
        name: [s for s, side in enumerate(sides) if re.fullmatch(side, name)]
        for name in names
    }


def together_rules(
    reader: OptionReader, patterns: Sequence[str]
) -> list[TopicsTogether]:
    """Return a rule for each regular expression; the reader keeps the problems."""
    return [] if reader.state is None else list(_together(reader, patterns))


def _together(
    reader: OptionReader, patterns: Sequence[str]
) -> Iterator[TopicsTogether]:
    state = reader.state
    assert state is not None  # noqa: S101 - the caller looked
    taken: dict[str, str] = {}
    for text in patterns:
        rows = [
            t for t, name in enumerate(state.topics.names) if re.fullmatch(text, name)
        ]
        count = np.bincount(state.partitions.topic_idx, minlength=len(state.topics))
        if len({int(count[t]) for t in rows}) > 1:
            counts_text = ", ".join(
                f"{state.topics.names[t]} has {count[t]}" for t in rows
            )
            rule = "topics that lie together must have as many partitions each"
            reader.refuse(
                TOGETHER, counts_text, rule, "add partitions, or leave one out"
            )
        for name in (state.topics.names[t] for t in rows):
            if name in taken:
                rule = "a topic lies together with those of one pattern"
                both = f"{taken[name]} and {text} match it"
                reader.refuse(TOGETHER, name, rule, f"{both}: join them by |")
            taken[name] = text
        yield TopicsTogether(tuple(rows))
