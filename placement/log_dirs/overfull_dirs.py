"""
Log dirs that a broker's own choice would overfill.

A broker chooses the log dirs of copies that name none
(`placement.log_dirs.kafka_dir_choice`). A log dir is overfull if some order of creation
brings it over the disk threshold.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.draft.draft import Draft, Note
from placement.log_dirs.dir_problem import Lying, as_before, as_reassigned
from placement.log_dirs.kafka_dir_choice import (
    DirChoice,
    DirCounts,
    candidates,
    choose_dirs,
)
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState
from placement.model.disk_bytes import bytes_by_place, taken_bytes
from placement.model.load import Resource
from placement.model.reassignment import Reassignment
from placement.model.targets import TOLERANCE

MOST_NAMED = 20
"""Maximum number of log dirs with a note of their own."""
GB = 1e9


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OverfullDirs:
    """
    Log dirs that may be overfilled, by row.

    Parameters
    ----------
    state
        The cluster.
    log_dir_idx
        ``(N,)`` rows of the log dirs.
    copies
        ``(N,)`` maximum number of copies that the broker may put into each.
    bytes_after, limit_bytes
        ``(N,)`` maximum bytes in each, and bytes that the threshold allows.
    can_be_named
        ``(N,)`` true if all log dirs of the broker have a known size, so that a plan
        can choose among them.
    """

    state: ClusterState
    log_dir_idx: IntArray
    copies: IntArray
    bytes_after: IntArray
    limit_bytes: IntArray
    can_be_named: BoolArray

    def __len__(self) -> int:
        return len(self.log_dir_idx)

    def notes(self, what: str, ending: str) -> Iterator[Note]:
        """
        Yield a note for each log dir, the fullest first, and a count of the rest.

        Parameters
        ----------
        what
            Kind of the notes.
        ending
            End of each message: the remedy in the plan.
        """
        over = self.bytes_after - self.limit_bytes
        order = np.lexsort((self.log_dir_idx, -over)).tolist()
        for row in order[:MOST_NAMED]:
            yield self._note(what, row, ending)
        rest = len(order) - MOST_NAMED
        if rest > 0:
            yield Note(
                what=what,
                message=f"{rest:,} more log dirs may get over their limit by the "
                f"choice of their brokers; {ending}",
                have=float(rest),
            )

    def _note(self, what: str, row: int, ending: str) -> Note:
        dirs, log_dir = self.state.log_dirs, int(self.log_dir_idx[row])
        broker = int(self.state.brokers.ids[dirs.broker_idx[log_dir]])
        path, copies = dirs.paths[log_dir], int(self.copies[row])
        after, limit = int(self.bytes_after[row]), int(self.limit_bytes[row])
        plural = "copy" if copies == 1 else "copies"
        return Note(
            what=what,
            message=f"broker {broker} chooses the log dir with the fewest partitions: "
            f"it may put {copies:,} {plural} into {path}, which would then hold "
            f"{after / GB:,.4g} GB and may hold {limit / GB:,.4g} GB; {ending}",
            where={"broker": broker, "log_dir": path, "resource": "disk"},
            have=float(limit),
            need=float(after),
        )


def overfull_dirs(draft: Draft, reassignment: Reassignment) -> OverfullDirs:
    """
    Return the log dirs that a reassignment without named log dirs may overfill.

    Log dirs that get no fuller than before are left out, as are those of unknown load
    or size.

    Parameters
    ----------
    draft
        Draft with weights and thresholds.
    reassignment
        Lists of replicas, without log dirs.
    """
    state = reassignment.before
    threshold = draft.settings.capacity_thresholds.get(Resource.DISK)
    chooses = _choosing_brokers(state)
    comes = reassignment.is_copied & chooses[reassignment.broker_idx]
    if threshold is None or not comes.any():
        return _selected(state, np.zeros(len(state.log_dirs), dtype=np.bool_))
    before, after = as_before(draft, reassignment), as_reassigned(draft, reassignment)
    choice = choose_dirs(
        state,
        dir_counts(state, after.home),
        reassignment.broker_idx[comes].astype(np.int64),
        after.size[comes],
    )
    was, stays = _loads(before, before), _loads(before, after)
    kept = np.maximum(was, stays) if draft.settings.is_disk_transient else stays
    most = kept + choice.most_bytes
    size = state.log_dirs.size_bytes
    limit = np.floor(size * threshold).astype(np.int64)
    is_over = np.not_equal(size, UNKNOWN) & _has_known_load(state)
    is_over &= (most > limit * (1 + TOLERANCE)) & (most > was)
    is_over &= choice.most_bytes > 0
    return _selected(state, is_over, choice, most, limit)


def dir_counts(state: ClusterState, home: IntArray | IndexArray) -> DirCounts:
    """
    Return the number of partitions in each log dir while a reassignment runs.

    Parameters
    ----------
    state
        The cluster before.
    home
        Row of the log dir of each replica that stays, `ABSENT` for copies.
    """
    replicas, count = state.replicas, len(state.log_dirs)
    low, high = (np.zeros(count, dtype=np.int64) for _ in range(2))
    stays = np.not_equal(home, ABSENT)
    np.add.at(low, home[stays], 1)
    for rows in (replicas.log_dir_idx, replicas.future_log_dir_idx):
        np.add.at(high, rows[np.not_equal(rows, ABSENT)], 1)
    # A replica in an unknown log dir may be in any log dir of its broker.
    lost = np.equal(replicas.log_dir_idx, ABSENT) & ~replicas.is_failed
    on = np.bincount(replicas.broker_idx[lost], minlength=state.num_brokers)
    high += on[state.log_dirs.broker_idx]
    return DirCounts(low=low, high=high, is_candidate=candidates(state))


def _choosing_brokers(state: ClusterState) -> BoolArray:
    """Return ``(B,)`` true for brokers with several log dirs."""
    owners = state.log_dirs.broker_idx
    several: BoolArray = np.bincount(owners, minlength=state.num_brokers) > 1
    return several


def _loads(before: Lying, lying: Lying) -> IntArray:
    """Return ``(D,)`` bytes in each log dir, without copies that have no log dir."""
    dirs = before.before.log_dirs
    located, _ = bytes_by_place(before.before)
    load = np.maximum(taken_bytes(dirs) - located, 0)
    rows = np.nonzero(np.not_equal(lying.home, ABSENT))[0]
    np.add.at(load, lying.home[rows], lying.size[rows])
    found: IntArray = load
    return found


def _has_known_load(state: ClusterState) -> BoolArray:
    """
    Return ``(D,)`` true for log dirs with a known number of bytes.

    The number is known from the free bytes, or if the log dirs of all replicas of the
    broker are known.
    """
    replicas = state.replicas
    lost = np.equal(replicas.log_dir_idx, ABSENT) & ~replicas.is_failed
    has_lost: BoolArray = np.zeros(state.num_brokers, dtype=np.bool_)
    has_lost[replicas.broker_idx[lost]] = True
    usable = np.not_equal(state.log_dirs.usable_bytes, UNKNOWN)
    found: BoolArray = usable | ~has_lost[state.log_dirs.broker_idx]
    return found


def _selected(
    state: ClusterState,
    chosen: BoolArray,
    choice: DirChoice | None = None,
    most: IntArray | None = None,
    limit: IntArray | None = None,
) -> OverfullDirs:
    rows = np.nonzero(chosen)[0]
    none = np.zeros(len(rows), dtype=np.int64)
    dirs = state.log_dirs
    unsized = np.zeros(state.num_brokers, dtype=np.bool_)
    unsized[dirs.broker_idx[candidates(state) & np.equal(dirs.size_bytes, UNKNOWN)]] = (
        True
    )
    return OverfullDirs(
        state=state,
        log_dir_idx=rows,
        copies=none if choice is None else choice.most[rows],
        bytes_after=none if most is None else most[rows],
        limit_bytes=none if limit is None else limit[rows],
        can_be_named=~unsized[dirs.broker_idx[rows]],
    )
