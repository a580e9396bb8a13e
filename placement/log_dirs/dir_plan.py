r"""
Plans of the log dirs of replicas inside their brokers.

*Goals.* Emptied log dirs first; then every log dir within a band around its share of
its broker's bytes, in proportion to the sizes of the file systems; then the fewest
bytes copied. *Constraints.* No replica changes its broker; no replica enters a log dir
that is offline, cordoned or being emptied; no log dir is filled beyond the disk
threshold. *Algorithm.* Brokers are independent: each is a separate problem of the core,
with replicas as items and log dirs as bins.

Bytes in a log dir's file system besides replicas (known from `usable_bytes`) are a
fixed load. A replica in an unknown log dir belongs to them, and stays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from placement.array_types import FloatArray, IndexArray, IntArray
from placement.core.bounds.infeasibility import is_impossible
from placement.core.model.deadline import Deadline
from placement.core.model.search_budget import Effort
from placement.core.model.solution import Bounded, Proof, Shortfall, Solution, Status
from placement.core.solve import prove, solve
from placement.core.solve_hard_rules import solve_bare
from placement.draft.draft import Draft
from placement.log_dirs.dir_problem import (
    LOG_DIR,
    Lying,
    Tables,
    as_before,
    as_now,
    as_reassigned,
    disk_alone,
)
from placement.log_dirs.kept_replicas import kept_in
from placement.log_dirs.planned_dirs import PlannedDirs
from placement.log_dirs.soft_dir_rules import soften_dirs
from placement.model.cluster import ABSENT
from placement.model.reassignment import Reassignment
from placement.model.targets import Targets

Column = TypeVar("Column", IntArray, FloatArray)
MAX_BAND_ROUNDS = 4
"""Maximum number of rounds in which bands are recomputed after heavy replicas moved."""
MOST_LISTED = 20
"""Maximum number of brokers listed in the proof of a plan."""


def plan_dirs(draft: Draft, effort: Effort, deadline: Deadline) -> PlannedDirs:
    """
    Plan the log dirs inside all brokers.

    Parameters
    ----------
    draft
        Draft with the movability of replicas and the log dirs to empty.
    effort
        Amount of work of the search for each broker.
    deadline
        Time at which the search ends with its incumbent; brokers with replicas that
        must move are planned in any case.
    """
    now = as_now(draft)
    return _plan(draft, (now, now), effort, deadline)


def plan_dirs_after(
    draft: Draft, reassignment: Reassignment, effort: Effort, deadline: Deadline
) -> PlannedDirs:
    """
    Plan log dirs for the copies of a reassignment, and inside the brokers it may use.

    Parameters
    ----------
    draft
        Draft with the allowed moves of the operation.
    reassignment
        New replica lists; rows of the result are places in these lists.
    effort, deadline
        Arguments of `plan_dirs`; copies are planned even after the deadline.
    """
    before = as_before(draft, reassignment)
    after = as_reassigned(draft, reassignment)
    return _plan(draft, (before, after), effort, deadline)


def _plan(
    draft: Draft, lying: tuple[Lying, Lying], effort: Effort, deadline: Deadline
) -> PlannedDirs:
    """
    Plan all log dirs, beyond a threshold if it is soft and has to be relaxed.

    `lying` is the replicas' log dirs before, and those to plan.
    """
    before, after = lying
    now = Tables(draft, before)

    def planned(draft: Draft) -> PlannedDirs:
        return _plan_once(Tables(draft, after), now, effort, deadline)

    return soften_dirs(planned, lambda draft: Tables(draft, after), draft)


def _plan_once(
    table: Tables, now: Tables, effort: Effort, deadline: Deadline
) -> PlannedDirs:
    found = _Found(table)
    for broker in table.worst_first():
        if not deadline.is_over() or table.must_move[broker]:
            found.add(broker, _plan_broker(table, broker, found, effort, deadline))
    return found.conclude(now)


def are_dirs_impossible(draft: Draft) -> bool:
    """
    Return whether log dirs are proven to be unable to keep the hard rules.

    Parameters
    ----------
    draft
        Draft of log dirs inside brokers, as for `plan_dirs`.
    """
    table, settings = Tables(draft, as_now(draft)), draft.settings
    if next(kept_in(table, table.home), None) is not None:
        return True
    for most, need in (
        (settings.max_moves, int(table.must.sum())),
        (settings.max_bytes, int(table.cost[table.must].sum())),
    ):
        if most is not None and need > most:
            return True
    return any(
        is_impossible(
            table.problem(table.items[b], table.rows_of(b), table.targets, {})
        )
        for b in table.worst_first()
    )


def _plan_broker(
    table: Tables, broker: int, found: "_Found", effort: Effort, deadline: Deadline
) -> tuple[IntArray, IntArray, Solution]:
    """Solve one broker; return its items, its log dirs and the solution."""
    rows, items = table.rows_of(broker), table.items[broker]
    targets, best = table.targets, None
    for _ in range(MAX_BAND_ROUNDS):
        problem = table.problem(items, rows, targets, found.caps_left(broker))
        solution = solve(
            problem, effort=effort, seed=table.draft.settings.seed, deadline=deadline
        )
        if best is None or _worth(solution) < _worth(best):
            best = solution
        place = table.home.copy()
        place[items] = _rows_at(rows, solution.best.bin_of)
        again = table.targets_at(place)
        if _same_bands(targets, again, rows) or deadline.is_over():
            break
        targets = again
    assert best is not None  # noqa: S101 - there is at least one round
    if not _is_met(best) and not deadline.is_over():
        problem = table.problem(items, rows, targets, found.caps_left(broker))
        seed = table.draft.settings.seed
        packed = solve_bare(problem, effort=effort, seed=seed, deadline=deadline)
        if _is_met(packed):
            best = prove(problem, packed.best, effort=effort)
    return items, rows, best


def _worth(solution: Solution) -> tuple[int, float, float]:
    proven = solution.certificate
    return 0 if _is_met(solution) else 1, proven.deviation.value, proven.cost.value


def _is_met(solution: Solution) -> bool:
    return solution.status in {Status.OPTIMAL, Status.FEASIBLE}


def _same_bands(aimed: Targets, reached: Targets, rows: IntArray) -> bool:
    return bool(
        np.allclose(aimed.lower[rows], reached.lower[rows], rtol=1e-9)
        and np.allclose(aimed.upper[rows], reached.upper[rows], rtol=1e-9)
    )


def _rows_at(rows: IntArray, bin_of: IndexArray) -> IntArray:
    """Return the log dirs of bins; `ABSENT` for items without a bin."""
    return np.where(bin_of < 0, ABSENT, rows[bin_of])


class _Found:
    """Solutions of the brokers solved so far."""

    def __init__(self, table: Tables) -> None:
        self.table = table
        self.place: IntArray = table.home.copy()
        self.solutions: dict[int, Solution] = {}
        self.shortfalls: list[Shortfall] = []
        self.capped: dict[str, Shortfall] = {}

    def caps_left(self, broker: int) -> dict[str, Any]:
        """Return what other brokers and their necessary moves leave of the caps."""
        table, settings = self.table, self.table.draft.settings
        values = [one.certificate for one in self.solutions.values()]
        # Optional moves in one broker must not use the caps for necessary moves in
        # another.
        on = table.state.replicas.broker_idx
        waits = table.must & ~np.isin(on, [broker, *self.solutions])
        spent = {
            "max_moves": (
                settings.max_moves,
                sum(v.moves.value for v in values) + int(waits.sum()),
            ),
            "max_cost": (
                settings.max_bytes,
                sum(v.cost.value for v in values) + int(table.cost[waits].sum()),
            ),
        }
        return {
            name: max(int(cap - used), 0)
            for name, (cap, used) in spent.items()
            if cap is not None
        }

    def add(self, broker: int, answer: tuple[IntArray, IntArray, Solution]) -> None:
        """Store the solution of one broker."""
        items, rows, solution = answer
        self.solutions[broker] = solution
        self.place[items] = _rows_at(rows, solution.best.bin_of)
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
                    level=LOG_DIR,
                    bin=int(rows[shortfall.bin]) if shortfall.bin >= 0 else -1,
                )
            )

    def conclude(self, now: Tables) -> PlannedDirs:
        """Return all solutions as one, with the present log dirs."""
        table = self.table
        targets = table.targets_at(self.place)
        after = table.loads(self.place)
        outside = targets.outside(disk_alone(after))[:, 0]
        moved = self.place != table.home
        kept = list(kept_in(table, self.place))
        spent = [one.seconds for one in self.solutions.values()]
        return PlannedDirs(
            log_dir_idx=np.where(moved, self.place, ABSENT).astype(np.int32),
            before=now.load,
            after=after,
            targets_before=now.targets,
            targets=targets,
            is_member=table.is_member,
            cost=self._cost(int(table.cost[moved].sum())),
            deviation=self._deviation(float(outside.max(initial=0.0))),
            status=self._status(kept),
            shortfalls=(*self.shortfalls, *kept, *self._caps()),
            is_homeless=table.is_coming & np.equal(self.place, ABSENT),
            seconds={
                name: sum(each.get(name, 0.0) for each in spent)
                for name in ("solve", "bound")
            },
        )

    def _caps(self) -> Iterator[Shortfall]:
        """Yield a shortfall for each cap that was too low, for the whole plan."""
        settings = self.table.draft.settings
        most = {"moves": settings.max_moves, "cost": settings.max_bytes}
        for what, shortfall in self.capped.items():
            have = most[what]
            if have is not None:
                missing = shortfall.need - shortfall.have
                yield replace(shortfall, have=have, need=have + missing)

    def _status(self, kept: Sequence[Shortfall]) -> Status:
        found = {one.status for one in self.solutions.values()}
        found |= {
            Status.INFEASIBLE if one.is_proven else Status.PARTIAL for one in kept
        }
        for status in (Status.INFEASIBLE, Status.PARTIAL, Status.FEASIBLE):
            if status in found:
                return status
        return Status.OPTIMAL

    def _cost(self, value: int) -> Bounded:
        """Return the bytes copied, with the sum of the brokers' lower bounds."""
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
