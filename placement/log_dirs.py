r"""
Which log dir of its broker each replica lies in.

*Goals.* Emptied log dirs first; then every log dir within a band of its share of its
broker's bytes, in proportion to the sizes of their file systems; then the fewest bytes
copied. *Constraints.* No replica changes its broker; nothing new comes to a log dir
that is offline, cordoned or emptied; none is pushed over the disk threshold.
*Algorithm.* Brokers are independent: each is a problem of the core of its own, with a
replica as an item and a log dir as a bin.

What a log dir's file system holds besides replicas (`usable_bytes` tells) is a fixed
load of it. A replica whose log dir is not known is part of that, and stays.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from placement.cluster import ABSENT, UNKNOWN, BoolArray, LogDirState
from placement.columns import IndexArray
from placement.core.deadline import Deadline
from placement.core.problem import (
    NO_LIMIT,
    NOWHERE,
    FloatArray,
    IntArray,
    Level,
    Limits,
    Movability,
    Problem,
)
from placement.core.search import Effort
from placement.core.solution import Bounded, Proof, Shortfall, Solution, Status
from placement.core.solve import solve
from placement.load import RESOURCES, Resource, bytes_by_place, taken_bytes
from placement.rules.draft import Draft
from placement.targets import TOLERANCE, Members, Shares, Targets, find_targets

Column = TypeVar("Column", IntArray, FloatArray)
MAX_BAND_ROUNDS = 4
"""How often bands are computed anew after heavy replicas have moved."""
MOST_LISTED = 20
"""Brokers that the proof of a plan names."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlannedDirs:
    """
    Where replicas lie inside their brokers, and what that costs.

    Parameters
    ----------
    log_dir_idx
        ``(R,)`` row of the log dir that each replica goes to; `ABSENT` where it stays
        or any will do.
    before, after
        ``(D,)`` bytes on each log dir, what no replica explains included.
    targets_before, targets
        Shares and bands of the log dirs, before and after: of their bytes, the first
        of the resources.
    is_member
        ``(D,)`` log dirs that share their broker's bytes.
    cost, deviation
        Bytes copied between log dirs, and the largest distance outside a band, with
        what is proven of them.
    status
        As of a solution.
    shortfalls
        What is missing where an emptied log dir is not empty, or one is too full;
        their bins are rows of log dirs, their items rows of replicas.
    seconds
        Spent on ``solve`` and ``bound``.
    """

    log_dir_idx: IndexArray
    before: IntArray
    after: IntArray
    targets_before: Targets
    targets: Targets
    is_member: BoolArray
    cost: Bounded
    deviation: Bounded
    status: Status
    shortfalls: tuple[Shortfall, ...]
    seconds: dict[str, float]

    @property
    def is_moved(self) -> BoolArray:
        """``(R,)`` true for replicas that change their log dir."""
        moved: BoolArray = np.not_equal(self.log_dir_idx, ABSENT)
        return moved


def plan_dirs(draft: Draft, effort: Effort, deadline: Deadline) -> PlannedDirs:
    """
    Plan inside all brokers.

    Parameters
    ----------
    draft
        Which replicas must, may or must not leave their log dir, and which log dirs
        are emptied.
    effort
        How much work the search may do for each broker.
    deadline
        When to end with what there is; what must move is seen to first.
    """
    table = _Table(draft)
    found = _Found(table)
    for broker in table.worst_first():
        if not deadline.is_over() or table.must_move[broker]:
            found.add(broker, table.plan_broker(broker, found, effort, deadline))
    return found.conclude()


