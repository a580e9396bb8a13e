"""Limits as Cruise Control computes them, where they differ from the planner's."""

from dataclasses import dataclass

import numpy as np

from placement.draft.draft import Draft
from placement.rules.goal_columns import SpreadTopics


@dataclass(frozen=True, slots=True)
class CruiseControlLimits:
    """
    Bands and caps as those of Cruise Control's goals.

    * Bands have a lower end also for the old brokers when brokers are added: its goals
      hold for all brokers alike.
    * Replicas and leaders are counted against the plain mean, independent of the
      brokers' capacities, and the ends of their bands are rounded outwards.
    * A broker may hold as many replicas of a topic as `SpreadTopics` allows, and may
      lead any number of them.
    """

    name: str = "cruise-control"

    def fill(self, draft: Draft) -> None:
        """Set the limits that are not goals of their own."""
        draft.old_may_be_low = False
        draft.has_plain_counts = True
        state = draft.state
        held = state.partitions.topic_idx[state.replicas.partition_idx]
        counts = np.bincount(held, minlength=len(state.topics.names))
        _, upper = SpreadTopics(()).ends(counts / max(int(draft.holds.sum()), 1))
        draft.most_of_topic = upper.astype(np.int64)
