"""Leader changes of Kafka's next automatic preferred election, by Kafka version."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray
from placement.failures.controller_decision import Election, ElectionRules
from placement.failures.controller_events import elect
from placement.model.cluster import ABSENT, ClusterState

FIRST_WITHOUT_THRESHOLD = (4, 0)
"""First version that ignores `leader.imbalance.per.broker.percentage`."""
MOST_CHANGES_A_PASS = 1000
"""Maximum leader changes per pass from 4.0 on; a further pass follows at once."""
DEFAULT_PERCENTAGE = 10


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AutomaticElection:
    """
    Result of the next automatic election.

    Parameters
    ----------
    changes
        ``(P,)`` true for partitions whose leader changes.
    is_imbalanced
        ``(P,)`` true for partitions not led by their first replica.
    has_threshold
        Whether brokers up to `leader.imbalance.per.broker.percentage` are skipped.
    num_passes
        Number of passes; 0 without a change.
    """

    changes: BoolArray
    is_imbalanced: BoolArray
    has_threshold: bool
    num_passes: int


def next_election(
    state: ClusterState,
    rules: ElectionRules | None = None,
    *,
    version: tuple[int, int] | None = None,
    percentage: float = DEFAULT_PERCENTAGE,
) -> AutomaticElection:
    """
    Predict the next automatic preferred election.

    Parameters
    ----------
    state
        Current cluster.
    rules
        Rules of elections; `None`: in-sync replicas alone.
    version
        Major and minor version of Kafka; `None`: 4.0 or later.
    percentage
        `leader.imbalance.per.broker.percentage`, for versions up to 3.9. An election
        covers a preferred leader's partitions if more than this percentage of them have
        another leader or none. It skips partitions under reassignment.
    """
    first = state.replicas.broker_idx_at(state.replicas.start[:-1])
    is_imbalanced = np.not_equal(state.partitions.leader_idx, first)
    has_threshold = version is not None and version < FIRST_WITHOUT_THRESHOLD
    tried = is_imbalanced
    if has_threshold:
        preferred = np.bincount(first, minlength=state.num_brokers)
        astray = np.bincount(first[is_imbalanced], minlength=state.num_brokers)
        is_over = astray * 100 > preferred * percentage
        tried = is_imbalanced & is_over[first] & ~state.is_reassigning
    chosen = np.nonzero(tried)[0]
    after = elect(state, Election.PREFERRED, chosen, rules).partitions.leader_idx
    changes = (after != state.partitions.leader_idx) & (after != ABSENT)
    count = int(changes.sum())
    per_pass = max(count, 1) if has_threshold else MOST_CHANGES_A_PASS
    return AutomaticElection(
        changes=changes,
        is_imbalanced=is_imbalanced,
        has_threshold=has_threshold,
        num_passes=-(-count // per_pass),
    )
