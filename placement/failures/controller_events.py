"""
Loss and return of brokers and log dirs: controller decisions as columns.

A controller fences one broker after the other. Partitions are independent, so the k-th
loss of every partition is decided in one step. The outcome is that of one decision
for each partition and each broker in turn.
"""

from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray, IndexArray, RowArray
from placement.failures.controller_decision import (
    Decision,
    Election,
    ElectionRules,
    decide,
    is_usable,
)
from placement.model.cluster import (
    ABSENT,
    BrokerState,
    ClusterState,
    LogDirState,
    sum_rows,
)

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Loss:
    """
    Lost brokers and log dirs, in the order in which the controller learns of them.

    Parameters
    ----------
    broker_idx
        Rows of lost brokers.
    log_dir_idx
        Rows of log dirs lost after the brokers; their own brokers stay live.
    """

    broker_idx: IndexArray
    log_dir_idx: IndexArray

    def at(self, state: ClusterState) -> RowArray:
        """Return ``(R,)`` step at which each replica is lost, or `NEVER`."""
        replicas = state.replicas
        broker_at = np.full(state.num_brokers, NEVER, dtype=np.int64)
        broker_at[self.broker_idx] = np.arange(len(self.broker_idx))
        # The extra last row keeps replicas in unknown log dirs.
        dir_at = np.full(len(state.log_dirs) + 1, NEVER, dtype=np.int64)
        dir_at[self.log_dir_idx] = len(self.broker_idx) + np.arange(
            len(self.log_dir_idx)
        )
        found: RowArray = np.minimum(
            broker_at[replicas.broker_idx], dir_at[replicas.log_dir_idx]
        )
        return found

    def with_stopped(self, state: ClusterState) -> "Loss":
        """Return the loss with the brokers that stop because all log dirs are lost."""
        dirs = state.log_dirs
        serves = np.not_equal(dirs.state, LogDirState.OFFLINE)
        serves[self.log_dir_idx] = False
        left = np.bincount(dirs.broker_idx[serves], minlength=state.num_brokers)
        stops = np.zeros(state.num_brokers, dtype=np.bool_)
        stops[dirs.broker_idx[self.log_dir_idx]] = True
        stops &= state.brokers.is_live & (left == 0)
        stops[self.broker_idx] = False
        rows = np.nonzero(stops)[0].astype(np.int32)
        return replace(self, broker_idx=np.append(self.broker_idx, rows))


def lose(
    state: ClusterState, loss: Loss, rules: ElectionRules | None = None
) -> ClusterState:
    """
    Return the cluster after the controller has handled a loss.

    Lost brokers are fenced and lost log dirs offline. Lost replicas leave the ISR, and
    leaders are elected. No replica has caught up and nothing is copied yet.

    Parameters
    ----------
    state
        Cluster before the loss.
    loss
        Lost brokers and log dirs.
    rules
        Rules of elections; `None`: in-sync replicas alone.
    """
    rules = rules or ElectionRules()
    lost_at, usable = loss.at(state), is_usable(state)
    after = _with_states(state, loss, BrokerState.FENCED, LogDirState.OFFLINE)
    for step in _steps(state, lost_at):
        chosen = np.nonzero(step != NEVER)[0]
        time = step[state.replicas.partition_idx]
        is_hit = np.equal(lost_at, time)
        decision = Decision(
            target=after.replicas.is_in_sync & ~is_hit,
            usable=usable & (lost_at > time),
            crashed=np.zeros(len(usable), dtype=np.bool_),
        )
        # The controller decides only on partitions whose ISR loses a member.
        is_shrunk = is_hit & after.replicas.is_in_sync
        shrunk = sum_rows(is_shrunk, state.replicas.start) > 0
        after = decide(after, chosen[shrunk[chosen]], decision, rules)
    return after


def _steps(state: ClusterState, lost_at: RowArray) -> list[RowArray]:
    """Return ``(P,)`` steps of the first, second, … loss of each partition."""
    start, of = state.replicas.start, state.replicas.partition_idx
    rows = np.nonzero(lost_at != NEVER)[0]
    order = rows[np.lexsort((lost_at[rows], of[rows]))]
    hits = np.bincount(of[order], minlength=len(start) - 1)
    first = np.cumsum(hits) - hits
    steps = []
    for k in range(int(hits.max(initial=0))):
        step = np.full(len(hits), NEVER, dtype=np.int64)
        has = hits > k
        step[has] = lost_at[order[first[has] + k]]
        steps.append(step)
    return steps


