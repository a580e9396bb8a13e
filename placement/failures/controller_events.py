"""
Brokers and log dirs lost and returned: the controller's decisions as columns.

A controller fences one broker after the other. Partitions do not depend on each other,
so the k-th loss of every partition is decided in one go, and the outcome is that of
`placement.failures.partition_change` for each partition and each broker in turn.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from placement.failures.controller_decision import (
    Decision,
    ElectionRules,
    decide,
    is_usable,
)
from placement.failures.partition_change import Election
from placement.model.cluster import (
    ABSENT,
    BoolArray,
    BrokerState,
    ClusterState,
    IndexArray,
    LogDirState,
    sum_rows,
)

RowArray = npt.NDArray[np.int64]
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Loss:
    """
    What is lost, in the order in which the controller learns of it.

    Parameters
    ----------
    broker_idx
        Rows of brokers.
    log_dir_idx
        Rows of log dirs, lost after the brokers; their brokers go on.
    """

    broker_idx: IndexArray
    log_dir_idx: IndexArray

    def at(self, state: ClusterState) -> RowArray:
        """Return ``(R,)`` when each replica is lost, `NEVER` where it stays."""
        replicas = state.replicas
        broker_at = np.full(state.num_brokers, NEVER, dtype=np.int64)
        broker_at[self.broker_idx] = np.arange(len(self.broker_idx))
        # A row more, so that replicas in unknown log dirs stay.
        dir_at = np.full(len(state.log_dirs) + 1, NEVER, dtype=np.int64)
        dir_at[self.log_dir_idx] = len(self.broker_idx) + np.arange(
            len(self.log_dir_idx)
        )
        found: RowArray = np.minimum(
            broker_at[replicas.broker_idx], dir_at[replicas.log_dir_idx]
        )
        return found

    def with_stopped(self, state: ClusterState) -> "Loss":
        """Return it with the brokers that stop, as Kafka does without a log dir."""
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
    Return the cluster once the controller has dealt with a loss.

    Brokers are fenced, log dirs offline; what was lost leaves the ISR, and leaders are
    elected. Nobody has caught up and nothing is copied yet.

    Parameters
    ----------
    state
        The cluster as it is.
    loss
        What is lost.
    rules
        Who may lead; by default in-sync replicas alone.
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
        # The controller looks only at partitions whose ISR loses a member.
        is_shrunk = is_hit & after.replicas.is_in_sync
        shrunk = sum_rows(is_shrunk, state.replicas.start) > 0
        after = decide(after, chosen[shrunk[chosen]], decision, rules)
    return after


def _steps(state: ClusterState, lost_at: RowArray) -> list[RowArray]:
    """Return ``(P,)`` the first, second, … time that each partition is hit."""
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
    Return the cluster once everything lost is back and has caught up.

    Leaders stay where they are. Partitions without one get the first replica that may
    lead; then what came back follows, and is in sync again.

    Parameters
    ----------
    now, before
        The cluster after the loss, and before it: brokers return as they were.
    loss
        What comes back, in the same order.
    rules
        Who may lead.
    is_crash
        Whether the brokers were killed. With eligible leader replicas they then are
        eligible no more: what they wrote last may be gone. Without, Kafka trusts them.
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
    """Forget what a crash may have lost; then elect where nobody leads."""
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
    """Let the replicas of partitions that lost some join the ISR of a live leader."""
    replicas, start = state.replicas, state.replicas.start
    is_led = np.not_equal(state.partitions.leader_idx, ABSENT)
    chosen = np.nonzero(is_led & (sum_rows(is_back, start) > 0))[0]
    # What is still being copied is not in sync by returning.
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
        The cluster.
    election
        `PREFERRED`: first replicas that may lead do. `UNCLEAN`: where nobody may lead
        the first live replica does, whatever it lacks.
    partition_idx
        Rows of the partitions.
    rules
        Who may lead.
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
