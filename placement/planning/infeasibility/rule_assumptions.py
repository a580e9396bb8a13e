"""Sufficient sets of conflicting hard rules, from CP-SAT's assumptions."""

from collections.abc import Sequence

from placement.core.model.problem import Problem
from placement.planning.infeasibility.remedy import CAP_FIELDS

RULE_OF = {
    **{("capacity", r, ""): f"capacity-{r}" for r in ("cpu", "in", "out", "disk")},
    **{("node", r, "host"): f"host-{r}" for r in ("cpu", "in", "out", "disk")},
    ("capacity", "replicas", ""): "max-replicas",
    ("spread", "rack", ""): "rack",
    **{("cap", what, ""): rule for what, (rule, _) in CAP_FIELDS.items()},
}
"""Rule by the core's name of its kind; each kind is one assumption."""


def is_infeasible(problem: Problem) -> bool:
    """Return whether CP-SAT proves a small problem to be infeasible."""
    from placement.core.feasibility import infeasible_subsystem

    return infeasible_subsystem.is_infeasible(problem)


def enough_rules(problem: Problem, active: Sequence[str]) -> list[str] | None:
    """
    Return rules that no plan keeps together, by CP-SAT.

    Parameters
    ----------
    problem
        Problem of a plan with all rules.
    active
        Rules that limit anything. Rules without an assumption are all kept: they decide
        which replicas may move, and to which brokers.

    Returns
    -------
    Rules in the order of `active`; `None` if infeasibility is not proven. Replicas that
    must move because of an omitted rule still must: the caller has to verify the
    result.
    """
    from placement.core.feasibility.infeasible_subsystem import infeasible_kinds

    kinds = infeasible_kinds(problem)
    if kinds is None:
        return None
    used = {RULE_OF[kind] for kind in kinds if kind in RULE_OF}
    free = set(RULE_OF.values()) - used
    return [name for name in active if name not in free]
