"""
Processors of brokers shared out over the replicas they hold.

Nothing measures what a replica costs a processor. As Cruise Control does, a broker's
cores are shared out by the bytes of its replicas: 0.7 for each that producers write to
a leader, 0.15 for each that a leader sends, and 0.15 for each that a follower fetches
(the defaults of its `MonitorConfig`). Replicas of a broker of whose bytes something is
unknown, or which all stand still, get the same each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from planner.snapshot.importers.merging.visibility import named

LEADER_IN, LEADER_OUT, FOLLOWER_IN = 0.7, 0.15, 0.15
_Amounts = Sequence[float | None]
_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]
_Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CpuShares:
    """
    What partitions take of processors.

    Parameters
    ----------
    leader, follower
        Cores of the leader, and of each follower, by the row of the partition; of
        followers the mean, for a snapshot has one figure for all.
    evenly
        Brokers whose cores were shared out evenly.
    idle
        Brokers that hold no replica, with cores that no partition accounts for.
    """

    leader: Mapping[int, float]
    follower: Mapping[int, float]
    evenly: Sequence[int]
    idle: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Replicas:
    """``(R,)`` the row of each replica, the rank of its broker, its role, its bytes."""

    row: _Ints
    broker: _Ints
    is_leader: _Bools
    weight: _Floats


def share_cpu(
    cores: Mapping[int, float],
    leaders: Sequence[int],
    replicas: Sequence[Sequence[int]],
    in_bytes_per_s: _Amounts,
    out_bytes_per_s: _Amounts,
) -> CpuShares:
    """
    Share out the cores of brokers.

    Parameters
    ----------
    cores
        What each broker takes of its processors, by id.
    leaders, replicas
        Broker ids by partition; a leader below 0: none.
    in_bytes_per_s, out_bytes_per_s
        By partition; `None` where unknown. Unknown bytes out count as none.
    """
    ids, held = _held(leaders, replicas, in_bytes_per_s, out_bytes_per_s)
    part, is_even = _parts(held, len(ids))
    of_broker = np.array([cores.get(broker, np.nan) for broker in ids.tolist()])
    amount = of_broker[held.broker] * part
    is_known = ~np.isnan(amount)
    leads, follows = is_known & held.is_leader, is_known & ~held.is_leader
    sums = np.bincount(held.row[follows], amount[follows])
    counts = np.bincount(held.row[follows])
    rows = np.flatnonzero(counts)
    means = sums[rows] / counts[rows]
    return CpuShares(
        leader=_by_row(held.row[leads], amount[leads]),
        follower=_by_row(rows, means),
        evenly=ids[is_even & ~np.isnan(of_broker)].tolist(),
        idle=sorted(cores.keys() - set(ids.tolist())),
    )


def _by_row(rows: npt.NDArray[Any], amounts: _Floats) -> dict[int, float]:
    return dict(zip(rows.tolist(), amounts.tolist(), strict=True))


def _held(
    leaders: Sequence[int],
    replicas: Sequence[Sequence[int]],
    in_bytes_per_s: _Amounts,
    out_bytes_per_s: _Amounts,
) -> tuple[_Ints, _Replicas]:
    """Return the ids of the brokers that hold replicas, and the replicas."""
    counts = np.array([len(ids) for ids in replicas], np.int64)
    row = np.repeat(np.arange(len(replicas)), counts)
    flat = np.array([broker for ids in replicas for broker in ids], np.int64)
    ids, broker = np.unique(flat, return_inverse=True)
    is_leader = flat == np.array(leaders, np.int64)[row]
    taken = np.array(in_bytes_per_s, np.float64)
    sent = np.nan_to_num(np.array(out_bytes_per_s, np.float64))
    leads = LEADER_IN * taken + LEADER_OUT * (sent + (counts - 1) * taken)
    weight = np.where(is_leader, leads[row], FOLLOWER_IN * taken[row])
    return ids, _Replicas(row, broker, is_leader, weight)


def _parts(held: _Replicas, num_brokers: int) -> tuple[_Floats, _Bools]:
    """Return the part of each replica of its broker, and where all have the same."""
    # What is unknown makes the total of its broker unknown, too.
    totals = np.bincount(held.broker, held.weight, num_brokers)
    is_even = ~(totals > 0)
    counts = np.bincount(held.broker, minlength=num_brokers)
    whole = np.where(is_even, counts, totals)
    weight = np.where(is_even[held.broker], 1.0, held.weight)
    return weight / whole[held.broker], is_even


def notes_of(file: str, shares: CpuShares, *, num_nameless: int) -> Iterator[str]:
    """Yield what the reader of a snapshot should know of its processors."""
    if shares.leader or shares.follower:
        yield (
            f"{file}: processors of brokers are shared out over replicas by bytes: an "
            "estimate"
        )
    if shares.evenly:
        yield (
            f"{file}: processors of brokers {named(shares.evenly)} are shared out "
            "evenly, as bytes in of their partitions are unknown or 0"
        )
    if shares.idle:
        yield (
            f"{file}: processors of brokers {named(shares.idle)}, which hold no "
            "replica: left out"
        )
    if num_nameless:
        yield (
            f"{file}: {num_nameless} series of processors name no broker: left out; "
            "--broker-label and --broker-regex would tell"
        )
