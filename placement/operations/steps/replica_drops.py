"""Choice of the replicas that a lower replication factor drops."""

from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray, RowArray
from placement.core.model.problem import Limits
from placement.core.model.solution import Shortfall
from placement.draft.draft import Draft
from placement.model.cluster import ABSENT, sum_rows
from placement.model.columns import starts_of
from placement.model.load import (
    WeightArray,
    Weights,
    broker_loads,
    first_live_replica,
    first_true,
    preferred_leaders,
)
from placement.operations.steps.load_options import Options, Worth, worth_of
from placement.operations.steps.multiple_choice import choose_nearest, is_exact
from placement.operations.steps.shorter_lists import ShorterLists, whole_lists
from placement.rules.pinning import kept_leaders

MOST_LISTS = 10_000
"""Maximum number of shorter lists that are made before each partition chooses one."""
NEEDED = "what is left is the last in sync, or the last to lead"
SERVING = "without those in its fullest rack too few would be in sync"
FULL = "the broker that would lead then may not carry so much"


class ReplicaDrops:
    """
    Drop replicas until no partition has too many.

    Offline replicas are dropped first, then those in the rack that holds most; those
    out of sync before those in sync. The bands choose among all sets of replicas that
    may go so, one after the other; among the next ones of each partition where these
    sets are very many. Always kept are the last replica in sync, the last one of these
    that may lead, eligible leaders while the ISR is too small, and as many replicas in
    sync as min.insync.replicas requires, as far as they exist. If all replicas kept in
    sync are in the fullest rack, the list stays longer, because its racks would
    otherwise be uneven.
    """

    def __init__(self, draft: Draft, surplus: RowArray) -> None:
        state, replicas = draft.state, draft.state.replicas
        self.draft, self.whole = draft, whole_lists(state, surplus)
        self.lists = self.every = self.whole
        self.chosen = np.arange(len(self.whole))
        self.is_exact = False
        self.rack = state.brokers.rack_idx[replicas.broker_idx]
        self.is_kept_back = np.zeros(len(surplus), dtype=np.bool_)
        self.is_live = ~state.is_offline
        self.serves = replicas.is_in_sync & self.is_live
        wanted = state.num_replicas - surplus
        self.min_isr = state.topics.min_insync_replicas[state.partitions.topic_idx]
        self.least_serving = np.minimum(self.min_isr, wanted)
        given_way = {*draft.settings.lifted, *draft.settings.soft}
        self.is_rack_kept = "rack" not in given_way
        self.is_kept = _kept(draft, wanted)
        # A present leader may remain the leader on any broker.
        self.leads = draft.leads[replicas.broker_idx]
        self.led = first_live_replica(state)
        self.leads[self.led[self.led != ABSENT]] = True

    @property
    def dropped(self) -> BoolArray:
        """``(R,)`` true for the replicas to drop."""
        found = np.zeros(len(self.rack), dtype=np.bool_)
        found[self.lists.row[self.lists.is_dropped]] = True
        return found

    def run(self, limits: Limits, weights: Weights) -> BoolArray:
        """
        Return ``(R,)`` true for the replicas to drop.

        Parameters
        ----------
        limits
            Bands and capacities of the brokers after the change.
        weights
            Weights of the replicas after the change.
        """
        self.lists = self.whole
        while (candidates := self._candidates(self.lists)).any():
            at = self._in_order(self.lists, candidates)
            self.lists = self.lists.without_one(at)
            if len(self.lists) > MOST_LISTS:
                self._choose(limits, weights)
        self._choose(limits, weights)
        return self.dropped

    def _choose(self, limits: Limits, weights: Weights) -> None:
        """Choose a list for each partition that has several."""
        if len(self.lists) == len(self.whole):
            return
        self.every, self.is_exact = self.lists, is_exact(self.draft, len(self.lists))
        options, load = self._options(self.every, weights)
        self.chosen = choose_nearest(self.draft, options, load, limits)
        self.lists = self.every.take(self.chosen)

    def worth(self, limits: Limits, weights: Weights) -> Worth:
        """Return the worth of the choice by other bands; parameters as for `run`."""
        options, load = self._options(self.every, weights)
        return worth_of(options, load, limits, self.chosen)

    def restore(self, partitions: BoolArray) -> BoolArray:
        """Restore dropped replicas of some partitions; return those still dropped."""
        keeps = partitions[self.lists.partition]
        own = np.where(keeps, self.whole.surplus, self.lists.surplus)
        gone = self.lists.is_dropped & ~keeps[self.lists.list_idx]
        self.lists = replace(self.lists, is_dropped=gone, surplus=own)
        self.is_kept_back |= partitions
        return self.dropped

    def _in_order(self, lists: ShorterLists, chosen: BoolArray) -> RowArray:
        """Return chosen replicas: the last of a list goes first, its leader last."""
        at, of = np.nonzero(chosen)[0], lists.list_idx
        leads = np.equal(self._leading(lists)[of[at]], lists.row[at])
        return at[np.lexsort((-at, leads, of[at]))]

    def _candidates(self, lists: ShorterLists) -> BoolArray:
        """Return ``(N,)`` true for the replicas of highest priority to drop next."""
        of, row = lists.list_idx, lists.row
        is_serving = self._is_serving(lists)
        free = ~lists.is_dropped & (lists.surplus > 0)[of] & ~self._is_needed(lists)
        if not self.is_rack_kept:
            free &= ~is_serving
        free = _preferred(lists, free, ~self.is_live[row])
        together = self._in_rack(lists)
        most = np.zeros(len(lists), dtype=np.int64)
        np.maximum.at(most, of[free], together[free])
        free &= (together == most[of]) & ~is_serving
        return _preferred(lists, free, ~self.draft.state.replicas.is_in_sync[row])

    def _is_needed(self, lists: ShorterLists) -> BoolArray:
        """Return ``(N,)`` true for replicas to keep: last in sync, or last to lead."""
        replicas = self.draft.state.replicas
        of, row, kept = lists.list_idx, lists.row, ~lists.is_dropped
        in_sync, leads = replicas.is_in_sync[row] & kept, self.leads[row]
        successors = in_sync & leads
        # If no replica in sync may lead, the present leader remains.
        is_out = ~lists.any_of(successors)
        is_last = _is_last(lists, in_sync)
        is_last |= _is_last(lists, successors | (is_out[of] & leads & kept))
        # Of the present ISR: replicas dropped here change nothing in this rule.
        isr = sum_rows(replicas.is_in_sync[row], lists.start)
        is_small = isr < self.min_isr[lists.partition]
        needed: BoolArray = is_last | (replicas.is_eligible[row] & is_small[of])
        return needed | self.is_kept[row]

    def _is_serving(self, lists: ShorterLists) -> BoolArray:
        """Return ``(N,)`` true for replicas in sync that the min ISR requires."""
        kept = self.serves[lists.row] & ~lists.is_dropped
        count = sum_rows(kept, lists.start)
        is_least = count <= self.least_serving[lists.partition]
        serving: BoolArray = kept & is_least[lists.list_idx]
        return serving

    def _in_rack(self, lists: ShorterLists) -> RowArray:
        """Return ``(N,)`` number of undropped replicas of the list in the rack."""
        key = lists.list_idx * self.draft.state.num_racks + self.rack[lists.row]
        kept = ~lists.is_dropped
        _, position, counts = np.unique(
            key[kept], return_inverse=True, return_counts=True
        )
        found = np.zeros(len(key), dtype=np.int64)
        found[kept] = counts[position]
        return found

    def _leading(self, lists: ShorterLists) -> RowArray:
        """Return ``(K,)`` row of the replica that leads each list, or `ABSENT`."""
        kept, led = ~lists.is_dropped, self.led[lists.partition]
        live = lists.first(kept & self.is_live[lists.row])
        successor = lists.first(kept & can_lead(self.draft)[lists.row])
        successor = np.where(successor == ABSENT, live, successor)
        return np.where(np.equal(live, led), led, successor)

    def _options(
        self, lists: ShorterLists, weights: Weights
    ) -> tuple[Options, WeightArray]:
        """Return what each list adds to the loads of brokers, and these loads."""
        # Present replicas weigh what they take now; leaders what they take then.
        weights = replace(weights, own=self.draft.weights.own)
        state = self.draft.state
        load = broker_loads(state, weights, preferred_leaders(state))
        broker_idx = state.replicas.broker_idx
        gone = np.nonzero(lists.is_dropped)[0]
        rows, of = lists.row[gone], lists.list_idx[gone]
        change = -weights.replica[lists.partition[of]]
        if len(weights.own):
            change[:, 0] -= weights.own[rows]
        has_leader = state.has_source[lists.partition]
        old, new = self.led[lists.partition], self._leading(lists)
        changes = has_leader & np.not_equal(old, new)
        leaves = np.nonzero(changes & (old != ABSENT))[0]
        comes = np.nonzero(changes & (new != ABSENT))[0]
        lead = weights.leader[lists.partition]
        option = np.concatenate([of, leaves, comes])
        order = np.argsort(option, kind="stable")
        brokers = broker_idx[np.concatenate([rows, old[leaves], new[comes]])]
        every = np.concatenate([change, -lead[leaves], lead[comes]])
        counts = np.bincount(option, minlength=len(lists))
        _, first = np.unique(lists.partition, return_index=True)
        options = Options(
            start=np.append(first, len(lists)).astype(np.int64),
            change_start=starts_of(counts),
            broker_idx=brokers[order],
            change=every[order],
        )
        return options, load

    def shortfalls(self) -> list[Shortfall]:
        """Return a shortfall, with the reason, for partitions with surplus replicas."""
        lists, state = self.lists, self.draft.state
        kept = sum_rows(~lists.is_dropped, lists.start)
        # Another replica could be copied first, or catch up.
        is_serving = lists.any_of(~lists.is_dropped & ~self._is_needed(lists))
        is_full = self.is_kept_back[lists.partition]
        why = np.where(is_full, FULL, np.where(is_serving, SERVING, NEEDED))
        return [
            Shortfall(
                what="bins",
                have=int(kept[k]),
                need=int(kept[k] - lists.surplus[k]),
                group=int(lists.partition[k]),
                level="replica",
                is_proven=bool(why[k] == NEEDED),
                message=f"{state.name_of(int(lists.partition[k]))} keeps {kept[k]} "
                f"replicas: {why[k]}",
            )
            for k in np.nonzero(lists.surplus > 0)[0]
        ]


