"""
Rows of a node that leave little free, and the loads that a cheaper solution may have.

Complementary slackness: a cheaper solution may leave no more of a row with a price free
than the gap to the lower bound pays.
"""

import numpy as np

from placement.array_types import BoolArray, FloatArray, IntArray
from placement.core.exact.one_node.half_pairs import Window
from placement.core.exact.one_node.item_moves import ItemMoves, summed
from placement.core.exact.one_node.node_relaxation import Relaxed
from placement.core.exact.one_node.node_rows import NodeRows

TIGHT = 1e-3
"""Ratio of the slack of a row to its heaviest item below which the row is tight."""


class TightRows:
    """
    Slack of the rows of a node, and the changes of them in a cheaper solution.

    Parameters
    ----------
    rows
        Constraints of the bins.
    relaxed
        Solution of the linear relaxation: its duals price the rows.
    """

    def __init__(self, rows: NodeRows, relaxed: Relaxed) -> None:
        self._prices = relaxed.prices
        self.relaxed = float(relaxed.columns @ rows.cost)
        """Cost of the relaxation."""
        self.least = self.relaxed
        """Largest lower bound on the cost that is known."""
        self.weights = np.zeros((len(rows.rows), len(rows)), dtype=np.int64)
        """``(rows, n)`` weights of the columns."""
        for number, row in enumerate(rows.rows):
            self.weights[number, row.columns] = row.weights
        self._limits = np.array([row.limit for row in rows.rows], dtype=np.int64)
        resources = [-1 if row.band is None else row.band[2] for row in rows.rows]
        self._resource = np.array(resources, dtype=np.int64)
        self._heaviest = np.abs(self.weights).max(axis=1, initial=1)
        self._dearest = max(int(rows.cost.max(initial=0)), 1)

    def take_bound(self, bound: float) -> None:
        """Use a lower bound on the cost besides the relaxation."""
        self.least = max(self.relaxed, bound)

    def slack(self, columns: BoolArray) -> IntArray:
        """Return ``(rows,)`` what a solution leaves free in each row."""
        slack: IntArray = self._limits - self.weights[:, columns].sum(axis=1)
        return slack

    def are_tight(self, slack: IntArray) -> BoolArray:
        """Return ``(rows,)`` whether a row has a price, or less slack than any item."""
        are_tight: BoolArray = self._heaviest * TIGHT > np.maximum(slack, 1)
        return are_tight | (self._prices > 0)

    def priced_loads(self, moves: ItemMoves) -> list[int]:
        """Return the rows of loads with a price that no destination changes."""
        is_load = (self._prices > 0) & (self._heaviest > 1)
        priced: list[int] = np.nonzero(is_load & moves.is_settled)[0].tolist()
        return priced

    def size(self, moves: ItemMoves, sets: IntArray, slack: IntArray) -> FloatArray:
        """Return ``(m,)`` the largest change by each set, in heaviest items."""
        size: FloatArray = np.abs(summed(moves.cost / self._dearest, sets))
        for row in np.nonzero(self.are_tight(slack) & (self._heaviest > 1))[0].tolist():
            change = moves.change[row, :, 0] / self._heaviest[row]
            np.maximum(size, np.abs(summed(change, sets)), out=size)
        return size

    def gap_below(self, cost: int) -> Window:
        """Return the changes of a cost that lower it, but not below its bound."""
        return Window(self.least - cost - 1, 0.0)

    def windows(self, cost: int, slack: IntArray) -> dict[int, Window]:
        """Return the changes of each tight row that a cheaper solution may make."""
        windows = {}
        for row in np.nonzero(self.are_tight(slack))[0].tolist():
            free = int(slack[row]) + 1
            windows[row] = Window(free - self._room(row, cost, slack) - 1, free)
        return windows

    def _room(self, row: int, cost: int, slack: IntArray) -> float:
        """
        Return how much slack a tight row may have in a cheaper solution.

        The slack of all tight rows of a resource may be concentrated in one row.
        """
        if self._prices[row] > 0:
            return (cost - self.relaxed + 1) / float(self._prices[row])
        alike = self._resource == self._resource[row]
        return float(slack[alike & self.are_tight(slack)].sum())
