r"""
Which side each bin stands on, where two sides may not share a bin (PuLP, HiGHS).

With :math:`x_{bs} = 1` iff bin :math:`b` stands on side :math:`s`, and :math:`y_{nk}`
the items of a need's group that node :math:`k` takes,

.. math::

    \min \sum_{b, s} c_{bs} x_{bs} \quad \text{s.t.} \quad \sum_s x_{bs} = 1, \quad
    \sum_b a_{nb} x_{b s(n)} \ge d_n \quad \text{or} \quad
    \sum_k y_{nk} \ge d_n, \;
    y_{nk} \le \kappa_n, \; y_{nk} \le \sum_{b \in k} a_{nb} x_{b s(n)}, \;
    \sum_{b \in k} a_{nb} x_{b s(n)} \ge f_{nk}.

Rows are few, bins may be thousands: all but a few variables are whole in the linear
relaxation, and the model is exact at any size met.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from placement.core.problem import BoolArray, FloatArray, IndexArray, IntArray

Model = Any
"""PuLP has no types, and is imported where it is needed: that takes its time."""
Stands = dict[tuple[int, int], Any]
MAX_NODES = 2000
"""Of branch and bound: a limit in steps, so that the answer is the same anywhere."""
GAP = 1e-9


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Room:
    """
    Bins of a side must have so much room together.

    Parameters
    ----------
    side
        Whose.
    amount
        ``(N,)`` what each bin has.
    least
        What they must have together.
    """

    side: int
    amount: FloatArray
    least: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Places:
    """
    A group of a side must have a place for each of its items.

    Parameters
    ----------
    side
        Whose.
    may_take
        ``(N,)`` bins that may take an item of the group.
    node_of_bin
        ``(N,)`` node of each bin; `NOWHERE`: of none, and such bins do not count.
    size
        Items of the group.
    cap
        Most of them in one node.
    floor
        ``(M,)`` fewest of them in each node.
    """

    side: int
    may_take: BoolArray
    node_of_bin: IndexArray
    size: int
    cap: int
    floor: IntArray


def choose_sides(
    cost: FloatArray, may_be: BoolArray, needs: Sequence[Room | Places]
) -> tuple[IndexArray | None, bool]:
    """
    Choose a side for every bin at the least cost.

    Parameters
    ----------
    cost
        ``(N, S)`` of standing on a side.
    may_be
        ``(N, S)`` sides that a bin may stand on; at least one each.
    needs
        What each side must have.

    Returns
    -------
    ``(N,)`` the side of each bin, or `None` where none was found; and whether it is
    proven then that there is no such choice.
    """
    import pulp

    if not may_be.any(axis=1).all():
        return None, True
    model = pulp.LpProblem("sides", pulp.LpMinimize)
    stands = {
        (b, s): model.add_variable(f"side_{b}_{s}", cat=pulp.LpBinary)
        for b, s in np.argwhere(may_be).tolist()
    }
    unit = max(float(cost.max(initial=0.0)), 1.0)
    model += pulp.lpSum(float(cost[at]) / unit * one for at, one in stands.items())
    for b in range(len(cost)):
        sides = [stands[b, s] for s in np.nonzero(may_be[b])[0].tolist()]
        model += pulp.lpSum(sides) == 1, f"one_{b}"
    for n, need in enumerate(needs):
        if isinstance(need, Room):
            _add_room(model, stands, need, n)
        else:
            _add_places(model, stands, need, n)
    solver = pulp.HiGHS(
        msg=False, threads=1, mip_max_nodes=MAX_NODES, random_seed=1, mip_rel_gap=GAP
    )
    try:
        model.solve(solver)
    except KeyError:
        # PuLP has no word for a search that ran out of nodes.
        return None, False
    if model.sol_status != pulp.LpSolutionOptimal:
        return None, bool(model.status == pulp.LpStatusInfeasible)
    rows = [
        next(s for s in np.nonzero(row)[0].tolist() if stands[b, s].value() > 0.5)
        for b, row in enumerate(may_be)
    ]
    return np.array(rows, dtype=np.int32), False


def _add_room(model: Model, stands: Stands, need: Room, n: int) -> None:
    import pulp

    unit = max(need.least, 1.0)
    terms = [
        float(amount) / unit * stands[b, need.side]
        for b, amount in enumerate(need.amount.tolist())
        if amount > 0 and (b, need.side) in stands
    ]
    # What is just enough must be, whatever the sum of floats comes to.
    model += pulp.lpSum(terms) >= need.least / unit * (1 - GAP), f"room_{n}"


def _add_places(model: Model, stands: Stands, need: Places, n: int) -> None:
    import pulp

    taken = []
    for k in range(len(need.floor)):
        inside = np.nonzero(need.may_take & np.equal(need.node_of_bin, k))[0].tolist()
        members = [stands[b, need.side] for b in inside if (b, need.side) in stands]
        places = model.add_variable(f"places_{n}_{k}", lowBound=0, upBound=need.cap)
        model += places <= pulp.lpSum(members), f"inside_{n}_{k}"
        model += pulp.lpSum(members) >= int(need.floor[k]), f"floor_{n}_{k}"
        taken.append(places)
    model += pulp.lpSum(taken) >= need.size, f"size_{n}"
