"""
Exact models of small placements, written from the definition of the objective.

Every group chooses one of its ways; a way puts loads on bins, and costs something. The
levels of docs/core.md follow each other: hard capacities, the largest distance from
the bands, the sum of the distances, cost, moves, role changes. CP-SAT decides whether
any choice is better than a given one; nothing is shared with the core.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, gcd
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

Place = tuple[int, int]
"""A bin and a resource."""
ANY = 1 << 62
"""Capacity of a bin that has none."""
SAME = 1e-9
"""Distances that differ by less are the same."""
PARTS = 2**40
"""Integer units of a distance of one target."""


@dataclass(frozen=True)
class Way:
    """
    One way to place a group.

    Parameters
    ----------
    load
        Load by bin and resource.
    cost, moves, changes
        Cost of its moves, their number, and the number of role changes.
    """

    load: Mapping[Place, int]
    cost: int = 0
    moves: int = 0
    changes: int = 0


@dataclass(frozen=True)
class ExactModel:
    """
    Groups with their ways, and the limits of the bins.

    Parameters
    ----------
    ways
        Ways of each group.
    fixed, capacity
        ``(N, R)`` loads that stay, and hard capacities.
    lower, upper, target
        ``(N, R)`` ends of the bands, and the unit of distances; no band where the
        target is 0.
    max_cost, max_moves
        Caps on the cost and on the number of all moves.
    """

    ways: Sequence[Sequence[Way]]
    fixed: Any
    capacity: Any
    lower: Any
    upper: Any
    target: Any
    max_cost: int = ANY
    max_moves: int = ANY

    def loads(self, chosen: Sequence[int]) -> Any:
        """``(N, R)`` loads of a choice."""
        load = np.array(self.fixed, dtype=np.int64)
        for group, way in zip(self.ways, chosen, strict=True):
            for place, weight in group[way].load.items():
                load[place] += weight
        return load

    def distances(self, load: Any) -> Any:
        """``(N, R)`` distances outside the bands, in targets."""
        has_band = self.target > 0
        off = np.maximum(np.maximum(load - self.upper, self.lower - load), 0)
        return np.where(has_band, off / np.where(has_band, self.target, 1.0), 0.0)

    def worth(self, chosen: Sequence[int]) -> "Worth":
        """Value of a choice in every level."""
        load = self.loads(chosen)
        off = self.distances(load)
        picked = [group[way] for group, way in zip(self.ways, chosen, strict=True)]
        cost, moves = sum(w.cost for w in picked), sum(w.moves for w in picked)
        is_over = bool((load > self.capacity).any())
        return Worth(
            is_kept=not is_over and cost <= self.max_cost and moves <= self.max_moves,
            load=load,
            distance=float(off.max(initial=0.0)),
            total=float(off.sum()),
            cost=cost,
            moves=moves,
            changes=sum(w.changes for w in picked),
        )

    def can_be_kept(self) -> bool:
        """Whether any choice keeps the hard rules."""
        return _Asked(self).is_possible()

    def can_be_nearer(self, distance: float) -> bool:
        """Whether any choice is nearer to all bands than a distance."""
        if distance <= SAME:
            return False
        asked = _Asked(self)
        asked.nearer_than(distance)
        return asked.is_possible()

    def can_cost_less(self, worth: "Worth", cost: int) -> bool:
        """Whether a choice within the distances of another one costs less than that."""
        if cost <= 0:
            return False
        asked = _Asked(self)
        asked.within(worth.load)
        asked.cheaper_than(cost)
        return asked.is_possible()

    def betters(self, worth: "Worth", *, of_the_sum: bool = True) -> Iterator[str]:
        """
        Yield the levels in which a choice is better and in all levels before the same.

        Parameters
        ----------
        worth
            Value of a choice that keeps the hard rules.
        of_the_sum
            Whether the sum of the distances is a level; otherwise the cost is the
            least within the distances that the choice has.
        """
        if self.can_be_nearer(worth.distance):
            yield "distance"
            return
        for level in ("sum", "cost", "moves", "changes"):
            if level == "sum" and (worth.distance <= SAME or not of_the_sum):
                continue
            asked = _Asked(self)
            if level == "sum":
                asked.as_near_as(worth.distance)
                asked.less_in_all_than(worth.total)
            else:
                asked.as_near(worth, of_the_sum=of_the_sum)
                asked.cheaper(worth, level)
            if asked.is_possible():
                yield level
                return


@dataclass(frozen=True)
class Worth:
    """
    Value of a choice.

    Parameters
    ----------
    is_kept
        Whether it keeps the hard rules.
    load
        ``(N, R)`` loads.
    distance, total
        Largest distance from a band, and the sum of all distances.
    cost, moves, changes
        Cost and number of moves, and number of role changes.
    """

    is_kept: bool
    load: Any
    distance: float
    total: float
    cost: int
    moves: int
    changes: int


class _Asked:
    """A question to CP-SAT: whether a choice with some properties exists."""

    def __init__(self, exact: ExactModel) -> None:
        self.exact, self.model = exact, cp_model.CpModel()
        self.takes = [
            [self.model.new_bool_var("") for _ in group] for group in exact.ways
        ]
        for group in self.takes:
            self.model.add_exactly_one(group)
        self.terms = self._terms()
        self.load = {place: self._in_units(place, 1) for place in self.terms}
        for place, load in self.load.items():
            if exact.capacity[place] < ANY:
                self.model.add(load <= int(exact.capacity[place]))
        for name, most in (("cost", exact.max_cost), ("moves", exact.max_moves)):
            if most < ANY:
                self.model.add(self._sum(name) <= most)

    def _terms(self) -> dict[Place, list[tuple[int, Any]]]:
        """Weights of each bin and resource, with what puts them there."""
        terms: dict[Place, list[tuple[int, Any]]] = {
            place: [(int(self.exact.fixed[place]), 1)]
            for place in np.ndindex(*self.exact.fixed.shape)
        }
        for takes, ways in zip(self.takes, self.exact.ways, strict=True):
            for take, way in zip(takes, ways, strict=True):
                for place, weight in way.load.items():
                    terms[place].append((weight, take))
        return terms

    def _unit(self, place: Place) -> int:
        """Greatest common divisor of the weights of a bin: a coarse unit is exact."""
        return max(gcd(*(weight for weight, _ in self.terms[place])), 1)

    def _in_units(self, place: Place, unit: int) -> Any:
        return sum(weight // unit * take for weight, take in self.terms[place])

    def _sum(self, name: str) -> Any:
        return sum(
            getattr(way, name) * take
            for takes, ways in zip(self.takes, self.exact.ways, strict=True)
            for take, way in zip(takes, ways, strict=True)
        )

    def _banded(self) -> Iterator[tuple[Any, float, float, float]]:
        """Yield the load, ends of the band and target of each load with a band."""
        exact = self.exact
        for place, load in self.load.items():
            if exact.target[place] > 0:
                ends = float(exact.lower[place]), float(exact.upper[place])
                yield load, *ends, float(exact.target[place])

    def nearer_than(self, distance: float) -> None:
        """Demand that all loads are nearer to their bands than a distance."""
        self.as_near_as(distance * (1 - 1e-6) - SAME)

    def as_near(self, worth: Worth, *, of_the_sum: bool) -> None:
        """
        Demand distances as small as those of a choice.

        `of_the_sum`: the largest and the sum of all; else each one by itself, unless
        the choice is within its bands.
        """
        if worth.distance <= SAME:
            self.as_near_as(0.0)
        elif of_the_sum:
            self.as_near_as(worth.distance)
            self.no_more_in_all_than(worth.total)
        else:
            self.within(worth.load)

    def as_near_as(self, distance: float) -> None:
        """Demand that no load is farther from its band than a distance."""
        for load, lower, upper, target in self._banded():
            reach = distance * target
            self.model.add(load >= ceil(lower - reach - SAME))
            self.model.add(load <= floor(upper + reach + SAME))

    def within(self, reached: Any) -> None:
        """Demand that no load is farther from its band than in some loads."""
        exact = self.exact
        for place, load in self.load.items():
            if exact.target[place] > 0:
                now = int(reached[place])
                self.model.add(load >= min(ceil(exact.lower[place] - SAME), now))
                self.model.add(load <= max(floor(exact.upper[place] + SAME), now))

    def less_in_all_than(self, total: float) -> None:
        """Demand a smaller sum of distances."""
        most = floor(total * (1 - 1e-6) * PARTS) - 64 - self._rounding()
        self.model.add(self._total() <= most)

    def no_more_in_all_than(self, total: float) -> None:
        """Demand a sum of distances that is no larger."""
        most = ceil(total * PARTS * (1 + 1e-9)) + 64 + self._rounding()
        self.model.add(self._total() <= most)

    def _total(self) -> Any:
        """Sum of all distances, in parts of a target."""
        far = []
        for place in self.load:
            target = float(self.exact.target[place])
            if target <= 0:
                continue
            unit = self._unit(place)
            part, ends = PARTS / target, (self.exact.lower, self.exact.upper)
            lower, upper = (round(float(end[place]) * part) for end in ends)
            off = self.model.new_int_var(0, 1 << 55, "")
            whole = round(unit * part) * self._in_units(place, unit)
            self.model.add(off >= lower - whole)
            self.model.add(off >= whole - upper)
            far.append(off)
        return sum(far)

    def _rounding(self) -> int:
        """Upper limit of the error of `_total`: half a part for each unit of load."""
        return sum(
            sum(weight for weight, _ in self.terms[place]) // self._unit(place) // 2 + 1
            for place in self.load
            if self.exact.target[place] > 0
        )

    def cheaper_than(self, cost: int) -> None:
        """Demand a lower cost."""
        self.model.add(self._sum("cost") <= cost - 1)

    def cheaper(self, worth: Worth, level: str) -> None:
        """Demand less in one of the last levels, and no more in those before."""
        for name in ("cost", "moves", "changes"):
            most = getattr(worth, name)
            if name == level:
                self.model.add(self._sum(name) <= most - 1)
                return
            self.model.add(self._sum(name) <= most)

    def is_possible(self) -> bool:
        """Whether there is such a choice."""
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        # The referee trusts no reformulation.
        solver.parameters.cp_model_presolve = False
        status = solver.solve(self.model)
        assert status in {cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE}, (
            solver.status_name(status)
        )
        return bool(status != cp_model.INFEASIBLE)
