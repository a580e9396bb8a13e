"""Places of new partitions nearest to the bands, with each topic as well spread."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray
from placement.core.model.objective import evaluate
from placement.core.model.problem import NO_LIMIT
from placement.core.model.search_budget import EFFORTS
from placement.draft.draft import Draft, Settings
from placement.draft.rule_tables import SoftColumn
from placement.model.cluster import ClusterState
from placement.placers.balanced_placer import Placer
from placement.planning.band_fixpoint import NEAR
from placement.planning.encode import build_problem
from placement.planning.outcome.result import PlannedPlacement


@dataclass(frozen=True, slots=True, eq=False)
class SpreadAsPlaced:
    """
    No broker gets more of a topic than its share, or than it has been placed there.

    Replicas and leaders count. The greedy placement keeps this rule, so that it never
    leaves new partitions without a place.

    Parameters
    ----------
    columns
        Number of replicas, and of leaders, of each topic on a broker, with its limit.
    """

    columns: tuple[SoftColumn, ...]
    name: str = "spread-as-placed"

    def fill(self, draft: Draft) -> None:
        """Add the columns."""
        draft.columns += self.columns


def spread_as_placed(
    placer: Placer, placed: ClusterState, is_new: BoolArray
) -> SpreadAsPlaced:
    """
    Return the rule that keeps topics as well spread as in a placement.

    Parameters
    ----------
    placer
        The placer, which knows the shares of the brokers.
    placed
        The cluster with new partitions where the placer has put them.
    is_new
        ``(P,)`` true for the new partitions.
    """
    topics = np.unique(placed.partitions.topic_idx[is_new]).tolist()
    return SpreadAsPlaced(
        tuple(c for topic in topics for c in _columns(placer, placed, topic))
    )


def _columns(placer: Placer, placed: ClusterState, topic: int) -> Iterator[SoftColumn]:
    """Yield the columns of one topic."""
    is_topic = np.equal(placed.partitions.topic_idx, topic).astype(np.int64)
    nothing = np.zeros_like(is_topic)
    brokers = placed.num_brokers
    weights = ("replicas", is_topic, nothing), ("leaders", nothing, is_topic)
    for (what, weight, led), most in zip(
        weights, placer.most_of_topic(topic), strict=True
    ):
        column = SoftColumn(
            name=f"{what} of topic {topic}",
            weight=weight,
            role_weight=led,
            lower=np.zeros(brokers, dtype=np.int64),
            upper=np.full(brokers, NO_LIMIT),
            unit=np.zeros(brokers),
        )
        limit = np.maximum(most.astype(np.int64), column.loads(placed))
        yield replace(column, capacity=limit)


def may_come_nearer(
    found: PlannedPlacement, is_new: BoolArray, settings: Settings
) -> bool:
    """Return whether an exact model may find places nearer to the bands."""
    effort = EFFORTS[settings.effort]
    cells = int(is_new.sum()) * found.draft.state.num_brokers
    is_far = found.solution.certificate.deviation.value > NEAR
    return found.has_met_rules and is_far and cells <= effort.exact_cells


def distances_of(found: PlannedPlacement) -> tuple[float, ...]:
    """Return broken rules, the largest distance from the bands, and the sum of all."""
    problem = build_problem(found.draft, found.targets, found.balanced)
    return evaluate(problem, found.solution.best).key[:3]
