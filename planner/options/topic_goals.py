"""Goals on the evenness of single topics, for a limited number of topics."""

import re
from collections.abc import Iterator

from placement.draft.rule import Rule
from placement.model.cluster import ClusterState
from placement.rules.goal_columns import MinTopicLeaders, SpreadTopics
from planner.options.declared.plan_options import PlanOptions
from planner.options.option_reader import OptionReader

MOST_TOPICS = 32
"""Largest number of topics with a goal: each adds a column to the problem."""


def topic_goals(
    reader: OptionReader, state: ClusterState, options: PlanOptions
) -> Iterator[Rule]:
    """Yield the goals for the topics of a cluster; the reader keeps the problems."""
    names = list(enumerate(state.topics.names))
    for option, pattern, of_leaders in (
        ("--spread-topics", options.spread_topics, False),
        ("--spread-topic-leaders", options.spread_topic_leaders, True),
    ):
        if pattern is None:
            continue
        rows = tuple(row for row, name in names if re.fullmatch(pattern, name))
        if _are_few(reader, option, len(rows)):
            goal = option.removeprefix("--")
            width, gap = options.spread_band, options.spread_gap
            yield SpreadTopics(rows, width, *gap, of_leaders, goal)
    wanted = {
        row: number
        for pattern, number in reversed(options.min_topic_leaders)
        for row, name in names
        if re.fullmatch(pattern, name)
    }
    if wanted and _are_few(reader, "--min-topic-leaders", len(wanted)):
        yield MinTopicLeaders(tuple(sorted(wanted.items())))


def _are_few(reader: OptionReader, option: str, count: int) -> bool:
    if count <= MOST_TOPICS:
        return True
    rule = f"may match {MOST_TOPICS} topics: each is a load to be balanced"
    reader.refuse(option, f"{count} topics", rule, "choose those that matter most")
    return False
