"""
Room in log dirs for copies without a named log dir, while waves run.

A broker puts such a copy into the log dir with the fewest partitions
(`placement.log_dirs.kafka_dir_choice`). Each log dir that the broker may choose keeps
room for the largest copies that may come, for any order of creation and any tie-break.
"""

from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, RowArray
from placement.log_dirs.kafka_dir_choice import (
    DirCounts,
    candidates,
    choose_dirs,
    most_arrivals,
)
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, LogDirState
from placement.model.columns import count_rows
from placement.model.copies import Copies
from placement.model.reassignment import Reassignment
from placement.waves.disk_space import NO_LIMIT, peaks
from placement.waves.wave_packing import Claims


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DirClaims:
    """
    Room that log dirs need for copies without a named log dir.

    Parameters
    ----------
    counts
        Bounds on the partitions in each log dir while waves run.
    chooses
        ``(B,)`` true for brokers with a log dir that lacks room for all such copies.
    most
        ``(D,)`` upper bound on such copies in each log dir over all waves.
    room
        ``(D,)`` bytes that each log dir may gain: its free bytes, or the most that the
        plan adds if that is more; `NO_LIMIT` where unknown.
    """

    counts: DirCounts
    chooses: BoolArray
    most: RowArray
    room: RowArray

    def to_keep(self, state: ClusterState) -> Claims:
        """Return the log dirs that keep room, with no room claimed yet."""
        owners, count = state.log_dirs.broker_idx, len(self.most)
        rows = np.nonzero(self.chooses[owners] & (self.most > 0))[0]
        ends = np.searchsorted(owners[rows], np.arange(state.num_brokers + 1))
        return Claims(
            start=ends.astype(np.int64),
            log_dir_idx=rows.astype(np.int64),
            most=self.most.copy(),
            claimed=np.zeros(count, dtype=np.int64),
            least=np.zeros(count, dtype=np.int64),
        )


def claims_of(reassignment: Reassignment, copies: Copies) -> DirClaims:
    """
    Return the room that log dirs need for copies without a named log dir.

    Parameters
    ----------
    reassignment
        Change of the placement.
    copies
        Copies of the reassignment, without temporary hops.
    """
    state = reassignment.before
    dirs, count = state.log_dirs, len(state.log_dirs)
    named = np.not_equal(copies.target_dir, ABSENT)
    leaves = np.not_equal(copies.drops_dir, ABSENT)
    gone = count_rows(copies.drops_dir[leaves], count)
    now = count_rows(state.replicas.log_dir_idx, count)
    more = count_rows(state.replicas.future_log_dir_idx, count)
    lost = np.equal(state.replicas.log_dir_idx, ABSENT) & ~state.replicas.is_failed
    unknown = count_rows(state.replicas.broker_idx[lost], state.num_brokers)
    come = count_rows(copies.target_dir[named], count)
    counts = DirCounts(
        low=np.maximum(now - gone, 0),
        high=now + more + come + unknown[dirs.broker_idx],
        is_candidate=candidates(state),
    )
    rows = np.nonzero(is_unnamed(state, copies))[0]
    target, size = copies.target_idx[rows], copies.size_bytes[rows]
    choice = choose_dirs(state, counts, target, size)
    ends = _sums(copies.target_dir, copies.size_bytes, count)
    ends -= _sums(copies.drops_dir, copies.freed_bytes, count)
    is_known = np.not_equal(dirs.usable_bytes, UNKNOWN)
    is_known &= np.not_equal(dirs.state, LogDirState.OFFLINE)
    most = np.maximum(dirs.usable_bytes, ends + choice.most_bytes)
    room = np.where(is_known, most, NO_LIMIT)
    # If all copies, named or not, fit at once, no order can overfill the log dir.
    whole = _sums(target, size, state.num_brokers)[dirs.broker_idx]
    whole += _sums(copies.target_dir, copies.size_bytes, count)
    tight = is_known & (whole > dirs.usable_bytes) & (choice.most > 0)
    chooses: BoolArray = np.zeros(state.num_brokers, dtype=np.bool_)
    chooses[dirs.broker_idx[tight]] = True
    return DirClaims(counts=counts, chooses=chooses, most=choice.most, room=room)


def is_unnamed(state: ClusterState, copies: Copies) -> BoolArray:
    """Return ``(E,)`` true for unnamed copies to brokers with several log dirs."""
    owners = state.log_dirs.broker_idx
    several = np.append(np.bincount(owners, minlength=state.num_brokers) > 1, False)
    found: BoolArray = copies.passes & np.equal(copies.target_dir, ABSENT)
    found &= several[copies.target_idx]
    return found


def may_overfill(
    state: ClusterState,
    copies: Copies,
    wave: RowArray,
    goes_off: tuple[RowArray, RowArray],
    claims: DirClaims,
) -> bool:
    """
    Return whether the choice of a broker may overfill a log dir in some wave.

    Parameters
    ----------
    state
        Cluster before the waves.
    copies, wave
        Copies, and ``(E,)`` wave of each.
    goes_off
        ``(E,)`` log dir, or `ABSENT`, and bytes that each copy frees after its wave.
    claims
        Room of the log dirs, and the copies that may come.
    """
    if not claims.chooses.any():
        return False
    count = len(state.log_dirs)
    full = peaks(wave, (copies.target_dir, copies.size_bytes), goes_off, count)
    owners, unnamed = state.log_dirs.broker_idx, is_unnamed(state, copies)
    for broker in np.nonzero(claims.chooses)[0].tolist():
        dirs = np.nonzero(np.equal(owners, broker) & claims.counts.is_candidate)[0]
        rows = np.nonzero(unnamed & np.equal(copies.target_idx, broker))[0]
        low, high = claims.counts.low[dirs], claims.counts.high[dirs]
        for number in np.unique(wave[rows]).tolist():
            size = np.sort(copies.size_bytes[rows[wave[rows] <= number]])[::-1]
            total = np.concatenate([[0], np.cumsum(size)])
            held = total[most_arrivals(low, high, len(size))]
            later = full[number:, dirs].max(axis=0)
            if (later + held > claims.room[dirs]).any():
                return True
    return False


def _sums(rows: RowArray, values: RowArray, count: int) -> RowArray:
    found = np.zeros(count, dtype=np.int64)
    known = np.not_equal(rows, ABSENT)
    np.add.at(found, rows[known], values[known])
    return found
