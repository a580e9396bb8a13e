"""
Even spread of topics over a list of brokers by the fewest moves.

The purpose is that of Kafka's ``--generate``, but it starts from the present replicas.
Goals in lexicographic order: total counts over the topics as even as racks allow; the
fewest copies; the replicas of each topic as even as possible; small partitions and
followers moved rather than large partitions and leaders. Leaders are then balanced by
the fewest changes, without copies.
"""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, IndexArray, RowArray
from placement.core.flow.even_counts import EvenCounts, Spread, spread_evenly
from placement.core.roles.even_roles import even_roles
from placement.model.cluster import ClusterState
from placement.model.columns import starts_of
from placement.model.load import first_live_replica, weigh
from placement.model.reassignment import Reassignment, reassign


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EvenSpread:
    """
    A placement with even counts, with a flag for the minimal number of moves.

    Parameters
    ----------
    reassignment
        Replica lists before and after.
    is_placed
        ``(P,)`` partitions that were spread: those of the topics, without those being
        reassigned already.
    is_least
        Whether no equally even placement takes fewer copies; false only for problems so
        large that they were solved in parts.
    """

    reassignment: Reassignment
    is_placed: BoolArray
    is_least: bool


def spread_topics(
    state: ClusterState,
    is_chosen: BoolArray,
    is_open: BoolArray,
    *,
    is_rack_aware: bool = True,
) -> EvenSpread:
    """
    Spread the replicas of some topics evenly over some brokers.

    Parameters
    ----------
    state
        The cluster.
    is_chosen
        ``(T,)`` true for the topics to spread.
    is_open
        ``(B,)`` true for the brokers that hold all replicas of the topics afterwards.
    is_rack_aware
        Whether replicas of a partition are spread over racks, as evenly as the racks of
        these brokers allow. Each broker without a rack is a rack of its own.

    Raises
    ------
    ValueError
        If a partition has more replicas than there are brokers.

    Notes
    -----
    Replicas of other topics on the brokers are ignored, as are sizes:
    `placement.planning.plan` makes plans for these.
    """
    is_placed = is_chosen[state.partitions.topic_idx] & ~state.is_reassigning
    rows = np.nonzero(is_placed[state.replicas.partition_idx])[0]
    brokers = state.brokers
    own_node = np.arange(len(brokers), dtype=np.int32)
    problem = EvenCounts(
        group_start=starts_of(state.num_replicas[is_placed]),
        home=state.replicas.broker_idx[rows],
        kind_of_group=state.partitions.topic_idx[is_placed],
        cost=weigh(state).copy_bytes[is_placed],
        leads=np.isin(rows, first_live_replica(state)),
        is_open=is_open,
        node_of_bin=brokers.rack_idx if is_rack_aware else own_node,
    )
    spread = spread_evenly(problem)
    roles = even_roles(
        problem.group_start, spread.bin_of, problem.home, is_open & brokers.may_lead
    )
    leading = first_live_replica(state)
    leading[is_placed] = rows[roles]
    return EvenSpread(
        reassignment=reassign(state, _brokers_of(state, rows, spread), leading),
        is_placed=is_placed,
        is_least=spread.is_least,
    )


def _brokers_of(
    state: ClusterState,
    rows: RowArray,
    spread: Spread,
) -> IndexArray:
    broker_of = state.replicas.broker_idx.copy()
    broker_of[rows] = spread.bin_of
    return broker_of
