r"""
Lower bounds on the distance outside the bands from the load a set of bins must hold.

In any arrangement, a set :math:`T` of bins holds the items that the other bins cannot
take: group :math:`g` with :math:`m_g` movable items has at least

.. math::

    n_g(T) = s_g(T) + \max\Bigl(0,\; m_g - \sum_k \min(\kappa_g, a_{gk})\Bigr)

items in it, where :math:`s_g(T)` may not move and node :math:`k` has :math:`a_{gk}`
bins outside :math:`T` that may take items of the group. If this load exceeds the bands
of :math:`T`, one of its bins is outside by

.. math::

    d \ge \frac{\sum_g w_g n_g(T) + f(T) - \sum_{b \in T} u_b}{\sum_{b \in T} t_b},

and likewise below the bands with the most that :math:`T` can hold (docs/theory.md, "Cut
bound"). The set is the witness; `core.verify.cover_and_cut` computes its sums again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from placement.array_types import BoolArray, FloatArray, IntArray
from placement.core.model.arrangement import Arrangement, loads
from placement.core.model.objective import distances
from placement.core.model.problem import Movability, Problem
from placement.core.model.solution import Proof

PREFIXES = 6
"""Number of sets of the fullest, and of the emptiest bins, of doubling sizes."""
WORST = 3
"""Largest number of resources to try, those furthest out of band first."""
NEARLY = 0.999
"""Share of the distance reached (0-1) at which a bound needs no improvement."""


def deviation_bound(problem: Problem, at: Arrangement) -> tuple[float, Proof | None]:
    """
    Return a lower bound on the largest distance outside a band, and its proof.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    at
        Answer; its bins out of band determine the sets to try.

    Returns
    -------
    Distance in targets: no arrangement that meets the hard rules has a smaller one.
    """
    load = loads(problem, at)
    distance = distances(problem, load)
    reached = float(distance.max(initial=0.0))
    best, proof = 0.0, None
    worst = np.argsort(-distance.max(axis=0, initial=0.0), kind="stable")[:WORST]
    shares: dict[bytes, _Share] = {}
    for r in worst[distance[:, worst].max(axis=0, initial=0.0) > 0]:
        for key, chosen in _different(_sets(problem, load[:, r], int(r))):
            if key not in shares:
                shares[key] = _Share.of(problem, chosen)
            for side in ("over", "under"):
                value = _distance(problem, shares[key], int(r), side)
                if value > best:
                    witness = {
                        "resource": int(r),
                        "side": side,
                        "bins": np.nonzero(chosen)[0].tolist(),
                    }
                    best, proof = value, Proof(kind="water-fill", witness=witness)
            if best >= NEARLY * reached:
                return best, proof
    return best, proof


def _different(sets: Iterable[BoolArray]) -> Iterator[tuple[bytes, BoolArray]]:
    """Yield each set once, with a key."""
    seen: set[bytes] = set()
    for chosen in sets:
        key = chosen.tobytes()
        if key not in seen:
            seen.add(key)
            yield key, chosen


def _sets(problem: Problem, load: IntArray, r: int) -> Iterator[BoolArray]:
    """Yield ``(N,)`` candidate sets of bins that cannot all be in their bands."""
    bins = problem.bins
    has_band = bins.target[:, r] > 0
    yield has_band
    use = np.where(has_band, load / np.where(has_band, bins.target[:, r], 1.0), 0.0)
    over = has_band & (load > bins.upper[:, r])
    under = has_band & (load < bins.lower[:, r])
    for chosen in (over, under, has_band & ~over, has_band & ~under):
        if chosen.any() and not chosen.all():
            yield chosen
    for level in problem.levels[1:]:
        touched = np.unique(level.node_of_bin[over | under])
        for node in touched[touched >= 0][:PREFIXES]:
            yield has_band & np.equal(level.node_of_bin, node)
    yield from _prefixes(has_band, -use)
    yield from _prefixes(has_band, use)


def _prefixes(has_band: BoolArray, key: FloatArray) -> Iterator[BoolArray]:
    """Yield sets of the 1, 2, 4 … first bins by a key."""
    rows = np.nonzero(has_band)[0]
    rows = rows[np.argsort(key[rows], kind="stable")]
    for size in [2**n for n in range(PREFIXES) if 2**n < len(rows)]:
        chosen = np.zeros(len(has_band), dtype=np.bool_)
        chosen[rows[:size]] = True
        yield chosen


@dataclass(frozen=True, slots=True, eq=False)
class _Share:
    """
    Items and roles of each group that a set of bins must and may hold.

    Parameters
    ----------
    inside
        ``(N,)`` true for the bins of the set.
    least, most
        ``(G,)`` fewest and most items of each group.
    has_role, may_have_role
        ``(G,)`` whether the group's role must, or may, be held in the set.
    """

    inside: BoolArray
    least: IntArray
    most: IntArray
    has_role: BoolArray
    may_have_role: BoolArray

    @classmethod
    def of(cls, problem: Problem, inside: BoolArray) -> "_Share":
        """Count items and roles for one set of bins."""
        has_one = problem.role_home >= 0
        return cls(
            inside=inside,
            least=np.diff(problem.group_start) - _most(problem, ~inside),
            most=_most(problem, inside),
            has_role=has_one & ~_may_lead(problem, ~inside),
            may_have_role=has_one & _may_lead(problem, inside),
        )


def least_load(problem: Problem, inside: BoolArray, items: IntArray) -> IntArray:
    """
    Return the least load of a set of bins in any arrangement within the hard rules.

    Parameters
    ----------
    problem
        Items, bins, and what may move.
    inside
        ``(N,)`` true for the bins of the set.
    items
        ``(G,)`` fewest items of each group in the set; see `core.bounds.occupancy`.

    Returns
    -------
    ``(R,)`` lower bound on the load per resource. Items without any feasible bin do not
    count: they lack places, not room.
    """
    items = np.minimum(items, _most(problem, inside))
    has_role = problem.role_home >= 0
    has_role &= ~_may_lead(problem, ~inside) & _may_lead(problem, inside)
    least = [
        int(problem.bins.fixed[inside, r].sum())
        + _dot(problem.weight[:, r], items)
        + int(problem.role_weight[has_role, r].sum())
        + _extras(problem, inside, r, -1)
        for r in range(problem.num_resources)
    ]
    return np.array(least, dtype=np.int64)


def _most(problem: Problem, where: BoolArray) -> IntArray:
    """Return ``(G,)`` the most items that the bins may hold within the hard rules."""
    may = np.not_equal(problem.movability, Movability.NEVER)
    movable = np.bincount(problem.group_of[may], minlength=problem.num_groups)
    return _stuck(problem, where) + np.minimum(movable, _room(problem, where))


def _stuck(problem: Problem, where: BoolArray) -> IntArray:
    """Return ``(G,)`` number of immovable items in the bins."""
    stuck = np.equal(problem.movability, Movability.NEVER) & (problem.home >= 0)
    stuck &= where[problem.home]
    return np.bincount(problem.group_of[stuck], minlength=problem.num_groups)


def _room(problem: Problem, where: BoolArray) -> IntArray:
    """Return ``(G,)`` the most movable items that the bins may hold."""
    open_to = problem.is_eligible[:, problem.bin_class] & problem.may_receive & where
    rooms = [
        _room_at(problem, position, open_to) for position in range(len(problem.levels))
    ]
    room: IntArray = np.minimum.reduce(rooms)
    # An item may stay in a bin that takes no others.
    may = np.equal(problem.movability, Movability.MAY) & (problem.home >= 0)
    rows = np.nonzero(may)[0]
    place = problem.home[rows]
    is_closed = ~open_to[problem.group_class[problem.group_of[rows]], place]
    stays = rows[is_closed & where[place]]
    return room + np.bincount(problem.group_of[stays], minlength=problem.num_groups)


def _room_at(problem: Problem, position: int, open_to: BoolArray) -> IntArray:
    """Return ``(G,)`` the most items that the caps of one level admit."""
    level = problem.levels[position]
    size = np.diff(problem.group_start)
    if level.group_cap is None:
        is_open = np.logical_or.reduce(open_to, axis=1)
        return np.where(is_open[problem.group_class], size, 0)
    kinds, kind_of = _kinds(problem, position)
    within = level.node_of_bin >= 0
    node = level.node_of_bin[within]
    room = np.zeros(len(kinds), dtype=np.int64)
    for k, (group_class, most) in enumerate(kinds):
        bins = open_to[group_class]
        counts = np.bincount(node, weights=bins[within], minlength=level.num_nodes)
        if position == 0 or _is_one_each(problem):
            counts = np.minimum(counts, most)
        else:
            counts = np.where(counts > 0, most, 0)
        # The level does not cap bins outside it.
        loose = int(size.max(initial=0)) if bins[~within].any() else 0
        room[k] = int(counts.sum()) * (most if position == 0 else 1) + loose
    return room[kind_of]


Kinds = tuple[list[tuple[int, int]], IntArray]
_kinds_of: WeakKeyDictionary[Problem, dict[int, Kinds]] = WeakKeyDictionary()


def _kinds(problem: Problem, position: int) -> Kinds:
    """
    Return (class, cap) pairs of groups at a level, and ``(G,)`` the pair of each group.

    Cached per problem, because every candidate set of bins uses the pairs repeatedly.
    """
    known = _kinds_of.setdefault(problem, {})
    if position not in known:
        cap, size = problem.levels[position].group_cap, np.diff(problem.group_start)
        most = size if cap is None else np.where(cap > 0, cap, size)
        base = int(most.max(initial=0)) + 1
        keys, kind_of = np.unique(
            problem.group_class.astype(np.int64) * base + most, return_inverse=True
        )
        known[position] = [divmod(key, base) for key in keys.tolist()], kind_of
    return known[position]


def _is_one_each(problem: Problem) -> bool:
    """Return whether no bin takes two items of one group."""
    cap = problem.levels[0].group_cap
    return cap is not None and bool(np.equal(cap, 1).all())


def _may_lead(problem: Problem, where: BoolArray) -> BoolArray:
    """Return ``(G,)`` true where the role may be held in one of the bins."""
    may_hold = where & problem.may_hold_role
    could: BoolArray = np.greater(
        _room(problem, may_hold) + _stuck(problem, may_hold), 0
    )
    held = np.nonzero(problem.role_home >= 0)[0]
    holder = problem.role_home[held]
    place = problem.home[holder]
    is_there = (place >= 0) & where[place]
    movability = problem.movability[holder]
    could[held[is_there & np.not_equal(movability, Movability.MUST)]] = True
    # An immovable role of an immovable item stays in its bin.
    fixed = ~problem.is_role_movable[held] & np.equal(movability, Movability.NEVER)
    could[held[fixed]] = is_there[fixed]
    return could


def _distance(problem: Problem, share: _Share, r: int, side: str) -> float:
    """Return the least distance of the set outside its bands, in targets."""
    bins, inside = problem.bins, share.inside
    unit = float(bins.target[inside, r].sum())
    if unit <= 0:
        return 0.0
    weight, role = problem.weight[:, r], problem.role_weight[:, r]
    fixed = int(bins.fixed[inside, r].sum())
    if side == "over":
        held = fixed + _dot(weight, share.least) + int(role[share.has_role].sum())
        beyond = held + _extras(problem, inside, r, -1)
        beyond -= _total(bins.upper[inside, r])
    else:
        held = fixed + _dot(weight, share.most) + int(role[share.may_have_role].sum())
        beyond = _total(bins.lower[inside, r]) - held
        beyond -= _extras(problem, inside, r, 1)
    return max(0.0, beyond / unit)


def _extras(problem: Problem, inside: BoolArray, r: int, sign: int) -> int:
    """Return the least (sign -1) or the largest (sign 1) sum of extra weights."""
    if not len(problem.extra):
        return 0
    there = (problem.home >= 0) & inside[problem.home]
    extra = problem.extra[there, r]
    may = np.not_equal(problem.movability[there], Movability.NEVER)
    generous = np.minimum(extra, 0) if sign < 0 else np.maximum(extra, 0)
    return int(np.where(may, generous, extra).sum())


def _dot(weight: IntArray, count: IntArray) -> int:
    """Return the dot product in exact integers, also beyond 2^63."""
    if float(weight.max(initial=0)) * float(count.sum()) < 2.0**62:
        return int(np.dot(weight, count))
    return sum(int(w) * int(n) for w, n in zip(weight, count, strict=True) if n)


def _total(values: IntArray) -> int:
    """Sum limits exactly; a few of them may exceed 2^63 together."""
    return sum(int(value) for value in values)
