"""A cluster on virtual time: changes of partitions, and the copies that follow."""

from collections.abc import Callable
from functools import partial
from heapq import heappop, heappush
from itertools import count
from math import inf

from planner.execution.cluster.running_cluster import Health, Reassigned
from planner.execution.simulation.partition_table import (
    PartitionTable,
    SimulatedTopic,
)
from planner.execution.simulation.replica_copies import ReplicaCopies
from planner.execution.simulation.simulated_brokers import brokers_of
from planner.execution.simulation.simulated_partition import (
    Rules,
    SimulatedPartition,
)
from planner.snapshot import Snapshot
from planner.verify.state_rows import Brokers, Key

_MIN_ISR, _UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"
_ELR = "eligible.leader.replicas.version"


class ClusterModel:
    """
    State of a simulated cluster.

    Parameters
    ----------
    snapshot
        The cluster at first.
    rate_bytes_per_s
        Rate at which a broker sends, at which it receives, and at which it moves
        replicas between its log dirs, unless a throttle is lower.

    Attributes
    ----------
    now_s
        Seconds since the start.
    brokers, table, copies
        Brokers by id, partitions, and their replicas.
    moving
        Reassignments under way.
    health
        Number of partitions in trouble.
    """

    def __init__(self, snapshot: Snapshot, rate_bytes_per_s: float) -> None:
        self.now_s = 0.0
        self.moving: dict[Key, Reassigned] = {}
        self._trouble: dict[Key, Health] = {}
        self._actions: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        state = snapshot.to_state()
        configs = snapshot.brokers.column("configs").to_pylist()
        self.brokers = brokers_of(state, [dict(one or ()) for one in configs])
        self.table = PartitionTable(state)
        self._defaults = dict(snapshot.configs)
        self._has_elr = snapshot.features.get(_ELR, 0) > 0
        self.copies = ReplicaCopies(
            state,
            self.brokers,
            self.table,
            defaults=self._defaults,
            rate_bytes_per_s=rate_bytes_per_s,
        )
        for one in list(self.table.unsettled()):
            self.follow(one)

    # -- brokers and rules ---------------------------------------------------

    def rules_of(self, one: SimulatedPartition) -> Rules:
        """Return the rules by which the controller changes a partition."""
        configs = self.table.topics[one.key[0]].configs

        def value(key: str, default: str) -> str:
            return configs.get(key, self._defaults.get(key, default))

        return Rules(
            is_online=partial(self.copies.is_online, one),
            min_isr=int(value(_MIN_ISR, "1")),
            has_elr=self._has_elr,
            is_unclean_allowed=value(_UNCLEAN, "false") == "true",
        )

    def set_in_sync(self, one: SimulatedPartition, in_sync: Brokers) -> None:
        """Change the ISR of a partition, with all that follows."""
        one.update(in_sync, self.rules_of(one))
        self.follow(one)

    @property
    def health(self) -> Health:
        """Number of partitions in trouble."""
        found = list(self._trouble.values())
        return Health(
            offline=sum(one.offline for one in found),
            under_min_isr=sum(one.under_min_isr for one in found),
            under_replicated=sum(one.under_replicated for one in found),
        )

    def follow(self, one: SimulatedPartition) -> None:
        """Carry out on the brokers what the controller has changed of a partition."""
        self.copies.follow(one)
        self._note_state(one)
        self.table.rest(one)

    def _note_state(self, one: SimulatedPartition) -> None:
        """Note whether a partition is reassigned, and whether it is in trouble."""
        if one.is_reassigning:
            self.moving[one.key] = Reassigned(one.target, one.adding, one.removing)
        else:
            self.moving.pop(one.key, None)
        replicas = {b for b in one.replicas if b not in one.adding}
        least = min(self.rules_of(one).min_isr, len(replicas))
        found = Health(
            offline=int(one.leader is None),
            under_min_isr=int(len(one.in_sync) < least),
            under_replicated=int(not replicas <= set(one.in_sync)),
        )
        self._trouble.pop(one.key, None)
        if found != Health():
            self._trouble[one.key] = found

    def forget(self, topic: SimulatedTopic) -> None:
        """Delete the replicas of a topic that is about to be deleted."""
        for key in self.table.keys_of(topic):
            one = self.table.touch(key)
            if one is not None:
                one.replicas = ()
                self.follow(one)
                self.moving.pop(key, None)
                self._trouble.pop(key, None)

    # -- time ----------------------------------------------------------------

    def at(self, seconds: float, action: Callable[[], None]) -> None:
        """Schedule an action."""
        heappush(self._actions, (seconds, next(self._order), action))

    def advance(self, seconds: float) -> None:
        """Advance the time: transfer bytes, end transfers, and run actions."""
        end_s = self.now_s + seconds
        while True:
            next_s = self.now_s + self.copies.transfers.seconds_to_next()
            action_s = self._actions[0][0] if self._actions else inf
            until_s = max(min(next_s, action_s, end_s), self.now_s)
            self.copies.transfers.advance(until_s - self.now_s)
            self.now_s = until_s
            self._finish()
            while self._actions and self._actions[0][0] <= self.now_s:
                heappop(self._actions)[2]()
            if until_s >= end_s:
                return

    def _finish(self) -> None:
        """End the transfers without bytes left, and fail the log dirs that are full."""
        transfers = self.copies.transfers
        for name in transfers.ended():
            if name in transfers:
                one = self.copies.finish(name)
                if name.is_inside:
                    self.table.rest(one)
                else:
                    self.set_in_sync(one, (*one.in_sync, name.broker))
        for number in transfers.full_dirs():
            self._fail_dir(number)

    # -- faults --------------------------------------------------------------

    def fence(self, broker: int) -> None:
        """Fence a broker: it leaves every ISR, and leads nothing."""
        owner = self.brokers[broker]
        owner.is_live, owner.down_s = False, self.now_s
        for one in self.table.on_broker(broker):
            self._drop_from_isr(one, broker)

    def _drop_from_isr(self, one: SimulatedPartition, broker: int) -> None:
        self.copies.fall_behind(one, broker, 0.0)
        self.set_in_sync(one, tuple(b for b in one.in_sync if b != broker))

    def unfence(self, broker: int) -> None:
        """Return a broker that was killed: its replicas catch up."""
        owner = self.brokers[broker]
        owner.is_live, gone_s = True, self.now_s - owner.down_s
        for one in self.table.on_broker(broker):
            if broker not in one.in_sync:
                self.copies.fall_behind(one, broker, one.in_bytes_per_s * gone_s)
            # The end of the process was unclean: its log may lack the last records.
            one.eligible = tuple(b for b in one.eligible if b != broker)
            self.set_in_sync(one, one.in_sync)

    def _fail_dir(self, number: int) -> None:
        for broker in self.brokers.values():
            for one in broker.dirs.values():
                if one.number == number:
                    self.fail_dir(broker.broker, one.path)

    def fail_dir(self, broker: int, path: str) -> None:
        """Fail a log dir; a broker without another one ends."""
        owner = self.brokers[broker]
        owner.dirs[path].is_online = False
        if not owner.can_run:
            self.fence(broker)
            return
        for one in self.table.on_broker(broker):
            if one.paths.get(broker) == path:
                self._drop_from_isr(one, broker)
            elif one.future.get(broker) == path:
                self.copies.end_move(one, broker)
