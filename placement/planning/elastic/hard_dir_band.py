"""The band of log dirs as a hard goal: violations, and proofs that none fits."""

from collections.abc import Iterator

import numpy as np

from placement.array_types import BoolArray
from placement.core.model.solution import Shortfall
from placement.draft.draft import Settings
from placement.log_dirs.dir_problem import LOG_DIR, as_now
from placement.model.load import Resource
from placement.planning.outcome.result import PlannedPlacement

GOAL = "band-disk"
MOST_LISTED = 20
"""Maximum number of log dirs listed."""
NEAR = 1e-9


def missed_dirs(found: PlannedPlacement, settings: Settings) -> Iterator[Shortfall]:
    """
    Yield shortfalls of log dirs outside their band, if the band is a hard goal.

    Parameters
    ----------
    found
        The plan. If replicas may leave their brokers, the band applies to brokers and
        the result is empty.
    settings
        Settings of the plan with the hard goals.
    """
    dirs, draft = found.log_dirs, found.draft
    # Bands do not count if replicas move only to relieve brokers over a threshold.
    names = {rule.name for rule in settings.rules}
    if GOAL not in settings.hard or "only-over-threshold" in names:
        return
    if dirs is None or draft.is_emptied_dir is None:
        return
    log_dirs, outside = draft.state.log_dirs, dirs.outside
    for d in np.nonzero(outside > 0)[0][:MOST_LISTED].tolist():
        have = int(dirs.after[d])
        is_over = have > dirs.targets.upper[d, 0]
        end = dirs.targets.upper if is_over else dirs.targets.lower
        on = int(log_dirs.broker_idx[d])
        yield Shortfall(
            what=GOAL,
            have=have,
            need=int(end[d, 0]),
            bin=d,
            node=on,
            resource=str(Resource.DISK),
            level=LOG_DIR,
            message=f"log dir {log_dirs.paths[d]} of broker "
            f"{draft.state.brokers.ids[on]} is {outside[d]:.1%} of its share outside "
            f"its band of disk: {GOAL} is hard",
        )


def dirs_are_out_of_reach(found: PlannedPlacement) -> bool:
    """
    Return whether it is proven that no plan keeps the band of log dirs.

    This is the case if the lower bound is positive and every share is larger than any
    replica of its broker, so that no band depends on where heavy replicas end. Caps on
    all moves are distributed to brokers one after the other, so bounds under caps prove
    nothing.
    """
    dirs, settings = found.log_dirs, found.draft.settings
    is_capped = settings.max_moves is not None or settings.max_bytes is not None
    if dirs is None or is_capped or dirs.deviation.lower_bound <= NEAR:
        return False
    return not (_may_widen(found) & (dirs.outside > 0)).any()


def _may_widen(found: PlannedPlacement) -> BoolArray:
    """Return ``(D,)`` log dirs whose band depends on the replicas that end there."""
    dirs, state = found.log_dirs, found.draft.state
    assert dirs is not None  # noqa: S101 - as the caller made sure
    heaviest = np.zeros(state.num_brokers, dtype=np.int64)
    np.maximum.at(heaviest, state.replicas.broker_idx, as_now(found.draft).size)
    owner, target = state.log_dirs.broker_idx, dirs.targets.target[:, 0]
    small = (target < heaviest[owner]) & (target > 0)
    may_widen = np.zeros(state.num_brokers, dtype=np.bool_)
    may_widen[owner[small]] = True
    found_ones: BoolArray = may_widen[owner]
    return found_ones
