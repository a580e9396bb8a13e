"""Integer program of the hard rules with the distance of each load from its band."""

from fractions import Fraction
from math import ceil, floor, lcm

import numpy as np
from ortools.sat.python import cp_model

from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.cp_sat.bands_model import BandsModel
from placement.core.exact.cp_sat.hard_rules_model import BITS
from placement.core.model.problem import NO_LIMIT, Problem

MOST_DENOMINATOR = 10_000
"""Largest denominator of an exact target; with larger ones distances are rounded."""
NOISE = 1e-6
"""Upper limit of the error of a sum of distances in floats, in parts of a target."""
SAME = 1e-12
"""Relative error of a target as a fraction."""


class DistancesModel(BandsModel):
    """
    Model of the hard rules, with the distance of every load outside its band.

    Parameters
    ----------
    problem
        Problem to model; `fits_bands` must hold.
    most
        Upper limit of all distances, in targets.
    bands
        Wider bands that every load keeps; `None`: none.

    Attributes
    ----------
    scale
        Number of parts that a target is divided into.
    peak, total
        Largest distance and sum of all distances, in these parts.
    """

    def __init__(
        self, problem: Problem, most: float, bands: Bands | None = None
    ) -> None:
        super().__init__(problem, bands)
        self.scale = _scale(problem, most)
        parts = ceil(most * self.scale) + 1
        self.peak = self.model.new_int_var(0, parts, "")
        off = [
            self._distance(b, r, parts)
            for b, r in np.argwhere(problem.bins.target > 0).tolist()
        ]
        self.total = cp_model.LinearExpr.sum(off)

    def limit_total(self, most: float) -> None:
        """Limit the sum of all distances, in targets; rounding only relaxes it."""
        self.model.add(self.total <= floor(most * self.scale + NOISE))

    def _distance(self, b: int, r: int, most: int) -> cp_model.IntVar:
        """Return the distance of a load; rounding never overestimates it."""
        bins = self.problem.bins
        part = self.scale / _fraction(float(bins.target[b, r]))
        terms, weights = self._load_terms(b, r)
        fixed = int(bins.fixed[b, r])
        off = self.model.new_int_var(0, most, "")
        if bins.upper[b, r] < NO_LIMIT:
            down = [floor(weight * part) for weight in weights]
            upper = ceil((int(bins.upper[b, r]) - fixed) * part)
            self.model.add(cp_model.LinearExpr.weighted_sum(terms, down) - upper <= off)
        lower = floor((int(bins.lower[b, r]) - fixed) * part)
        if lower > 0:
            up = [ceil(weight * part) for weight in weights]
            self.model.add(lower - cp_model.LinearExpr.weighted_sum(terms, up) <= off)
        self.model.add(off <= self.peak)
        return off


def _fraction(target: float) -> Fraction:
    """Return a target as a fraction, with a small denominator if possible."""
    short = Fraction(target).limit_denominator(MOST_DENOMINATOR)
    is_same = abs(float(short) - target) <= SAME * target
    return short if is_same else Fraction(target)


def _scale(problem: Problem, deviation: float) -> int:
    """Return the number of parts of a target, with integral distances if possible."""
    targets = problem.bins.target
    fractions = [_fraction(t) for t in np.unique(targets[targets > 0]).tolist()]
    heaviest = problem.weight.max(axis=0) + problem.role_weight.max(axis=0)
    least = np.where(targets > 0, targets, np.inf).min(axis=0)
    longest = max(deviation, float((heaviest / least).max()), 1.0)
    most = int(2.0**BITS / longest)
    whole = lcm(*(target.numerator for target in fractions))
    return whole if whole <= most else max(most, 1)
