"""Flows of `core.counts.solve_counts`: even loads, then least cost."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, IntArray
from placement.core.counts.count_network import Network, fill, push, reach
from placement.core.counts.count_problem import (
    CountProblem,
    CountProof,
    CountSolution,
    num_outside,
    sum_by,
)
from placement.core.counts.kernels import class_flow as kernels


def even_out(problem: CountProblem, network: Network) -> Network:
    """
    Place all items as evenly as possible.

    Returns
    -------
    Network with the items. Nodes that can exchange items without making loads less even
    belong to one part.
    """
    network.count[:] = problem.home
    load = network.load
    at_home = sum_by(problem.home, network.edge_class, problem.num_classes)
    left = problem.supply - at_home
    fill(network, load, left)
    is_done = np.zeros(network.num_nodes, dtype=np.bool_)
    is_done[network.num_bins :] = np.equal(problem.supply, 0)
    while not is_done.all():
        _split(network, is_done)
    return network


def _split(network: Network, is_done: BoolArray) -> None:
    """Even out every open part to its mean; split parts or finish their top."""
    bins = slice(0, network.num_bins)
    is_open = ~is_done[bins]
    goal = _goals(network, is_open)
    load = network.load
    _exchange(network, is_open, load - goal, goal - load)
    load = network.load
    above = _reached_from(network, is_open & (load > goal))
    has_above = np.zeros(network.num_nodes, dtype=np.bool_)
    has_above[network.part[above]] = True
    is_even = is_open & ~has_above[network.part[bins]]
    # In parts at or below their goal, minimise the number of bins at the goal.
    _exchange(network, is_even, np.equal(load, goal).astype(np.int64), goal - 1 - load)
    load = network.load
    top = _reached_from(network, is_even & np.equal(load, goal))
    is_done |= top
    _renumber(network, above, top)


def share_evenly(problem: CountProblem, capacity: npt.NDArray[np.float64]) -> Network:
    """
    Spread all items so that loads over capacities are as even as possible, rounded.

    Parameters
    ----------
    problem
        Problem with many items per bin: rounding loses less than one item per bin.
    capacity
        ``(B,)`` capacity of each bin, positive.

    Returns
    -------
    Network with the items. Bins of one part share its load in proportion to capacity.
    """
    network = Network.of(problem)
    network.count[:] = problem.home
    at_home = sum_by(problem.home, network.edge_class, problem.num_classes)
    fill(network, network.load, problem.supply - at_home)
    while True:
        goal = shares(network, capacity)
        load = network.load
        everywhere = np.ones(network.num_bins, dtype=np.bool_)
        _exchange(network, everywhere, load - goal, goal - load)
        above = _reached_from(network, network.load > goal)
        if not above.any():
            return network
        _renumber(network, above)


def shares(network: Network, capacity: npt.NDArray[np.float64]) -> IntArray:
    """Return ``(B,)`` each bin's share of its part's load, rounded up."""
    part = network.part[: network.num_bins]
    load = np.bincount(part, network.load, network.num_nodes)
    room = np.bincount(part, capacity, network.num_nodes)
    share = load[part] * (capacity / room[part])
    return np.ceil(share).astype(np.int64)


def _goals(network: Network, is_open: BoolArray) -> IntArray:
    """Return ``(B,)`` the mean load of each bin's part, rounded up."""
    part = network.part[: network.num_bins]
    load, size = np.zeros((2, network.num_nodes), dtype=np.int64)
    np.add.at(load, part[is_open], network.load[is_open])
    np.add.at(size, part[is_open], 1)
    mean: IntArray = -(-load // np.maximum(size, 1))
    return mean[part]


def _exchange(
    network: Network, is_open: BoolArray, excess: IntArray, room: IntArray
) -> None:
    given = np.zeros(network.num_nodes, dtype=np.int64)
    given[: network.num_bins] = np.where(is_open, np.maximum(excess, 0), 0)
    push(network, given, np.where(is_open, np.maximum(room, 0), 0))


def _reached_from(network: Network, is_source: BoolArray) -> BoolArray:
    """Return ``(N,)`` true for nodes that sources can give items to."""
    sources = np.nonzero(is_source)[0]
    if not len(sources):
        return np.zeros(network.num_nodes, dtype=np.bool_)
    return reach(network, sources) >= 0


def _renumber(network: Network, *parted: BoolArray) -> None:
    """Renumber the parts after a split."""
    key = network.part
    for is_apart in parted:
        key = key * 2 + is_apart
    network.part[:] = np.unique(key, return_inverse=True)[1]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LoadBounds:
    """
    Lower and upper bounds of the loads of bins.

    Parameters
    ----------
    lowest, highest
        ``(B,)`` bounds of the load of each bin.
    is_open
        ``(E,)`` true for edges that may hold items.
    peak_bins
        Set of bins that proves the largest load.
    """

    lowest: IntArray
    highest: IntArray
    is_open: BoolArray
    peak_bins: IntArray


def bounds_of(even: Network) -> LoadBounds:
    """Return the bounds of the loads from the even placement of `even_out`."""
    bins, classes = even.part[: even.num_bins], even.part[even.num_bins :]
    highest = _highest(even)
    return LoadBounds(
        lowest=np.maximum(highest - 1, 0),
        highest=highest,
        is_open=np.equal(bins[even.edge_bin], classes[even.edge_class]),
        peak_bins=np.nonzero(np.equal(bins, bins[np.argmax(even.load)]))[0],
    )


def least_cost(
    problem: CountProblem, bounds: LoadBounds, count: IntArray | None = None
) -> CountSolution:
    """
    Place the items at least cost with loads within bounds.

    Parameters
    ----------
    problem
        Classes, bins and homes of the items.
    bounds
        Bounds of the loads. At least one placement satisfies them.
    count
        ``(E,)`` placement within the bounds, if known; it is the answer if no other is
        cheaper.
    """
    network = _opened(problem, bounds)
    is_plain = problem.price is None and not problem.share_price
    if is_plain and count is not None and _is_least(problem, count, bounds):
        network.count[:] = count[bounds.is_open]
        # Only the excess at home leaves: room in these bins is worth one move.
        at_home = sum_by(network.home, network.edge_bin, problem.num_bins)
        network.potential[problem.num_bins :] = -1
        network.potential[: problem.num_bins][at_home > bounds.highest] = -1
    else:
        _place(problem, network, bounds.lowest, bounds.highest)
    return _solution(problem, bounds, network)


def _solution(
    problem: CountProblem, bounds: LoadBounds, network: Network
) -> CountSolution:
    count = np.zeros(len(bounds.is_open), dtype=np.int64)
    count[bounds.is_open] = network.count
    moves = int(problem.home.sum()) - int(np.minimum(count, problem.home).sum())
    paid = 0 if problem.price is None else int((count * problem.price).sum())
    outside = num_outside(problem, count)
    return CountSolution(
        count=count,
        load=sum_by(count, problem.edge_bin, problem.num_bins),
        moves=moves,
        outside=outside,
        cost=moves + paid + problem.share_price * outside,
        proof=CountProof(
            peak_bins=bounds.peak_bins,
            lowest=bounds.lowest,
            highest=bounds.highest,
            is_open=bounds.is_open,
            class_potential=network.potential[problem.num_bins :],
            bin_potential=network.potential[: problem.num_bins],
        ),
    )


def _highest(even: Network) -> IntArray:
    """Return ``(B,)`` the largest load in the part of each bin."""
    part = even.part[: even.num_bins]
    highest = np.zeros(even.num_nodes, dtype=np.int64)
    np.maximum.at(highest, part, even.load)
    return highest[part]


def _opened(problem: CountProblem, bounds: LoadBounds) -> Network:
    """Return the network of the open edges, with the items that stay free of cost."""
    is_open = bounds.is_open
    edge_class = problem.edge_class
    num_open = sum_by(is_open.astype(np.int64), edge_class, problem.num_classes)
    class_start = np.concatenate([[0], np.cumsum(num_open)])
    network = Network.over(problem.num_bins, class_start, problem.edge_bin[is_open])
    network.home[:] = problem.home[is_open]
    if problem.share_price:
        network.share_price = problem.share_price
        network.low[:], network.high[:] = (s[is_open] for s in problem.shares)
    if problem.price is None:
        network.count[:] = np.minimum(network.home, network.low)
    else:
        # With prices of edges, staying may cost more than moving: start empty.
        network.price[:] = problem.price[is_open]
    return network


def _is_least(problem: CountProblem, count: IntArray, bounds: LoadBounds) -> bool:
    """Return whether only items that cannot stay have moved."""
    home = np.where(bounds.is_open, problem.home, 0)
    at_home = sum_by(home, problem.edge_bin, problem.num_bins)
    kept = int(np.minimum(count, problem.home).sum())
    leave = int(np.maximum(at_home - bounds.highest, 0).sum())
    return kept == int(home.sum()) - leave


def _place(
    problem: CountProblem, network: Network, lowest: IntArray, highest: IntArray
) -> None:
    """
    Place all items within the bounds of the bins at least cost.

    Successive shortest paths, starting from the items that stay free of cost. The paths
    lead first from items that must leave or have no place to bins that lack items; then
    from such items to any bin with room; then from any bin that may give items to bins
    that lack items; last along any path that lowers the cost.
    """
    left = np.zeros(network.num_nodes, dtype=np.int64)
    placed = sum_by(network.count, network.edge_class, problem.num_classes)
    left[network.num_bins :] = problem.supply - placed
    for must_leave, must_lack in ((1, 1), (1, 0), (0, 1), (0, 0)):
        least = highest if must_leave else lowest
        most = lowest if must_lack else highest
        has_more = True
        gains = not must_leave and not must_lack
        while has_more:
            has_more = _shorten(network, left, least, most, gains=gains)


def _shorten(
    network: Network, left: IntArray, least: IntArray, most: IntArray, *, gains: bool
) -> bool:
    """Push along all shortest paths from bins above `least` to bins below `most`."""
    load = network.load
    given = left.copy()
    given[: network.num_bins] = np.maximum(load - least, 0)
    room = np.maximum(most - load, 0)
    sources = np.nonzero(given > 0)[0]
    if not len(sources) or not room.any():
        return False
    top = int(network.potential[sources].max())
    is_reached = _measure(network, sources, top)
    room[~is_reached[: network.num_bins]] = 0
    if not room.any():
        return False
    bottom = network.potential[: network.num_bins]
    nearest = int(bottom[room > 0].min())
    if gains and nearest >= top:
        return False
    # Keep only the sources and bins joined by shortest paths.
    given[network.potential < top] = 0
    room[bottom > nearest] = 0
    before = given[network.num_bins :].copy()
    push(network, given, room)
    left[network.num_bins :] -= before - given[network.num_bins :]
    return True


def _measure(network: Network, sources: IntArray, top: int) -> BoolArray:
    """Add shortest distances to the potentials; return ``(N,)`` reached nodes."""
    label = np.full(network.num_nodes, kernels.UNREACHED, dtype=np.int64)
    label[sources] = top - network.potential[sources]
    network.run(kernels.find_distances, label, sources)
    is_reached: BoolArray = label < kernels.UNREACHED
    label[~is_reached] = label[is_reached].max()
    network.potential += label
    return is_reached
