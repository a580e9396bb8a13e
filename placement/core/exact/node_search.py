"""Search of one node: neighbourhoods, exchanges, and branch and cut if far off."""

from placement.core.exact.induced import InducedSearch
from placement.core.exact.node_program import solve_program
from placement.core.exact.node_relaxation import Relaxed
from placement.core.exact.node_rows import NodeRows
from placement.core.exact.work_limits import Limits
from placement.core.problem import BoolArray

NEIGHBOURHOODS = 0.6
"""Part of the work for neighbourhoods."""
FAR = 0.005
"""Gap above which branch and cut finds what neighbourhoods do not."""


def searched(
    rows: NodeRows,
    relaxed: Relaxed,
    columns: BoolArray,
    closed: float,
    limits: Limits,
) -> tuple[BoolArray, float]:
    """
    Return columns that cost no more, and the deterministic seconds it took.

    Parameters
    ----------
    rows, relaxed
        Constraints of the bins, and a solution of the linear relaxation.
    columns
        ``(n,)`` of a solution.
    closed
        Relative gap at which a solution counts as optimal.
    limits
        Work and time limits.
    """
    work, left = limits
    least = float(relaxed.columns @ rows.cost)
    search = InducedSearch(
        rows,
        relaxed,
        enough=least * (1 + closed),
        work=work * NEIGHBOURHOODS,
        left=left,
    )
    columns = search.improved(columns)
    if rows.cost_of(columns) <= least * (1 + FAR):
        return columns, search.spent
    outcome = solve_program(
        rows,
        columns,
        closed=closed,
        work=work - search.spent,
        seconds=left(),
        has_heuristics=True,
    )
    found, spent = outcome.columns, search.spent + outcome.spent
    if found is None or rows.cost_of(found) >= rows.cost_of(columns):
        return columns, spent
    before = search.spent
    return search.exchanged(found), spent + search.spent - before
