"""List schedule of copies, each started as soon as both ends are free."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import FloatArray, RowArray
from placement.waves.edge_colouring import run_kernel
from placement.waves.kernels.copy_timeline import list_schedule

CLOSE_ENOUGH = 1.005
"""Ratio of a schedule to its lower bound below which the search stops."""
MOST_WORK = 40_000
"""Maximum number of copies times further lists to try after the first list."""
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
    Return start times of copies, each started as soon as both ends are free.

    A broker that runs ``c`` copies at a time gives each a ``c``-th of its bandwidth, so
    a copy runs at the smaller of the two rates of its ends.

    Parameters
    ----------
    source, target
        ``(E,)`` sending and receiving broker of each copy. Not below 0.
    size_bytes
        ``(E,)`` bytes of each copy.
    caps
        Maximum number of copies that a broker sends, and receives, at a time.
    bandwidth_bytes_per_s
        Bytes/s that a broker can send, and receive.

    Returns
    -------
    ``(E,)`` start of each copy in seconds, and end of the last copy in seconds.

    Notes
    -----
    List scheduling: while a copy waits, one of its ends is busy, so the work of its two
    ends plus its own duration bounds the end of the last copy [1]_. The best of several
    lists is taken; further lists are tried until it is within half a percent of the
    lower bound.

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
        # Random noise on the work of each end gives other lists of the same kind.
        blurred = shop.total * rng.uniform(0.5, 1.5, len(shop.total))
        began, ended = _run(shop, blurred)
        if ended < end:
            best, end = began, ended
    return best, end


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Shop:
    """Senders, then receivers, with the copies and the total work of each."""

    source: RowArray
    receiver: RowArray
    duration: FloatArray
    ends: RowArray
    start_of: RowArray
    limit: RowArray
    total: FloatArray


def _shop(
    source: RowArray, target: RowArray, duration: FloatArray, caps: tuple[int, int]
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


def _run(shop: _Shop, claim: FloatArray) -> tuple[FloatArray, float]:
    """Run the list schedule: copies by the claim of their other end, then by size."""
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
    """Return a lower bound in seconds from the busiest end and the largest copy."""
    if not len(source):
        return 0.0
    rate = bandwidth_bytes_per_s / max(caps)
    sent = np.bincount(source, weights=size_bytes).max() / (rate * caps[0])
    received = np.bincount(target, weights=size_bytes).max() / (rate * caps[1])
    return float(max(sent, received, size_bytes.max() / rate))
