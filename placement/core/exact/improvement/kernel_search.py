"""
Searches among the pairs of group and bin that the linear relaxation favours.

CP-SAT finds hardly any better answer in a model of all pairs, and good ones among few.
The first search has the columns of the relaxation alone, which is enough for many
groups, and proven infeasible at once for few. The next ones search neighbourhoods of
the answer, with more and more other columns.

References
----------
Angelelli, E., Mansini, R., Speranza, M. G. (2010), Kernel search: a general heuristic
for the multi-dimensional knapsack problem, Computers & Operations Research 37 (11).
https://doi.org/10.1016/j.cor.2010.02.002

Berthold, T. (2014), RENS: the optimal rounding, Mathematical Programming Computation 6.
https://doi.org/10.1007/s12532-013-0060-9
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.cp_sat.bands_model import BandsModel
from placement.core.exact.cp_sat.limited_solver import SEED
from placement.core.exact.cp_sat.placement_variables import Pair, Pairs
from placement.core.exact.cp_sat.spread_rows import keep_spread
from placement.core.exact.linear.kernel import Kernel
from placement.core.exact.one_node.node_relaxation import proof_of
from placement.core.model.arrangement import Arrangement
from placement.core.model.problem import Problem


class Step(NamedTuple):
    """
    One search.

    Parameters
    ----------
    extra
        Number of columns besides those that the relaxation uses.
    seed
        Seed of a search around the answer; `None`: from the rounded relaxation.
    part
        Share of the work (0-1).
    """

    extra: int
    seed: int | None
    part: float


ALL = sys.maxsize
STEPS = (
    Step(0, None, 0.2),
    Step(0, 1, 0.12),
    Step(150, 1, 0.12),
    Step(400, 1, 0.16),
    Step(150, 2, 0.12),
    Step(400, 2, 0.12),
    Step(ALL, 2, 0.16),
)


class Schedule:
    """
    Iterator over the steps that may still find something, each with its work limit.

    Work that a step leaves, or that steps left out would have had, goes to later ones.

    Parameters
    ----------
    left
        Work of all steps, in deterministic seconds; `record` reduces it.
    """

    def __init__(self, left: float) -> None:
        self.left = left
        self._ahead = list(STEPS)
        self._step = self._ahead[0]

    def __iter__(self) -> Iterator[tuple[Step, float]]:
        """Yield the next step and its work; `record` must follow each."""
        while self._ahead:
            parts = sum(step.part for step in self._ahead)
            self._step = self._ahead.pop(0)
            yield self._step, self.left * self._step.part / parts

    def record(self, spent: float, *, is_searched: bool) -> None:
        """
        Record a step.

        Parameters
        ----------
        spent
            Work done.
        is_searched
            Whether the answer is unchanged, and none of these columns is better.
        """
        self.left -= spent
        if is_searched:
            most = self._step.extra
            self._ahead = [step for step in self._ahead if step.extra > most]


@dataclass(frozen=True, slots=True, eq=False)
class KernelSearch:
    """
    Models of the kernel of a problem.

    Parameters
    ----------
    problem, bands
        Problem, and bands that answers keep.
    spread_from
        Arrangement whose counts of a collection per bin, or the soft caps if larger,
        are upper limits.
    kernel
        Columns of the linear relaxation.
    least
        Lower bound on the cost, which its prices prove.
    """

    problem: Problem
    bands: Bands
    spread_from: Arrangement
    kernel: Kernel
    least: int

    @classmethod
    def of(
        cls,
        problem: Problem,
        bands: Bands,
        spread_from: Arrangement,
        seconds: float | None = None,
    ) -> "KernelSearch | None":
        """Return the searches for some bands; `None` as for `Kernel.of`."""
        kernel = Kernel.of(problem, bands, seconds)
        if kernel is None:
            return None
        least, _ = proof_of(problem, bands, kernel.prices)
        return cls(problem, bands, spread_from, kernel, least)

    @property
    def prices(self) -> dict[tuple[int, int, int], float]:
        """Duals of the bands by side (0: upper, 1: lower), bin and resource."""
        return self.kernel.prices

    def model(
        self, step: Step, at: Arrangement
    ) -> tuple[BandsModel, tuple[set[Pair], set[Pair]] | None]:
        """Return the model of a step around an answer, and a hint instead of it."""
        is_local = step.seed is not None
        pairs = self.kernel.pairs(step.extra, at if is_local else None)
        model = BandsModel(self.problem, self.bands, only=Pairs(*pairs))
        model.is_local, model.seed = is_local, step.seed or SEED
        keep_spread(model, self.problem, self.spread_from)
        return model, None if is_local else self.kernel.rounded()
