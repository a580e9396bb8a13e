"""What Kafka's next automatic preferred election will change, by its version."""

from dataclasses import dataclass

import numpy as np

from placement.failures.controller_decision import ElectionRules
from placement.failures.controller_events import elect
from placement.failures.partition_change import Election
from placement.model.cluster import ABSENT, BoolArray, ClusterState

FIRST_WITHOUT_THRESHOLD = (4, 0)
"""Up to 3.9 `leader.imbalance.per.broker.percentage` decides; from 4.0 nothing does."""
MOST_CHANGES_A_PASS = 1000
"""From 4.0: where there are more, the next pass follows at once."""
DEFAULT_PERCENTAGE = 10


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AutomaticElection:
    """
    What the next automatic election does.

    Parameters
    ----------
    changes
        ``(P,)`` partitions whose leader it changes.
    is_imbalanced
        ``(P,)`` partitions that another than their first replica leads, or none.
    has_threshold
        Whether brokers under `leader.imbalance.per.broker.percentage` are left alone.
    num_passes
        Passes it takes; 0 where nothing changes.
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
    Foretell the next automatic preferred election.

    Parameters
    ----------
    state
        The cluster.
    rules
        Who may lead.
    version
        Major and minor version of Kafka; `None`: 4.0 or later.
    percentage
        `leader.imbalance.per.broker.percentage`, for versions up to 3.9: a broker's
        partitions are looked at where more than so many percent of those that it is
        the preferred leader of are led by others; reassigning ones are left alone.
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
