"""
Preload of the compiled search in parallel to other work, such as reading the input.

Loading takes most of a second, a good part of it without holding the GIL.
"""

import logging
from collections.abc import Callable
from threading import Thread

import numpy as np

from placement.core.model.arrangement import home_arrangement
from placement.core.model.objective import evaluate
from placement.core.model.problem import NO_LIMIT, Level, Limits, Movability, Problem
from placement.core.model.search_budget import QUICK, Effort
from placement.core.search.compilation import STAGES
from placement.core.search.kernels import stages
from placement.core.search.kernels.jit import compiled, is_at_hand
from placement.core.search.kernels.state import lay_out
from placement.core.search.local_search import Searcher

logger = logging.getLogger(__name__)


def load_ahead(begin: Callable[[], object] | None = None) -> Thread:
    """
    Start a thread that loads compiled stages from disk; return the thread.

    No result depends on it: a stage not loaded in time is loaded when it is called.

    Parameters
    ----------
    begin
        Function that the thread calls first; `None`: none.
    """
    thread = Thread(target=_load, args=(begin,), name="load-ahead")
    thread.start()
    return thread


def _load(begin: Callable[[], object] | None) -> None:
    try:
        if begin is not None:
            begin()
        if is_at_hand(STAGES):
            search_compiled(QUICK)
    except Exception:
        # The search itself reports the error if it occurs again.
        logger.debug("compiled stages cannot be loaded ahead", exc_info=True)


def search_compiled(effort: Effort, *, with_rare: bool = False) -> None:
    """
    Call every compiled stage that a search with a budget needs.

    `with_rare`: also call stages for searches that do not reach the bands otherwise.
    """
    problem = _tiny_problem()
    start = home_arrangement(problem)
    searcher = Searcher(problem, effort, 1, is_compiled=True)
    at, value = searcher.improve(start, evaluate(problem, start))
    if effort.rounds:
        searcher.recreate(at, value)
    if with_rare:
        compiled(stages.trade_roles)(lay_out(problem, at, 1), 1, 1)


def _tiny_problem() -> Problem:
    """Return a problem of three bins, one item that must move and three that may."""
    bins, groups = 3, 4
    every = np.ones(bins, dtype=np.bool_)
    limits = Limits(
        fixed=np.zeros((bins, 1), np.int64),
        capacity=np.full((bins, 1), NO_LIMIT),
        lower=np.ones((bins, 1), np.int64),
        upper=np.ones((bins, 1), np.int64),
        target=np.ones((bins, 1)),
    )
    level = Level(
        name="bin",
        node_of_bin=np.arange(bins, dtype=np.int32),
        num_nodes=bins,
        group_cap=np.ones(groups, dtype=np.int32),
        limits=limits,
    )
    movability = np.full(groups, Movability.MAY, dtype=np.int8)
    movability[0] = Movability.MUST
    return Problem(
        resources=("load",),
        group_start=np.arange(groups + 1, dtype=np.int64),
        group_class=np.zeros(groups, dtype=np.int32),
        weight=np.ones((groups, 1), dtype=np.int64),
        role_weight=np.zeros((groups, 1), dtype=np.int64),
        cost=np.ones(groups, dtype=np.int64),
        home=np.zeros(groups, dtype=np.int32),
        extra=np.zeros((0, 1), dtype=np.int64),
        movability=movability,
        role_home=np.arange(groups, dtype=np.int64),
        is_role_movable=np.ones(groups, dtype=np.bool_),
        may_receive=every,
        may_hold_role=every.copy(),
        must_release_role=~every,
        bin_class=np.zeros(bins, dtype=np.int32),
        is_eligible=np.ones((1, 1), dtype=np.bool_),
        levels=(level,),
        is_transient=np.zeros(1, dtype=np.bool_),
    )
