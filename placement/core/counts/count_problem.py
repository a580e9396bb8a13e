"""Problem and answer of `solve_counts`: interchangeable items on bins."""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from placement.array_types import IntArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CountProblem:
    """
    Classes of items, the bins that may hold them, and their present bins.

    ``K`` classes, ``B`` bins, ``E`` edges. The arrays are kept, not copied, and become
    read-only.

    Parameters
    ----------
    num_bins
        Number of bins, ``B``.
    class_start
        ``(K + 1,)`` edges of class ``k`` are ``class_start[k]:class_start[k + 1]``.
    edge_bin
        ``(E,)`` bin of each edge; ascending inside a class.
    supply
        ``(K,)`` number of items of each class; 0 for a class without edges.
    home
        ``(E,)`` number of items in the bin now; at most the supply of a class in sum.
    price
        ``(E,)`` price of an item on an edge, in moves, not negative; `None`: 0.
    share_low, share_high
        ``(E,)`` target interval of the number of items of the class in the bin; `None`
        without targets.
    share_price
        Cost of each item by which a count is above or below its interval.
    """

    num_bins: int
    class_start: IntArray
    edge_bin: IntArray
    supply: IntArray
    home: IntArray
    price: IntArray | None = None
    share_low: IntArray | None = None
    share_high: IntArray | None = None
    share_price: int = 0

    def __post_init__(self) -> None:
        for column in fields(self):
            value = getattr(self, column.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        if problems := _problems(self):
            raise ValueError("; ".join(problems))

    @property
    def num_classes(self) -> int:
        """Number of classes, ``K``."""
        return len(self.supply)

    @property
    def edge_class(self) -> IntArray:
        """``(E,)`` class of each edge."""
        return np.repeat(np.arange(self.num_classes), np.diff(self.class_start))

    @property
    def shares(self) -> tuple[IntArray, IntArray]:
        """``(E,)`` both ends of the target intervals; 0 without targets."""
        if self.share_low is None or self.share_high is None:
            nothing = np.zeros(len(self.edge_bin), dtype=np.int64)
            return nothing, nothing
        return self.share_low, self.share_high


def num_outside(problem: CountProblem, count: IntArray) -> int:
    """Return the number of items above the target intervals, plus those lacking."""
    low, high = problem.shares
    if problem.share_low is None:
        return 0
    over, under = np.maximum(count - high, 0), np.maximum(low - count, 0)
    return int(over.sum() + under.sum())


def _ascends(problem: CountProblem) -> bool:
    is_next = np.diff(problem.edge_bin) > 0
    starts = problem.class_start
    is_next[starts[(starts > 0) & (starts < len(problem.edge_bin))] - 1] = True
    return bool(is_next.all())


def _leads_to_bins(problem: CountProblem) -> bool:
    edge_bin = problem.edge_bin
    return bool(((edge_bin >= 0) & (edge_bin < problem.num_bins)).all())


def _are_shares_sound(problem: CountProblem) -> bool:
    low, high = problem.shares
    is_given = (problem.share_low is None) == (problem.share_high is None)
    return is_given and bool(((low >= 0) & (low <= high)).all())


def _problems(problem: CountProblem) -> list[str]:
    start, edges = problem.class_start, len(problem.edge_bin)
    if len(start) != problem.num_classes + 1 or start[0] != 0 or start[-1] != edges:
        return ["class_start must ascend from 0 to the number of edges"]
    at_home = sum_by(problem.home, problem.edge_class, problem.num_classes)
    rules = [
        ("class_start must ascend", bool((np.diff(start) >= 0).all())),
        ("edges must lead to bins", _leads_to_bins(problem)),
        ("a class must list its bins ascending, each once", _ascends(problem)),
        ("counts must not be negative", bool((problem.home >= 0).all())),
        (
            "prices must not be negative",
            problem.price is None or bool((problem.price >= 0).all()),
        ),
        (
            "shares must not be negative, nor the lower above the higher",
            _are_shares_sound(problem),
        ),
        (
            "no more items at home than there are",
            bool((at_home <= problem.supply).all()),
        ),
        (
            "a class without edges must be empty",
            not problem.supply[np.equal(np.diff(start), 0)].any(),
        ),
    ]
    return [message for message, is_kept in rules if not is_kept]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CountProof:
    """
    Proof that no loads are more even, and none as even are cheaper.

    Parameters
    ----------
    peak_bins
        Set of bins that proves the largest load, from the items that no other bin may
        hold.
    lowest, highest
        ``(B,)`` bounds of the load of each bin in the most even placements.
    is_open
        ``(E,)`` true for edges that may hold items in the most even placements.
    class_potential, bin_potential
        ``(K,)``, ``(B,)`` dual values of the least-cost flow within these bounds.
    """

    peak_bins: IntArray
    lowest: IntArray
    highest: IntArray
    is_open: npt.NDArray[np.bool_]
    class_potential: IntArray
    bin_potential: IntArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CountSolution:
    """
    Number of items of each class in each bin.

    Parameters
    ----------
    count
        ``(E,)`` number of items on each edge.
    load
        ``(B,)`` number of items in each bin.
    moves
        Number of items that left their home bin.
    outside
        Number of items above the target intervals, plus those lacking.
    cost
        Sum of moves, edge prices and the price of items outside the target intervals.
    proof
        Witness from which `core.counts.count_bounds` computes the bounds again.
    """

    count: IntArray
    load: IntArray
    moves: int
    outside: int
    cost: int
    proof: CountProof


def sum_by(values: IntArray, where: IntArray, size: int) -> IntArray:
    """Return the exact sums of integers by index."""
    summed = np.zeros(size, dtype=np.int64)
    np.add.at(summed, where, values)
    return summed
