"""
CPU cores of brokers distributed over the replicas that they hold.

The CPU cost of a single replica is not measured. As in Cruise Control, a broker's cores
are distributed by the bytes of its replicas: 0.7 for each byte that producers write to
a leader, 0.15 for each that a leader sends, and 0.15 for each that a follower fetches
(the defaults of its `MonitorConfig`). If bytes of a broker are unknown, or all zero,
its replicas get equal shares.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, FloatArray, IntArray
from planner.snapshot.importers.merging.visibility import named

LEADER_IN, LEADER_OUT, FOLLOWER_IN = 0.7, 0.15, 0.15
_Amounts = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class CpuShares:
    """
    CPU cores of partitions.

    Parameters
    ----------
    leader, follower
        Cores of the leader, and of each follower, by the row of the partition; for
        followers the mean, since a snapshot has one value for all.
    equal
        Brokers whose cores were distributed evenly.
    idle
        Brokers without replicas, whose cores belong to no partition.
    """

    leader: Mapping[int, float]
    follower: Mapping[int, float]
    equal: Sequence[int]
    idle: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Replicas:
    """``(R,)`` partition row of each replica, rank of its broker, role and bytes."""

    row: IntArray
    broker: IntArray
    is_leader: BoolArray
    weight: FloatArray


def share_cpu(
    cores: Mapping[int, float],
    leaders: Sequence[int],
    replicas: Sequence[Sequence[int]],
    in_bytes_per_s: _Amounts,
    out_bytes_per_s: _Amounts,
) -> CpuShares:
    """
    Distribute the cores of brokers over partitions.

    Parameters
    ----------
    cores
        Cores used by each broker, by id.
    leaders, replicas
        Broker ids by partition; a leader below 0: none.
    in_bytes_per_s, out_bytes_per_s
        Rates by partition; `None` if unknown. Unknown outbound rates count as 0.
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
        equal=ids[is_even & ~np.isnan(of_broker)].tolist(),
        idle=sorted(cores.keys() - set(ids.tolist())),
    )


def _by_row(rows: npt.NDArray[Any], amounts: FloatArray) -> dict[int, float]:
    return dict(zip(rows.tolist(), amounts.tolist(), strict=True))


def _held(
    leaders: Sequence[int],
    replicas: Sequence[Sequence[int]],
    in_bytes_per_s: _Amounts,
    out_bytes_per_s: _Amounts,
) -> tuple[IntArray, _Replicas]:
    """Return the ids of the brokers that hold replicas, and the replicas."""
    counts = np.array([len(ids) for ids in replicas], np.int64)
    row = np.repeat(np.arange(len(replicas)), counts)
    flat = np.array([broker for ids in replicas for broker in ids], np.int64)
    ids, broker = np.unique(flat, return_inverse=True)
    is_leader = flat == np.array(leaders, np.int64)[row]
    received = np.array(in_bytes_per_s, np.float64)
    sent = np.nan_to_num(np.array(out_bytes_per_s, np.float64))
    leads = LEADER_IN * received + LEADER_OUT * (sent + (counts - 1) * received)
    weight = np.where(is_leader, leads[row], FOLLOWER_IN * received[row])
    return ids, _Replicas(row, broker, is_leader, weight)


def _parts(held: _Replicas, num_brokers: int) -> tuple[FloatArray, BoolArray]:
    """Return each replica's share of its broker, and true for even shares."""
    # An unknown weight makes the total of its broker unknown.
    totals = np.bincount(held.broker, held.weight, num_brokers)
    is_even = ~(totals > 0)
    counts = np.bincount(held.broker, minlength=num_brokers)
    total = np.where(is_even, counts, totals)
    weight = np.where(is_even[held.broker], 1.0, held.weight)
    return weight / total[held.broker], is_even


def notes_of(file: str, shares: CpuShares, *, num_without_broker: int) -> Iterator[str]:
    """Yield notes on CPU cores for readers of a snapshot."""
    if shares.leader or shares.follower:
        yield (
            f"{file}: CPU cores of brokers are distributed over replicas by bytes: an "
            "estimate"
        )
    if shares.equal:
        yield (
            f"{file}: CPU cores of brokers {named(shares.equal)} are distributed "
            "evenly, as bytes in of their partitions are unknown or 0"
        )
    if shares.idle:
        yield (
            f"{file}: CPU cores of brokers {named(shares.idle)}, which hold no "
            "replica: left out"
        )
    if num_without_broker:
        yield (
            f"{file}: {num_without_broker} series of CPU name no broker: left out; "
            "set --broker-label and --broker-regex"
        )
