"""
Expected load of the busiest partition, as balls into bins; and keys that growth moves.

References
----------
.. [1] Raab, M. and Steger, A. (1998). "Balls into Bins": A Simple and Tight Analysis.
       RANDOM'98, LNCS 1518: 159-170. https://doi.org/10.1007/3-540-49543-6_13
.. [2] Levin, B. (1981). A Representation for Multinomial Cumulative Distribution
       Functions. The Annals of Statistics 9(5): 1123-1126.
       https://doi.org/10.1214/aos/1176345593
.. [3] Kish, L. (1965). Survey Sampling. Wiley.
"""

from functools import lru_cache
from math import gcd, lgamma, log, pi

import numpy as np

from placement.array_types import FloatArray, IntArray

MOST_EXACT_WORK = 2_000_000
"""Size of all transforms up to which the chance of the sum is computed exactly."""
MOST_KEPT = 4096
"""Results kept: a sweep asks for the same numbers of keys again."""
FEW_PARTITIONS = 50
"""Partitions up to which a sum over them is too skewed to count as normal."""
FEW_KEYS = 1000
"""Keys up to which the same holds on any number of partitions."""
NO_CHANCE = 1e-9
"""Chance that is taken as none."""


@lru_cache(MOST_KEPT)
def expected_max_over_mean(num_keys: int, num_partitions: int) -> float:
    """
    Return the expected load of the busiest partition over the mean load.

    Keys are equally hot and hashed independently and uniformly: balls into bins [1]_.

    Parameters
    ----------
    num_keys
        Distinct keys, at least 1.
    num_partitions
        Partitions, at least 1.

    Notes
    -----
    The counts are independent Poisson numbers, given their sum. Levin's formula [2]_
    for the chance that none is over a limit is exact for up to about a thousand keys.
    For more keys the sum over many partitions is taken as normal, and the counts on few
    partitions are.

    Examples
    --------
    >>> round(expected_max_over_mean(1, 6), 3), round(expected_max_over_mean(2, 2), 3)
    (6.0, 1.5)
    >>> round(expected_max_over_mean(10_000, 12), 3)
    1.056
    """
    if num_partitions == 1:
        return 1.0
    mean = num_keys / num_partitions
    # The busiest of the partitions holds at least the mean, rounded up.
    least = -(-num_keys // num_partitions)
    limits = np.arange(least, max(_largest_count(mean, num_partitions), least) + 1)
    limits = limits[limits <= num_keys]
    most = int(limits[-1])
    is_exact = len(limits) * most * num_partitions <= MOST_EXACT_WORK and (
        num_partitions <= FEW_PARTITIONS or num_keys <= FEW_KEYS
    )
    if not is_exact and num_partitions <= FEW_PARTITIONS:
        return float(1 + _normal_maximum(num_partitions) / mean**0.5)
    chance = _chance_of_sum if is_exact else _normal_chance_of_sum
    sums = chance(limits, num_keys, num_partitions)
    none_over = _chance_none_over(limits, num_keys, num_partitions, sums)
    return float((least + (1 - none_over).sum()) / mean)


def expected_with_hot_keys(
    num_keys: float, hottest_share: float, num_partitions: int
) -> float:
    """
    Return the same for keys that are not equally hot, hashed as well.

    Parameters
    ----------
    num_keys
        Effective number of keys: the square of the sum of their records over the sum
        of the squares [3]_, at least 1. As many equally hot keys make the load of a
        partition vary as much.
    hottest_share
        Share of the hottest key, from 0 to 1.
    num_partitions
        Partitions, at least 1.

    Notes
    -----
    The larger of two bounds: what the effective number of equally hot keys gives, and
    what is to be expected on the partition of the hottest key, which has it and its
    share of the others. In simulations of Zipf and lognormal keys on 3 to 48
    partitions, the excess over 1 is that of random hashes within 17 %.

    Examples
    --------
    >>> round(expected_with_hot_keys(100, 0.01, 12), 3)
    1.6
    >>> round(expected_with_hot_keys(4, 0.5, 12), 3)
    6.5
    """
    whole = int(num_keys)
    expected = expected_max_over_mean(whole, num_partitions)
    if rest := num_keys - whole:
        expected += rest * (
            expected_max_over_mean(whole + 1, num_partitions) - expected
        )
    return max(expected, 1 + (num_partitions - 1) * hottest_share)


def _largest_count(mean: float, num_partitions: int) -> int:
    """Return a count that one of the partitions exceeds with next to no chance."""
    from scipy.special import pdtrc

    counts = np.arange(int(mean + 12 * mean**0.5 + 3 * log(num_partitions) + 20))
    is_certain = num_partitions * pdtrc(counts, mean) < NO_CHANCE
    return int(is_certain.argmax()) if is_certain.any() else len(counts)


def _normal_maximum(count: int) -> float:
    """
    Return the expected maximum of independent standard normal numbers.

    Counts of equal mean and a fixed sum differ from independent ones by their common
    mean, which is zero on average: the expected maximum is the same.
    """
    from scipy.special import ndtr

    grid = np.linspace(-10, 10, 20_001)
    is_over = 1 - ndtr(grid) ** count
    is_over[grid < 0] -= 1
    return float(np.trapezoid(is_over, grid))


def _chance_none_over(
    limits: IntArray, num_keys: int, num_partitions: int, sums: FloatArray
) -> FloatArray:
    """Return Levin's formula: the chance that no count is over each limit."""
    from scipy.special import pdtr

    mean = num_keys / num_partitions
    below = num_partitions * np.log(pdtr(limits, mean))
    of_poisson = num_keys * log(num_keys) - num_keys - lgamma(num_keys + 1)
    with np.errstate(divide="ignore"):
        logs = below + np.log(sums) - of_poisson
    chances: FloatArray = np.clip(np.exp(logs), 0.0, 1.0)
    return chances


def _poisson(counts: FloatArray, mean: float) -> FloatArray:
    from scipy.special import gammaln

    chances: FloatArray = np.exp(counts * log(mean) - mean - gammaln(counts + 1))
    return chances


def _chance_of_sum(limits: IntArray, num_keys: int, num_partitions: int) -> FloatArray:
    """Return the chance that truncated Poisson counts add up to all keys."""
    from scipy.fft import next_fast_len

    mean = num_keys / num_partitions
    found = np.empty(len(limits))
    for row, limit in enumerate(limits.tolist()):
        each = _poisson(np.arange(limit + 1.0), mean)
        each /= each.sum()
        size = next_fast_len(limit * num_partitions + 1, real=True)
        spectrum = np.fft.rfft(each, size) ** num_partitions
        found[row] = max(np.fft.irfft(spectrum, size)[num_keys], 0.0)
    return found


def _normal_chance_of_sum(
    limits: IntArray, num_keys: int, num_partitions: int
) -> FloatArray:
    """Return the same chance, with the sum taken as normal."""
    from scipy.special import pdtr

    mean = num_keys / num_partitions
    at_limit = _poisson(limits.astype(float), mean) / pdtr(limits, mean)
    means = mean * (1 - at_limit)
    variances = means - (limits - means) * (mean - means)
    off = (num_keys - num_partitions * means) ** 2 / (num_partitions * variances)
    chances: FloatArray = np.exp(-off / 2) / np.sqrt(
        2 * pi * num_partitions * variances
    )
    return chances


def moved_share(old: int, new: int) -> float:
    """
    Return the share of keys that change partition when a topic grows.

    A key stays if the remainders of its hash by both counts are equal. Of the residues
    modulo their least common multiple, these are the `old` smallest. Where `new` is a
    multiple of `old`, the share is 1 − old/new.

    Examples
    --------
    >>> moved_share(6, 12), moved_share(6, 8)
    (0.5, 0.75)
    """
    return 1 - old * gcd(old, new) / (old * new)


def smallest_multiple(old: int, new: int) -> int:
    """
    Return the smallest multiple of `old` that is at least `new`.

    Examples
    --------
    >>> smallest_multiple(6, 8), smallest_multiple(6, 12)
    (12, 12)
    """
    return -(-new // old) * old
