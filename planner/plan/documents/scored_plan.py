"""A plan with its scores before and after: what its folder and screen show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from placement.core.model.solution import Status
from placement.failures.controller_majority import Voter
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState
from placement.model.cross_rack import crossing_copies
from placement.operations.fix import LEFT_OFFLINE
from placement.planning.infeasibility.infeasible_rules import InfeasibleSet
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.pinning import topics_led_on
from placement.score import Score, score_placement
from planner.kafka_files.creation import Creation
from planner.plan.documents.log_dir_document import counted
from planner.plan.waves.wave_files import PlannedWaves
from planner.topic_resources import TopicResource


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, kw_only=True)
class Plan:
    """
    A planned placement with everything that its folder shows.

    Parameters
    ----------
    goal
        Name of the operation.
    placed
        Result of planning.
    taken_at
        Time of the snapshot, as the snapshot gives it.
    settings
        Settings that affect the plan, as in plan.json.
    before, after
        Scores of the two placements.
    waves
        Waves of the plan, if requested.
    infeasible_set
        Infeasible subsystem of the hard rules, if the plan does not keep them all.
    identity
        Cluster whose fingerprint identifies the plan, if that of the plan has mapped
        racks, new brokers or new partitions.
    creation
        Partitions that the plan creates; it changes no others then.
    existing
        Cluster without the partitions that the plan creates, if any.
    resources
        KafkaTopic resources by topic, where the snapshot has them.
    voters
        Voters of the controllers' quorum, where the snapshot names them.
    """

    goal: str
    placed: PlannedPlacement
    taken_at: str | None
    settings: Mapping[str, Any]
    before: Score
    after: Score
    waves: PlannedWaves | None = None
    infeasible_set: InfeasibleSet | None = None
    identity: ClusterState | None = None
    creation: Creation | None = None
    existing: ClusterState | None = None
    resources: Mapping[str, TopicResource] = field(default_factory=dict)
    voters: Sequence[Voter] = ()

    @property
    def state(self) -> ClusterState:
        """Cluster before the plan."""
        return self.placed.reassignment.before

    @property
    def status(self) -> str:
        """
        Status of plan.json.

        For a plan that changes nothing, `left-alone` if offline replicas remain that
        the operation would repair, else `nothing-to-do`.
        """
        status = self.placed.solution.status
        is_met = status in {Status.OPTIMAL, Status.FEASIBLE} and self.creation is None
        if is_met and self.placed.is_nothing and not elections(self).any():
            return "left-alone" if self.leaves_offline else "nothing-to-do"
        return str(status)

    @property
    def leaves_offline(self) -> bool:
        """Whether offline replicas remain that the operation would repair."""
        return any(note.what == LEFT_OFFLINE for note in self.placed.notes)

    @property
    def moves(self) -> dict[str, int]:
        """Numbers of changes, as in plan.json."""
        reassignment, weights = self.placed.reassignment, self.placed.draft.weights
        counts = {
            "replicas": int(reassignment.is_copied.sum()),
            "bytes": reassignment.copied_bytes(weights),
            "cross_rack_bytes": int(crossing_copies(reassignment, weights).sum()),
            "leaders": int(reassignment.is_led_anew.sum()),
            **counted(self.placed),
            "partitions": int(reassignment.is_changed.sum()),
        }
        return counts if self.creation is None else dict.fromkeys(counts, 0)


def unknown_bytes(plan: Plan) -> dict[str, None]:
    """Return null for the sums of bytes that include copies of unknown size."""
    reassignment = plan.placed.reassignment
    copied = reassignment.partition_idx[reassignment.is_copied]
    if (plan.state.partitions.size_bytes[copied] != UNKNOWN).all():
        return {}
    return {"bytes": None, "cross_rack_bytes": None}


def make_plan(
    goal: str,
    placed: PlannedPlacement,
    *,
    taken_at: str | None,
    settings: Mapping[str, Any],
    infeasible_set: InfeasibleSet | None = None,
    identity: ClusterState | None = None,
) -> Plan:
    """Score a planned placement before and after; return the plan."""
    return Plan(
        goal=goal,
        placed=placed,
        taken_at=taken_at,
        settings=settings,
        infeasible_set=infeasible_set,
        identity=identity,
        before=score_of(placed, placed.reassignment.before),
        after=score_of(placed, placed.reassignment.after()),
    )


def score_of(placed: PlannedPlacement, state: ClusterState) -> Score:
    """Return the score of a cluster against the fair shares of a plan."""
    thresholds = placed.draft.settings.capacity_thresholds
    return score_placement(
        state, placed.shares, state.partitions.leader_idx, thresholds
    )


def elections(plan: Plan) -> Any:  # noqa: ANN401 - (P,) bool
    """
    Return ``(P,)`` true for partitions whose first replica must be elected leader.

    After a reassignment, a leader that remains a replica goes on leading; a removed
    leader is replaced by the first replica without an election. An offline first
    replica cannot be elected. Leaders that the plan keeps go on leading unless they may
    not lead; a plan that creates partitions elects none.
    """
    state, reassignment = plan.state, plan.placed.reassignment
    start = reassignment.start
    first = reassignment.broker_idx[start[:-1]] if len(start) > 1 else np.zeros(0, int)
    leader = state.partitions.leader_idx
    of = reassignment.partition_idx
    keeps = np.zeros(state.num_partitions, dtype=np.bool_)
    np.logical_or.at(keeps, of, np.equal(reassignment.broker_idx, leader[of]))
    serves = ~reassignment.after().is_offline[start[:-1]]
    kept = topics_led_on(plan.placed.draft)[state.partitions.topic_idx]
    leads_on = kept & ~reassignment.is_led_anew & state.brokers.may_lead[leader]
    if plan.creation is not None:
        return np.zeros_like(keeps)
    return keeps & (leader != ABSENT) & (leader != first) & serves & ~leads_on
