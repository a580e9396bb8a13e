"""Choice of the replicas that a lower replication factor drops."""

from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray, RowArray
from placement.core.model.problem import Limits
from placement.core.model.solution import Shortfall
from placement.draft.draft import Draft
from placement.model.cluster import ABSENT, sum_rows
from placement.model.load import (
    Weights,
    broker_loads,
    first_live_replica,
    first_true,
    preferred_leaders,
)
from placement.operations.steps.load_options import Options
from placement.operations.steps.multiple_choice import choose_nearest
from placement.rules.pinning import kept_leaders

NEEDED = "what is left is the last in sync, or the last to lead"


SERVING = "without those in its fullest rack too few would be in sync"


FULL = "the broker that would lead then may not carry so much"


class ReplicaDrops:
    """
    Drop replicas, one per partition and round, until no partition has too many.

    Offline replicas are dropped first, then those in the rack that holds most; those
    out of sync before those in sync. The bands choose among equals. Always kept are the
    last replica in sync, the last one of these that may lead, eligible leaders while
    the ISR is too small, and as many replicas in sync as min.insync.replicas requires,
    as far as they exist. If all replicas kept in sync are in the fullest rack, the list
    stays longer, because its racks would otherwise be uneven.
    """

    def __init__(self, draft: Draft, surplus: RowArray) -> None:
        replicas = draft.state.replicas
        self.draft, self.surplus = draft, surplus.copy()
        self.start, self.of = replicas.start, replicas.partition_idx
        self.dropped = np.zeros(len(replicas), dtype=np.bool_)
        self.rack = draft.state.brokers.rack_idx[replicas.broker_idx]
        self.is_kept_back = np.zeros(len(surplus), dtype=np.bool_)
        state = draft.state
        self.is_live = ~state.is_offline
        self.serves = replicas.is_in_sync & self.is_live
        wanted = state.num_replicas - surplus
        least = state.topics.min_insync_replicas[state.partitions.topic_idx]
        self.least_serving = np.minimum(least, wanted)
        given_way = {*draft.settings.lifted, *draft.settings.soft}
        self.is_rack_kept = "rack" not in given_way
        self.is_kept = _kept(draft, wanted)
        # A present leader may remain the leader on any broker.
        self.leads = draft.leads[replicas.broker_idx]
        first = first_live_replica(draft.state)
        self.leads[first[first != ABSENT]] = True

    def run(self, after: tuple[Limits, Draft]) -> BoolArray:
        """Return ``(R,)`` true for the replicas to drop."""
        limits, draft = after
        state = self.draft.state
        # Replica weights are those before the change, leader weights those after it.
        weights = replace(draft.weights, own=self.draft.weights.own)
        load = broker_loads(state, weights, preferred_leaders(state))
        while True:
            rows = np.nonzero(self._candidates())[0]
            if not len(rows):
                return self.dropped
            # The last replica of a list goes first, its leader last.
            leads = np.equal(self._leading()[self.of[rows]], rows)
            rows = rows[np.lexsort((-rows, leads, self.of[rows]))]
            options = self._options(rows, weights)
            chosen = choose_nearest(self.draft, options, load, limits)
            self._drop(rows[chosen])
            for option in chosen:
                span = slice(*options.change_start[option : option + 2])
                np.add.at(load, options.broker_idx[span], options.change[span])

    def restore(self, partitions: BoolArray) -> BoolArray:
        """Restore dropped replicas of some partitions; return those still dropped."""
        rows = partitions[self.of] & self.dropped
        self.surplus += sum_rows(rows, self.start)
        self.dropped[rows] = False
        self.is_kept_back |= partitions
        return self.dropped

    def _drop(self, rows: RowArray) -> None:
        self.dropped[rows] = True
        self.surplus[self.of[rows]] -= 1

    def _leading(self) -> RowArray:
        """Return ``(P,)`` the first live replica that is kept."""
        return first_true(self.is_live & ~self.dropped, self.start)

    def _candidates(self) -> BoolArray:
        """Return ``(R,)`` true for the replicas of highest priority to drop next."""
        state = self.draft.state
        free = ~self.dropped & (self.surplus > 0)[self.of] & ~self._is_needed()
        if not self.is_rack_kept:
            free &= ~self._is_serving()
        free = self._preferred(free, ~self.is_live)
        together = self._in_rack()
        most = np.zeros(len(self.surplus), dtype=np.int64)
        np.maximum.at(most, self.of[free], together[free])
        free &= (together == most[self.of]) & ~self._is_serving()
        return self._preferred(free, ~state.replicas.is_in_sync)

    def _preferred(self, free: BoolArray, wanted: BoolArray) -> BoolArray:
        """Return the wanted candidates; all candidates of partitions that have none."""
        has = first_true(free & wanted, self.start) != ABSENT
        found: BoolArray = free & (wanted | ~has[self.of])
        return found

    def _is_needed(self) -> BoolArray:
        """Return ``(R,)`` true for replicas to keep: last in sync, or last to lead."""
        state = self.draft.state
        replicas = state.replicas
        in_sync = replicas.is_in_sync & ~self.dropped
        is_last = self._is_last(in_sync)
        successors = in_sync & self.leads
        # If no replica in sync may lead, the present leader remains.
        is_out = sum_rows(successors, self.start) == 0
        is_last |= self._is_last(
            successors | (is_out[self.of] & self.leads & ~self.dropped)
        )
        least = state.topics.min_insync_replicas[state.partitions.topic_idx]
        is_small = sum_rows(replicas.is_in_sync, self.start) < least
        needed: BoolArray = is_last | (replicas.is_eligible & is_small[self.of])
        return needed | self.is_kept

    def _is_serving(self) -> BoolArray:
        """Return ``(R,)`` true for replicas in sync that the min ISR requires."""
        kept = self.serves & ~self.dropped
        is_least = sum_rows(kept, self.start) <= self.least_serving
        serving: BoolArray = kept & is_least[self.of]
        return serving

    def _is_last(self, chosen: BoolArray) -> BoolArray:
        """Return ``(R,)`` true for the only chosen replica of a partition."""
        found: BoolArray = chosen & (sum_rows(chosen, self.start) == 1)[self.of]
        return found

    def _in_rack(self) -> RowArray:
        """Return ``(R,)`` number of undropped replicas of the partition in the rack."""
        key = self.of.astype(np.int64) * self.draft.state.num_racks + self.rack
        _, position, counts = np.unique(
            key[~self.dropped], return_inverse=True, return_counts=True
        )
        found = np.zeros(len(key), dtype=np.int64)
        found[~self.dropped] = counts[position]
        return found

    def _options(self, rows: RowArray, weights: Weights) -> Options:
        """Return the load changes by dropping each row, the next leader included."""
        replicas, of = self.draft.state.replicas, self.of[rows]
        change = -weights.replica[of]
        if len(weights.own):
            change[:, 0] -= weights.own[rows]
        leads = np.equal(self._leading()[of], rows)
        successors = self._successors(rows)
        lead = weights.leader[of] * leads[:, None]
        change = np.stack(
            [change - lead, lead * (successors != ABSENT)[:, None]], axis=1
        )
        brokers = np.stack(
            [replicas.broker_idx[rows], replicas.broker_idx[np.maximum(successors, 0)]],
            axis=1,
        )
        starts = np.nonzero(np.append(True, np.not_equal(of[1:], of[:-1])))[0]
        return Options(
            start=np.append(starts, len(rows)).astype(np.int64),
            change_start=np.arange(len(rows) + 1, dtype=np.int64) * 2,
            broker_idx=brokers.reshape(-1),
            change=change.reshape(-1, change.shape[2]),
        )

    def _successors(self, rows: RowArray) -> RowArray:
        """Return ``(rows,)`` the next leader once a row is dropped, or `ABSENT`."""
        live = self.draft.state.brokers.is_live[self.draft.state.replicas.broker_idx]
        successor = self._first_but(rows, can_lead(self.draft) & ~self.dropped)
        any_live = self._first_but(rows, live & ~self.dropped)
        return np.where(successor == ABSENT, any_live, successor)

    def _first_but(self, rows: RowArray, chosen: BoolArray) -> RowArray:
        """Return the first chosen replica of each row's partition but the row."""
        first = first_true(chosen, self.start)
        # The second one if the row itself is the first.
        rest = chosen.copy()
        rest[first[first != ABSENT]] = False
        second = first_true(rest, self.start)
        of = self.of[rows]
        return np.where(np.equal(first[of], rows), second[of], first[of])

    def shortfalls(self) -> list[Shortfall]:
        """Return a shortfall, with the reason, for partitions with surplus replicas."""
        counts = np.diff(self.start) - sum_rows(self.dropped, self.start)
        # Another replica could be copied first, or catch up.
        is_serving = sum_rows(~self.dropped & ~self._is_needed(), self.start) > 0
        why = np.where(self.is_kept_back, FULL, np.where(is_serving, SERVING, NEEDED))
        return [
            Shortfall(
                what="bins",
                have=int(counts[p]),
                need=int(counts[p] - self.surplus[p]),
                group=int(p),
                level="replica",
                is_proven=bool(why[p] == NEEDED),
                message=f"{self.draft.state.name_of(int(p))} keeps {counts[p]} "
                f"replicas: {why[p]}",
            )
            for p in np.nonzero(self.surplus > 0)[0]
        ]


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
