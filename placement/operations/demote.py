"""Take leadership off brokers or single log dirs without copying replicas."""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, IndexArray, RowArray
from placement.core.model.solution import Shortfall
from placement.draft.draft import Draft
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import (
    RESOURCES,
    WeightArray,
    broker_loads,
    first_live_replica,
    first_true,
)
from placement.model.reassignment import Reassignment, led_by
from placement.operations.steps.load_options import Options
from placement.operations.steps.multiple_choice import choose_nearest, limits_of
from placement.rules.frozen_partitions import is_excluded, is_untouchable


@dataclass(frozen=True, slots=True)
class Demote:
    """
    Demote brokers, or replicas in some log dirs: they lead nothing and come last.

    *Goals*: demoted replicas are at the end of every list, and others lead.
    *Constraints*: no copies; only live replicas in sync become leaders, and only on
    brokers that may lead and stay within their capacities. *Algorithm*: the bands
    choose among the replicas that may lead; the other replicas keep their order.

    Parameters
    ----------
    broker_ids
        Ids of the brokers to demote.
    log_dirs
        Broker id and path of each log dir to demote.
    """

    broker_ids: tuple[int, ...] = ()
    log_dirs: tuple[tuple[int, str], ...] = ()

    def fill(self, draft: Draft) -> None:
        """Decide the order of every list that names a demoted replica."""
        state = draft.state
        demoted = self._is_demoted(state)
        is_demoted = np.isin(state.brokers.ids, self.broker_ids)
        draft.leads &= ~is_demoted
        draft.must_release |= is_demoted
        untouchable = is_untouchable(draft)
        concerned = first_true(demoted, state.replicas.start) != ABSENT
        chosen = concerned & ~untouchable
        draft.is_left_alone |= ~concerned & ~untouchable
        may_lead = _may_lead(draft, demoted)
        leading = _choose_leaders(draft, chosen, demoted, may_lead)
        asked = concerned & ~is_excluded(draft)
        draft.shortfalls += _still_leading(draft, asked, demoted, may_lead)
        draft.decide(_ordered(state, chosen, demoted, leading))

    def _is_demoted(self, state: ClusterState) -> BoolArray:
        """Return ``(R,)`` true for the replicas to demote."""
        replicas, dirs = state.replicas, state.log_dirs
        demoted = np.isin(state.brokers.ids, self.broker_ids)[replicas.broker_idx]
        wanted = set(self.log_dirs)
        owners = state.brokers.ids[dirs.broker_idx].tolist()
        named = [key in wanted for key in zip(owners, dirs.paths, strict=True)]
        # One more row, false, for replicas whose log dir is unknown.
        is_named = np.array([*named, False], dtype=np.bool_)
        found: BoolArray = demoted | is_named[replicas.log_dir_idx]
        return found


def _may_lead(draft: Draft, demoted: BoolArray) -> BoolArray:
    """Return ``(R,)`` true for replicas that may become leader."""
    replicas = draft.state.replicas
    return replicas.is_in_sync & draft.leads[replicas.broker_idx] & ~demoted


def _choose_leaders(
    draft: Draft, chosen: BoolArray, demoted: BoolArray, may_lead: BoolArray
) -> RowArray:
    """
    Return ``(P,)`` the replica that leads after the plan.

    A first replica that is in sync and not demoted stays first. If no replica may lead,
    the first live one remains the leader.
    """
    state = draft.state
    replicas, first = state.replicas, first_live_replica(state)
    stays = (first != ABSENT) & (~demoted & replicas.is_in_sync)[first]
    asked = chosen & ~stays & (first != ABSENT)
    successors = np.nonzero(may_lead & asked[replicas.partition_idx])[0]
    if not len(successors):
        return first
    of, groups = np.unique(replicas.partition_idx[successors], return_index=True)
    load = broker_loads(state, draft.weights, replicas.broker_idx_at(first))
    released, held = draft.weights.leader[of], replicas.broker_idx[first[of]]
    np.subtract.at(load, held, released)
    options = Options(
        start=np.append(groups, len(successors)).astype(np.int64),
        change_start=np.arange(len(successors) + 1, dtype=np.int64),
        broker_idx=replicas.broker_idx[successors],
        change=draft.weights.leader[replicas.partition_idx[successors]],
    )
    limits = limits_of(draft, released[~draft.leads[held]].sum(axis=0))
    leading = first.copy()
    leading[of] = successors[choose_nearest(draft, options, load, limits)]
    _keep_capacities(draft, of, leading, first, limits.capacity)
    return leading


def _keep_capacities(
    draft: Draft, of: IndexArray, leading: RowArray, first: RowArray, most: WeightArray
) -> None:
    """Restore leaders whose successor would exceed a capacity; report shortfalls."""
    replicas, weights = draft.state.replicas, draft.weights.leader
    load = broker_loads(draft.state, draft.weights, replicas.broker_idx_at(leading))
    is_over = np.any(load > most, axis=1)
    for p in of[is_over[replicas.broker_idx[leading[of]]]].tolist():
        broker = int(replicas.broker_idx[leading[p]])
        over = (load[broker] > most[broker]) & (weights[p] > 0)
        if not over.any():
            continue
        r = int(np.argmax(over))
        draft.shortfalls.append(_too_much(draft, p, broker, r, (load, most)))
        load[broker] -= weights[p]
        leading[p] = first[p]
        load[replicas.broker_idx[first[p]]] += weights[p]


def _too_much(
    draft: Draft, p: int, broker: int, r: int, loads: tuple[WeightArray, WeightArray]
) -> Shortfall:
    """Return the shortfall of a broker without capacity to lead a partition."""
    need, have = (int(load[broker, r]) for load in loads)
    return Shortfall(
        what="capacity",
        have=have,
        need=need,
        group=p,
        bin=broker,
        resource=str(RESOURCES[r]),
        level="broker",
    )


def _still_leading(
    draft: Draft, concerned: BoolArray, demoted: BoolArray, may_lead: BoolArray
) -> list[Shortfall]:
    """Return a shortfall for each partition whose demoted leader has no successor."""
    state = draft.state
    replicas, leader = state.replicas, state.partitions.leader_idx
    leads = np.equal(replicas.broker_idx, leader[replicas.partition_idx])
    # The present leader, and the leader by the list, for partitions without a leader.
    for leading in (first_live_replica(state), led_by(state)):
        leads[leading[leading != ABSENT]] = True
    is_led = first_true(leads & demoted, replicas.start) != ABSENT
    has_successor = first_true(may_lead, replicas.start) != ABSENT
    return [
        Shortfall(
            what="bins",
            have=0,
            need=1,
            group=int(p),
            level="leader",
            is_proven=True,
            message=f"{state.name_of(p)} keeps its leader: no other live replica that "
            "may lead is in sync",
        )
        for p in np.nonzero(concerned & is_led & ~has_successor)[0].tolist()
    ]


def _ordered(
    state: ClusterState, chosen: BoolArray, demoted: BoolArray, leading: RowArray
) -> Reassignment:
    """Return lists in the order: leader, other replicas, demoted replicas."""
    rows = np.arange(len(state.replicas), dtype=np.int64)
    of = state.replicas.partition_idx
    leads = np.equal(rows, leading[of])
    rank = np.where(leads, 0, np.where(demoted, 2, 1)) * chosen[of]
    origin = np.lexsort((rows, rank, of)).astype(np.int64)
    return Reassignment(
        before=state, broker_idx=state.replicas.broker_idx[origin], origin=origin
    )
