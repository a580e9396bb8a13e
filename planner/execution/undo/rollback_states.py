"""
State of each partition of a plan, seen from its rollback.

::

    back             the list before, in its order and its log dirs
    other-order      the replicas of before in another order, as after a cancel
    moved            a list of the plan, or the list before in other log dirs
    moving           being reassigned, or moved between log dirs: cancel it first
    drifted          none of these, or of a topic that was created again
    broker-not-live  the list before names a broker that is not live
    no-source        no live replica in sync to copy from
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from placement.model.cluster import ClusterState, LogDirState
from planner.errors import raise_problems
from planner.io.problems import problem
from planner.kafka_files.reassignment_file import LogDirs, ReassignmentFile
from planner.plan.input.plan_input import ROLLBACK_NAME, PlanInput
from planner.verify.state_rows import Brokers, ClusterRows, Entry, Key, entries_of


class RollbackState(StrEnum):
    """State of one partition."""

    BACK = "back"
    OTHER_ORDER = "other-order"
    MOVED = "moved"
    MOVING = "moving"
    DRIFTED = "drifted"
    BROKER_NOT_LIVE = "broker-not-live"
    NO_SOURCE = "no-source"

    @property
    def is_planned(self) -> bool:
        """Whether the rollback changes the partition."""
        return self in {RollbackState.MOVED, RollbackState.OTHER_ORDER}


LogDirName = tuple[int, str]
"""Broker id and path of a log dir."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPartition:
    """
    One partition of a plan.

    Parameters
    ----------
    target
        List before the plan, with the log dirs that its replicas can get.
    row
        Row of the partition in the cluster now; `None` if it is not there.
    state
        State of the partition.
    dead
        Brokers of the list before that are not live.
    lost_dirs
        Log dirs of before that their replicas do not get, since they are gone, not
        online, or unknown.
    is_led_by_other
        Whether another replica than the first of the list before leads.
    """

    target: Entry
    row: int | None
    state: RollbackState
    dead: Brokers = ()
    lost_dirs: tuple[LogDirName, ...] = ()
    is_led_by_other: bool = False

    @property
    def key(self) -> Key:
        """Topic and number."""
        return self.target.key


class StateReader:
    """
    Reader of the state of each partition.

    Parameters
    ----------
    state
        The cluster now.
    recreated
        Partitions of topics that were deleted and created again.
    files
        Lists of the plan, of its waves, and of those of earlier rollbacks.
    """

    def __init__(
        self,
        state: ClusterState,
        recreated: Iterable[Key],
        files: Iterable[ReassignmentFile],
    ) -> None:
        self.rows = ClusterRows(state)
        self._has_source: list[bool] = state.has_source.tolist()
        self._recreated = set(recreated)
        self._open_dirs = _open_dirs(state)
        # Kafka may leave the replicas of any of these lists in another order.
        self._ours: set[tuple[Key, frozenset[int]]] = {
            (one.key, frozenset(one.replicas))
            for file in files
            for one in entries_of(file)
        }

    def partition(self, before: Entry) -> RollbackPartition:
        """Return one partition, given its list before the plan."""
        row = self.rows.row_of.get(before.key)
        if row is None or before.key in self._recreated:
            state = RollbackState.DRIFTED
            return RollbackPartition(target=before, row=row, state=state)
        target, lost = self._reachable(before, row)
        dead = tuple(b for b in before.replicas if not self.rows.is_live(b))
        return RollbackPartition(
            target=target,
            row=row,
            state=self._state(target, row, is_reachable=not dead),
            dead=dead,
            lost_dirs=lost,
            is_led_by_other=self.rows.leaders[row] in before.replicas[1:],
        )

    def _state(self, target: Entry, row: int, *, is_reachable: bool) -> RollbackState:
        now = self.rows.replicas(row)
        if self._is_moving(row, len(now)):
            return RollbackState.MOVING
        is_same = sorted(now) == sorted(target.replicas)
        stays = is_same and not self._moves_inside(target, row)
        if stays and now == target.replicas:
            return RollbackState.BACK
        if not is_same and (target.key, frozenset(now)) not in self._ours:
            return RollbackState.DRIFTED
        if stays and is_reachable:
            return RollbackState.OTHER_ORDER
        return self._moved(target, row, is_reachable=is_reachable)

    def _moved(self, target: Entry, row: int, *, is_reachable: bool) -> RollbackState:
        """Return the state of a partition that has to be copied."""
        if not is_reachable:
            return RollbackState.BROKER_NOT_LIVE
        is_copied = bool(set(target.replicas) - set(self.rows.replicas(row)))
        if is_copied and not self._has_source[row]:
            return RollbackState.NO_SOURCE
        return RollbackState.MOVED

    def _is_moving(self, row: int, count: int) -> bool:
        """Return whether a reassignment, or a move between log dirs, is under way."""
        if self.rows.is_reassigning[row]:
            return True
        return any(self.rows.future_log_dir(row, s) is not None for s in range(count))

    def _moves_inside(self, target: Entry, row: int) -> bool:
        """Return whether a replica that stays has to move to another log dir."""
        here = self._dirs_now(row)
        named = zip(target.replicas, target.log_dirs or (), strict=False)
        return any(path is not None and here.get(b) != path for b, path in named)

    def _dirs_now(self, row: int) -> dict[int, str | None]:
        """Return the log dir of the replica on each broker, `None` if unknown."""
        brokers = self.rows.replicas(row)
        return {b: self.rows.log_dir(row, slot) for slot, b in enumerate(brokers)}

    def _reachable(
        self, before: Entry, row: int
    ) -> tuple[Entry, tuple[LogDirName, ...]]:
        """Return a list with the log dirs that replicas can get, and the other ones."""
        if before.log_dirs is None:
            return before, ()
        here = self._dirs_now(row)
        named = list(zip(before.replicas, before.log_dirs, strict=True))
        lost = tuple(
            (broker, path)
            for broker, path in named
            if path is not None
            and here.get(broker) != path
            and (
                (broker, path) not in self._open_dirs
                # A replica in an unknown log dir may be in this one.
                or here.get(broker, path) is None
            )
        )
        gone = set(lost)
        paths: LogDirs = tuple(None if one in gone else one[1] for one in named)
        return before._replace(log_dirs=paths), lost


def _open_dirs(state: ClusterState) -> set[LogDirName]:
    """Return the log dirs that take new replicas."""
    dirs = state.log_dirs
    rows = np.nonzero(np.equal(dirs.state, LogDirState.ONLINE))[0].tolist()
    owners = state.brokers.ids[dirs.broker_idx].tolist()
    return {(owners[row], dirs.paths[row]) for row in rows}


def lists_before(plan: PlanInput) -> list[Entry]:
    """
    Return the list before of each partition of a plan.

    Raises
    ------
    BadInputError
        If the plan has no record of some of them.
    """
    before = {one.key: one for one in entries_of(plan.before)}
    keys = [one.key for one in entries_of(plan.reassignment)]
    problems = [
        problem(
            str(plan.path / ROLLBACK_NAME),
            f"{topic}-{number}",
            None,
            "must have the list of the partition before the plan",
            "name the folder of the plan, with the rollback.json that was written",
        )
        for topic, number in keys
        if (topic, number) not in before
    ]
    raise_problems("the plan has no record of the lists before it", problems)
    return [before[key] for key in keys]
