"""Which hard rules are enough for no plan to be possible, by CP-SAT's assumptions."""

from collections.abc import Sequence

from placement.core.problem import Problem
from placement.remedy import CAP_FIELDS

RULE_OF = {
    **{("capacity", r, ""): f"capacity-{r}" for r in ("cpu", "in", "out", "disk")},
    **{("node", r, "host"): f"host-{r}" for r in ("cpu", "in", "out", "disk")},
    ("capacity", "replicas", ""): "max-replicas",
    ("spread", "rack", ""): "rack",
    **{("cap", what, ""): rule for what, (rule, _) in CAP_FIELDS.items()},
}
"""Rules by what the core calls their kinds: each of these is one assumption."""


def is_infeasible(problem: Problem) -> bool:
    """Tell whether CP-SAT proves of a small problem that nothing keeps its rules."""
    from placement.core.exact import reasons

    return reasons.is_infeasible(problem)


def enough_rules(problem: Problem, active: Sequence[str]) -> list[str] | None:
    """
    Return rules that CP-SAT says no plan keeps together.

    Parameters
    ----------
    problem
        Of a plan that keeps all rules.
    active
        Those that limit anything. Rules that are no assumptions are all kept: they
        decide what may move, and where to.

    Returns
    -------
    Rules in the same order; `None` where nothing is proven. What has to move because of
    a rule that is left out still has to: so it is for the caller to make sure.
    """
    from placement.core.exact.reasons import infeasible_kinds

    kinds = infeasible_kinds(problem)
    if kinds is None:
        return None
    used = {RULE_OF[kind] for kind in kinds if kind in RULE_OF}
    free = set(RULE_OF.values()) - used
    return [name for name in active if name not in free]
