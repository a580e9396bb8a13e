"""Incumbent and lower bounds of a decomposition by node."""

from dataclasses import dataclass, field

from placement.array_types import FloatArray
from placement.core.exact.cp_sat.placement_variables import Pair
from placement.core.exact.one_node.node_rows import NodeRows
from placement.core.exact.separable_levels import NodeBins

FAR_GAP = 0.005
"""
Relative gap of a solution to its bound above which more work pays.

CP-SAT closes small nodes there in less time than branch and cut.
"""


@dataclass(slots=True)
class NodeSolutions:
    """
    Incumbent and lower bounds of all nodes together.

    Parameters
    ----------
    places
        Pairs of group and bin that hold an item in the incumbent.
    known
        Cost of the first incumbent.
    spent
        Deterministic seconds of all solves.
    costs, spread_costs
        Lower bound on the cost of the moves into the bins of each node, in units of
        `Problem.cost`; and on that of solutions that keep the soft caps on collections.
    deviation
        Lower bound on the largest distance outside the bands, in targets.
    prices
        Duals of the bands by side (0: upper, 1: lower), bin and resource.
    solver
        Name and version of the solver that states the bounds, if not CP-SAT.
    """

    places: set[Pair]
    known: int
    spent: float = 0.0
    costs: dict[tuple[int, ...], int] = field(default_factory=dict)
    spread_costs: dict[tuple[int, ...], int] = field(default_factory=dict)
    deviation: float = 0.0
    prices: dict[tuple[int, int, int], float] = field(default_factory=dict)
    solver: str | None = None

    def take_prices(self, rows: NodeRows, prices: FloatArray) -> None:
        """Record the prices of the bands of a node."""
        for row, price in zip(rows.rows, prices.tolist(), strict=True):
            if row.band is not None and price > 0:
                self.prices[row.band] = price

    def take_places(self, node: NodeBins, places: set[Pair]) -> None:
        """Replace the incumbent of a node."""
        inside = set(node.bins)
        others = {pair for pair in self.places if pair[1] not in inside}
        self.places = others | places
