"""Decode the core's answer: lists of replicas, their costs and their shortfalls."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray
from placement.core.bounds.shortfalls import MAX_SHORTFALLS, find_shortfalls
from placement.core.model.arrangement import Arrangement, home_arrangement
from placement.core.model.objective import evaluate
from placement.core.model.problem import (
    NO_LIMIT,
    NOWHERE,
    Movability,
    Problem,
)
from placement.core.model.solution import (
    Bounded,
    Certificate,
    Proof,
    Shortfall,
    Solution,
    Status,
)
from placement.core.presolve.aggregation import Bundle
from placement.draft.draft import Draft
from placement.model.cluster import ABSENT
from placement.model.load import RESOURCES, first_live_replica, first_true, loads_of
from placement.model.rack_violations import rack_broken
from placement.model.reassignment import Reassignment, reassign, unchanged
from placement.planning.encode import decided_copies
from placement.planning.outcome.column_shortfalls import overfull_columns
from placement.rules.hard_levels import hard_capacities

MET = frozenset({Status.OPTIMAL, Status.FEASIBLE})


def has_choice(problem: Problem) -> bool:
    """Return whether any item or role can leave its present bin."""
    may_move = np.not_equal(problem.movability, Movability.NEVER)
    homeless = np.equal(problem.home, NOWHERE)
    return bool((may_move | homeless).any() or problem.is_role_movable.any())


def without_choice(problem: Problem) -> Solution:
    """Return the solution of a problem that has only one arrangement."""
    at = home_arrangement(problem)
    value = evaluate(problem, at)
    shortfalls = find_shortfalls(problem, at)
    status = Status.OPTIMAL
    if value.key[0]:
        is_proven = any(shortfall.is_proven for shortfall in shortfalls)
        status = Status.INFEASIBLE if is_proven else Status.PARTIAL
    nothing = Bounded(value=0, lower_bound=0)
    return Solution(
        status=status,
        best=at,
        certificate=Certificate(
            cost=nothing,
            moves=nothing,
            deviation=Bounded(value=value.deviation, lower_bound=0.0),
        ),
        shortfalls=shortfalls,
        seconds={"solve": 0.0, "bound": 0.0},
    )


def by_bands(problem: Problem, solution: Solution) -> Solution:
    """
    Return a solution with its distance from the bands of `problem`.

    The lower bound of this distance is 0: nothing is proven if the search aimed at
    other bands, which depend on the heaviest replica of a broker.
    """
    value = evaluate(problem, solution.best).deviation
    deviation = Bounded(value=value, lower_bound=0.0)
    return replace(
        solution, certificate=replace(solution.certificate, deviation=deviation)
    )


def by_lists(
    draft: Draft, problem: Problem, solution: Solution, reassignment: Reassignment
) -> Solution:
    """
    Return a solution with the distance of its lists, if that is larger.

    Partitions whose list names a dead broker keep their replicas and their leader.
    """
    at, home = solution.best, home_arrangement(problem)
    is_kept = _names_dead(reassignment)
    of = draft.state.replicas.partition_idx
    listed = Arrangement(
        np.where(is_kept[of], home.bin_of, at.bin_of),
        np.where(is_kept, home.role_of, at.role_of),
    )
    proven = solution.certificate
    value = max(evaluate(problem, listed).deviation, proven.deviation.value)
    deviation = replace(proven.deviation, value=value)
    return replace(solution, certificate=replace(proven, deviation=deviation))


def to_reassignment(draft: Draft, at: Arrangement) -> Reassignment:
    """
    Return the lists; a partition that would still name a dead broker is unchanged.

    New copies without a broker are left out of their list; the rest of the list is
    kept.
    """
    state = draft.state
    is_homeless = np.equal(at.bin_of, NOWHERE)
    broker_of = np.where(is_homeless, state.replicas.broker_idx, at.bin_of)
    broker_of = broker_of.astype(np.int32)
    is_new = np.zeros_like(is_homeless)
    if draft.is_unplaced is not None:
        is_new = draft.is_unplaced
    # The broker of an unplaced new copy is a placeholder, live or not.
    off = ~state.brokers.is_live[broker_of] & ~(is_new & is_homeless)
    stays = first_true(off, state.replicas.start) != ABSENT
    of = state.replicas.partition_idx
    broker_of = np.where(stays[of], state.replicas.broker_idx, broker_of)
    leading = np.where(stays, first_live_replica(state), at.role_of)
    found = reassign(state, broker_of, leading)
    if draft.decided is None:
        return found
    is_left_out = is_homeless | (is_new & stays[of])
    whole = draft.decided.then(found).without(is_left_out[found.origin])
    whole = whole.reverted(_names_dead(whole))
    short = first_true(is_homeless, state.replicas.start) != ABSENT
    if not short.any():
        return whole
    return whole.reverted(short & _is_crowded_anew(draft, whole))


def as_bundled(found: Reassignment, bundles: Sequence[Bundle]) -> Reassignment:
    """
    Return the lists with each bundle in the order of its first partition.

    A bundle stays as it is if its partitions are not on the same brokers, or if it
    keeps a replica on a broker that is not live: no new list may name such a broker.
    """
    if not bundles:
        return found
    is_live = found.before.brokers.is_live
    broker_idx, origin = found.broker_idx.copy(), found.origin.copy()
    start = found.start.tolist()
    for first, *others in bundles:
        wanted = broker_idx[start[first] : start[first + 1]]
        if not is_live[wanted].all():
            continue
        for other in others:
            own = slice(start[other], start[other + 1])
            order = np.argsort(broker_idx[own], kind="stable")
            if np.array_equal(broker_idx[own][order], np.sort(wanted)):
                place = order[np.searchsorted(broker_idx[own][order], wanted)]
                origin[own] = origin[own][place]
                broker_idx[own] = wanted
    return replace(found, broker_idx=broker_idx, origin=origin)


def without_order(draft: Draft) -> Draft:
    """Return a draft in which the lists of bundles keep their present order."""
    if not draft.bundles:
        return draft
    is_left_alone = draft.is_left_alone.copy()
    is_left_alone[[p for bundle in draft.bundles for p in bundle]] = True
    return replace(draft, is_left_alone=is_left_alone)


def _is_crowded_anew(draft: Draft, found: Reassignment) -> BoolArray:
    """
    Return ``(P,)`` true for lists that break the rack rule and kept it before.

    Brokers chosen for more replicas may be too close together for fewer replicas.
    """
    was_crowded = rack_broken(found.before, draft.holds)
    is_crowded: BoolArray = rack_broken(found.after(), draft.holds) & ~was_crowded
    return is_crowded


def _names_dead(found: Reassignment) -> BoolArray:
    """Return ``(P,)`` true for lists that name a broker that is not live."""
    off = ~found.before.brokers.is_live[found.broker_idx]
    return np.not_equal(first_true(off, found.start), ABSENT)


def as_listed(draft: Draft, solution: Solution, reassignment: Reassignment) -> Solution:
    """Count the copies and bytes of the lists; add shortfalls unknown to the core."""
    proven = solution.certificate
    copies = int(reassignment.is_copied.sum())
    copied = reassignment.copied_bytes(draft.weights)
    forced = decided_copies(draft)
    missing = (
        *kept_on_removed(draft),
        *draft.shortfalls,
        *_filled_by_decision(draft, solution, reassignment),
    )
    return replace(
        solution,
        status=_status(solution.status, missing),
        certificate=replace(
            proven,
            cost=_counted(proven.cost, copied, forced.size_bytes),
            moves=_counted(proven.moves, copies, forced.copies),
        ),
        shortfalls=(*solution.shortfalls, *missing),
    )


def _filled_by_decision(
    draft: Draft, solution: Solution, reassignment: Reassignment
) -> list[Shortfall]:
    """
    Return the brokers that decisions before the search fill beyond a capacity.

    The core takes these loads as given: it starts from the operation's decisions and
    from bundles that are already together.
    """
    if draft.decided is None and not draft.bundles:
        return []
    load, _ = loads_of(reassignment.after())
    was, _ = loads_of(unchanged(reassignment.before).after())
    capacity = hard_capacities(draft)
    over = (load > capacity) & (load > was)
    named = {(short.bin, short.resource) for short in solution.shortfalls}
    filled = [
        Shortfall(
            what="capacity",
            have=int(capacity[b, r]),
            need=int(load[b, r]),
            bin=int(b),
            resource=str(RESOURCES[r]),
            level="broker",
        )
        for b, r in np.argwhere(over)[:MAX_SHORTFALLS].tolist()
    ]
    every = (*filled, *overfull_columns(draft, reassignment))
    return [one for one in every if (one.bin, one.resource) not in named]


def _status(status: Status, missing: tuple[Shortfall, ...]) -> Status:
    if any(shortfall.is_proven for shortfall in missing):
        return Status.INFEASIBLE
    return Status.PARTIAL if missing and status in MET else status


def _counted(bounded: Bounded, value: int, forced: int) -> Bounded:
    """Return the value of the lists, perhaps below the solved one, and its bound."""
    if value == bounded.value and not forced:
        return bounded
    least = int(min(bounded.lower_bound + forced, value, NO_LIMIT))
    proof = bounded.proof
    if proof is None and least:
        proof = Proof(kind="forced", witness={"side": "leave", "bins": []})
    said = bounded.solver_bound
    counted = replace(bounded, value=value, lower_bound=least, proof=proof)
    return counted.with_solver(
        None if said is None else min(said + forced, value),
        bounded.solver,
        is_spread=bounded.is_spread,
    )


def kept_on_removed(draft: Draft) -> list[Shortfall]:
    """Return shortfalls of replicas left alone on brokers to empty."""
    state, replicas = draft.state, draft.state.replicas
    stays = draft.to_empty[replicas.broker_idx]
    is_named = draft.lacks_source[replicas.partition_idx]
    stays &= draft.is_left_alone[replicas.partition_idx] & ~is_named
    return [
        Shortfall(
            what="bins",
            have=0,
            need=1,
            item=int(row),
            group=int(replicas.partition_idx[row]),
            bin=int(replicas.broker_idx[row]),
            level="broker",
            message=f"{state.name_of(int(replicas.partition_idx[row]))} keeps a "
            f"replica on broker {state.brokers.ids[replicas.broker_idx[row]]}: it is "
            "left alone, see the notes",
        )
        for row in np.nonzero(stays)[0][:MAX_SHORTFALLS]
    ]
