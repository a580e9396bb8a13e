"""Topics whose partitions of equal number share their brokers (colocation)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, IndexArray
from placement.core.bounds.shortfalls import MAX_SHORTFALLS
from placement.core.model.problem import NO_LIMIT, Movability
from placement.core.model.solution import Shortfall
from placement.core.presolve.aggregation import Bundle
from placement.draft.draft import Draft, Note
from placement.model.cluster import ClusterState
from placement.rules.descriptor import (
    RANK,
    RuleDescriptor,
    RuleOption,
    RuleRequest,
)

TOGETHER = "topics-together"


@dataclass(frozen=True, slots=True, eq=False)
class TopicsTogether:
    """
    Partition n of each of some topics has the same brokers, in the same order.

    *Goals*: the fewest bytes to bring partitions together. *Constraints*: a replica
    that may not move stays, and its partners join it. *Algorithm*: the partitions of
    one number become a bundle, one group of the core's problem
    (`core.presolve.aggregation`). If their lists differ, the bundle starts from the
    list of the partition that the others reach with the fewest bytes.

    If the rule is soft and relaxed, partitions that cannot be together, or that no plan
    could place together, are placed independently; the others are still together.

    Parameters
    ----------
    topics
        Rows of topics that belong together; every partition number of them counts.
    """

    topics: tuple[int, ...]
    name: str = TOGETHER

    def fill(self, draft: Draft) -> None:
        """Bundle the partitions that can be together; add shortfalls for the others."""
        lies = _Lies(draft)
        lacking = [
            shortfall
            for rows in numbered(draft.state, self.topics)
            if (shortfall := lies.bundle(rows)) is not None
        ]
        draft.shortfalls += lacking[:MAX_SHORTFALLS]
        if lies.left_apart:
            first = draft.state.name_of(lies.left_apart[0])
            draft.note(
                Note(
                    what="left-alone",
                    message=f"{len(lies.left_apart):,} partitions, such as {first}, do "
                    "not lie as those they belong together with, and none of these "
                    "may move",
                    have=float(len(lies.left_apart)),
                )
            )


def numbered(state: ClusterState, topics: Sequence[int]) -> Iterator[list[int]]:
    """Yield the partitions of equal number of several topics."""
    of, numbers = state.partitions.topic_idx, state.partitions.partition
    rows_of: dict[int, list[int]] = {}
    for topic in topics:
        for row in np.nonzero(np.equal(of, topic))[0].tolist():
            rows_of.setdefault(int(numbers[row]), []).append(row)
    for number in sorted(rows_of):
        if len(rows_of[number]) > 1:
            yield rows_of[number]


class _Lies:
    """Lists and movability of the partitions of a draft, for bundling them."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.left_apart: list[int] = []
        self.unplaced = ~draft.is_there
        settings = draft.settings
        self.is_soft = settings.gives_way(TOGETHER)
        parted = None if settings.eased is None else settings.eased.parted
        self.parted = [] if parted is None else np.nonzero(parted)[0].tolist()
        caps = settings.max_moves, settings.max_bytes, settings.max_cross_rack_bytes
        # The share of the caps that copies of the operation leave is not known here.
        closed = draft.decided is not None and draft.decided.is_copied.any()
        self.left = [NO_LIMIT if cap is None else 0 if closed else cap for cap in caps]

    def _rows(self, p: int) -> slice:
        return slice(*self.draft.state.replicas.start[p : p + 2].tolist())

    def _list(self, p: int) -> IndexArray:
        return self.draft.state.replicas.broker_idx[self._rows(p)]

    def _may(self, p: int) -> IndexArray:
        return self.draft.movability[self._rows(p)].astype(np.int32)

    def _is_like(self, p: int, other: int) -> bool:
        """Return whether two lists are the same, with the same unplaced copies."""
        return np.array_equal(self._list(p), self._list(other)) and np.array_equal(
            self.unplaced[self._rows(p)],
            self.unplaced[self._rows(other)],
        )

    def bundle(self, rows: list[int]) -> Shortfall | None:
        """Bundle partitions that belong together, or return a shortfall."""
        if not set(rows).isdisjoint(self.parted):
            return None
        if len({len(self._list(p)) for p in rows}) > 1:
            why = "have different replication factors"
        elif all(self._is_like(rows[0], p) for p in rows):
            why = self._keep_together(rows)
        elif self._were_together(rows):
            why = "are parted by what the operation decides"
        else:
            why = self._gather(rows)
        if why and self.is_soft:
            self._bundle_parts(rows)
            return None
        return self._apart(rows, why) if why else None

    def _bundle_parts(self, rows: list[int]) -> None:
        """Bundle those of some partitions that can still be together."""
        sizes = [len(self._list(p)) for p in rows]
        if len(set(sizes)) > 1:
            for size in sorted(set(sizes)):
                own = [p for p, n in zip(rows, sizes, strict=True) if n == size]
                if len(own) > 1:
                    self.bundle(own)
            return
        left = list(rows)
        while left:
            alike = [p for p in left if self._is_like(left[0], p)]
            left = [p for p in left if p not in alike]
            if 1 < len(alike) < len(rows):
                self._keep_together(alike)

    def _keep_together(self, rows: list[int]) -> str:
        """Bundle partitions with the same list; return the obstacle, if any."""
        kinds = np.stack([self._may(p) for p in rows])
        must = np.equal(kinds, Movability.MUST).any(axis=0)
        never = np.equal(kinds, Movability.NEVER).any(axis=0)
        if (must & never).any():
            return "cannot leave a broker together"
        kept = np.where(never, Movability.NEVER, Movability.MAY)
        self._take(rows, np.where(must, Movability.MUST, kept))
        return ""

    def _gather(self, rows: list[int]) -> str:
        """Bundle partitions with different lists; return the obstacle, if any."""
        first = self._cheapest(rows)
        if first is None:
            return "lie apart, and not all of them may move"
        others = [p for p in rows if p != first]
        if not self._is_affordable(first, others):
            return "are not brought together within the caps"
        self._take([first, *others], self._kinds(first, others))
        return ""

    def _is_affordable(self, first: int, others: list[int]) -> bool:
        """Deduct copies that gather a bundle from the caps, if the caps allow them."""
        size = self.draft.weights.copy_bytes
        copies = [self._num_to_copy(first, other) for other in others]
        whole = sum(n * int(size[p]) for n, p in zip(copies, others, strict=True))
        # In the worst case all of these copies cross racks.
        left = [
            have - need
            for have, need in zip(self.left, (sum(copies), whole, whole), strict=True)
        ]
        if min(left) < 0:
            return False
        self.left = left
        return True

    def _take(self, rows: list[int], kinds: IndexArray) -> None:
        draft, bundle = self.draft, tuple(rows)
        draft.bundles = (*draft.bundles, bundle)
        draft.movability[self._rows(rows[0])] = kinds

    def _were_together(self, rows: list[int]) -> bool:
        decided = self.draft.decided
        if decided is None:
            return False
        before = decided.before
        return all(before.brokers_of(rows[0]) == before.brokers_of(p) for p in rows)

    def _is_decided(self, rows: list[int]) -> bool:
        """Return whether the operation separates partitions or copies separate ones."""
        decided = self.draft.decided
        if decided is None:
            return False
        copied = decided.partition_idx[decided.is_copied]
        return self._were_together(rows) or bool(np.isin(rows, copied).any())

    def _apart(self, rows: list[int], why: str) -> Shortfall | None:
        """Leave partitions unchanged; return a shortfall if one of them moves."""
        draft = self.draft
        moves = any(
            np.not_equal(self._may(p), Movability.NEVER).any() for p in rows
        ) or self._is_decided(rows)
        for p in rows:
            kinds = draft.movability[self._rows(p)]
            kinds[np.equal(kinds, Movability.MAY)] = Movability.NEVER
        if not moves:
            self.left_apart += rows
            return None
        names = " and ".join(draft.state.name_of(p) for p in rows)
        return Shortfall(
            what="together",
            have=1,
            need=len(rows),
            group=rows[0],
            level="broker",
            is_proven=True,
            message=f"{names} {why}",
        )

    def _cheapest(self, rows: list[int]) -> int | None:
        """Return the partition whose brokers the others reach with the fewest bytes."""
        size = self.draft.weights.copy_bytes
        found = [
            (sum(self._num_to_copy(p, other) * int(size[other]) for other in rows), at)
            for at, p in enumerate(rows)
            if all(p == other or self._may_come(p, other) for other in rows)
            and not self._is_torn(p, [other for other in rows if other != p])
        ]
        return rows[min(found)[1]] if found else None

    def _is_torn(self, first: int, others: list[int]) -> bool:
        """Return whether some partitions must leave a broker that others must keep."""
        goes = np.equal(self._kinds(first, others), Movability.MUST)
        left = self._list(first)[goes]
        return any(
            np.isin(self._list(p)[np.equal(self._may(p), Movability.NEVER)], left).any()
            for p in (first, *others)
        )

    def _num_to_copy(self, first: int, other: int) -> int:
        return int((~np.isin(self._list(first), self._list(other))).sum())

    def _may_come(self, first: int, other: int) -> bool:
        """Return whether the replicas of one partition may go to those of another."""
        both = (self._rows(first), self._rows(other))
        if any(self.unplaced[rows].any() for rows in both):
            return False
        if self._is_like(first, other):
            return True
        if not self.draft.may_lead_anew[other]:
            return False
        if self._leads(first) != self._leads(other) and not self._can_lead(first):
            return False
        leaves = ~np.isin(self._list(other), self._list(first))
        if (leaves & np.equal(self._may(other), Movability.NEVER)).any():
            return False
        # A broker that is not eligible for all, and that the first one may not leave.
        closed = ~self.draft.open_to(other)[self._list(first)]
        closed &= ~np.isin(self._list(first), self._list(other))
        stays = np.equal(self._may(first), Movability.NEVER)
        goes = self._may(other)[np.isin(self._list(other), self._list(first))]
        is_driven = np.equal(goes, Movability.MUST).any() and stays.any()
        return not ((closed & stays).any() or is_driven)

    def _leads(self, p: int) -> int:
        """Return the broker that leads a partition: the first live one."""
        brokers = self._list(p)
        live = np.nonzero(self.draft.state.brokers.is_live[brokers])[0]
        return int(brokers[live[0] if len(live) else 0])

    def _can_lead(self, p: int) -> bool:
        """Return whether the leader of a partition may also lead the others."""
        return bool(self.draft.leads[self._leads(p)])

    def _kinds(self, first: int, others: list[int]) -> IndexArray:
        """Return the movability of each replica of a bundle being brought together."""
        kinds, brokers = self._may(first), self._list(first)
        for other in others:
            own, at = self._may(other), self._list(other)
            absent = ~np.isin(brokers, at)
            kinds[absent & ~self.draft.open_to(other)[brokers]] = Movability.MUST
            for kind in (Movability.NEVER, Movability.MUST):
                hit = np.isin(brokers, at[np.equal(own, kind)])
                kinds[hit & np.not_equal(kinds, Movability.MUST)] = kind
        return kinds


