"""Topics that share no broker (anti-affinity)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, FloatArray, IndexArray, IntArray
from placement.core.bounds.shortfalls import MAX_SHORTFALLS
from placement.core.exact.milp.bin_labelling import Places, Room, Shared, choose_sides
from placement.core.model.problem import NO_LIMIT, NOWHERE, Movability
from placement.core.model.solution import Shortfall
from placement.draft.draft import Draft, Note
from placement.draft.rule_tables import Eligibility
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES, Resource
from placement.model.rack_violations import broker_ranges
from placement.model.targets import rack_limit
from placement.rules.descriptor import (
    RuleDescriptor,
    RuleOption,
    RuleRequest,
)
from placement.rules.hard_levels import hard_capacities
from placement.rules.pinning import keep_still

APART = "topics-apart"
BALANCES = (1.0, 0.9, 0.75, 0.5, 0.0)
"""Fractions of its fair share of brokers required for each side, tried in order."""


@dataclass(frozen=True, slots=True, eq=False)
class TopicsApart:
    """
    No broker holds replicas of topics of two sides.

    *Goals*: each broker gets a side so that the fewest bytes have to leave; each side
    gets a part of the brokers in proportion to its load. *Constraints*: a replica that
    may not move pins its broker to its side; every partition has enough brokers, in
    racks as the rack rule requires; disks and other capacities hold the load of each
    side. *Algorithm*: an exact model of brokers and sides
    (`core.exact.milp.bin_labelling`), before the search; replicas on a broker of
    another side must then leave it, and no others enter.

    If the rule is soft and relaxed, the fewest possible brokers are shared by all
    sides. The same model chooses them: first their number, then the brokers with the
    fewest bytes to move.

    Parameters
    ----------
    side_of_topic
        ``(T,)`` side of each topic; -1 for topics without a side.
    names
        Names of the sides, for messages.
    """

    side_of_topic: IndexArray
    names: tuple[str, ...]
    name: str = APART

    def fill(self, draft: Draft) -> None:
        """Assign a side to every broker; replicas of other sides must leave it."""
        division = _Division(draft, self.side_of_topic, len(self.names))
        if not division.concerns_anything:
            side = division.held.argmax(axis=1).astype(np.int32)
            self._say_what_stays(division, division.strays(side))
            return
        side, is_proven = division.choose()
        if side is None:
            draft.shortfalls.append(self._undivided(is_proven))
            # Balancing replicas of the sides would only mix them more.
            keep_still(draft, division.sided)
            draft.eligibility.append(division.unmixed())
            return
        draft.eligibility.append(division.eligibility(side))
        strays = division.strays(side)
        may = np.equal(draft.movability, Movability.MAY)
        draft.movability[strays & may] = Movability.MUST
        self._say_what_stays(division, strays & ~may)
        is_closed = division.is_torn & (not division.is_soft)
        self._say_sides(draft, np.where(is_closed, NOWHERE, side))

    def _undivided(self, is_proven: bool) -> Shortfall:
        """Return the shortfall of brokers that cannot be divided among the sides."""
        named = " and ".join(self.names)
        return Shortfall(
            what="sides",
            have=1,
            need=len(self.names),
            level="broker",
            is_proven=is_proven,
            message=f"no choice of brokers for {named} leaves each of them places in "
            "racks and room enough, with what may not move",
        )

    def _say_what_stays(self, division: "_Division", strays: BoolArray) -> None:
        """Report replicas that may not leave a broker of two sides."""
        draft, state = division.draft, division.draft.state
        torn = np.nonzero(division.is_torn)[0]
        if not len(torn):
            return
        ids = broker_ranges(state.brokers.ids[torn])
        what = f"replicas of {' and '.join(self.names)} that may not move"
        draft.note(
            Note(
                what="left-alone", message=f"broker {ids} keeps {what}", have=len(torn)
            )
        )
        if not division.is_free or division.is_soft:
            return
        rows = np.nonzero(strays & division.is_torn[state.replicas.broker_idx])[0]
        draft.shortfalls += [
            Shortfall(
                what="sides",
                have=0,
                need=1,
                item=int(row),
                group=int(state.replicas.partition_idx[row]),
                bin=int(state.replicas.broker_idx[row]),
                level="broker",
                is_proven=True,
                message=f"{state.name_of(int(state.replicas.partition_idx[row]))} may "
                f"not leave broker {state.brokers.ids[state.replicas.broker_idx[row]]},"
                " nor may topics that it is kept apart from",
            )
            for row in rows[:MAX_SHORTFALLS].tolist()
        ]

    def _say_sides(self, draft: Draft, side: IndexArray) -> None:
        ids, shared = draft.state.brokers.ids, np.equal(side, len(self.names))
        owned = [
            broker_ranges(ids[draft.holds & (np.equal(side, s) | shared)])
            for s in range(len(self.names))
        ]
        separated = [
            f"{name} on broker {own or 'none'}"
            for name, own in zip(self.names, owned, strict=True)
        ]
        draft.note(Note(what=APART, message=f"kept apart: {'; '.join(separated)}"))


class _Division:
    """The data from which the side of each broker is chosen."""

    def __init__(self, draft: Draft, side_of_topic: IndexArray, count: int) -> None:
        state, settings = draft.state, draft.settings
        self.draft, self.count = draft, count
        self.is_soft = settings.gives_way(APART)
        self.side_of = side_of_topic[state.partitions.topic_idx].astype(np.int64)
        replicas = state.replicas
        self.of, self.on = replicas.partition_idx, replicas.broker_idx
        self.is_there = draft.is_there
        self.never: BoolArray = self.is_there & np.equal(
            draft.movability, Movability.NEVER
        )
        self.is_free = bool(np.equal(draft.movability, Movability.MAY).any())
        self.sided: BoolArray = np.greater_equal(self.side_of[self.of], 0)
        pinned: BoolArray = np.greater(self._on_sides(self.never & self.sided), 0)
        self.is_torn: BoolArray = draft.holds & (pinned.sum(axis=1) > 1)
        self.held = self._on_sides(self.is_there & self.sided)
        first = np.where(pinned, self.held, -1.0).argmax(axis=1)
        others = pinned & np.not_equal(np.arange(count), first[:, None])
        is_pinned = pinned.sum(axis=1, keepdims=True) > 0
        self.may_be = np.where(is_pinned, pinned & ~others, True)
        if self.is_soft:
            # One extra side stands for all sides. Replicas that may not move force it.
            may_be = self.may_be & ~self.is_torn[:, None]
            self.may_be = np.column_stack([may_be, draft.holds])

    @property
    def concerns_anything(self) -> bool:
        """Whether any replica of a side is unplaced or may move."""
        return bool((~self.never & self.sided).any())

    def _on_sides(self, rows: BoolArray) -> FloatArray:
        """Return ``(B, sides)`` bytes of the chosen replicas of each side."""
        table = np.zeros((self.draft.state.num_brokers, self.count))
        # One byte more, as an empty replica takes a copy too.
        size = self.draft.weights.copy_bytes[self.of[rows]] + 1.0
        np.add.at(table, (self.on[rows], self.side_of[self.of[rows]]), size)
        return table

    def choose(self) -> tuple[IndexArray | None, bool]:
        """Return ``(B,)`` sides; or `None`, and whether infeasibility is proven."""
        cost = self.held.sum(axis=1, keepdims=True) - self.held
        successor = self.draft.stands_for
        if successor is not None:
            # A broker that replaces another takes over its side.
            cost[successor >= 0] += cost[successor[successor >= 0]]
        cost[~self.draft.holds] = 0.0
        needs: list[Room | Places] = [*self._places(), *self._rooms()]
        shared = None
        if self.is_soft:
            cost = np.column_stack([cost, np.zeros(len(cost))])
            shared = self._shared(needs)
        side, is_proven = None, False
        for part in BALANCES:
            wanted = [*needs, *self._balance(part)]
            side, is_proven = choose_sides(cost, self.may_be, wanted, shared)
            if side is not None:
                break
        return side, is_proven

    def _shared(self, needs: Sequence[Room | Places]) -> Shared:
        """Return the number of shared brokers: the fewest possible, plus extra ones."""
        count, eased = int(self.draft.holds.sum()), self.draft.settings.eased
        more = 0 if eased is None else eased.more_shared
        any_number = Shared(side=self.count, least=0, most=len(self.may_be))
        is_shared = np.zeros(self.may_be.shape)
        is_shared[:, self.count] = 1.0
        side, _ = choose_sides(is_shared, self.may_be, needs, any_number)
        fewest = count if side is None else int(np.equal(side, self.count).sum())
        fewest = min(fewest + more, count)
        return Shared(side=self.count, least=fewest, most=fewest)

    def _places(self) -> Iterator[Places]:
        """Yield the brokers that each kind of partition needs, each kind once."""
        draft, state = self.draft, self.draft.state
        in_rack = np.bincount(
            state.brokers.rack_idx[draft.holds], minlength=state.num_racks
        )
        stuck = np.bincount(self.of[self.never], minlength=state.num_partitions)
        size = np.diff(state.replicas.start)
        concerned = (self.side_of >= 0) & (stuck < size)
        size = size - stuck
        # Partitions with fixed replicas may break the rack rule in any case.
        is_spread = self._minds_racks() & (stuck == 0)
        classes = [rule.partition_class for rule in draft.eligibility]
        keys = np.stack([self.side_of, size, is_spread, *classes], axis=1)[concerned]
        for key in np.unique(keys, axis=0).tolist():
            side, count, spreads, *own = key
            cap = int(rack_limit(np.array([count]), in_rack)[0]) if spreads else count
            floor = np.zeros_like(in_rack)
            if spreads and draft.settings.is_rack_strict:
                cap = min(cap, 1)
            elif spreads:
                floor = np.minimum(max(cap - 1, 0), in_rack)
            yield Places(
                side=side,
                may_take=self._may_take(side, own),
                node_of_bin=state.brokers.rack_idx,
                size=count,
                cap=cap,
                floor=floor,
            )

    def _minds_racks(self) -> bool:
        settings = self.draft.settings
        return "rack" not in settings.lifted and "rack" not in settings.soft

    def _may_take(self, side: int, classes: list[int]) -> BoolArray:
        draft = self.draft
        may_take = draft.holds & (~self.is_torn | self.is_soft)
        may_take &= draft.may_receive | (self.held[:, side] > 0)
        for rule, row in zip(draft.eligibility, classes, strict=True):
            may_take &= rule.allowed[row] | (self.held[:, side] > 0)
        return may_take

    def _rooms(self) -> Iterator[Room]:
        """Yield the least amount of each capacity that each side needs."""
        draft, weights = self.draft, self.draft.weights
        capacity = hard_capacities(draft)
        stays: BoolArray = np.logical_or(draft.holds[self.on], ~self.never)
        for r in range(len(RESOURCES)):
            load = weights.replica[self.of, r].astype(np.float64)
            if len(weights.own) and RESOURCES[r] == Resource.DISK:
                load += np.minimum(weights.own, 0)
            whole = np.bincount(self.on, load, minlength=len(capacity))
            most = np.where(draft.holds, np.maximum(capacity[:, r], whole), 0.0)
            if (capacity[draft.holds, r] >= NO_LIMIT).any():
                continue
            for side in range(self.count):
                mine = stays & np.equal(self.side_of[self.of], side)
                yield Room(side=side, amount=most, least=float(load[mine].sum()))

    def _balance(self, part: float) -> Iterator[Room]:
        """Yield the share of brokers that each side should have by its load."""
        brokers, holds = self.draft.state.brokers, self.draft.holds
        size = self.draft.weights.copy_bytes[self.of] + 1.0
        share = np.where(holds, 1.0, 0.0)
        if (brokers.disk_bytes[holds] > 0).all():
            share *= brokers.disk_bytes
        for side in range(self.count):
            mine = np.equal(self.side_of[self.of], side)
            least = part * float(size[mine].sum() / size.sum() * share.sum())
            if least > 0:
                yield Room(side=side, amount=share, least=least)

    def eligibility(self, side: IndexArray) -> Eligibility:
        """Return the eligible brokers; brokers of two sides receive no side."""
        classes: IntArray = np.where(self.side_of >= 0, self.side_of, self.count)
        sides = np.arange(self.count)[:, None]
        allowed = np.equal(side[None, :], sides) & ~self.is_torn[None, :]
        if self.is_soft:
            allowed |= np.equal(side, self.count)[None, :]
        anywhere = np.ones((1, len(side)), dtype=np.bool_)
        return Eligibility(classes, np.concatenate([allowed, anywhere]), APART)

    def unmixed(self) -> Eligibility:
        """Return eligible brokers such that no broker of one side receives another."""
        classes: IntArray = np.where(self.side_of >= 0, self.side_of, self.count)
        others = self.held.sum(axis=1, keepdims=True) - self.held
        allowed = np.equal(others, 0).T.copy()
        successor = self.draft.stands_for
        if successor is not None:
            allowed[:, successor >= 0] = False
        anywhere = np.ones((1, len(self.held)), dtype=np.bool_)
        return Eligibility(classes, np.concatenate([allowed, anywhere]))

    def strays(self, side: IndexArray) -> BoolArray:
        """Return ``(R,)`` true for replicas on brokers of another side."""
        at = side[self.on]
        is_other: BoolArray = (at != self.side_of[self.of]) & (at != self.count)
        return self.sided & is_other


def shared_brokers(
    state: ClusterState, side_of_topic: IndexArray, count: int
) -> BoolArray:
    """
    Return ``(B,)`` true for brokers that hold topics of two sides.

    Parameters
    ----------
    state
        The cluster.
    side_of_topic
        ``(T,)`` side of each topic; -1 for topics without a side.
    count
        Number of sides.
    """
    replicas = state.replicas
    side = side_of_topic[state.partitions.topic_idx[replicas.partition_idx]]
    held = np.zeros((state.num_brokers, count), dtype=np.bool_)
    held[replicas.broker_idx[side >= 0], side[side >= 0]] = True
    found: BoolArray = held.sum(axis=1) > 1
    return found


def _requested(request: RuleRequest) -> Iterator[TopicsApart]:
    """Yield a rule for each ``REGEX=REGEX`` text; refuse topics on two sides."""
    names = request.state.topics.names
    for text in request.value:
        sides = text.split("=")
        matching = [
            [s for s, side in enumerate(sides) if re.fullmatch(side, name)]
            for name in names
        ]
        for name, found in zip(names, matching, strict=True):
            if len(found) > 1:
                twice = " and ".join(sides[s] for s in found)
                rule = "a topic is on one side"
                request.refuse(name, rule, f"{twice} match it: narrow one")
        rows = [found[0] if found else -1 for found in matching]
        yield TopicsApart(np.array(rows, dtype=np.int32), tuple(sides))


def _text(draft: Draft) -> str:
    rules = (one for one in draft.settings.rules if isinstance(one, TopicsApart))
    named = ", nor by ".join(" and ".join(rule.names) for rule in rules)
    return f"no broker shared by {named}"


RULES = (
    RuleDescriptor(
        name=APART,
        text=_text,
        remedy="add brokers, or leave out --topics-apart",
        may_be_soft=True,
        rank=41,
        option=RuleOption(
            "topic sides",
            "Topics that share no broker, also of several expressions. Repeatable.",
            example='["orders.*=payments.*"]',
        ),
        make=_requested,
        fill_rank=20,
    ),
)
