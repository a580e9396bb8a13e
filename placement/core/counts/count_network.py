"""Network of classes and bins, with the items on its edges."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from placement.array_types import IntArray
from placement.core.counts.count_problem import CountProblem, sum_by
from placement.core.counts.kernels import class_flow as kernels
from placement.core.search.kernels.jit import compiled

MIN_EDGES_COMPILED = 30_000
"""Number of edges below which kernels run uncompiled, faster than compiling them."""
EVERYTHING = 1 << 50
"""Number of items at home above any count, so that no arc has a cost."""


_SORTED_BY_DIGITS = 1 << 16


def _by_bin(edge_bin: IntArray, num_bins: int) -> IntArray:
    """Return edges sorted by bin; few bins allow the faster radix sort."""
    is_short = num_bins <= _SORTED_BY_DIGITS
    keys = edge_bin.astype(np.uint16) if is_short else edge_bin
    return np.argsort(keys, kind="stable")


@dataclass(slots=True, eq=False)
class Network:
    """Edges of a problem by class and by bin, with the items on them."""

    num_bins: int
    class_start: IntArray
    edge_bin: IntArray
    edge_class: IntArray
    bin_start: IntArray
    bin_edge: IntArray
    count: IntArray
    home: IntArray
    price: IntArray
    low: IntArray
    high: IntArray
    share_price: int
    potential: IntArray
    part: IntArray

    @classmethod
    def of(cls, problem: CountProblem) -> "Network":
        """Return the network of a problem without items."""
        return cls.over(problem.num_bins, problem.class_start, problem.edge_bin)

    @classmethod
    def over(
        cls, num_bins: int, class_start: IntArray, edge_bin: IntArray
    ) -> "Network":
        """Return a network without items and costs, in one part."""
        num_classes = len(class_start) - 1
        edge_class = np.repeat(np.arange(num_classes), np.diff(class_start))
        bin_start = np.zeros(num_bins + 1, dtype=np.int64)
        np.cumsum(np.bincount(edge_bin, minlength=num_bins), out=bin_start[1:])
        num_nodes = num_bins + num_classes
        return cls(
            num_bins=num_bins,
            class_start=class_start,
            edge_bin=edge_bin,
            edge_class=edge_class,
            bin_start=bin_start,
            bin_edge=_by_bin(edge_bin, num_bins),
            count=np.zeros(len(edge_bin), dtype=np.int64),
            home=np.full(len(edge_bin), EVERYTHING, dtype=np.int64),
            price=np.zeros(len(edge_bin), dtype=np.int64),
            low=np.full(len(edge_bin), EVERYTHING, dtype=np.int64),
            high=np.full(len(edge_bin), EVERYTHING, dtype=np.int64),
            share_price=0,
            potential=np.zeros(num_nodes, dtype=np.int64),
            part=np.zeros(num_nodes, dtype=np.int64),
        )

    @property
    def num_nodes(self) -> int:
        """Number of bins and classes."""
        return len(self.potential)

    @property
    def load(self) -> IntArray:
        """``(B,)`` number of items in each bin."""
        return sum_by(self.count, self.edge_bin, self.num_bins)

    def run(self, kernel: Callable[..., Any], *columns: IntArray | int) -> None:
        """Run a kernel on the network: compiled on arrays, or uncompiled on lists."""
        shape = (self.bin_start, self.bin_edge, self.class_start, self.edge_bin)
        prices = (self.home, self.price, self.low, self.high, self.share_price)
        given = (*shape, self.edge_class, self.count, *prices, self.potential)
        if len(self.edge_bin) >= MIN_EDGES_COMPILED:
            compiled(kernel)(self.num_bins, *given, *columns)
        else:
            _on_lists(kernel, self.num_bins, (*given, *columns))


def _on_lists(
    kernel: Callable[..., Any], num_bins: int, columns: tuple[IntArray | int, ...]
) -> None:
    """Run a kernel on lists, and copy its changes back."""
    lists = [c.tolist() if isinstance(c, np.ndarray) else c for c in columns]
    kernel(num_bins, *lists)
    for column, changed in zip(columns, lists, strict=True):
        if isinstance(column, np.ndarray) and column.flags.writeable:
            column[:] = changed


def reach(network: Network, sources: IntArray) -> IntArray:
    """Return ``(N,)`` the level of each node from the sources; -1 if not reached."""
    level = np.full(network.num_nodes, -1, dtype=np.int64)
    level[sources] = 0
    queue = np.zeros(network.num_nodes, dtype=np.int64)
    queue[: len(sources)] = sources
    network.run(kernels.find_levels, network.part, level, queue, len(sources))
    return level


def push(network: Network, given: IntArray, room: IntArray) -> None:
    """
    Push as many items as possible along arcs of reduced cost 0.

    Parameters
    ----------
    network
        Network whose counts are updated.
    given
        ``(N,)`` items that each node has to give; reduced by the items pushed.
    room
        ``(B,)`` items that each bin may take; reduced by the items pushed.

    Notes
    -----
    Dinic's algorithm: compute levels, then push along paths that rise one level per
    arc, until no bin with room is reached.
    """
    while True:
        sources = np.nonzero(given > 0)[0]
        level = reach(network, sources)
        if not ((level[: network.num_bins] >= 0) & (room > 0)).any():
            return
        starts = (network.bin_start[:-1], network.class_start[:-1])
        cursor = np.concatenate(starts)
        path = np.zeros(2 * network.num_nodes + 2, dtype=np.int64)
        columns = (network.part, level, cursor, path, given, room, sources)
        network.run(kernels.push_along_levels, *columns)


def fill(network: Network, load: IntArray, left: IntArray) -> None:
    """Put the remaining items of each class into its bins, the least loaded first."""
    columns = (network.class_start, network.edge_bin, network.count, load, left)
    if len(network.edge_bin) >= MIN_EDGES_COMPILED:
        compiled(kernels.fill_lowest)(*columns)
    else:
        first, *rest = columns
        lists = [column.tolist() for column in rest]
        kernels.fill_lowest(first.tolist(), *lists)
        network.count[:] = lists[1]