def parted_rows(state: ClusterState, topics: Sequence[int]) -> list[int]:
    """
    Return the partitions whose list differs from most partitions of their number.

    Parameters
    ----------
    state
        The cluster.
    topics
        Rows of topics that belong together.
    """
    found = []
    for rows in numbered(state, topics):
        lists = [tuple(state.brokers_of(p)) for p in rows]
        most = max(lists, key=lists.count)
        found += [p for p, own in zip(rows, lists, strict=True) if own != most]
    return found


def is_gathered(state: ClusterState, bundles: Sequence[Bundle]) -> BoolArray:
    """Return ``(P,)`` true for partitions of bundles whose lists differ."""
    found = np.zeros(state.num_partitions, dtype=np.bool_)
    for bundle in bundles:
        lists = [state.brokers_of(p) for p in bundle]
        if any(one != lists[0] for one in lists):
            found[list(bundle)] = True
    return found


def _requested(request: RuleRequest) -> Iterator[TopicsTogether]:
    """Yield a rule for each expression; refuse topics that cannot be together."""
    state = request.state
    count = np.bincount(state.partitions.topic_idx, minlength=len(state.topics))
    taken: dict[str, str] = {}
    for text in request.value:
        rows = request.topics(text)
        names = [state.topics.names[t] for t in rows]
        if len({int(count[t]) for t in rows}) > 1:
            pairs = zip(names, rows, strict=True)
            counts = ", ".join(f"{name} has {count[t]}" for name, t in pairs)
            rule = "topics that lie together must have as many partitions each"
            request.refuse(counts, rule, "add partitions, or leave one out")
        for name in names:
            if name in taken:
                rule = "a topic is kept together with those of one pattern"
                both = f"{taken[name]} and {text} match it"
                request.refuse(name, rule, f"{both}: join them by |")
            taken[name] = text
        yield TopicsTogether(tuple(rows))


RULES = (
    RuleDescriptor(
        name=TOGETHER,
        text="topics that belong together on the same brokers",
        may_be_soft=True,
        rank=42,
        option=RuleOption(
            "topic groups",
            "Topics whose partitions of the same number have the same "
            "replica list. Repeatable.",
            example='["orders|payments"]',
        ),
        make=_requested,
        # Joined topics intersect the brokers that other rules allow for each of them.
        fill_rank=RANK + 1,
    ),
)