class _Table:
    """What all brokers' problems are cut from."""

    def __init__(self, draft: Draft) -> None:
        state, replicas = draft.state, draft.state.replicas
        self.draft, self.state = draft, state
        self.dirs = state.log_dirs
        emptied = draft.is_emptied_dir
        if emptied is None:
            emptied = np.zeros(len(self.dirs), dtype=np.bool_)
        self.is_emptied = emptied
        is_open = np.equal(self.dirs.state, LogDirState.ONLINE) & ~emptied
        self.is_member = is_open & state.brokers.is_live[self.dirs.broker_idx]
        future = replicas.future_log_dir_idx
        self.home = np.where(future != ABSENT, future, replicas.log_dir_idx)
        of = replicas.partition_idx
        self.size = draft.weights.copy_bytes[of]
        if len(draft.weights.own):
            self.size = self.size + draft.weights.own
        located, _ = bytes_by_place(state)
        self.fixed: IntArray = np.maximum(taken_bytes(self.dirs) - located, 0)
        must = np.nonzero(np.equal(draft.movability, Movability.MUST))[0]
        on = replicas.broker_idx
        self.must_move = np.bincount(on[must], minlength=state.num_brokers) > 0
        rows = np.nonzero(self.home != ABSENT)[0]
        order = rows[np.argsort(on[rows], kind="stable")]
        ends = np.searchsorted(on[order], np.arange(state.num_brokers + 1))
        self.items = [
            np.sort(order[ends[b] : ends[b + 1]]) for b in range(state.num_brokers)
        ]
        self.shares = self._shares()
        self.load = self.loads(self.home)
        self.targets = self.targets_at(self.home)

    def loads(self, place: IntArray) -> IntArray:
        """Return ``(D,)`` bytes on the log dirs, replicas being where they are said."""
        load = self.fixed.copy()
        known = np.nonzero(place != ABSENT)[0]
        np.add.at(load, place[known], self.size[known])
        return load

    def heaviest(self, place: IntArray) -> IntArray:
        """Return ``(D,)`` the heaviest replica on each log dir."""
        found = np.zeros(len(self.dirs), dtype=np.int64)
        known = np.nonzero(place != ABSENT)[0]
        np.maximum.at(found, place[known], self.size[known])
        return found

    def _shares(self) -> Shares:
        dirs, count = self.dirs, self.state.num_brokers
        known = np.where(self.is_member, dirs.size_bytes != UNKNOWN, True)
        all_known = np.bincount(dirs.broker_idx, weights=~known, minlength=count) == 0
        sizes = np.maximum(dirs.size_bytes, 1).astype(np.float64)
        capacity = np.where(all_known[dirs.broker_idx], sizes, 1.0)
        member = self.is_member
        # All of a broker's log dirs together hold what they hold, wherever it lies.
        held = self.loads(self._gathered())
        most = np.bincount(
            dirs.broker_idx, weights=np.where(member, held, 0), minlength=count
        )
        return Shares(
            members=Members(holds=member, leads=member),
            capacity=_disk_alone(np.where(member, capacity, 0.0)),
            rack_idx=dirs.broker_idx,
            rack_most=_disk_alone(most.astype(np.float64)),
            bands=np.full(len(RESOURCES), self.draft.settings.band(Resource.DISK)),
        )

    def _gathered(self) -> IntArray:
        """Return the homes, what must move put on the first log dir that may get it."""
        count = self.state.num_brokers
        first = np.full(count, ABSENT, dtype=np.int64)
        members = np.nonzero(self.is_member)[0][::-1]
        first[self.dirs.broker_idx[members]] = members
        must = np.equal(self.draft.movability, Movability.MUST)
        to = first[self.state.replicas.broker_idx]
        return np.where(must & (to != ABSENT), to, self.home)

    def targets_at(self, place: IntArray) -> Targets:
        """Return targets and bands for replicas that lie where they are said."""
        load = _disk_alone(self.loads(place))
        gathered = _disk_alone(self.loads(self._gathered()))
        incoming = (gathered - load)[self.is_member].sum(axis=0)
        heaviest = _disk_alone(self.heaviest(place))
        return find_targets(self.shares, load, heaviest, incoming)

    def worst_first(self) -> list[int]:
        """Return the brokers in which something should move, worst first."""
        outside = self.targets.outside(_disk_alone(self.load))[:, 0]
        worst = np.zeros(self.state.num_brokers)
        np.maximum.at(worst, self.dirs.broker_idx, outside)
        over = self.dirs.broker_idx[self._is_over()]
        asks = self.must_move | (worst > 0)
        asks[over] = True
        order = np.lexsort((-worst, ~self.must_move))
        return [int(b) for b in order if asks[b]]

    def _is_over(self) -> BoolArray:
        return (self.load > self.capacity()) & self.is_member

    def capacity(self) -> IntArray:
        """Return ``(D,)`` bytes that no log dir may exceed."""
        limit = self.draft.settings.capacity_thresholds.get(Resource.DISK)
        size = self.dirs.size_bytes
        if limit is None:
            return np.full(len(size), NO_LIMIT, dtype=np.int64)
        most = np.floor(size * limit * (1 + TOLERANCE)).astype(np.int64)
        return np.where((size == UNKNOWN) | ~self.is_member, NO_LIMIT, most)

    def plan_broker(
        self, broker: int, found: "_Found", effort: Effort, deadline: Deadline
    ) -> tuple[IntArray, IntArray, Solution]:
        """Solve one broker; return its items, its log dirs, and the answer."""
        rows = np.nonzero(np.equal(self.dirs.broker_idx, broker))[0]
        items = self.items[broker]
        targets, best = self.targets, None
        for _ in range(MAX_BAND_ROUNDS):
            problem = self.problem(items, rows, targets, found)
            solution = solve(
                problem, effort=effort, seed=self.draft.settings.seed, deadline=deadline
            )
            if best is None or _worth(solution) < _worth(best):
                best = solution
            place = self.home.copy()
            place[items] = rows[solution.best.bin_of]
            again = self.targets_at(place)
            if _same_bands(targets, again, rows) or deadline.is_over():
                break
            targets = again
        assert best is not None  # noqa: S101 - there is at least one round
        return items, rows, best

    def problem(
        self, items: IntArray, rows: IntArray, targets: Targets, found: "_Found"
    ) -> Problem:
        """Return one broker as the core's problem: replicas on log dirs."""
        count, width = len(items), len(rows)
        place_of = np.full(len(self.dirs), NOWHERE, dtype=np.int32)
        place_of[rows] = np.arange(width)
        size = self.size[items][:, None]
        settings = self.draft.settings
        caps = found.caps_left()
        return Problem(
            resources=(str(Resource.DISK),),
            group_start=np.arange(count + 1, dtype=np.int64),
            group_class=np.zeros(count, dtype=np.int32),
            weight=size,
            role_weight=np.zeros((count, 1), dtype=np.int64),
            cost=self.size[items],
            home=place_of[self.home[items]],
            extra=np.zeros((0, 1), dtype=np.int64),
            movability=self.draft.movability[items],
            role_home=np.full(count, NOWHERE, dtype=np.int64),
            is_role_movable=np.zeros(count, dtype=np.bool_),
            may_receive=self.is_member[rows],
            may_hold_role=np.zeros(width, dtype=np.bool_),
            must_release_role=np.zeros(width, dtype=np.bool_),
            bin_class=np.zeros(width, dtype=np.int32),
            is_eligible=np.ones((1, 1), dtype=np.bool_),
            levels=(self._level(rows, targets),),
            is_transient=np.array([settings.is_disk_transient]),
            price_per_move=self._price(),
            **caps,
        )

    def _price(self) -> int:
        settings = self.draft.settings
        if settings.price_per_move_bytes or not settings.prefers_moves:
            return settings.price_per_move_bytes
        return int(self.size.sum()) // max(len(self.size), 1)

    def _level(self, rows: IntArray, targets: Targets) -> Level:
        has_band = self.is_member[rows] & (targets.target[rows, 0] > 0)
        target = np.where(has_band, targets.target[rows, 0], 0.0)
        slack = TOLERANCE * np.maximum(target, 1.0)
        lower = np.maximum(np.ceil(targets.lower[rows, 0] - slack), 0)
        upper = np.floor(targets.upper[rows, 0] + slack)
        columns: dict[str, IntArray] = {
            "fixed": self.fixed[rows],
            "capacity": self.capacity()[rows],
            "lower": np.where(has_band, lower, 0).astype(np.int64),
            "upper": np.where(has_band, upper, NO_LIMIT).astype(np.int64),
        }
        limits = Limits(
            **{name: column[:, None] for name, column in columns.items()},
            target=target[:, None],
        )
        return Level(
            name="log dir",
            node_of_bin=np.arange(len(rows), dtype=np.int32),
            num_nodes=len(rows),
            limits=limits,
        )


