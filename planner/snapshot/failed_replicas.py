"""
Replicas in failed log dirs, which Kafka does not list.

A broker describes no replicas of a failed log dir. A replica of a live broker that none
of its online log dirs lists, and that is out of the ISR, is therefore in a failed one.
The metadata lists it under `offline_replicas`, which snapshots may keep.
"""

from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray
from placement.model.cluster import (
    ABSENT,
    Brokers,
    LogDirs,
    LogDirState,
    Replicas,
    sum_rows,
)


def locate_failed(
    replicas: Replicas,
    brokers: Brokers,
    log_dirs: LogDirs,
    *,
    is_listed: BoolArray,
    is_leaderless: BoolArray,
) -> Replicas:
    """
    Find the replicas of live brokers that are in failed log dirs.

    Parameters
    ----------
    replicas, brokers, log_dirs
        The columns of the snapshot.
    is_listed
        ``(R,)`` true for replicas that the metadata lists as offline.
    is_leaderless
        ``(P,)`` true for partitions without a leader. Kafka keeps the last member of
        their ISR, even if its log dir failed.

    Returns
    -------
    The replicas, located if their broker has a single failed log dir, and with
    `is_failed` for replicas whose failed log dir is unknown.
    """
    owner = replicas.broker_idx
    is_lost = np.equal(log_dirs.state, LogDirState.OFFLINE)
    num_lost = np.bincount(log_dirs.broker_idx[is_lost], minlength=len(brokers))
    if not is_listed.any() and not num_lost.any():
        return replicas
    may_be_failed = _may_be_failed(replicas, is_leaderless) & (num_lost[owner] > 0)
    is_offline = brokers.is_live[owner] & (is_listed | may_be_failed)
    is_unknown = np.equal(replicas.log_dir_idx, ABSENT)
    is_located = is_offline & is_unknown & (num_lost[owner] == 1)
    dir_of = np.full(len(brokers), ABSENT, dtype=np.int32)
    dir_of[log_dirs.broker_idx[is_lost]] = np.flatnonzero(is_lost)
    log_dir_idx = np.where(is_located, dir_of[owner], replicas.log_dir_idx)
    in_lost = np.append(is_lost, False)[log_dir_idx]
    return replace(
        replicas,
        log_dir_idx=log_dir_idx.astype(np.int32),
        is_failed=is_offline & ~in_lost,
    )


def _may_be_failed(replicas: Replicas, is_leaderless: BoolArray) -> BoolArray:
    """
    Return ``(R,)`` true for replicas that no log dir lists and that are not in sync.

    Without a leader, the ISR is a remainder that Kafka keeps, and is ignored. With a
    leader, a partition without any known log dir was not described. Replicas being
    added may not exist yet.
    """
    is_unknown = np.equal(replicas.log_dir_idx, ABSENT)
    is_described = sum_rows(~is_unknown, replicas.start) > 0
    of = replicas.partition_idx
    is_not_serving = is_leaderless[of] | (is_described[of] & ~replicas.is_in_sync)
    failed: BoolArray = is_unknown & is_not_serving & ~replicas.is_adding
    return failed
