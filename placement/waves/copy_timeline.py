"""Copies that start as soon as both ends are free, and when the last one ends."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.waves.edge_colouring import run_kernel
from placement.waves.kernels.copy_timeline import list_schedule

RowArray = npt.NDArray[np.int64]
TimeArray = npt.NDArray[np.float64]
CLOSE_ENOUGH = 1.005
"""A schedule this close to its bound is not improved any more."""
MOST_WORK = 40_000
"""Copies times lists that are tried; the first list is always."""
MOST_LISTS = 40
SEED = 1


def schedule_copies(
    source: RowArray,
    target: RowArray,
    size_bytes: RowArray,
    caps: tuple[int, int],
    bandwidth_bytes_per_s: float,
) -> tuple[npt.NDArray[np.float64], float]:
    """
    Say when each copy starts if it starts as soon as both ends are free.

    A broker that does ``c`` copies at a time gives each a ``c``-th of its bandwidth,
    so a copy goes at the slower of its two ends' parts.

    Parameters
    ----------
    source, target
        ``(E,)`` the broker that sends each copy and the one that gets it. Not below 0.
    size_bytes
        ``(E,)`` bytes of each copy.
    caps
        Copies that a broker may send, and get, at a time.
    bandwidth_bytes_per_s
        What a broker can send, and get.

    Returns
    -------
    ``(E,)`` seconds after which each copy starts, and when the last one ends.

    Notes
    -----
    List scheduling: while a copy waits, one of its ends is busy, so the last one ends
    by what its two ends have to do, and itself [1]_. Of several lists the best is
    taken; further ones are tried until it is within half a percent of the bound.

    References
    ----------
    .. [1] Graham, R. L. (1969). Bounds on Multiprocessing Timing Anomalies.
           *SIAM Journal on Applied Mathematics* 17(2): 416-429.
           https://doi.org/10.1137/0117039
    """
    if not len(source):
        return np.zeros(0), 0.0
    rate = bandwidth_bytes_per_s / max(caps)
    shop = _shop(source, target, size_bytes / rate, caps)
    bound = schedule_bound(source, target, size_bytes, caps, bandwidth_bytes_per_s)
    rng = np.random.default_rng(SEED)
    best, end = _run(shop, shop.total)
    for _ in range(min(MOST_LISTS, MOST_WORK // len(source))):
        if end <= CLOSE_ENOUGH * bound:
            break
        # What ends have to do, blurred: other lists, of the same kind.
        blurred = shop.total * rng.uniform(0.5, 1.5, len(shop.total))
        began, ended = _run(shop, blurred)
        if ended < end:
            best, end = began, ended
    return best, end


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Shop:
    """Senders, then receivers; the copies of each, and what each has to do."""

    source: RowArray
    receiver: RowArray
    duration: TimeArray
    ends: RowArray
    start_of: RowArray
    limit: RowArray
    total: TimeArray


def _shop(
    source: RowArray, target: RowArray, duration: TimeArray, caps: tuple[int, int]
) -> _Shop:
    num = int(max(source.max(), target.max())) + 1
    receiver = target + num
    ends = np.concatenate([source, receiver])
    return _Shop(
        source=source.astype(np.int64),
        receiver=receiver.astype(np.int64),
        duration=duration.astype(np.float64),
        ends=ends,
        start_of=np.searchsorted(np.sort(ends), np.arange(2 * num + 1)).astype(
            np.int64
        ),
        limit=np.repeat(np.array(caps, dtype=np.int64), num),
        total=np.bincount(ends, weights=np.tile(duration, 2), minlength=2 * num).astype(
            np.float64
        ),
    )


def _run(shop: _Shop, claim: TimeArray) -> tuple[TimeArray, float]:
    """Start copies by lists: first those whose other end claims most, the large."""
    count = len(shop.source)
    other = claim[np.concatenate([shop.receiver, shop.source])]
    listed = np.lexsort((-np.tile(shop.duration, 2), -other, shop.ends)) % count
    began = np.full(count, -1.0)
    room = int(min(count, len(shop.limit) * shop.limit.max())) + 1
    end = run_kernel(
        list_schedule,
        count,
        shop.source,
        shop.receiver,
        shop.duration,
        shop.start_of,
        listed.astype(np.int64),
        shop.start_of[:-1].copy(),
        shop.limit,
        np.zeros(len(shop.limit), dtype=np.int64),
        np.zeros(room),
        np.zeros(room, dtype=np.int64),
        began,
    )
    return began, float(end)


def schedule_bound(
    source: RowArray,
    target: RowArray,
    size_bytes: RowArray,
    caps: tuple[int, int],
    bandwidth_bytes_per_s: float,
) -> float:
    """Return the seconds that the busiest end, or the largest copy, needs at least."""
    if not len(source):
        return 0.0
    rate = bandwidth_bytes_per_s / max(caps)
    sent = np.bincount(source, weights=size_bytes).max() / (rate * caps[0])
    received = np.bincount(target, weights=size_bytes).max() / (rate * caps[1])
    return float(max(sent, received, size_bytes.max() / rate))
