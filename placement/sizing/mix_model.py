r"""
Mixed-integer model of the cheapest feasible mix of kinds of brokers.

With :math:`n_{tk}` brokers of kind ``t`` in rack ``k``,

.. math::

    \min \sum_{tk} p_t n_{tk} \quad \text{s.t.} \quad
    \sum_k h^c_{kr} \ge W_r, \quad
    h^c_{kr} \le \theta_r C^c_{kr}(n), \quad h^c_{kr} \le L^c_{kr}

for each resource ``r`` and each case ``c``: no loss, loss of a broker of rack ``j``,
loss of rack ``j``. ``h`` is the load of a rack. Numbers of brokers in racks differ by
at most one. The model is a relaxation: every mix that carries the load meets its
constraints, so its minimum price is a lower bound.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from placement.demand.broker_demand import (
    HELD,
    SIZED,
    Demand,
    Wanted,
    bins_needed,
)
from placement.model.load import Resource
from placement.model.targets import rack_limit
from placement.sizing.broker_kinds import BrokerKind, Mix
from placement.sizing.fewest_brokers import least_with_rack_lost

NODE_LIMIT = 200_000


def cheapest_mix(
    demand: Demand, kinds: Sequence[BrokerKind], num_racks: int, wanted: Wanted
) -> Mix | None:
    """
    Return the cheapest mix that may carry a load, or `None` if infeasible.

    Parameters
    ----------
    demand
        Load to carry.
    kinds
        Available kinds of brokers.
    num_racks
        Number of racks of the brokers.
    wanted
        Thresholds, and losses to survive.

    Notes
    -----
    The maximum load of a rack depends on its number of brokers only where that is
    small. So there is one model for each small number of brokers, and one for all
    larger numbers.
    """
    if not _takes_each(demand, kinds, wanted):
        return None
    enough = _enough(demand, num_racks)
    fewest = fewest_brokers(demand, kinds, num_racks, wanted)
    numbers: list[int | None] = [*range(fewest, enough), None]
    found = [
        mix
        for number in numbers
        if (mix := _solved(demand, kinds, num_racks, wanted, number)) is not None
    ]
    if not found:
        return None
    best = min(found, key=lambda mix: mix.price)
    return replace(best, least_price=min(mix.least_price for mix in found))


def _takes_each(demand: Demand, kinds: Sequence[BrokerKind], wanted: Wanted) -> bool:
    """Return whether the heaviest replica fits on the largest kind of broker."""
    return all(
        demand.items[y][:1].max(initial=0.0)
        <= max(kind.capacity[y] for kind in kinds) * wanted.threshold(y) * (1 + 1e-9)
        for y in _sized(demand, kinds)
    )


def _enough(demand: Demand, num_racks: int) -> int:
    """Return a number of brokers at which racks share replicas evenly in any case."""
    factor = demand.largest_factor
    whole, less = -(-factor // num_racks), -(-factor // max(num_racks - 1, 1))
    return num_racks * max(whole + 1, less)


def _solved(
    demand: Demand,
    kinds: Sequence[BrokerKind],
    num_racks: int,
    wanted: Wanted,
    number: int | None,
) -> Mix | None:
    import pulp

    model = mix_model(demand, kinds, num_racks, wanted, number)
    model.solve(pulp.HiGHS(msg=False, threads=1, mip_max_nodes=NODE_LIMIT))
    if model.sol_status not in {pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible}:
        return None
    found = {variable.name: variable.varValue for variable in model.variables()}
    counts = np.array(
        [
            [round(found[f"n_{t}_{k}"]) for k in range(num_racks)]
            for t in range(len(kinds))
        ],
        dtype=np.int64,
    )
    prices = np.array([kind.price for kind in kinds])
    price = float((counts.sum(axis=1) * prices).sum())
    is_proven = model.sol_status == pulp.LpSolutionOptimal
    least = price if is_proven else _dual_bound(model)
    return Mix(counts=counts, price=price, least_price=min(least, price))


def _dual_bound(model: Any) -> float:  # noqa: ANN401 - PuLP has no types
    info = model.solverModel.getInfo()
    return float(info.mip_dual_bound)


def mix_model(
    demand: Demand,
    kinds: Sequence[BrokerKind],
    num_racks: int,
    wanted: Wanted,
    number: int | None = None,
) -> Any:  # noqa: ANN401 - PuLP has no types
    """
    Return the model: variables ``n_{t}_{k}``, constraints by case and resource.

    `number` is the exact number of brokers; `None`: at least as many as `_enough`.
    """
    import pulp

    model = pulp.LpProblem("mix", pulp.LpMinimize)
    most = _most_brokers(demand, kinds, num_racks, wanted)
    count = {
        (t, k): model.add_variable(
            f"n_{t}_{k}", lowBound=0, upBound=most, cat=pulp.LpInteger
        )
        for t in range(len(kinds))
        for k in range(num_racks)
    }
    model += pulp.lpSum(kinds[t].price * n for (t, _), n in count.items())
    maker = _ModelMaker(model, demand, kinds, wanted, (num_racks, number))
    maker.shape(count)
    maker.cases(count, most)
    return model


class _ModelMaker:
    """Builder of the constraints of a mix, case by case."""

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - PuLP has no types
        demand: Demand,
        kinds: Sequence[BrokerKind],
        wanted: Wanted,
        shape: tuple[int, int | None],
    ) -> None:
        self.model = model
        self.demand = demand
        self.kinds = kinds
        self.wanted = wanted
        self.num_racks, self.number = shape
        self.sized = _sized(demand, kinds)
        # In fractions of the total load, so that coefficients are near 1.
        total = np.where(demand.total > 0, demand.total, 1.0)
        self.unit = total.tolist()

    def shape(self, count: Any) -> None:  # noqa: ANN401 - PuLP has no types
        """Add constraints that do not depend on loads: racks, availability, numbers."""
        import pulp

        kinds, racks = range(len(self.kinds)), range(self.num_racks)
        in_rack = [pulp.lpSum(count[t, k] for t in kinds) for k in racks]
        for k in racks[1:]:
            self.model += in_rack[k - 1] >= in_rack[k], f"racks_ordered_{k}"
        if self.num_racks > 1:
            self.model += in_rack[0] - in_rack[-1] <= 1, "racks_even"
        for t, kind in enumerate(self.kinds):
            if kind.available is not None:
                had = pulp.lpSum(count[t, k] for k in racks)
                self.model += had <= kind.available, f"available_{t}"
        whole = pulp.lpSum(count.values())
        if self.number is None:
            enough = _enough(self.demand, self.num_racks)
            least = fewest_brokers(self.demand, self.kinds, self.num_racks, self.wanted)
            self.model += whole >= max(enough, least), "fewest"
        else:
            self.model += whole == self.number, "number"
        if all(np.isfinite(kind.max_replicas) for kind in self.kinds):
            room = pulp.lpSum(
                self.kinds[t].max_replicas * n for (t, _), n in count.items()
            )
            self.model += room >= self.demand.replicas, "max_replicas"

    def cases(self, count: Any, most: int) -> None:  # noqa: ANN401 - PuLP has no types
        """Add the load constraints of every case."""
        self._case("all", count, lost_rack=None, lost_from=None, lost=None)
        if "broker" in self.wanted.survives:
            lost = self._largest_had(count, most)
            for j in range(self.num_racks):
                self._case(f"broker_{j}", count, lost_rack=None, lost_from=j, lost=lost)
        if "rack" in self.wanted.survives:
            for j in range(self.num_racks):
                self._case(f"rack_{j}", count, lost_rack=j, lost_from=None, lost=None)

    def _largest_had(self, count: Any, most: int) -> Any:  # noqa: ANN401
        """Return the capacity of the largest broker, by rack and resource."""
        import pulp

        lost = {}
        kinds = range(len(self.kinds))
        for j in range(self.num_racks):
            has = [
                self.model.add_variable(f"has_{t}_{j}", cat=pulp.LpBinary)
                for t in kinds
            ]
            for t in kinds:
                self.model += count[t, j] <= most * has[t], f"has_{t}_{j}_if"
            for y in self.sized:
                lost[j, y] = self.model.add_variable(f"lost_{j}_{y}", lowBound=0)
                for t in kinds:
                    capacity = self._part(t, y)
                    name = f"lost_{j}_{y}_{t}"
                    self.model += lost[j, y] >= capacity * has[t], name
        return lost

    def _case(
        self,
        name: str,
        count: Any,  # noqa: ANN401 - PuLP has no types
        *,
        lost_rack: int | None,
        lost_from: int | None,
        lost: Any,  # noqa: ANN401 - PuLP has no types
    ) -> None:
        import pulp

        left = [k for k in range(self.num_racks) if k != lost_rack]
        for y in self.sized:
            if name != "all" and y == len(SIZED) - 1:
                continue
            usable = {}
            for k in left:
                whole = pulp.lpSum(
                    self._part(t, y) * count[t, k] for t in range(len(self.kinds))
                )
                gone = lost[lost_from, y] if k == lost_from else 0
                usable[k] = self.wanted.threshold(y) * (whole - gone)
            self._carried(f"{name}_{y}", y, usable, lost_from)

    def _part(self, t: int, y: int) -> float:
        """Return the capacity of one broker of a kind over the total load."""
        return float(self.kinds[t].capacity[y] / self.unit[y])

    def _carried(
        self,
        name: str,
        y: int,
        usable: Any,  # noqa: ANN401 - PuLP has no types
        lost_from: int | None,
    ) -> None:
        import pulp

        # Tolerance: rounding must not cut off a mix that is exactly enough.
        total = float(self.demand.total[y] / self.unit[y]) * (1 - 1e-7)
        if y >= HELD:
            self.model += pulp.lpSum(usable.values()) >= total, name
            return
        most = self._rack_most(y, list(usable), lost_from)
        held = {
            k: self.model.add_variable(f"h_{name}_{k}", lowBound=0, upBound=most[k])
            for k in usable
        }
        for k, amount in usable.items():
            self.model += held[k] <= amount, f"{name}_{k}"
        self.model += pulp.lpSum(held.values()) >= total, name

    def _rack_most(
        self, y: int, racks: Sequence[int], lost_from: int | None
    ) -> dict[int, float]:
        """Return the maximum load of each rack by the rack rule."""
        factors = self.demand.factors
        weight = self.demand.factor_weight[:, y] / self.unit[y]
        if self.number is None:
            spread = -(-factors // len(racks))
            return dict.fromkeys(racks, float((spread * weight).sum()))
        # The first racks have one broker more if the number is not divisible.
        fewer, more = divmod(self.number, self.num_racks)
        left = {k: fewer + (k < more) - (k == lost_from) for k in racks}
        brokers = np.array([left[k] for k in racks], dtype=np.int64)
        spread = rack_limit(factors, brokers)
        return {k: float((np.minimum(spread, left[k]) * weight).sum()) for k in racks}


def _sized(demand: Demand, kinds: Sequence[BrokerKind]) -> list[int]:
    """Return the columns of `SIZED` for which all kinds have a capacity."""
    return [
        y
        for y in range(len(SIZED))
        if demand.is_known[y] and all(np.isfinite(kind.capacity[y]) for kind in kinds)
    ]


def fewest_brokers(
    demand: Demand, kinds: Sequence[BrokerKind], num_racks: int, wanted: Wanted
) -> int:
    """Return a lower bound on the brokers, with each as large as the largest kind."""
    factor, survives = demand.largest_factor, wanted.survives
    bins = [factor]
    for y in _sized(demand, kinds):
        largest = max(kind.capacity[y] for kind in kinds)
        size = float(largest * wanted.threshold(y))
        if size > 0 and SIZED[y] is not Resource.CPU:
            bins.append(bins_needed(demand.items[y], size)[0])
    least = max(bins)
    if "rack" in survives and num_racks > 1:
        least = max(least, least_with_rack_lost(max(bins), num_racks))
    if "broker" in survives:
        least = max(least, max(bins) + 1)
    return max(least, 1)


def _most_brokers(
    demand: Demand, kinds: Sequence[BrokerKind], num_racks: int, wanted: Wanted
) -> int:
    """Return an upper bound on the brokers of a kind in a rack."""
    most = demand.largest_factor + 2
    for y in range(len(SIZED)):
        for kind in kinds:
            usable = float(kind.capacity[y]) * wanted.threshold(y)
            if demand.is_known[y] and np.isfinite(usable) and usable > 0:
                most = max(most, int(2 * demand.total[y] / usable) + 3)
    return most