def _preferred(lists: ShorterLists, free: BoolArray, wanted: BoolArray) -> BoolArray:
    """Return the wanted candidates; all candidates of lists that have none."""
    has = lists.any_of(free & wanted)
    found: BoolArray = free & (wanted | ~has[lists.list_idx])
    return found


def _is_last(lists: ShorterLists, chosen: BoolArray) -> BoolArray:
    """Return ``(N,)`` true for the only chosen replica of a list."""
    is_one = sum_rows(chosen, lists.start) == 1
    found: BoolArray = chosen & is_one[lists.list_idx]
    return found


def can_lead(draft: Draft) -> BoolArray:
    """Return ``(R,)`` true for replicas in sync on brokers that may lead."""
    replicas = draft.state.replicas
    may: BoolArray = replicas.is_in_sync & draft.leads[replicas.broker_idx]
    return may


def _kept(draft: Draft, wanted: RowArray) -> BoolArray:
    """Return ``(R,)`` true for leaders to keep: with factor 1, the present ones."""
    state, kept = draft.state, kept_leaders(draft)
    leader, of = state.partitions.leader_idx, state.replicas.partition_idx
    leads = np.equal(state.replicas.broker_idx, leader[of])
    has_leader = first_true(kept & leads, state.replicas.start) != ABSENT
    is_one = (wanted <= 1) & has_leader
    found: BoolArray = kept & (leads | ~is_one[of])
    return found
