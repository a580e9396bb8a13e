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

from placement.array_types import FloatArray, IntArray
from placement.core.bounds.infeasibility import is_impossible
from placement.core.exact.work_limit import ExactWork
from placement.core.model.deadline import Deadline
from placement.core.model.search_budget import Effort
from placement.core.model.solution import Bounded, Proof, Shortfall, Solution, Status
from placement.draft.draft import Draft, Settings
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
from placement.log_dirs.settled_dirs import DirSearch
from placement.log_dirs.soft_dir_rules import soften_dirs
from placement.model.cluster import ABSENT
from placement.model.reassignment import Reassignment

Column = TypeVar("Column", IntArray, FloatArray)
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
    found, work = _Found(table), ExactWork.of(effort)
    caps = _caps_of(table.draft.settings)
    for brokers in _together(table, deadline, is_capped=bool(caps)):
        search = DirSearch(
            table=table,
            rows=np.concatenate([table.rows_of(broker) for broker in brokers]),
            items=np.concatenate([table.items[broker] for broker in brokers]),
            caps=caps,
            effort=effort,
            deadline=deadline,
            work=work,
        )
        found.add(brokers, search)
    return found.conclude(now)


def _caps_of(settings: Settings) -> dict[str, Any]:
    """Return the caps on moves and bytes, as fields of a problem."""
    caps = {"max_moves": settings.max_moves, "max_cost": settings.max_bytes}
    return {name: int(cap) for name, cap in caps.items() if cap is not None}


def _together(
    table: Tables, deadline: Deadline, *, is_capped: bool
) -> Iterator[list[int]]:
    """Yield the brokers to solve at once: all if they share a cap, else one by one."""
    brokers = table.worst_first()
    if is_capped:
        if deadline.is_over():
            brokers = [broker for broker in brokers if table.must_move[broker]]
        brokers.sort()
        yield from [brokers] if brokers else []
        return
    for broker in brokers:
        if not deadline.is_over() or table.must_move[broker]:
            yield [broker]


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


class _Found:
    """
    Solutions of the brokers solved so far.

    Parameters
    ----------
    table
        Data of all brokers.

    Attributes
    ----------
    solved
        Solutions of one broker each, or of several brokers that share a cap.
    alone
        Solution of each broker, with bounds of its own.
    """

    def __init__(self, table: Tables) -> None:
        self.table = table
        self.place: IntArray = table.home.copy()
        self.solved: list[Solution] = []
        self.alone: dict[int, Solution] = {}
        self.shortfalls: list[Shortfall] = []

    def add(self, brokers: Sequence[int], search: DirSearch) -> None:
        """Solve some brokers, and store their solution."""
        solution = search.settled()
        self.solved.append(solution)
        items = search.items
        self.place[items] = search.place_of(solution.best.bin_of)[items]
        for broker in brokers:
            is_whole = len(brokers) == 1
            self.alone[broker] = (
                solution if is_whole else search.proven_alone(broker, solution)
            )
        self.shortfalls += [
            self._in_rows(shortfall, search) for shortfall in solution.shortfalls
        ]

    def _in_rows(self, shortfall: Shortfall, search: DirSearch) -> Shortfall:
        """Return a shortfall with rows of replicas, log dirs and brokers."""
        if shortfall.what in {"moves", "cost"}:
            return shortfall
        item = shortfall.item if shortfall.item >= 0 else shortfall.group
        row = int(search.items[item]) if item >= 0 else -1
        log_dir = int(search.rows[shortfall.bin]) if shortfall.bin >= 0 else -1
        place = log_dir if log_dir >= 0 else int(search.rows[0])
        node = int(self.table.dirs.broker_idx[place])
        if row >= 0:
            node = int(self.table.state.replicas.broker_idx[row])
        return replace(
            shortfall, item=row, group=-1, node=node, level=LOG_DIR, bin=log_dir
        )

    def conclude(self, now: Tables) -> PlannedDirs:
        """Return all solutions as one, with the present log dirs."""
        table = self.table
        targets = table.targets_at(self.place)
        after = table.loads(self.place)
        outside = targets.outside(disk_alone(after))[:, 0]
        moved = self.place != table.home
        kept = list(kept_in(table, self.place))
        spent = [one.seconds for one in self.solved]
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
            shortfalls=(*self.shortfalls, *kept),
            is_homeless=table.is_coming & np.equal(self.place, ABSENT),
            seconds={
                name: sum(each.get(name, 0.0) for each in spent)
                for name in ("solve", "bound")
            },
        )

    def _status(self, kept: Sequence[Shortfall]) -> Status:
        found = {one.status for one in self.solved}
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
            for broker, one in sorted(self.alone.items())
        }
        least = sum(bounded.lower_bound for bounded in bounds.values())
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
        found = Bounded(value=value, lower_bound=min(value, int(least)), proof=proof)
        costs = [one.certificate.cost for one in self.solved]
        return found.with_solver(int(sum(map(_known, costs))), _solver_of(costs))

    def _deviation(self, value: float) -> Bounded:
        alone = [one.certificate.deviation for one in self.alone.values()]
        least = max((one.lower_bound for one in alone), default=0.0)
        found = Bounded(value=value, lower_bound=min(value, max(least, 0.0)))
        whole = [one.certificate.deviation for one in self.solved]
        return found.with_solver(
            max(map(_known, whole), default=0.0), _solver_of(whole)
        )


def _known(bounded: Bounded) -> float:
    """Return the larger one of the proven bound and that of a solver."""
    return max(bounded.lower_bound, bounded.solver_bound or 0.0)


def _solver_of(bounds: Sequence[Bounded]) -> str | None:
    """Return the solver that states some of the bounds, if any."""
    return next((one.solver for one in bounds if one.solver is not None), None)