def bring_back(
    now: ClusterState,
    before: ClusterState,
    loss: Loss,
    rules: ElectionRules | None = None,
    *,
    is_crash: bool = True,
) -> ClusterState:
    """
    Return the cluster after everything lost is back and has caught up.

    Leaders stay. Partitions without a leader elect the first replica that may lead.
    Then the returned replicas follow their leaders, and are in sync again.

    Parameters
    ----------
    now, before
        Cluster after the loss, and before it; brokers return to their state before.
    loss
        Brokers and log dirs that return, in the same order.
    rules
        Rules of elections; `None`: in-sync replicas alone.
    is_crash
        Whether the brokers crashed. With eligible leader replicas enabled, replicas on
        crashed brokers are no longer eligible, because they may lack their last
        records. Without, Kafka trusts these replicas.
    """
    rules = rules or ElectionRules()
    back_at = loss.at(now)
    is_back = back_at != NEVER
    states = replace(
        now,
        brokers=replace(now.brokers, state=before.brokers.state),
        log_dirs=replace(now.log_dirs, state=before.log_dirs.state),
    )
    usable = is_usable(states)
    after = states
    for step in _steps(now, back_at):
        time = step[now.replicas.partition_idx]
        is_here = np.equal(back_at, time) & is_back
        crashed = is_here & (is_crash and rules.has_elr)
        here = usable & (~is_back | (back_at <= time))
        after = _return(after, step != NEVER, (here, crashed), rules)
    return _catch_up(after, usable, is_back, rules)


def _return(
    state: ClusterState,
    is_hit: BoolArray,
    here: tuple[BoolArray, BoolArray],
    rules: ElectionRules,
) -> ClusterState:
    """Drop crashed replicas from ISR and ELR, then elect missing leaders."""
    usable, crashed = here
    replicas, start = state.replicas, state.replicas.start
    counted = crashed & (replicas.is_in_sync | replicas.is_eligible)
    nothing = np.zeros(len(crashed), dtype=np.bool_)
    forgotten = np.nonzero(is_hit & (sum_rows(counted, start) > 0))[0]
    decision = Decision(
        target=replicas.is_in_sync & ~crashed, usable=usable & ~crashed, crashed=crashed
    )
    state = decide(state, forgotten, decision, rules)
    leaderless = np.nonzero(is_hit & np.equal(state.partitions.leader_idx, ABSENT))[0]
    decision = Decision(
        target=state.replicas.is_in_sync, usable=usable, crashed=nothing
    )
    return decide(state, leaderless, decision, rules)


def _catch_up(
    state: ClusterState, usable: BoolArray, is_back: BoolArray, rules: ElectionRules
) -> ClusterState:
    """Add returned replicas to the ISR of partitions with a leader."""
    replicas, start = state.replicas, state.replicas.start
    is_led = np.not_equal(state.partitions.leader_idx, ABSENT)
    chosen = np.nonzero(is_led & (sum_rows(is_back, start) > 0))[0]
    # A replica that is still being copied is not in sync on return.
    joins = usable & ~replicas.is_adding
    decision = Decision(
        target=replicas.is_in_sync | joins,
        usable=usable,
        crashed=np.zeros(len(usable), dtype=np.bool_),
    )
    return decide(state, chosen, decision, rules)


def elect(
    state: ClusterState,
    election: Election,
    partition_idx: RowArray,
    rules: ElectionRules | None = None,
) -> ClusterState:
    """
    Return the cluster after an election.

    Parameters
    ----------
    state
        Cluster before the election.
    election
        `PREFERRED`: the first replica leads if it may. `UNCLEAN`: where no replica may
        lead, the first live replica does, whatever records it lacks.
    partition_idx
        Rows of the partitions.
    rules
        Rules of elections; `None`: in-sync replicas alone.
    """
    decision = Decision(
        target=state.replicas.is_in_sync,
        usable=is_usable(state),
        crashed=np.zeros(len(state.replicas), dtype=np.bool_),
    )
    return decide(
        state, partition_idx, decision, rules or ElectionRules(), election=election
    )


def _with_states(
    state: ClusterState, loss: Loss, broker: BrokerState, log_dir: LogDirState
) -> ClusterState:
    brokers, dirs = state.brokers.state.copy(), state.log_dirs.state.copy()
    brokers[loss.broker_idx] = broker
    dirs[loss.log_dir_idx] = log_dir
    return replace(
        state,
        brokers=replace(state.brokers, state=brokers),
        log_dirs=replace(state.log_dirs, state=dirs),
    )
