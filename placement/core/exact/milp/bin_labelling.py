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

A bin may stand on all sides at once, as it were on one more, :math:`x_{b*}`: it is then
among those of every side.

Rows are few, bins may be thousands: all but a few variables are whole in the linear
relaxation, and the model is exact at any size met.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from placement.core.model.problem import BoolArray, FloatArray, IndexArray, IntArray

Model = Any
"""PuLP has no types, and is imported where it is needed: that takes its time."""
Stands = dict[tuple[int, int], Any]
Members = dict[int, list[Any]]
"""Variables that say whether a bin is among those of a side."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """
    How many bins stand on all sides at once.

    Parameters
    ----------
    side
        The side that stands for all of them.
    least, most
        Fewest and most such bins.
    """

    side: int
    least: int
    most: int


def choose_sides(
    cost: FloatArray,
    may_be: BoolArray,
    needs: Sequence[Room | Places],
    shared: Shared | None = None,
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
    shared
        Bins that may stand on all sides at once; `None`: none may.

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
    if shared is not None:
        every = [one for (_, s), one in stands.items() if s == shared.side]
        model += pulp.lpSum(every) >= shared.least, "least_shared"
        model += pulp.lpSum(every) <= shared.most, "most_shared"
    for n, need in enumerate(needs):
        of_side = _members(stands, need.side, shared)
        if isinstance(need, Room):
            _add_room(model, of_side, need, n)
        else:
            _add_places(model, of_side, need, n)
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


def _members(stands: Stands, side: int, shared: Shared | None) -> Members:
    """Return what says that each bin is among those of a side, alone or with others."""
    sides = {side} if shared is None else {side, shared.side}
    found: Members = {}
    for (b, s), one in stands.items():
        if s in sides:
            found.setdefault(b, []).append(one)
    return found


def _add_room(model: Model, of_side: Members, need: Room, n: int) -> None:
    import pulp

    unit = max(need.least, 1.0)
    terms = [
        float(amount) / unit * one
        for b, amount in enumerate(need.amount.tolist())
        if amount > 0
        for one in of_side.get(b, ())
    ]
    # What is just enough must be, whatever the sum of floats comes to.
    model += pulp.lpSum(terms) >= need.least / unit * (1 - GAP), f"room_{n}"


def _add_places(model: Model, of_side: Members, need: Places, n: int) -> None:
    import pulp

    taken = []
    for k in range(len(need.floor)):
        inside = np.nonzero(need.may_take & np.equal(need.node_of_bin, k))[0].tolist()
        members = [one for b in inside for one in of_side.get(b, ())]
        places = model.add_variable(f"places_{n}_{k}", lowBound=0, upBound=need.cap)
        model += places <= pulp.lpSum(members), f"inside_{n}_{k}"
        model += pulp.lpSum(members) >= int(need.floor[k]), f"floor_{n}_{k}"
        taken.append(places)
    model += pulp.lpSum(taken) >= need.size, f"size_{n}"
