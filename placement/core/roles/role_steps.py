"""
Price of the next role of a bin: the rank of its key among the keys of all bins.

`core.roles.role_counts` defines the key of a role.
"""

from math import ceil, log10

import numpy as np

from placement.array_types import FloatArray, IntArray
from placement.core.flow.equitable_flow import Arcs

DIGITS = 12
"""Number of digits in which ratios are compared, for equal results on any machine."""


class Steps:
    """
    Arcs from the bins to a sink, priced by the next role of a bin.

    Parameters
    ----------
    share
        ``(N,)`` share of each bin in the counts; 0: the bin does not take part.
    held, most
        ``(N,)`` roles that each bin holds in any case, and can hold at most.
    num_roles
        Number of roles to distribute besides those held.
    width
        Number of counts on either side of an even share with separate prices.
    """

    def __init__(
        self,
        share: FloatArray,
        held: IntArray,
        most: IntArray,
        num_roles: int,
        width: int,
    ) -> None:
        self.sharing = np.nonzero(share > 0)[0]
        share = share[self.sharing]
        held, most = held[self.sharing], most[self.sharing]
        level = (held.sum() + num_roles) / max(float(share.sum()), 1e-300)
        middle = np.minimum(share * level, most.astype(np.float64))
        self.low = np.clip(np.floor(middle).astype(np.int64) - width, held, most)
        self.high = np.clip(np.ceil(middle).astype(np.int64) + width, held, most)
        self.held, self.most = held, most
        wide = int((self.high - self.low).max(initial=0))
        steps = self.low[:, None] + 1 + np.arange(wide)
        is_used = steps <= self.high[:, None]
        rank = _ranks(
            steps[is_used], np.broadcast_to(share[:, None], steps.shape)[is_used]
        )
        self.of = of = np.repeat(np.arange(len(share)), is_used.sum(axis=1))
        self.dearest = int(rank.max(initial=0)) + 1
        rows = np.arange(len(share))
        self.tails = self.sharing[np.concatenate([rows, of, rows])]
        ones = np.ones(len(rank), dtype=np.int64)
        self.capacity = np.concatenate([self.low - held, ones, most - self.high])
        flat = np.zeros(len(rows), dtype=np.int64)
        self.rank = np.concatenate([flat, rank, flat + self.dearest])

    def add_to(self, arcs: Arcs, first_bin: int, sink: int, price: int) -> None:
        """Add the arcs to a network, each at `price` times its rank."""
        is_there = self.capacity > 0
        tails = first_bin + self.tails[is_there]
        sinks = np.full(len(tails), sink)
        arcs.add(tails, sinks, self.capacity[is_there], price * self.rank[is_there])

    def bounds(self, num_roles: int) -> tuple[IntArray, IntArray] | None:
        """
        Return ``(n,)`` bounds of the counts in an even distribution by shares alone.

        `None` if the window of separate prices is too narrow.
        """
        steps = num_roles - int((self.low - self.held).sum())
        size = len(self.low)
        rank = self.rank[size:-size]
        if not 0 < steps <= len(rank):
            return None
        last = np.partition(rank, steps - 1)[steps - 1]
        least = self.low + np.bincount(self.of[rank < last], minlength=size)
        most = self.low + np.bincount(self.of[rank <= last], minlength=size)
        above = (least > self.low) | (self.low == self.held)
        below = (most < self.high) | (self.high == self.most)
        return (least, most) if (above & below).all() else None

    def is_inside(self, counts: IntArray) -> bool:
        """Return whether counts are inside the window of separate prices."""
        found = counts[self.sharing]
        above = (found >= self.low) | (self.low == self.held)
        below = (found <= self.high) | (self.high == self.most)
        return bool((above & below).all())


def _ranks(steps: IntArray, share: FloatArray) -> IntArray:
    """Return the rank of each key from 1; equal keys have equal ranks."""
    if not len(steps):
        return np.zeros(0, dtype=np.int64)
    worth = np.stack([steps / share, (steps - 1) / share], axis=1)
    scale = 10.0 ** (DIGITS - ceil(log10(max(float(worth.max()), 1e-300))))
    rounded = np.round(worth * scale)
    rank: IntArray = np.unique(rounded, axis=0, return_inverse=True)[1].ravel() + 1
    return rank


def step_prices(
    share: FloatArray, counts: IntArray, num_groups: int
) -> tuple[IntArray, IntArray]:
    """
    Return ``(N,)`` price of one more role of each bin, and of its last role.

    The prices are ranks of the keys times a factor above the cost of all changes. Only
    the order of the keys determines evenness.
    """
    sharing = np.nonzero(share > 0)[0]
    above, below = np.zeros((2, len(share)), dtype=np.int64)
    steps = np.concatenate([counts[sharing] + 1, counts[sharing]])
    rank = _ranks(steps, np.tile(share[sharing], 2)) * (num_groups + 1)
    above[sharing], below[sharing] = np.split(rank, 2) if len(rank) else (0, 0)
    return above, below
