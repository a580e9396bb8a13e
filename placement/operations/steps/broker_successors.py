"""Replace old brokers by their successors, one pair after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray, IndexArray, RowArray
from placement.core.model.problem import NO_LIMIT, Movability
from placement.core.model.solution import Shortfall
from placement.draft.draft import Draft, start_draft
from placement.model.cluster import ABSENT
from placement.model.cross_rack import source_racks
from placement.model.load import (
    RESOURCES,
    WeightArray,
    broker_loads,
    first_true,
    preferred_leaders,
)
from placement.model.rack_violations import Crowding
from placement.model.targets import rack_limit
from placement.rules.frozen_partitions import is_excluded
from placement.rules.hard_levels import eased_racks, hard_capacities
from placement.rules.hosts import hard_host_capacities


class Replacing:
    """
    Brokers of the replicas of a draft while brokers are being replaced.

    Parameters
    ----------
    draft
        The draft, with the brokers that leave and those that stay marked.
    is_untouchable
        ``(P,)`` true for partitions that must be left alone.
    pairs
        Rows of the old and the new broker of each pair.
    """

    def __init__(
        self, draft: Draft, is_untouchable: BoolArray, pairs: Sequence[tuple[int, int]]
    ) -> None:
        state = draft.state
        self.draft, self.is_untouchable = draft, is_untouchable
        self.new_of = np.arange(state.num_brokers, dtype=np.int32)
        for old, new in pairs:
            self.new_of[old] = new
        self.broker_of: IndexArray = state.replicas.broker_idx.copy()
        self.is_replaced = np.zeros(len(self.broker_of), dtype=np.bool_)
        self.partition_idx = state.replicas.partition_idx
        self.capacity = hard_capacities(draft)
        self.load = broker_loads(state, draft.weights, preferred_leaders(state))
        in_rack = np.bincount(
            state.brokers.rack_idx[draft.holds], minlength=state.num_racks
        )
        self.in_rack = in_rack
        self.rack_limit = rack_limit(state.replication_factor, in_rack)
        self.is_even = np.full(state.num_partitions, not draft.settings.is_rack_strict)
        self.minds_racks = "rack" not in draft.settings.lifted
        if draft.settings.is_rack_strict:
            self.rack_limit = np.minimum(self.rack_limit, 1)
        self.eased = eased_racks(draft)
        self.has_own_cap = np.zeros(state.num_partitions, dtype=np.bool_)
        self._ask_chosen_rules()
        self.hosts = hard_host_capacities(draft)
        settings = draft.settings
        caps = settings.max_moves, settings.max_bytes, settings.max_cross_rack_bytes
        self.left = np.array([NO_LIMIT if cap is None else cap for cap in caps])
        self.source_rack = source_racks(state)

    def _ask_chosen_rules(self) -> None:
        """Keep the tables that the user's rules fill for partitions and brokers."""
        asked = start_draft(self.draft.state, self.draft.settings)
        asked.holds = self.draft.holds
        asked.stands_for = self._stands_for()
        if not self.draft.settings.frees_the_rest:
            on = asked.state.replicas.broker_idx
            leaves = np.not_equal(self.new_of[on], on)
            kinds = np.where(leaves, Movability.MUST, Movability.NEVER)
            asked.movability = kinds.astype(np.int8)
        for rule in self.draft.settings.rules:
            rule.fill(asked)
        self.eligibility = asked.eligibility
        if asked.most_replicas is not None:
            self.capacity = hard_capacities(
                replace(self.draft, most_replicas=asked.most_replicas)
            )
        if asked.rack_cap is not None:
            self.has_own_cap = has_own = asked.rack_cap > 0
            self.eased = np.where(has_own, 0, self.eased)
            if not self.minds_racks:
                self.rack_limit = np.full_like(asked.rack_cap, NO_LIMIT)
            self.rack_limit = np.where(has_own, asked.rack_cap, self.rack_limit)
            self.is_even &= ~has_own & self.minds_racks
            self.minds_racks = True

    def _stands_for(self) -> IndexArray:
        """Return ``(B,)`` the old broker of each new one, or -1."""
        found = np.full(len(self.new_of), ABSENT, dtype=np.int32)
        olds = np.nonzero(self.new_of != np.arange(len(self.new_of)))[0]
        found[self.new_of[olds]] = olds
        return found

    def _is_eligible(self, rows: RowArray, new: int) -> BoolArray:
        """Return true for rows whose partition is eligible for the new broker."""
        found = np.ones(len(rows), dtype=np.bool_)
        of = self.partition_idx[rows]
        for table in self.eligibility:
            found &= table.allowed[table.partition_class[of], new]
        return found

    def replace(self, old: int, new: int) -> int:
        """Replace a broker where rules allow it; return the number of replicas."""
        rows = np.nonzero(np.equal(self.broker_of, old))[0]
        rows = rows[~self.is_untouchable[self.partition_idx[rows]]]
        if not self.draft.may_receive[new]:
            rows = rows[:0]
        rows = rows[~self._is_on(new)[self.partition_idx[rows]]]
        rows = rows[self._is_eligible(rows, new)]
        rows = rows[self._keeps_racks(rows, new)]
        rows = rows[self._is_led(rows, new)]
        rows = self._fitting(rows, new)
        self.broker_of[rows] = new
        self.is_replaced[rows] = True
        return len(rows)

    def reasons(self, old: int) -> list[Shortfall]:
        """Return a shortfall, with the reason, for every replica left on a broker."""
        new = int(self.new_of[old])
        rows = np.nonzero(np.equal(self.broker_of, old))[0]
        rows = rows[~is_excluded(self.draft)[self.partition_idx[rows]]]
        brought = self.load[new] + self._weights(rows)
        fits = (brought <= self._most(new)).all(axis=1)
        found = self.obstacles(rows, new)
        for i, row in enumerate(rows.tolist()):
            if found[i] is None and fits[i]:
                found[i] = self._lacking(row, "stays: caps allow no more copies")
            elif found[i] is None:
                found[i] = self._over(row, new, brought[i])
        return [one for one in found if one is not None]

    def obstacles(self, rows: RowArray, new: int) -> list[Shortfall | None]:
        """Return what keeps each replica off a broker, capacities and caps aside."""
        new_id = int(self.draft.state.brokers.ids[new])
        rack = self.draft.state.brokers.racks[self._rack(new)]
        of = self.partition_idx[rows]
        closed = np.full(len(rows), not self.draft.may_receive[new])
        why = [
            (self.is_untouchable[of], "is left alone, see the notes"),
            (closed, f"stays: broker {new_id} gets no replicas"),
            (self._is_on(new)[of], f"has a replica on broker {new_id} already"),
            (
                ~self._is_eligible(rows, new),
                f"may not be on broker {new_id}, by a rule",
            ),
            (
                ~self._is_led(rows, new),
                f"would have no leader: broker {new_id} may not lead",
            ),
        ]
        crowds = ~self._keeps_racks(rows, new)
        too_many = f"would have too many replicas in rack {rack} on broker {new_id}"
        found: list[Shortfall | None] = []
        for i, row in enumerate(rows.tolist()):
            words = next((text for applies, text in why if applies[i]), None)
            if words is not None:
                found.append(self._lacking(row, words))
            elif crowds[i]:
                lacking = self._lacking(row, too_many)
                found.append(replace(lacking, what="spread", level="rack"))
            else:
                found.append(None)
        return found

    def _lacking(self, row: int, why: str) -> Shortfall:
        p = int(self.partition_idx[row])
        return Shortfall(
            what="bins",
            have=0,
            need=1,
            item=row,
            group=p,
            bin=int(self.new_of[self.broker_of[row]]),
            level="broker",
            is_proven=not self.is_untouchable[p],
            message=f"{self.draft.state.name_of(p)} {why}",
        )

    def _over(self, row: int, new: int, load: WeightArray) -> Shortfall:
        """Return a shortfall with the capacity that a replica exceeds on `new`."""
        most = self._most(new)
        r = int(np.argmax(load > most))
        return replace(
            self._lacking(row, ""),
            what="capacity",
            have=max(int(most[r]), 0),
            need=int(load[r]),
            resource=str(RESOURCES[r]),
            message="",
        )

    def _most(self, new: int) -> WeightArray:
        """Return ``(R,)`` the capacity of a broker, within that of its host."""
        host = self.draft.state.brokers.host_idx
        beside = self.draft.holds & np.equal(host, host[new])
        beside[new] = False
        left: WeightArray = self.hosts[host[new]] - self.load[beside].sum(axis=0)
        most: WeightArray = np.minimum(self.capacity[new], left)
        return most

    def _rack(self, broker: int) -> int:
        return int(self.draft.state.brokers.rack_idx[broker])

    def _is_on(self, broker: int) -> BoolArray:
        """Return ``(P,)`` true where a replica is on the broker."""
        start = self.draft.state.replicas.start
        return first_true(np.equal(self.broker_of, broker), start) >= 0

    def _keeps_racks(self, rows: RowArray, new: int) -> BoolArray:
        """
        Return true for rows whose partition keeps the rack rule on the new broker.

        Always true inside one rack: a violation there existed before.
        """
        if not self.minds_racks:
            return np.ones(len(rows), dtype=np.bool_)
        same = [self._rack(int(b)) == self._rack(new) for b in self.broker_of[rows]]
        after = self.new_of[self.broker_of]
        keeps = [
            is_same or self._is_even(int(self.partition_idx[row]), after)
            for row, is_same in zip(rows, same, strict=True)
        ]
        return np.array(keeps, dtype=np.bool_)

    def _is_even(self, p: int, broker_of: IndexArray) -> bool:
        """Return whether every rack keeps the rack rule for a partition."""
        start = self.draft.state.replicas.start
        on = broker_of[start[p] : start[p + 1]]
        stays = on[self.draft.holds[on]]
        held = np.bincount(
            self.draft.state.brokers.rack_idx[stays], minlength=len(self.in_rack)
        )
        free = held < self.in_rack
        is_level = not free.any() or held.max() - held[free].min() <= 1
        if self.eased[p]:
            return bool(held.max(initial=0) <= self.eased[p])
        is_few = held.max(initial=0) <= self.rack_limit[p]
        if is_few and (is_level or not self.is_even[p]):
            return True
        return not self.has_own_cap[p] and self._is_no_worse(p, on)

    def _is_no_worse(self, p: int, on: IndexArray) -> bool:
        """Return whether a partition broke the rack rule before, and by no less."""
        replicas = self.draft.state.replicas
        was = replicas.broker_idx[replicas.start[p] : replicas.start[p + 1]]
        old, new = self._crowding(p, was), self._crowding(p, on)
        return bool(old.is_broken[0] and not new.is_worse_than(old)[0])

    def _crowding(self, p: int, on: IndexArray) -> Crowding:
        racks, count = self.draft.state.brokers.rack_idx, len(self.in_rack)
        held, used = (
            np.bincount(racks[rows], minlength=count)[None, :]
            for rows in (on, on[self.draft.holds[on]])
        )
        limit, is_even = self.rack_limit[p : p + 1], bool(self.is_even[p])
        return Crowding.of(held, used, self.in_rack, limit, is_even=is_even)

    def can_lead(self) -> BoolArray:
        """Return ``(R,)`` true for replicas that may lead: in sync, not replaced."""
        allowed: BoolArray = (
            self.draft.leads[self.broker_of]
            & self.draft.state.replicas.is_in_sync
            & ~self.is_replaced
        )
        return allowed

    def _is_led(self, rows: RowArray, new: int) -> BoolArray:
        """Return true for rows whose partition has a leader after the replacement."""
        if self.draft.leads[new]:
            return np.ones(len(rows), dtype=np.bool_)
        start, allowed = self.draft.state.replicas.start, self.can_lead()
        allowed[rows] = False
        has_successor = first_true(allowed, start)[self.partition_idx[rows]] >= 0
        led: BoolArray = has_successor | ~self._would_lead(rows)
        return led

    def _would_lead(self, rows: RowArray) -> BoolArray:
        """Return true for rows that would be the first live replicas of their lists."""
        live = self.draft.state.brokers.is_live[self.broker_of]
        live[rows] = True
        first = first_true(live, self.draft.state.replicas.start)
        leads: BoolArray = np.equal(first[self.partition_idx[rows]], rows)
        return leads

    def _weights(self, rows: RowArray) -> WeightArray:
        """Return ``(rows, R)`` the load that each replica adds to its new broker."""
        weights, of = self.draft.weights, self.partition_idx[rows]
        leads = self._would_lead(rows)[:, None]
        brought: WeightArray = weights.replica[of] + weights.leader[of] * leads
        return brought

    def _copied(self, rows: RowArray, new: int) -> WeightArray:
        """Return ``(rows, 3)`` copies, bytes and cross-rack bytes of each replica."""
        of = self.partition_idx[rows]
        size, source = self.draft.weights.copy_bytes[of], self.source_rack[of]
        crosses = (source != ABSENT) & (source != self._rack(new))
        return np.stack([np.ones_like(size), size, size * crosses], axis=1)

    def _fitting(self, rows: RowArray, new: int) -> RowArray:
        """Return the rows that fit the broker and the caps, largest chosen first."""
        copied = self._copied(rows, new)
        brought = np.concatenate([self._weights(rows), copied], axis=1)
        most = np.concatenate([self._most(new), self.left])
        chosen = np.arange(len(rows))
        total = np.concatenate([self.load[new], np.zeros_like(self.left)])
        if (total + brought.sum(axis=0) > most).any():
            order = np.argsort(-brought[:, 0], kind="stable").tolist()
            chosen = np.array(sorted(_packed(order, brought, total, most)), np.int64)
        self.load[new] += brought[chosen, : len(RESOURCES)].sum(axis=0)
        self.left -= copied[chosen].sum(axis=0)
        return rows[chosen]


def _packed(
    order: Sequence[int], brought: WeightArray, total: WeightArray, most: WeightArray
) -> Iterator[int]:
    """Yield the rows that still fit, in the given order."""
    for i in order:
        with_it = total + brought[i]
        if ((with_it <= most) | (brought[i] == 0)).all():
            total = with_it
            yield i
