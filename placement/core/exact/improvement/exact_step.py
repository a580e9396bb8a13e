"""When CP-SAT is asked: where a gap is left, and as far as the effort allows."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from placement.core.bounds.cover_bounds import reached_bands
from placement.core.certificate import (
    NOTHING_SAID,
    Answer,
    Said,
    copied_cost,
    proven_answer,
)
from placement.core.exact.milp.large_neighbourhood import fits_sub_problems
from placement.core.exact.model_scaling import fits_bands, fits_prices
from placement.core.exact.separable_levels import NodeBins, separable_nodes
from placement.core.exact.work_limit import ExactWork
from placement.core.model.arrangement import Arrangement
from placement.core.model.deadline import Deadline
from placement.core.model.objective import evaluate
from placement.core.model.problem import Problem
from placement.core.model.search_budget import Effort
from placement.core.model.solution import Proof

SMALL_CELLS = 600
"""Pairs of group and bin up to which CP-SAT needs no better answer to start from."""

TIMES_LARGER = 5.0
"""Times the work of a small problem that a larger one may take at most."""
SLIGHT = 1e-4
"""Gap up to which CP-SAT is not asked about what it does not solve in a moment."""
MOST_CELLS = 1_000_000
"""Pairs of group and bin above which no separable level is looked for."""
MOST_GROUPS_LED = 3_000
"""Groups up to which fewer role changes are looked for by an integer program."""


class _Found(NamedTuple):
    """
    An arrangement that is no worse, and bounds.

    Parameters
    ----------
    at
        The arrangement.
    said
        Bounds that CP-SAT states.
    cost, proof
        A bound on the cost that can be checked.
    is_relaxed
        See `Answer.is_relaxed`.
    """

    at: Arrangement
    said: Said = NOTHING_SAID
    cost: int = 0
    proof: Proof | None = None
    is_relaxed: bool = False


@dataclass(frozen=True)
class ExactStep:
    """
    Exact models of one problem, and what they may take.

    Parameters
    ----------
    problem
        The problem to solve.
    effort, seed
        How much work to do, and the seed of what is drawn.
    deadline
        When to end.
    work
        Remaining work of all solves of a plan; each solve reduces it.
    """

    problem: Problem
    effort: Effort
    seed: int
    deadline: Deadline
    work: ExactWork

    def asked(self, answer: Answer) -> Answer:
        """Return the answer after CP-SAT has looked at it, if it is asked."""
        found = self._better(answer)
        is_small = self._cells <= self.effort.exact_cells
        if found is not None:
            answer = self._taken(answer, found)
        elif not is_small:
            return answer
        return self._with_roles_back(answer)

    def in_every_level(self, answer: Answer) -> Answer:
        """Minimize all levels of a whole problem out of its bands, if work allows."""
        if self.effort.closed or not self.is_whole or not answer.value.is_outside:
            return answer
        from placement.core.exact.improvement.objective_levels import in_every_level

        return in_every_level(
            self.problem, answer, self.effort, self.work, self.deadline
        )

    @property
    def is_whole(self) -> bool:
        """Whether CP-SAT is given all of a problem, whatever it starts from."""
        is_small = self._cells <= SMALL_CELLS * self._num_nodes
        return is_small and self._fits

    @property
    def _cells(self) -> int:
        return self.problem.num_groups * self.problem.num_bins

    @property
    def _num_nodes(self) -> int:
        return max(len(self._nodes), 1)

    @property
    def _fits(self) -> bool:
        return fits_bands(self.problem, self.effort.exact_cells * self._num_nodes)

    @cached_property
    def _nodes(self) -> list[NodeBins]:
        """The separable nodes, if any."""
        return separable_nodes(self.problem) if self._cells <= MOST_CELLS else []

    def _better(self, answer: Answer) -> _Found | None:
        """Solve all of a small problem, parts of a larger one; `None`: not asked."""
        value, effort = answer.value, self.effort
        is_open = value.is_outside or not is_proven(self.problem, answer)
        if not effort.exact_work or value.key[0] or not is_open:
            return None
        if value.is_outside and not effort.near_cells:
            # How near anything comes is asked once the bands are settled.
            return None
        if self.deadline.is_over() or not (self.is_whole or self._is_far(answer)):
            return None
        # Separable nodes that fit come before neighbourhoods.
        is_by_node = self._fits and bool(self._nodes)
        is_parted = not is_by_node and not self.is_whole and self._is_parted
        found = _Found(answer.at)
        if is_parted:
            found = self._relaxed(_Found(self._by_neighbourhoods(answer)), answer)
        elif not self._fits:
            return None
        if self._fits and self.work.bands > 0 and not self.deadline.is_over():
            found = self._improved(found.at, answer.cost)
        return found

    def _is_far(self, answer: Answer) -> bool:
        """Return whether the gap of an answer exceeds what is worth the work."""
        copied = copied_cost(self.problem, answer.value)
        gap = min(SLIGHT, self.effort.gap) if self._fits else self.effort.gap
        return answer.value.is_outside or copied > answer.cost * (1 + gap)

    @property
    def _is_parted(self) -> bool:
        """Whether parts of a problem can be solved one by one."""
        is_small = self.problem.num_items <= self.effort.part_items
        return is_small and fits_sub_problems(self.problem)

    def _improved(self, at: Arrangement, least: int) -> _Found:
        """Give CP-SAT all of a problem; `least`: the least cost known."""
        from placement.core.exact.decomposition.node_relaxation import proof_of
        from placement.core.exact.improvement.improve import improve
        from placement.core.exact.solver_names import cp_sat

        size = min(max(self._cells / SMALL_CELLS, 1.0), TIMES_LARGER)
        found = improve(
            self.problem,
            at,
            known=least,
            work=min(self.effort.exact_work * size, self.work.bands),
            left=self.deadline.left,
            closed=self.effort.closed,
            nodes=self._nodes,
        )
        self.work.bands -= found.spent
        # A question that ran out of time is cut.
        self.deadline.is_over()
        # Of the cost it says nothing where a price of moves is part of it.
        cost = None if self.problem.price_per_move else found.cost_bound
        said = Said(
            cost, found.deviation_bound, cp_sat(), found.is_spread, found.solver
        )
        bands = reached_bands(self.problem, found.at)
        cost_bound, proof = proof_of(self.problem, bands, found.prices)
        is_relaxed = proof is not None and not found.needs_roles
        return _Found(found.at, said, cost_bound, proof, is_relaxed)

    def _by_neighbourhoods(self, answer: Answer) -> Arrangement:
        from placement.core.exact.improvement.neighbourhood_search import (
            improve_by_neighbourhoods,
        )

        at, _ = improve_by_neighbourhoods(
            self.problem,
            answer.at,
            enough=answer.cost,
            work=self.effort.part_work,
            seed=self.seed,
            is_over=self.deadline.is_over,
        )
        return at

    def _relaxed(self, found: _Found, answer: Answer) -> _Found:
        """Prove more of the cost by the linear relaxation of all places."""
        problem, value = self.problem, evaluate(self.problem, found.at)
        is_open = value.cost > answer.cost * (1 + self.effort.gap)
        is_small = fits_prices(problem, self.effort.relaxed_cells)
        if not (is_open and is_small) or self._fits or problem.price_per_move:
            return found
        if self.deadline.is_over():
            return found
        from placement.core.exact.decomposition.node_relaxation import relaxed_bound

        bands = reached_bands(problem, found.at)
        cost, proof = relaxed_bound(problem, bands)
        return found._replace(cost=cost, proof=proof, is_relaxed=proof is not None)

    def _taken(self, answer: Answer, found: _Found) -> Answer:
        """Return the better of two answers, with all bounds that are known."""
        said = found.said.at_best(answer.said, is_in_band=answer.value.is_in_band)
        value, proof = evaluate(self.problem, found.at), answer.distance_proof
        if value < answer.value:
            known = (proof, self.effort)
            answer = proven_answer(self.problem, found.at, value, known)
        if found.proof is not None and answer.at is found.at:
            answer = answer._replace(is_relaxed=found.is_relaxed)
            if found.cost > answer.cost:
                answer = answer._replace(cost=found.cost, cost_proof=found.proof)
        return answer._replace(said=said)

    def _with_roles_back(self, answer: Answer) -> Answer:
        """Change fewer roles at the places of an answer."""
        problem, value = self.problem, answer.value
        if not value.role_changes or value.key[0] or not self.effort.role_work:
            return answer
        if self.deadline.is_over() or problem.num_groups > MOST_GROUPS_LED:
            return answer
        from placement.core.exact.cp_sat.roles_model import fewer_role_changes

        at = fewer_role_changes(problem, answer.at, self.effort.role_work)
        return answer._replace(at=at, value=evaluate(problem, at))


def is_proven(problem: Problem, answer: Answer) -> bool:
    """Return whether nothing is cheaper, by a bound or by what CP-SAT says."""
    if problem.price_per_move:
        # Bounds are on what is copied alone.
        return False
    said = answer.said.cost or 0
    is_least = copied_cost(problem, answer.value) <= max(answer.cost, said)
    return is_least and answer.value.is_in_band
