"""Goals about loads besides the six resources, as soft columns of the problem."""

from dataclasses import dataclass

import numpy as np

from placement.core.problem import NO_LIMIT
from placement.load import RESOURCES, UNITS, Resource
from placement.rules.draft import Draft
from placement.rules.tables import SoftColumn

IN, OUT = RESOURCES.index(Resource.IN), RESOURCES.index(Resource.OUT)


@dataclass(frozen=True, slots=True)
class PotentialOut:
    """
    A broker that led everything it holds would stay under its threshold of `out`.

    Soft: the plan comes as near as it can. Brokers whose capacity is unknown have no
    such limit.
    """

    name: str = "potential-out"

    def fill(self, draft: Draft) -> None:
        """Give every replica the load that it would have as leader."""
        capacity = draft.state.brokers.out_bytes_per_s
        fraction = draft.settings.capacity_thresholds.get(Resource.OUT, 1.0)
        known = draft.holds & np.isfinite(capacity) & (capacity > 0)
        most = np.where(known, capacity, 0.0) * UNITS[Resource.OUT] * fraction
        weight = draft.weights.leader[:, OUT]
        draft.columns.append(
            SoftColumn(
                name=self.name,
                weight=weight,
                role_weight=np.zeros_like(weight),
                upper=np.where(known, np.floor(most), NO_LIMIT).astype(np.int64),
                unit=np.where(known, most, 0.0),
            )
        )


@dataclass(frozen=True, slots=True)
class LeaderIn:
    """
    What comes in on the partitions that a broker leads is little over the mean at most.

    Soft, an upper end only, and blind to capacities: as wide as the band of `in`.
    """

    name: str = "leader-in"

    def fill(self, draft: Draft) -> None:
        """Give every leader what producers write to it."""
        weight = draft.weights.replica[:, IN]
        leads = draft.leads & draft.holds
        mean = float(weight.sum()) / max(int(leads.sum()), 1)
        most = mean * (1 + draft.settings.band(Resource.IN))
        draft.columns.append(
            SoftColumn(
                name=self.name,
                weight=np.zeros_like(weight),
                role_weight=weight,
                upper=np.where(leads, np.ceil(most), NO_LIMIT).astype(np.int64),
                unit=np.where(leads, mean, 0.0),
            )
        )
