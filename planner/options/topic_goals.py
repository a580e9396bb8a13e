"""Goals on the evenness of single topics, for a limited number of topics."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from placement.draft.rule import Rule
from placement.model.cluster import ClusterState
from placement.rules.goal_columns import MinTopicLeaders, SpreadTopics
from planner.options.option_reader import OptionReader

if TYPE_CHECKING:
    from planner.options.rule_options import RuleRequest

MOST_TOPICS = 32
"""Largest number of topics with a goal: each adds a column to the problem."""
MOST_LEADERS = 1_000_000
BAND = 1.8
"""Cruise Control's threshold of 3 for topics less 1, times its margin of 0.9."""
GAP = (2, 40)
"""Cruise Control's least and largest gap."""
MOST_BAND = 1000.0
_GAP = re.compile(r"([0-9]{1,6})-([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class TopicGoals:
    """
    Goals on single topics, as parsed.

    Parameters
    ----------
    spread, spread_leaders
        Pattern of topics whose replicas, or whose leaders, are on all brokers; `None`:
        none.
    band, gap
        Allowed difference from the mean: fraction of it, and its least and largest
        value.
    least_leaders
        Patterns of topics, and the least number of leaders of each per broker.
    """

    spread: re.Pattern[str] | None
    spread_leaders: re.Pattern[str] | None
    band: float
    gap: tuple[int, int]
    least_leaders: Sequence[tuple[re.Pattern[str], int]]

    def columns(self, reader: OptionReader, state: ClusterState) -> Iterator[Rule]:
        """Yield the goals for the topics of a cluster."""
        names = list(enumerate(state.topics.names))
        for option, pattern, of_leaders in (
            ("--spread-topics", self.spread, False),
            ("--spread-topic-leaders", self.spread_leaders, True),
        ):
            rows = tuple(row for row, name in names if _is_one(pattern, name))
            if pattern is not None and _are_few(reader, option, len(rows)):
                name = option.removeprefix("--")
                yield SpreadTopics(rows, self.band, *self.gap, of_leaders, name)
        wanted = {
            row: number
            for pattern, number in reversed(self.least_leaders)
            for row, name in names
            if pattern.fullmatch(name)
        }
        if wanted and _are_few(reader, "--min-topic-leaders", len(wanted)):
            yield MinTopicLeaders(tuple(sorted(wanted.items())))


def read_topic_goals(reader: OptionReader, request: "RuleRequest") -> TopicGoals:
    """Parse the goals on single topics; the reader keeps the problems."""
    leaders = "--spread-topic-leaders"
    return TopicGoals(
        reader.pattern("--spread-topics", request.spread_topics),
        reader.pattern(leaders, request.spread_topic_leaders),
        _read_band(reader, request.spread_band),
        _read_gap(reader, request.spread_gap),
        _read_leaders(reader, request.min_topic_leaders),
    )


def gap_of(text: str) -> tuple[int, int] | None:
    """
    Return the least and the largest gap of a text; `None` if it is no ``LEAST-MOST``.

    Examples
    --------
    >>> gap_of("2-40"), gap_of("9-3"), gap_of("2")
    ((2, 40), None, None)
    """
    found = _GAP.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        return None
    return int(found[1]), int(found[2])


def _read_band(reader: OptionReader, value: float | None) -> float:
    if value is None:
        return BAND
    if not 0 < value <= MOST_BAND:
        rule = f"must be a fraction of the mean above 0, {MOST_BAND:g} at most"
        reader.refuse("--spread-band", value, rule, "write 0.5 for ± 50 %")
    return value


def _read_gap(reader: OptionReader, text: str | None) -> tuple[int, int]:
    gap = GAP if text is None else gap_of(text)
    if gap is None:
        rule = "must be LEAST-MOST, two whole numbers, the smaller one first"
        reader.refuse("--spread-gap", text, rule, "write 2-40")
    return gap or GAP


def _is_one(pattern: re.Pattern[str] | None, name: str) -> bool:
    return pattern is not None and pattern.fullmatch(name) is not None


def _read_leaders(
    reader: OptionReader, texts: Sequence[str]
) -> list[tuple[re.Pattern[str], int]]:
    """Return patterns of topics, and the least number of leaders of each per broker."""
    found = []
    for text in texts:
        regex, _, number = text.rpartition("=")
        if not regex or not number.isdecimal() or not 0 < int(number) < MOST_LEADERS:
            rule = f"must be REGEX=N, N from 1 to {MOST_LEADERS - 1}"
            reader.refuse("--min-topic-leaders", text, rule, "write orders=1")
            continue
        pattern = reader.pattern("--min-topic-leaders", regex)
        if pattern is not None:
            found.append((pattern, int(number)))
    return found


def _are_few(reader: OptionReader, option: str, count: int) -> bool:
    if count <= MOST_TOPICS:
        return True
    rule = f"may match {MOST_TOPICS} topics: each is a load to be balanced"
    reader.refuse(option, f"{count} topics", rule, "choose those that matter most")
    return False
