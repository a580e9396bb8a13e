"""
Multipliers for covering bounds: searched in floats, returned as fractions.

Any multipliers give a valid bound (`core.bounds.cover_bounds`).
`core.verify.cover_and_cut` computes the bound again in exact integers.
"""

from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from placement.array_types import FloatArray, IntArray

SWEEPS = 1
"""Number of coordinate-ascent sweeps over the multipliers of a bin."""
BETTER = 1 + 1e-6
"""Factor by which a value must exceed another to count as better despite rounding."""
MOST_BITS = 61
"""Number of bits that products of numerators and weights stay within."""


@dataclass(frozen=True, slots=True)
class Cover:
    """
    Lower bound from the multipliers of one bin.

    Parameters
    ----------
    value
        Lower bound on the cost of a set of items that covers the excess.
    denominator
        Common denominator of all multipliers.
    numerators
        Resource and numerator of each multiplier that is not 0.
    """

    value: int
    denominator: int
    numerators: tuple[tuple[int, int], ...]

    def entry(self, b: int) -> tuple[int, ...]:
        """Return the witness: the bin, the denominator, resources and numerators."""
        flat = [number for pair in self.numerators for number in pair]
        return (b, self.denominator, *flat)


NOTHING = Cover(0, 1, ())


def cover(excess: IntArray, weight: IntArray, cost: IntArray) -> Cover:
    """
    Bound the cost of items whose weights cover an excess in several resources.

    Parameters
    ----------
    excess
        ``(R,)`` amount to cover; resources without a positive amount are ignored.
    weight
        ``(n, R)`` weights of the items.
    cost
        ``(n,)`` costs of the items.

    Notes
    -----
    Coordinate ascent of a concave function, starting from the best single multiplier:
    one multiplier at a time is set to its best value. If all items together do not
    cover the excess, the bound is that of taking all items.
    """
    short = [int(r) for r in np.nonzero(excess > 0)[0] if weight[:, r].any()]
    if not short:
        return NOTHING
    best, price = 0.0, np.zeros(len(excess))
    for r in short:
        single = np.zeros(len(excess))
        single[r] = _critical(weight[:, r], cost.astype(np.float64), excess[r])
        value = _dual(single, excess, weight, cost)
        if value > best * BETTER:
            best, price = value, single
    if len(short) > 1:
        price = _ascend(price, short, excess, weight, cost)
    return _rounded(price, excess, weight, cost)


def _ascend(
    price: FloatArray,
    short: list[int],
    excess: IntArray,
    weight: IntArray,
    cost: IntArray,
) -> FloatArray:
    best = _dual(price, excess, weight, cost)
    for _ in range(SWEEPS):
        start = best
        for r in short:
            tried = price.copy()
            tried[r] = 0.0
            left = cost - _paid(tried, weight)
            tried[r] = _critical(weight[:, r], left, excess[r])
            value = _dual(tried, excess, weight, cost)
            if value > best * BETTER:
                best, price = value, tried
        if best <= start:
            break
    return price


def _dual(
    price: FloatArray, excess: IntArray, weight: IntArray, cost: IntArray
) -> float:
    gain = sum(float(price[r]) * int(excess[r]) for r in np.nonzero(price)[0])
    return gain - float(np.maximum(_paid(price, weight) - cost, 0).sum())


def _paid(price: FloatArray, weight: IntArray) -> FloatArray:
    """Return ``(n,)`` the weight of each item, priced by the multipliers."""
    # Loop over resources: a matrix product sums in an order that depends on the CPU.
    paid = np.zeros(len(weight))
    for r in np.nonzero(price)[0]:
        paid += price[r] * weight[:, r]
    return paid


def _critical(weight: IntArray, left: FloatArray, excess: int) -> float:
    """
    Return the best multiplier of one resource, given the costs left by the others.

    The multiplier is the ratio of cost to weight of the critical item: the item that
    completes the cover when items are taken in order of this ratio. Items whose cost
    the other multipliers cover in full have ratio 0.
    """
    rows = np.nonzero(weight > 0)[0]
    if not len(rows):
        return 0.0
    ratio = np.maximum(left[rows], 0.0) / weight[rows]
    order = np.argsort(ratio, kind="stable")
    covered = np.cumsum(weight[rows][order])
    critical = min(int(np.searchsorted(covered, excess)), len(rows) - 1)
    return float(ratio[order[critical]])