def _disk_alone(column: Column) -> Column:
    """Return ``(n, R)`` resources of which only the disk is there."""
    table = np.zeros((len(column), len(RESOURCES)), dtype=column.dtype)
    table[:, RESOURCES.index(Resource.DISK)] = column
    return table


def _worth(solution: Solution) -> tuple[int, float, float]:
    proven = solution.certificate
    is_met = solution.status in {Status.OPTIMAL, Status.FEASIBLE}
    return 0 if is_met else 1, proven.deviation.value, proven.cost.value


def _same_bands(aimed: Targets, reached: Targets, rows: IntArray) -> bool:
    return bool(
        np.allclose(aimed.lower[rows], reached.lower[rows], rtol=1e-9)
        and np.allclose(aimed.upper[rows], reached.upper[rows], rtol=1e-9)
    )


class _Found:
    """What has been found for the brokers so far."""

    def __init__(self, table: _Table) -> None:
        self.table = table
        self.place: IntArray = table.home.astype(np.int64)
        self.solutions: dict[int, Solution] = {}
        self.shortfalls: list[Shortfall] = []
        self.capped: dict[str, Shortfall] = {}

    def caps_left(self) -> dict[str, Any]:
        """Return what is left of the caps on all moves."""
        settings = self.table.draft.settings
        values = [one.certificate for one in self.solutions.values()]
        spent = {
            "max_moves": (settings.max_moves, sum(v.moves.value for v in values)),
            "max_cost": (settings.max_bytes, sum(v.cost.value for v in values)),
        }
        return {
            name: max(int(cap - used), 0)
            for name, (cap, used) in spent.items()
            if cap is not None
        }

    def add(self, broker: int, answer: tuple[IntArray, IntArray, Solution]) -> None:
        """Keep the answer for one broker."""
        items, rows, solution = answer
        self.solutions[broker] = solution
        self.place[items] = rows[solution.best.bin_of]
        for shortfall in solution.shortfalls:
            if shortfall.what in {"moves", "cost"}:
                self.capped.setdefault(shortfall.what, shortfall)
                continue
            item = shortfall.item if shortfall.item >= 0 else shortfall.group
            self.shortfalls.append(
                replace(
                    shortfall,
                    item=int(items[item]) if item >= 0 else -1,
                    group=-1,
                    node=broker,
                    level="log dir",
                    bin=int(rows[shortfall.bin]) if shortfall.bin >= 0 else -1,
                )
            )

    def conclude(self) -> PlannedDirs:
        """Return all answers as one."""
        table = self.table
        targets = table.targets_at(self.place)
        after = table.loads(self.place)
        outside = targets.outside(_disk_alone(after))[:, 0]
        moved = self.place != table.home
        kept = list(_kept_in(table, self.place))
        spent = [one.seconds for one in self.solutions.values()]
        return PlannedDirs(
            log_dir_idx=np.where(moved, self.place, ABSENT).astype(np.int32),
            before=table.load,
            after=after,
            targets_before=table.targets,
            targets=targets,
            is_member=table.is_member,
            cost=self._cost(int(table.size[moved].sum())),
            deviation=self._deviation(float(outside.max(initial=0.0))),
            status=Status.PARTIAL if kept else self._status(),
            shortfalls=(*self.shortfalls, *kept, *self._caps()),
            seconds={
                name: sum(each.get(name, 0.0) for each in spent)
                for name in ("solve", "bound")
            },
        )

    def _caps(self) -> Iterator[Shortfall]:
        """Yield the caps that were too low, with what all of the plan may copy."""
        settings = self.table.draft.settings
        most = {"moves": settings.max_moves, "cost": settings.max_bytes}
        for what, shortfall in self.capped.items():
            have = most[what]
            if have is not None:
                missing = shortfall.need - shortfall.have
                yield replace(shortfall, have=have, need=have + missing)

    def _status(self) -> Status:
        found = {one.status for one in self.solutions.values()}
        for status in (Status.INFEASIBLE, Status.PARTIAL, Status.FEASIBLE):
            if status in found:
                return status
        return Status.OPTIMAL

    def _cost(self, value: int) -> Bounded:
        """Return the bytes copied, and the sum of what each broker must copy."""
        ids = self.table.state.brokers.ids
        bounds = {
            int(ids[broker]): one.certificate.cost
            for broker, one in sorted(self.solutions.items())
        }
        least = int(sum(bounded.lower_bound for bounded in bounds.values()))
        listed = [
            {
                "broker": broker,
                "bytes": int(bounded.lower_bound),
                "kind": bounded.proof.kind,
            }
            for broker, bounded in bounds.items()
            if bounded.proof is not None
        ]
        proof = None
        if least and listed:
            witness = {"each": listed[:MOST_LISTED], "num_brokers": len(listed)}
            proof = Proof(kind="cover", witness=witness)
        return Bounded(value=value, lower_bound=min(value, least), proof=proof)

    def _deviation(self, value: float) -> Bounded:
        found = [one.certificate.deviation for one in self.solutions.values()]
        best = max(found, key=lambda one: one.lower_bound, default=None)
        if best is None or best.lower_bound <= 0:
            return Bounded(value=value, lower_bound=0.0)
        return Bounded(value=value, lower_bound=min(value, best.lower_bound))


def _kept_in(table: _Table, place: IntArray) -> Iterator[Shortfall]:
    """Yield the replicas that are left alone in log dirs to be emptied."""
    emptied = np.append(table.is_emptied, False)
    stays = emptied[place] & np.equal(table.draft.movability, Movability.NEVER)
    for row in np.nonzero(stays)[0][:MOST_LISTED]:
        yield Shortfall(
            what="bins",
            have=0,
            need=1,
            item=int(row),
            bin=int(place[row]),
            node=int(table.state.replicas.broker_idx[row]),
            level="log dir",
        )
