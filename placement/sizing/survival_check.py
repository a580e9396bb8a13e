"""Check that a placement keeps thresholds and survives the required losses."""

import numpy as np

from placement.demand.broker_demand import Wanted
from placement.failures.failure_domains import DomainKind
from placement.failures.failure_outlook import outlook
from placement.failures.failure_table import Failures
from placement.failures.single_failures import single_failures
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES
from placement.scenarios.scenario_figures import reason_of


def unfit(state: ClusterState, wanted: Wanted) -> str:
    """Return the reason why a placement is unfit; empty where it is fit."""
    given = outlook(state, thresholds=wanted.thresholds)
    scale = given.scale
    use = given.load / scale.unit
    live = state.brokers.is_live
    over = np.argwhere((use > scale.most * (1 + 1e-9)) & live[:, None])
    if len(over):
        b, r = over[0].tolist()
        name = RESOURCES[r]
        return f"broker {state.brokers.ids[b]} uses {100 * use[b, r]:.0f} % of {name}"
    for kind in (DomainKind.BROKER, DomainKind.RACK):
        if str(kind) not in wanted.survives:
            continue
        failures = single_failures(given, kind)
        # Limits also hold once all lost replicas are rebuilt and fetch again.
        pushed = failures.peaks.num_over_on_return
        bad = failures.is_overfull | (failures.peaks.num_over > 0) | (pushed > 0)
        if kind is DomainKind.BROKER:
            # What is on a rack may wait for it: few clusters could rebuild it all.
            bad |= failures.unplaced > 0
        if bad.any():
            row = int(np.nonzero(bad)[0][0])
            name = failures.domains.name(state, int(failures.first[row]))
            reason = reason_of(failures, row) or _later(failures, row)
            return f"without {kind} {name}: {reason}"
    return ""


def _later(failures: Failures, row: int) -> str:
    """Return what a loss that is survived leaves undone, or over a threshold."""
    if failures.unplaced[row]:
        return f"replicas with no broker to be rebuilt on: {failures.unplaced[row]}"
    over = int(failures.peaks.num_over_on_return[row])
    return f"brokers over a threshold once rebuilt: {over}"