def _rounded(
    price: FloatArray, excess: IntArray, weight: IntArray, cost: IntArray
) -> Cover:
    """Round multipliers down to fractions, and compute the bound in integers."""
    used = [int(r) for r in np.nonzero(price > 0)[0]]
    largest = sum(float(price[r]) * float(weight[:, r].max()) for r in used)
    top = max(largest, float(cost.max(initial=0)), 1.0)
    bits = max(0, MOST_BITS - ceil(log2(top)) - 1)
    numerators = [(r, int(price[r] * 2.0**bits)) for r in used]
    return _exact(excess, weight, cost, (1 << bits, numerators))


def _exact(
    excess: IntArray,
    weight: IntArray,
    cost: IntArray,
    multipliers: tuple[int, list[tuple[int, int]]],
) -> Cover:
    denominator, numerators = multipliers
    paid = np.zeros(len(cost), dtype=np.int64)
    gain = 0
    for r, numerator in numerators:
        paid += numerator * weight[:, r]
        gain += numerator * int(excess[r])
    saved = np.maximum(paid - denominator * cost, 0)
    high, low = int((saved >> 32).sum()), int((saved & 0xFFFFFFFF).sum())
    value = -(-(gain - ((high << 32) + low)) // denominator)
    kept = tuple((r, numerator) for r, numerator in numerators if numerator > 0)
    return Cover(value, denominator, kept) if value > 0 else NOTHING


class Pool:
    """
    Items that may arrive in any bin, in ascending order of cost per weight.

    Parameters
    ----------
    weight, cost, count
        ``(G,)`` weight and cost of an item of each group, and the number of its items
        that may arrive in a bin.
    enough
        Largest excess passed to `cover`; items beyond the cheapest that cover it are
        left out.
    """

    def __init__(
        self, weight: IntArray, cost: IntArray, count: IntArray, *, enough: int
    ) -> None:
        rows = np.nonzero((weight > 0) & (count > 0))[0]
        ratio = cost[rows] / weight[rows]
        total = weight[rows] * count[rows]
        first = _cheapest(ratio, total, enough)
        order = first[np.argsort(ratio[first], kind="stable")]
        self._ratio = ratio[order]
        self._weights = np.cumsum(total[order])
        self._costs = np.cumsum((cost[rows] * count[rows])[order])
        self._largest_cost = float(cost[rows].max(initial=0))
        self._top = max(float(weight[rows].max(initial=0)), 1.0)

    def cover(self, r: int, excess: int) -> Cover:
        """Bound the cost of items whose weights in resource `r` sum to `excess`."""
        if not len(self._ratio):
            return NOTHING
        critical = int(np.searchsorted(self._weights, excess))
        ratio = float(self._ratio[min(critical, len(self._ratio) - 1)])
        largest = max(ratio * self._top, self._largest_cost, 1.0)
        bits = max(0, MOST_BITS - ceil(log2(largest)) - 1)
        # Limit the bits so that the fraction does not exceed the ratio.
        bits = min(bits, max(0, 50 - ceil(log2(max(ratio, 1e-9)))))
        numerator, denominator = int(ratio * 2.0**bits), 1 << bits
        # Items with a smaller ratio come first: use their prefix sums.
        last = int(np.searchsorted(self._ratio, numerator / denominator, side="right"))
        saved = 0
        if last:
            saved = numerator * int(self._weights[last - 1])
            saved -= denominator * int(self._costs[last - 1])
        value = -(-(numerator * excess - max(saved, 0)) // denominator)
        if value <= 0 or numerator == 0:
            return NOTHING
        return Cover(value, denominator, ((r, numerator),))


def _cheapest(ratio: FloatArray, weight: IntArray, enough: int) -> IntArray:
    """Return the rows of least ratio, ties included, that weigh `enough`; or all."""
    many = len(ratio) // 64
    while 0 < many < len(ratio) // 2:
        rows = np.nonzero(ratio <= np.partition(ratio, many)[many])[0]
        if int(weight[rows].sum()) >= enough:
            return rows
        many *= 4
    return np.arange(len(ratio))
