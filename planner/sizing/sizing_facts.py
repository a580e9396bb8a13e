"""Facts of a sizing that its screen and its document share."""

import numpy as np

from placement.demand.broker_demand import SIZED
from placement.sizing.cluster_size import Sizing
from planner.sizing.size_cluster import SizeAnswer, requested_losses


def left_out(answer: SizeAnswer) -> list[str]:
    """Return the requested losses that are left out: fewer than two racks are known."""
    return sorted(requested_losses(answer.request) - answer.task.wanted.survives)


def unsized(sizing: Sizing) -> list[str]:
    """Return the resources left out, as their loads or capacities are unknown."""
    return [
        str(resource)
        for y, resource in enumerate(SIZED)
        if not sizing.demand.is_known[y]
        or not all(np.isfinite(kind.capacity[y]) for kind in sizing.kinds)
    ]


def removable(answer: SizeAnswer) -> list[int]:
    """Return the ids of today's brokers that the found placement empties."""
    shown = answer.sizing.shown
    if shown is None:
        return []
    return sorted(shown.variant.leaving - answer.task.variant.leaving)
