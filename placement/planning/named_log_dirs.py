"""Plans of brokers that also name the log dirs of their copies."""

from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray, IndexArray
from placement.core.model.deadline import Deadline
from placement.core.model.search_budget import EFFORTS
from placement.core.model.solution import Bounded, Certificate, Status
from placement.draft.draft import Draft
from placement.log_dirs.dir_plan import plan_dirs_after
from placement.model.load import loads_of
from placement.model.reassignment import Reassignment, unchanged
from placement.model.targets import find_targets
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.hard_levels import hard_capacities


def with_dirs_named(found: PlannedPlacement, deadline: Deadline) -> PlannedPlacement:
    """Choose a log dir for each copy, and balance log dirs that copies may enter."""
    draft, solution = found.draft, found.solution
    effort = EFFORTS[draft.settings.effort]
    dirs = plan_dirs_after(draft, found.reassignment, effort, deadline)
    status = solution.status
    if found.has_met_rules and dirs.status in {Status.PARTIAL, Status.INFEASIBLE}:
        status = Status.PARTIAL
    return replace(
        found,
        reassignment=replace(found.reassignment, log_dir_idx=dirs.log_dir_idx),
        solution=replace(
            solution,
            status=status,
            shortfalls=(*solution.shortfalls, *dirs.shortfalls),
        ),
        seconds={
            name: found.seconds[name] + dirs.seconds.get(name, 0.0)
            for name in found.seconds
        },
        log_dirs=dirs,
        notes=(*found.notes, *dirs.notes),
    )


def without_homeless(found: PlannedPlacement, deadline: Deadline) -> PlannedPlacement:
    """
    Leave partitions unchanged if one of their copies has no room in any log dir.

    Without a named log dir, Kafka would choose one and overfill it.
    """
    first = found
    # Each round leaves at least one more partition unchanged.
    while found.log_dirs is not None and found.log_dirs.is_homeless.any():
        found = _without_partitions(first, found, deadline)
    return found


def _without_partitions(
    first: PlannedPlacement, found: PlannedPlacement, deadline: Deadline
) -> PlannedPlacement:
    """Revert partitions whose copies have no room; keep the shortfalls of `first`."""
    dirs = found.log_dirs
    assert dirs is not None  # noqa: S101 - seen to by the caller
    whole = replace(found.reassignment, log_dir_idx=None)
    brokers_alone = _reverted(found.draft, whole, whole.partition_idx[dirs.is_homeless])
    load, heaviest = loads_of(brokers_alone.after())
    fewer = replace(
        found,
        reassignment=brokers_alone,
        targets=find_targets(found.shares, load, heaviest),
    )
    named = with_dirs_named(fewer, deadline)
    certificate = _counted(found.solution.certificate, found.draft, named)
    solution = replace(first.solution, certificate=certificate)
    return replace(named, solution=solution, notes=first.notes)


def _reverted(draft: Draft, whole: Reassignment, chosen: IndexArray) -> Reassignment:
    """
    Return the lists with the `chosen` partitions as they were.

    The other partitions of their bundles are reverted too, and partitions whose copies
    then overfill a broker that is not relieved.
    """
    is_back: BoolArray = np.zeros(draft.state.num_partitions, dtype=np.bool_)
    is_back[chosen] = True
    capacity = hard_capacities(draft)
    was, _ = loads_of(unchanged(draft.state).after())
    while True:
        for bundle in draft.bundles:
            if is_back[list(bundle)].any():
                is_back[list(bundle)] = True
        found = whole.reverted(is_back)
        load, _ = loads_of(found.after())
        is_over = np.logical_or.reduce((load > capacity) & (load > was), axis=1)
        comes = found.is_copied & is_over[found.broker_idx]
        if not comes.any():
            return found
        is_back[found.partition_idx[comes]] = True


def _counted(proven: Certificate, draft: Draft, found: PlannedPlacement) -> Certificate:
    """Return the certificate with the costs of the lists; no bound increases."""
    copies = int(found.reassignment.is_copied.sum())
    copied = found.reassignment.copied_bytes(draft.weights)
    return replace(
        proven, cost=_at_most(proven.cost, copied), moves=_at_most(proven.moves, copies)
    )


def _at_most(bounded: Bounded, value: int) -> Bounded:
    least = min(bounded.lower_bound, value)
    counted = replace(bounded, value=value, lower_bound=least)
    return counted.with_solver(
        bounded.solver_bound, bounded.solver, is_spread=bounded.is_spread
    )
