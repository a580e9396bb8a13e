r"""
Assignment of each bin to one side, where sides may not share a bin (PuLP, HiGHS).

With :math:`x_{bs} = 1` iff bin :math:`b` is on side :math:`s`, and :math:`y_{nk}` the
items of the group of need :math:`n` that node :math:`k` takes,

.. math::

    \min \sum_{b, s} c_{bs} x_{bs} \quad \text{s.t.} \quad \sum_s x_{bs} = 1, \quad
    \sum_b a_{nb} x_{b s(n)} \ge d_n \quad \text{or} \quad
    \sum_k y_{nk} \ge d_n, \;
    y_{nk} \le \kappa_n, \; y_{nk} \le \sum_{b \in k} a_{nb} x_{b s(n)}, \;
    \sum_{b \in k} a_{nb} x_{b s(n)} \ge f_{nk}.

A bin may be on all sides at once, which is modelled as an additional side,
:math:`x_{b*}`: it then counts for every side.

There are few rows but possibly thousands of bins. All but a few variables are integral
in the linear relaxation, so the model is solved to optimality at all practical sizes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from placement.array_types import BoolArray, FloatArray, IndexArray, IntArray

Model = Any
"""PuLP model: PuLP has no types, and is imported on use because loading is slow."""
Stands = dict[tuple[int, int], Any]
Members = dict[int, list[Any]]
"""Variables by bin whose sum is 1 if the bin counts for a side."""
MAX_NODES = 2000
"""Node limit of branch and bound, for equal answers on any machine."""
GAP = 1e-9


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Room:
    """
    Need for room: lower limit on the summed room of the bins of a side.

    Parameters
    ----------
    side
        Side with the need.
    amount
        ``(N,)`` room of each bin.
    least
        Least total room.
    """

    side: int
    amount: FloatArray
    least: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Places:
    """
    Need for places: one for each item of a group on a side.

    Parameters
    ----------
    side
        Side with the need.
    may_take
        ``(N,)`` whether the bin may take an item of the group.
    node_of_bin
        ``(N,)`` node of each bin; bins with `NOWHERE` do not count.
    size
        Number of items of the group.
    cap
        Largest number of items in one node.
    floor
        ``(M,)`` smallest number of places in each node.
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
    Limits on the number of bins on all sides at once.

    Parameters
    ----------
    side
        Index of the side that represents all sides.
    least, most
        Smallest and largest number of such bins.
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
        ``(N, S)`` cost of a bin on a side.
    may_be
        ``(N, S)`` whether a bin may be on a side.
    needs
        Needs of the sides.
    shared
        Limits on bins on all sides at once; `None`: no such bins.

    Returns
    -------
    ``(N,)`` side of each bin, or `None` if none was found; and whether infeasibility is
    proven then.
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
        # PuLP has no status for a search that reached its node limit.
        return None, False
    if model.sol_status != pulp.LpSolutionOptimal:
        return None, bool(model.status == pulp.LpStatusInfeasible)
    rows = [
        next(s for s in np.nonzero(row)[0].tolist() if stands[b, s].value() > 0.5)
        for b, row in enumerate(may_be)
    ]
    return np.array(rows, dtype=np.int32), False


def _members(stands: Stands, side: int, shared: Shared | None) -> Members:
    """Return the variables by bin that make the bin count for a side."""
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
    # Room that is exactly enough must be feasible despite float rounding.
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
