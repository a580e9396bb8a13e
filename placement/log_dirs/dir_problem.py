"""Data of the log dirs of all brokers, and the core's problem of each broker."""

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from placement.array_types import BoolArray, CodeArray, FloatArray, IndexArray, IntArray
from placement.core.model.problem import (
    NO_LIMIT,
    NOWHERE,
    Level,
    Limits,
    Movability,
    Problem,
)
from placement.draft.draft import Draft
from placement.model.cluster import ABSENT, UNKNOWN, ClusterState, LogDirState
from placement.model.disk_bytes import bytes_by_place, taken_bytes
from placement.model.load import RESOURCES, Resource, first_true, weigh
from placement.model.reassignment import Reassignment
from placement.model.targets import TOLERANCE, Members, Shares, Targets, find_targets

Column = TypeVar("Column", IntArray, FloatArray)
LOG_DIR = "log dir"
"""Name of the level of log dirs, also in shortfalls."""
DISK_RULE = "capacity-disk"
"""Rule that also limits the bytes in log dirs."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lying:
    """
    Replicas on their brokers, with their log dirs and allowed moves between these.

    Parameters
    ----------
    before
        The present cluster.
    state
        The same cluster with replicas on their final brokers.
    home
        ``(R,)`` log dir of each replica; `ABSENT` if it is unknown or still to be
        chosen.
    is_coming
        ``(R,)`` copies that need a log dir.
    size, cost
        ``(R,)`` bytes of each replica, and bytes copied if its log dir changes.
    movability
        ``(R,)`` `Movability` of each replica.
    """

    before: ClusterState
    state: ClusterState
    home: IndexArray
    is_coming: BoolArray
    size: IntArray
    cost: IntArray
    movability: CodeArray


def as_now(draft: Draft) -> Lying:
    """Return the present replicas; a copy between log dirs counts as completed."""
    replicas = draft.state.replicas
    future = replicas.future_log_dir_idx
    size = draft.weights.copy_bytes[replicas.partition_idx]
    if len(draft.weights.own):
        size = size + draft.weights.own
    return Lying(
        before=draft.state,
        state=draft.state,
        home=np.where(future != ABSENT, future, replicas.log_dir_idx),
        is_coming=np.zeros(len(replicas), dtype=np.bool_),
        size=size,
        cost=size,
        movability=draft.movability,
    )


def as_before(draft: Draft, reassignment: Reassignment) -> Lying:
    """Return the replicas before the decisions of an operation."""
    if draft.decided is None:
        return as_now(draft)
    before = reassignment.before
    count = len(before.replicas)
    none = np.full(count, Movability.NEVER, dtype=np.int8)
    return as_now(replace(draft, state=before, weights=weigh(before), movability=none))


def as_reassigned(draft: Draft, reassignment: Reassignment) -> Lying:
    """Return the replicas after a reassignment; copies have no log dir yet."""
    now, origin = as_before(draft, reassignment), reassignment.origin
    before = reassignment.before
    state = replace(before, replicas=reassignment.after().replicas)
    copied = reassignment.is_copied
    on = reassignment.broker_idx
    has_dirs = np.zeros(state.num_brokers, dtype=np.bool_)
    has_dirs[state.log_dirs.broker_idx] = True
    is_coming = copied & has_dirs[on]
    size = draft.weights.copy_bytes[reassignment.partition_idx]
    # A replica that may leave its broker may leave its log dir, if copies may enter.
    may = ~copied & draft.may_receive[on]
    may &= _may_move(draft, reassignment)
    home = np.where(copied, ABSENT, now.home[origin])
    online = np.append(np.equal(state.log_dirs.state, LogDirState.ONLINE), False)
    may &= online[home]
    # Lists with a broker that is not live do not change, nor do their log dirs.
    of, off = reassignment.partition_idx, ~state.brokers.is_live[on]
    may &= np.equal(first_true(off, reassignment.start), ABSENT)[of]
    may &= before.replicas.future_log_dir_idx[origin] == ABSENT
    return Lying(
        before=before,
        state=state,
        home=home,
        is_coming=is_coming,
        size=np.where(copied, size, now.size[origin]),
        cost=np.where(copied, 0, now.size[origin]),
        movability=np.where(may | is_coming, Movability.MAY, Movability.NEVER).astype(
            np.int8
        ),
    )


def _may_move(draft: Draft, reassignment: Reassignment) -> BoolArray:
    """Return ``(M,)`` true for places whose replica the operation allows to move."""
    may: BoolArray = np.equal(draft.movability, Movability.MAY)
    if draft.decided is None:
        return may[reassignment.origin]
    # Decided lists have the same places in another order: the operation frees all
    # replicas of a partition or none.
    is_freed = first_true(may, draft.state.replicas.start) != ABSENT
    freed: BoolArray = is_freed[reassignment.partition_idx]
    return freed


class Tables:
    """Data of all brokers, from which the problem of each broker is built."""

    def __init__(self, draft: Draft, lying: Lying) -> None:
        state, replicas = lying.state, lying.state.replicas
        self.draft, self.state = draft, state
        self.dirs = state.log_dirs
        emptied = draft.is_emptied_dir
        if emptied is None:
            emptied = np.zeros(len(self.dirs), dtype=np.bool_)
        self.is_emptied = emptied
        is_open = np.equal(self.dirs.state, LogDirState.ONLINE) & ~emptied
        if "log-dirs" in draft.settings.lifted:
            is_open = ~emptied
        self.is_member = is_open & state.brokers.is_live[self.dirs.broker_idx]
        self.home: IntArray = lying.home.astype(np.int64)
        self.is_coming = lying.is_coming
        self.size, self.cost = lying.size, lying.cost
        self.movability = lying.movability
        # Bytes besides the present replicas are fixed, whatever moves.
        located, _ = bytes_by_place(lying.before)
        self.fixed: IntArray = np.maximum(
            taken_bytes(lying.before.log_dirs) - located, 0
        )
        self.must = np.equal(self.movability, Movability.MUST) | self.is_coming
        on = replicas.broker_idx
        must = on[self.must]
        self.must_move = np.bincount(must, minlength=state.num_brokers) > 0
        rows = np.nonzero((self.home != ABSENT) | self.is_coming)[0]
        order = rows[np.argsort(on[rows], kind="stable")]
        ends = np.searchsorted(on[order], np.arange(state.num_brokers + 1))
        self.items = [
            np.sort(order[ends[b] : ends[b + 1]]) for b in range(state.num_brokers)
        ]
        self.shares = self._shares()
        self.load = self.loads(self.home)
        self.targets = self.targets_at(self.home)

    def rows_of(self, broker: int) -> IntArray:
        """Return the log dirs of one broker."""
        return np.nonzero(np.equal(self.dirs.broker_idx, broker))[0]

    def loads(self, place: IntArray) -> IntArray:
        """Return ``(D,)`` bytes on the log dirs with replicas at `place`."""
        load = self.fixed.copy()
        known = np.nonzero(place != ABSENT)[0]
        np.add.at(load, place[known], self.size[known])
        return load

    def heaviest(self, place: IntArray) -> IntArray:
        """Return ``(D,)`` size of the heaviest replica on each log dir."""
        found = np.zeros(len(self.dirs), dtype=np.int64)
        known = np.nonzero(place != ABSENT)[0]
        np.maximum.at(found, place[known], self.size[known])
        return found

    def _shares(self) -> Shares:
        dirs, count = self.dirs, self.state.num_brokers
        known = np.where(self.is_member, dirs.size_bytes != UNKNOWN, True)
        all_known = np.bincount(dirs.broker_idx, weights=~known, minlength=count) == 0
        sizes = np.maximum(dirs.size_bytes, 1).astype(np.float64)
        capacity = np.where(all_known[dirs.broker_idx], sizes, 1.0)
        member = self.is_member
        # The sum over a broker's log dirs is the same for every distribution.
        held = self.loads(self._gathered())
        most = np.bincount(
            dirs.broker_idx, weights=np.where(member, held, 0), minlength=count
        )
        return Shares(
            members=Members(holds=member, leads=member),
            capacity=disk_alone(np.where(member, capacity, 0.0)),
            rack_idx=dirs.broker_idx,
            rack_most=disk_alone(most.astype(np.float64)),
            bands=np.full(len(RESOURCES), self.draft.settings.band(Resource.DISK)),
        )

    def _gathered(self) -> IntArray:
        """Return the homes, with replicas that must move on the first open log dir."""
        count = self.state.num_brokers
        first = np.full(count, ABSENT, dtype=np.int64)
        members = np.nonzero(self.is_member)[0][::-1]
        first[self.dirs.broker_idx[members]] = members
        to = first[self.state.replicas.broker_idx]
        return np.where(self.must & (to != ABSENT), to, self.home)

    def targets_at(self, place: IntArray) -> Targets:
        """Return targets and bands for replicas at `place`."""
        load = disk_alone(self.loads(place))
        gathered = disk_alone(self.loads(self._gathered()))
        incoming = (gathered - load)[self.is_member].sum(axis=0)
        heaviest = disk_alone(self.heaviest(place))
        return find_targets(self.shares, load, heaviest, incoming)

    def worst_first(self) -> list[int]:
        """Return brokers with moves to make: necessary ones first, then by distance."""
        outside = self.targets.outside(disk_alone(self.load))[:, 0]
        worst = np.zeros(self.state.num_brokers)
        np.maximum.at(worst, self.dirs.broker_idx, outside)
        over = self.dirs.broker_idx[self._is_over()]
        asks = self.must_move | (worst > 0)
        asks[over] = True
        order = np.lexsort((-worst, ~self.must_move))
        return [int(b) for b in order if asks[b]]

    def _is_over(self) -> BoolArray:
        return (self.load > self.ruled_capacity()) & self.is_member

    def capacity(self) -> IntArray:
        """Return ``(D,)`` maximum bytes of each log dir, with relaxed rules applied."""
        most, eased = self.ruled_capacity(), self.draft.settings.eased
        if self.draft.settings.is_measured(DISK_RULE):
            return np.full(len(most), NO_LIMIT, dtype=np.int64)
        if eased is not None and eased.dir_capacity is not None:
            return np.maximum(most, eased.dir_capacity)
        return most

    def ruled_capacity(self) -> IntArray:
        """Return ``(D,)`` bytes that a log dir may hold by the threshold."""
        limit = self.draft.settings.capacity_thresholds.get(Resource.DISK)
        size = self.dirs.size_bytes
        if limit is None:
            return np.full(len(size), NO_LIMIT, dtype=np.int64)
        most = np.floor(size * limit * (1 + TOLERANCE)).astype(np.int64)
        return np.where((size == UNKNOWN) | ~self.is_member, NO_LIMIT, most)

    def problem(
        self,
        items: IntArray,
        rows: IntArray,
        targets: Targets,
        caps: dict[str, Any],
    ) -> Problem:
        """
        Return the core's problem of some brokers: replicas on log dirs.

        Parameters
        ----------
        items, rows
            Replicas and log dirs of the brokers.
        targets
            Targets and bands of all log dirs.
        caps
            Caps on moves and on their cost, as fields of the problem.
        """
        count, width = len(items), len(rows)
        brokers, owner = np.unique(self.dirs.broker_idx[rows], return_inverse=True)
        on = np.searchsorted(brokers, self.state.replicas.broker_idx[items])
        place_of = np.full(len(self.dirs), NOWHERE, dtype=np.int32)
        place_of[rows] = np.arange(width)
        size = self.size[items][:, None]
        settings = self.draft.settings
        return Problem(
            resources=(str(Resource.DISK),),
            group_start=np.arange(count + 1, dtype=np.int64),
            group_class=on.astype(np.int32),
            weight=size,
            role_weight=np.zeros((count, 1), dtype=np.int64),
            cost=self.cost[items],
            home=np.where(
                self.home[items] == ABSENT, NOWHERE, place_of[self.home[items]]
            ).astype(np.int32),
            extra=np.zeros((0, 1), dtype=np.int64),
            movability=self.movability[items],
            role_home=np.full(count, NOWHERE, dtype=np.int64),
            is_role_movable=np.zeros(count, dtype=np.bool_),
            may_receive=self.is_member[rows],
            may_hold_role=np.zeros(width, dtype=np.bool_),
            must_release_role=np.zeros(width, dtype=np.bool_),
            bin_class=owner.reshape(-1).astype(np.int32),
            is_eligible=np.eye(len(brokers), dtype=np.bool_),
            levels=(self._level(rows, count, targets),),
            is_transient=np.array([settings.is_disk_transient]),
            price_per_move=self._price(),
            **caps,
        )

    def _price(self) -> int:
        settings = self.draft.settings
        if settings.price_per_move_bytes or not settings.prefers_moves:
            return settings.price_per_move_bytes
        return int(self.size.sum()) // max(len(self.size), 1)

    def _level(self, rows: IntArray, num_items: int, targets: Targets) -> Level:
        eased = self.draft.settings.eased
        has_band = self.is_member[rows] & (targets.target[rows, 0] > 0)
        # There are no bands while the relaxation of soft rules is measured.
        has_band &= eased is None or not eased.is_measured
        target = np.where(has_band, targets.target[rows, 0], 0.0)
        slack = TOLERANCE * np.maximum(target, 1.0)
        lower = np.maximum(np.ceil(targets.lower[rows, 0] - slack), 0)
        upper = np.floor(targets.upper[rows, 0] + slack)
        columns: dict[str, IntArray] = {
            "fixed": self.fixed[rows],
            "capacity": self.capacity()[rows],
            "lower": np.where(has_band, lower, 0).astype(np.int64),
            "upper": np.where(has_band, upper, NO_LIMIT).astype(np.int64),
        }
        if self.draft.settings.is_measured(DISK_RULE):
            most = self.ruled_capacity()[rows]
            target = np.where(most < NO_LIMIT, np.maximum(most, 1.0), 0.0)
            columns |= {"lower": np.zeros_like(most), "upper": most}
        limits = Limits(
            **{name: column[:, None] for name, column in columns.items()},
            target=target[:, None],
        )
        return Level(
            name=LOG_DIR,
            node_of_bin=np.arange(len(rows), dtype=np.int32),
            num_nodes=len(rows),
            # Any group of one item keeps this cap; exact models need one.
            group_cap=np.ones(num_items, dtype=np.int32),
            limits=limits,
        )


def disk_alone(column: Column) -> Column:
    """Return ``(n, R)`` loads that are zero in all resources but disk."""
    table = np.zeros((len(column), len(RESOURCES)), dtype=column.dtype)
    table[:, RESOURCES.index(Resource.DISK)] = column
    return table
