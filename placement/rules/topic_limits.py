"""Hard caps on the replicas of one topic per broker."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from placement.core.model.problem import NO_LIMIT
from placement.draft.draft import Draft
from placement.draft.rule_tables import SoftColumn
from placement.rules.descriptor import RuleDescriptor, RuleOption, RuleRequest
from placement.rules.goal_columns import are_few

MOST_NAMED = 3
"""Largest number of topics that a phrase names."""


@dataclass(frozen=True, slots=True)
class MaxTopicReplicas:
    """
    No broker holds more than a number of replicas of some topics.

    A broker that holds more before the plan gets no more of them, and gives them away
    where the operation may move them.

    Parameters
    ----------
    most
        Pairs of topic row and replicas per broker; a column of the problem each.
    """

    most: tuple[tuple[int, int], ...]
    name: str = "max-topic-replicas"

    def fill(self, draft: Draft) -> None:
        """Add a column that counts and limits the replicas of each topic."""
        state, holds = draft.state, draft.holds
        for topic, most in self.most:
            weight = np.equal(state.partitions.topic_idx, topic).astype(np.int64)
            draft.columns.append(
                SoftColumn(
                    name=f"{self.name}:{state.topics.names[topic]}",
                    weight=weight,
                    role_weight=np.zeros_like(weight),
                    lower=np.zeros(len(holds), dtype=np.int64),
                    upper=np.full(len(holds), NO_LIMIT),
                    unit=np.zeros(len(holds)),
                    capacity=np.where(holds, most, NO_LIMIT),
                    what=f"replicas of topic {state.topics.names[topic]}",
                )
            )


def _requested(request: RuleRequest) -> Iterator[MaxTopicReplicas]:
    """Yield the rule, with the number of the first matching pattern of each topic."""
    wanted = {
        row: number
        for pattern, number in reversed(request.value)
        for row in request.topics(pattern)
    }
    count = np.bincount(
        request.state.partitions.topic_idx, minlength=len(request.state.topics.names)
    )
    # A broker holds no more replicas of a topic than the topic has partitions.
    limited = [(row, most) for row, most in sorted(wanted.items()) if most < count[row]]
    if limited and are_few(request, len(limited)):
        yield MaxTopicReplicas(tuple(limited))


def _text(draft: Draft) -> str:
    caps = [
        f"{most:,} of topic {draft.state.topics.names[row]}"
        for rule in draft.settings.rules
        if isinstance(rule, MaxTopicReplicas)
        for row, most in rule.most
    ]
    more = f", and of {len(caps) - MOST_NAMED} more" if len(caps) > MOST_NAMED else ""
    return f"replicas on a broker: at most {', '.join(caps[:MOST_NAMED])}{more}"


RULES = (
    RuleDescriptor(
        name="max-topic-replicas",
        text=_text,
        remedy="add brokers, or raise --max-topic-replicas",
        always_hard="names the most that a broker may hold: raise it instead",
        is_of_brokers=True,
        option=RuleOption(
            "topic counts",
            "Most replicas of each topic on a broker; 32 topics at most. Repeatable.",
            example='{ "orders.*" = 3 }',
        ),
        make=_requested,
    ),
)
