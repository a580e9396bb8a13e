"""Use of CP-SAT: where a gap remains, and as far as the budget allows."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import NamedTuple

from placement.core.bounds.cover_bounds import reached_bands
from placement.core.exact.answer import (
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
from placement.core.model.objective import Value, evaluate
from placement.core.model.problem import Problem
from placement.core.model.search_budget import Effort
from placement.core.model.solution import Proof

SMALL_CELLS = 600
"""Number of (group, bin) pairs up to which CP-SAT can start from any answer."""

STARTED_CELLS = 1_500
"""Number of such pairs per separable node up to which no search comes first."""
NEAR_BOUND = 0.02
"""Gap up to which ruin comes before the kernel of the relaxation, and often ends."""
REACHED = 0.01
"""Gap of exact models up to which no search follows."""
TIMES_LARGER = 5.0
"""
Largest factor of the work of a larger problem over that of a small one, in its bands.

Out of band, more work has hardly brought any problem nearer.
"""
SLIGHT = 1e-4
"""Gap up to which CP-SAT does not run on larger problems."""
MOST_CELLS = 1_000_000
"""Largest number of (group, bin) pairs for the search of a separable level."""
STAGE, TIMES = 0.8, 10.0
"""Work of the first solve of a budget without limit, and the factor to the next one."""
MOST_OUTSIDE = 8.0
"""Work of such solves out of band where all levels are minimised afterwards."""
DRAFT_WORK = 0.2
"""Largest work for roles of a draft, in deterministic seconds."""
MOST_GROUPS_LED = 3_000
"""Largest number of groups for an integer program of fewer role changes."""


class _Found(NamedTuple):
    """
    Arrangement that is no worse than before, and bounds.

    Parameters
    ----------
    at
        Arrangement found.
    said
        Bounds that CP-SAT states.
    cost, proof
        Lower bound on the cost, and its proof.
    is_relaxed
        See `Answer.is_relaxed`.
    """

    at: Arrangement
    said: Said = NOTHING_SAID
    cost: int = 0
    proof: Proof | None = None
    is_relaxed: bool = False


@dataclass
class ExactStep:
    """
    Exact models of one problem, with their limits.

    Parameters
    ----------
    problem
        Problem to solve.
    effort, seed
        Budget, and seed of the random numbers.
    deadline
        Time at which to end.
    work
        Remaining work of all solves of a plan; each solve reduces it.
    """

    problem: Problem
    effort: Effort
    seed: int
    deadline: Deadline
    work: ExactWork
    _stalled_at: float = field(default=inf, init=False)
    """Distance outside the bands that CP-SAT did not reduce."""

    def asked(self, answer: Answer) -> Answer:
        """Return the answer improved by CP-SAT, where the budget allows it."""
        found = self._asked_once(answer)
        if answer.value.is_outside and found.value.is_in_band:
            # Its cost has been minimised at distances alone, or not at all.
            found = self._asked_once(found)
        return found

    def _asked_once(self, answer: Answer) -> Answer:
        if self._is_for_distances_alone(answer):
            answer = self._with_least_distances(answer)
            if answer.said.cost is not None:
                # Every level is proven.
                return answer
        is_run = False
        for work in self._stages(answer):
            found = self._better(answer, work)
            if found is None:
                break
            answer, is_run = self._taken(answer, found), True
        is_small = self._cells <= self.effort.exact_cells
        return self._with_roles_back(answer) if is_run or is_small else answer

    def _stages(self, answer: Answer) -> Iterator[float]:
        """
        Yield the work limits of solves, one after the other.

        Without a limit on the work, short solves come first: a deadline leaves a good
        answer, and an almost optimal one speeds up the next proof.
        """
        most = self.effort.exact_work
        if not self.effort.closed:
            if answer.value.is_outside and self.is_whole:
                most = min(most, MOST_OUTSIDE)
            stage = STAGE
            while stage < most:
                yield stage
                stage *= TIMES
        yield most

    def in_every_level(self, answer: Answer) -> Answer:
        """Minimise all levels of a whole problem, if the budget ends with a proof."""
        value = answer.value
        if self.effort.closed or not self.is_whole or value.key[0]:
            return answer
        if self._is_draft(value):
            return answer
        if value.is_outside:
            from placement.core.exact.improvement.objective_levels import in_every_level

            return in_every_level(
                self.problem, answer, self.effort, self.work, self.deadline
            )
        if not (value.moves or value.role_changes) or self.deadline.is_over():
            return answer
        from placement.core.exact.improvement.last_levels import fewest_changes

        work, left = self.effort.role_work, self.deadline.left
        at = fewest_changes(self.problem, answer.at, work, left)
        return answer._replace(at=at, value=evaluate(self.problem, at))

    def _is_for_distances_alone(self, answer: Answer) -> bool:
        """Return whether nothing but distances counts, and CP-SAT gets the whole."""
        problem, effort, value = self.problem, self.effort, answer.value
        has_costs = problem.price_per_move > 0 or bool(problem.cost.any())
        is_asked = effort.exact_work > 0 and effort.near_cells > 0
        is_open = value.is_outside and not value.key[0] and not self.deadline.is_over()
        return not has_costs and is_asked and is_open and self.is_whole

    def _with_least_distances(self, answer: Answer) -> Answer:
        """Minimise the largest distance, then the sum of all, with half of the work."""
        from placement.core.exact.improvement.objective_levels import in_every_level

        most = self.work.bands / 2
        work = replace(self.work, bands=most)
        answer = in_every_level(self.problem, answer, self.effort, work, self.deadline)
        self.work.bands -= most - work.bands
        return answer

    def _is_draft(self, value: Value) -> bool:
        """Return whether the solve with final bands is left to reduce distances."""
        return value.is_outside and not self.effort.near_cells

    @property
    def is_whole(self) -> bool:
        """Whether CP-SAT gets the whole problem, starting from any answer."""
        is_small = self._cells <= SMALL_CELLS * self._num_nodes
        return is_small and self._fits

    def starts_from(self, answer: Answer) -> bool:
        """Return whether exact models start from an answer without a search before."""
        if self.is_whole or not answer.value.is_in_band:
            return self.is_whole
        if self.has_kernel:
            copied = copied_cost(self.problem, answer.value)
            return copied > answer.cost * (1 + NEAR_BOUND)
        return self._cells <= STARTED_CELLS * len(self._nodes) and self._fits

    @property
    def _cells(self) -> int:
        return self.problem.num_groups * self.problem.num_bins

    @property
    def _num_nodes(self) -> int:
        return max(len(self._nodes), 1)

    @property
    def _fits(self) -> bool:
        return fits_bands(self.problem, self.effort.exact_cells * self._num_nodes)

    @property
    def has_kernel(self) -> bool:
        """Whether all racks are searched together, in the kernel of the relaxation."""
        most = self.effort.kernel_cells if self.effort.exact_work else 0
        return not self._nodes and fits_bands(self.problem, most)

    @cached_property
    def _nodes(self) -> list[NodeBins]:
        """Separable nodes, if any."""
        return separable_nodes(self.problem) if self._cells <= MOST_CELLS else []

    def _better(self, answer: Answer, work: float) -> _Found | None:
        """Solve a small problem as a whole, a larger one in parts; `None`: not run."""
        value, effort = answer.value, self.effort
        is_open = value.is_outside or not is_proven(self.problem, answer)
        if not effort.exact_work or value.key[0] or not is_open:
            return None
        if self._is_draft(value):
            return None
        is_wanted = self.has_kernel or self.starts_from(answer) or self._is_far(answer)
        if self.deadline.is_over() or not is_wanted:
            return None
        # Separable nodes that fit come before neighbourhoods.
        is_by_node = self._fits and bool(self._nodes)
        is_parted = not is_by_node and not self.is_whole and self._is_parted
        found = _Found(answer.at)
        if is_parted:
            at = self._in_kernel(answer, work)
            at = self._by_neighbourhoods(at, answer)
            found = self._relaxed(_Found(at), answer)
        elif not self._fits:
            return None
        if self._fits and self.work.bands > 0 and not self.deadline.is_over():
            found = self._improved(found.at, answer.cost, work)
        return found

    def _is_far(self, answer: Answer) -> bool:
        """Return whether the gap of an answer is large enough for more work."""
        copied = copied_cost(self.problem, answer.value)
        gap = min(SLIGHT, self.effort.gap) if self._fits else self.effort.gap
        return answer.value.is_outside or copied > answer.cost * (1 + gap)

    @property
    def _is_parted(self) -> bool:
        """Whether parts of a problem can be solved one by one."""
        is_small = self.problem.num_items <= self.effort.part_items
        return is_small and fits_sub_problems(self.problem)

    def _improved(self, at: Arrangement, least: int, work: float) -> _Found:
        """Run CP-SAT on the whole problem; `least`: lower bound on the cost."""
        from placement.core.exact.improvement.improve import improve
        from placement.core.exact.one_node.node_relaxation import proof_of
        from placement.core.exact.solver_names import cp_sat

        before = evaluate(self.problem, at)
        size = min(max(self._cells / SMALL_CELLS, 1.0), TIMES_LARGER)
        found = improve(
            self.problem,
            at,
            known=least,
            work=min(work * (1.0 if before.is_outside else size), self.work.bands),
            left=self.deadline.left,
            closed=self.effort.closed,
            nodes=self._nodes,
            is_stalled=before.deviation >= self._stalled_at,
        )
        if found.value.deviation >= before.deviation and self.effort.closed:
            self._stalled_at = before.deviation
        self.work.bands -= found.spent
        # Record whether the solve ended at the deadline.
        self.deadline.is_over()
        # With a price per move, the bound is not on the copied cost.
        cost = None if self.problem.price_per_move else found.cost_bound
        said = Said(
            cost, found.deviation_bound, cp_sat(), found.is_spread, found.solver
        )
        bands = reached_bands(self.problem, found.at)
        cost_bound, proof = proof_of(self.problem, bands, found.prices)
        is_relaxed = proof is not None and not found.needs_roles
        return _Found(found.at, said, cost_bound, proof, is_relaxed)

    def _in_kernel(self, answer: Answer, work: float) -> Arrangement:
        """Search the kernel of a problem too large for a model of all its pairs."""
        if not self.has_kernel:
            return answer.at
        from placement.core.exact.improvement.cheaper_answer import CheaperAnswer
        from placement.core.exact.improvement.improved_answer import improved_from

        known = improved_from(self.problem, answer.at)
        limits = work, self.deadline.left, max(self.effort.closed, SLIGHT)
        cheaper = CheaperAnswer(self.problem, known, answer.cost, limits, [])
        return cheaper.in_kernel().at

    def _by_neighbourhoods(self, at: Arrangement, answer: Answer) -> Arrangement:
        from placement.core.exact.improvement.neighbourhood_search import (
            improve_by_neighbourhoods,
        )

        at, _ = improve_by_neighbourhoods(
            self.problem,
            at,
            enough=0 if answer.value.is_outside else answer.cost,
            work=self.effort.part_work,
            seed=self.seed,
            is_over=self.deadline.is_over,
        )
        return at

    def _relaxed(self, found: _Found, answer: Answer) -> _Found:
        """Prove more of the cost by the linear relaxation of all places."""
        problem = self.problem
        is_small = fits_prices(problem, self.effort.relaxed_cells) and not self._fits
        if not is_small or problem.price_per_move:
            return found
        enough = answer.cost * (1 + self.effort.gap)
        is_open = evaluate(problem, found.at).cost > enough
        if not is_open or self.deadline.is_over():
            return found
        from placement.core.exact.one_node.node_relaxation import relaxed_bound

        bands = reached_bands(problem, found.at)
        cost, proof = relaxed_bound(problem, bands)
        return found._replace(cost=cost, proof=proof, is_relaxed=proof is not None)

    def _taken(self, answer: Answer, found: _Found) -> Answer:
        """Return the better of two answers, with all known bounds."""
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
        """Reduce the role changes at the places of an answer."""
        problem, value = self.problem, answer.value
        if not value.role_changes or value.key[0] or not self.effort.role_work:
            return answer
        if self.deadline.is_over() or problem.num_groups > MOST_GROUPS_LED:
            return answer
        from placement.core.exact.cp_sat.roles_model import fewer_role_changes

        most = DRAFT_WORK if self._is_draft(value) else inf
        work, seconds = min(self.effort.role_work, most), self.deadline.left()
        at = fewer_role_changes(problem, answer.at, work, seconds)
        return answer._replace(at=at, value=evaluate(problem, at))


def is_proven(problem: Problem, answer: Answer, closed: float = 0.0) -> bool:
    """
    Return whether an answer is optimal by a proven or a solver's bound.

    `closed`: relative gap up to which it counts as optimal.
    """
    if problem.price_per_move:
        # Bounds are on the copied cost alone.
        return False
    known = max(answer.cost, answer.said.cost or 0)
    is_least = copied_cost(problem, answer.value) <= known * (1 + closed)
    return is_least and answer.value.is_in_band
