"""A cluster without brokers, on virtual time: for dry runs, and for tests of faults."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from planner.execution.cluster.running_cluster import (
    Health,
    Reassigned,
    ReplicaKey,
    Seen,
)
from planner.execution.simulation.cluster_model import ClusterModel
from planner.execution.simulation.simulated_configs import Configs
from planner.execution.simulation.simulated_creation import creation_refusal
from planner.execution.simulation.simulated_network import SimulatedNetwork
from planner.execution.simulation.simulated_partition import SimulatedPartition
from planner.execution.simulation.simulated_snapshot import snapshot_of
from planner.kafka.actions.config_changes import (
    BROKER,
    DOWN,
    NO_TOPIC,
    TOPIC,
    ConfigChanges,
    Place,
)
from planner.kafka.actions.elections import (
    ElectionType,
    Outcome,
    predict_election,
    unknown,
)
from planner.kafka.read.log_dirs import BrokerDirs, Copy, Partition
from planner.kafka_files.creation import Creation
from planner.snapshot import Snapshot
from planner.throttles import BROKER_THROTTLES, TOPIC_THROTTLES
from planner.verify.state_rows import Brokers, Key

_THROTTLES = (*BROKER_THROTTLES, *TOPIC_THROTTLES)
_Name = TypeVar("_Name")


class SimulatedAdmin:
    """
    A simulated cluster; see `RunningCluster`.

    Copies take the time that their bytes need at rates that brokers share; requests
    take none. Faults are methods, also of `network`, at once or by `at`.

    Parameters
    ----------
    snapshot
        The cluster at first.
    rate_bytes_per_s
        Rate at which a broker sends, at which it receives, and at which it moves
        replicas between its log dirs, unless a throttle is lower. Positive.
    timeout_s
        Seconds that a request takes while the network is cut.

    Attributes
    ----------
    network
        Network of the cluster, and its faults.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        rate_bytes_per_s: float = 100e6,
        timeout_s: float = 10.0,
    ) -> None:
        self._first = snapshot
        self._model = ClusterModel(snapshot, rate_bytes_per_s)
        self.network = SimulatedNetwork(self._model, timeout_s)

    # -- requests ------------------------------------------------------------

    def now_s(self) -> float:
        """Return the virtual seconds since the start."""
        return self._model.now_s

    def sleep(self, seconds: float) -> None:
        """Advance the virtual time."""
        self._model.advance(seconds)

    def snapshot(self, sample_s: float = 0.0) -> Snapshot:
        """Return the whole cluster, with the rates of the first snapshot."""
        self.network.reach()
        self.sleep(sample_s)
        return snapshot_of(self._model, self._first)

    def live_brokers(self) -> frozenset[int]:
        """Return the brokers that are registered and not fenced."""
        self.network.reach()
        return frozenset(b for b, one in self._model.brokers.items() if one.is_live)

    def reassignments(self) -> dict[Key, Reassigned]:
        """Return every reassignment under way."""
        self.network.reach()
        return dict(self._model.moving)

    def partitions(self, keys: Collection[Key]) -> dict[Key, Seen]:
        """Return partitions as brokers describe them; those that are gone lack."""
        self.network.reach()
        table = self._model.table
        found = ((key, table.find(key)) for key in keys)
        return {
            key: one.seen(table.topics[key[0]].topic_id)
            for key, one in found
            if one is not None
        }

    def log_dirs(self, replicas: Collection[ReplicaKey]) -> dict[int, BrokerDirs]:
        """Return the log dirs of the brokers of some replicas, with these replicas."""
        self.network.reach()
        asked: dict[int, list[Key]] = defaultdict(list)
        for key, broker in replicas:
            asked[broker].append(key)
        return {
            broker: self._dirs_of(broker, keys)
            for broker, keys in sorted(asked.items())
            if self._model.copies.is_live(broker)
        }

    def _dirs_of(self, broker: int, keys: Iterable[Key]) -> BrokerDirs:
        model, owner = self._model, self._model.brokers[broker]
        current: dict[Partition, Copy] = {}
        future: dict[Partition, Copy] = {}
        for key in keys:
            one = model.table.find(key)
            if one is None or broker not in one.paths:
                continue
            if model.copies.is_online(one, broker):
                path = one.paths[broker] or ""
                held = self._held(one, broker, inside=False)
                current[Partition(*key)] = Copy(path, held)
            if broker in one.future:
                held = self._held(one, broker, inside=True)
                future[Partition(*key)] = Copy(one.future[broker], held)
        return owner.described(current, future, model.copies.free_bytes, model.now_s)

    def _held(self, one: SimulatedPartition, broker: int, *, inside: bool) -> int:
        return int(
            one.size_bytes - self._model.copies.missing(one, broker, inside=inside)
        )

    def health(self) -> Health:
        """Return the number of partitions in trouble."""
        self.network.reach()
        return self._model.health

    def reassign(self, targets: Mapping[Key, Brokers | None]) -> dict[Key, str]:
        """Start reassignments, or cancel those with `None`; return the refusals."""
        return self.network.change(
            "reassign partitions",
            lambda: _refusals(
                (k, self._reassign(k, row)) for k, row in targets.items()
            ),
        )

    def _reassign(self, key: Key, target: Brokers | None) -> str | None:
        """Reassign one partition; return the refusal."""
        one = self._model.table.find(key)
        if one is None:
            return NO_TOPIC
        rules = self._model.rules_of(one)
        if target is None:
            if not one.is_reassigning:
                return "NoReassignmentInProgressError"
            if not one.may_cancel(rules):
                return "InvalidReplicationAssignmentError"
            one.cancel(rules)
        else:
            if not self._is_valid(target):
                return "InvalidReplicationAssignmentError"
            one.reassign(tuple(target), rules)
        self._model.table.keep(one)
        self._model.follow(one)
        return None

    def _is_valid(self, target: Brokers) -> bool:
        is_unique = len(set(target)) == len(target) > 0
        return is_unique and set(target) <= self._model.brokers.keys()

    def move_replicas(self, paths: Mapping[ReplicaKey, str]) -> dict[ReplicaKey, str]:
        """
        Move replicas to log dirs of their brokers; return the refusals.

        A broker remembers the log dir of a replica that it does not have yet.
        """
        return self.network.change(
            "move replicas between log dirs",
            lambda: _refusals((one, self._move(*one, to)) for one, to in paths.items()),
        )

    def _move(self, key: Key, broker: int, path: str) -> str | None:
        """Move one replica; return the refusal."""
        if not self._model.copies.is_live(broker):
            return "BrokerNotAvailableError"
        owner = self._model.brokers[broker]
        if path not in owner.dirs:
            return "LogDirNotFoundError"
        if not owner.dirs[path].is_online:
            return "KafkaStorageError"
        one = self._model.table.find(key)
        if one is None or broker not in one.paths:
            owner.remembered[key] = path
            return NO_TOPIC if one is None else None
        if not self._model.copies.is_online(one, broker):
            return "KafkaStorageError"
        self._model.table.keep(one)
        if one.paths[broker] == path:
            self._model.copies.end_move(one, broker)
        elif one.future.get(broker) != path:
            self._model.copies.begin_move(one, broker, path)
        return None

    def create(self, wanted: Creation, *, is_trial: bool = False) -> str | None:
        """Create partitions, or validate the request only; return the refusal."""
        if is_trial:
            self.network.reach()
            return creation_refusal(self._model, wanted)
        refused = self.network.change(
            f"create partitions of {wanted.topic}",
            lambda: _refusals([(wanted.topic, self._create(wanted))]),
        )
        return refused.get(wanted.topic)

    def _create(self, wanted: Creation) -> str | None:
        """Create partitions; return the refusal."""
        refusal = creation_refusal(self._model, wanted)
        if refusal is None and wanted.is_new_topic:
            self.create_topic(wanted.topic, wanted.lists)
            self._model.table.topics[wanted.topic].configs = Configs(wanted.configs)
        elif refusal is None:
            self.add_partitions(wanted.topic, wanted.lists)
        return refusal

    def elect(self, keys: Collection[Key]) -> dict[Key, str]:
        """Elect the preferred leaders of partitions; return the refusals."""
        return self.network.change(
            "elect leaders", lambda: _refusals((k, self._elect(k)) for k in keys)
        )

    def _elect(self, key: Key) -> str | None:
        """Elect the preferred leader of one partition; return the refusal."""
        model, one = self._model, self._model.table.find(key)
        if one is None:
            election = unknown(Partition(*key))
        else:
            rules = model.rules_of(one)
            seen = one.electable(rules.is_online)
            election = predict_election(seen, ElectionType.PREFERRED)
            if election.outcome is Outcome.TO_ELECT:
                model.table.keep(one)
                one.update(one.in_sync, rules, is_preferred=True)
                model.follow(one)
        if election.outcome.is_fine:
            return None
        return f"{election.outcome.value} {election.message}".strip()

    def configs(self, places: Collection[Place]) -> dict[Place, dict[str, str]]:
        """Return the throttles of live brokers and of topics; none of missing ones."""
        self.network.reach()
        found = {place: self._configs_of(place) for place in places}
        return {
            place: {} if one is None else one.values(_THROTTLES)
            for place, one in found.items()
            if one is not None or place.scope == TOPIC
        }

    def _configs_of(self, place: Place) -> Configs | None:
        """Return the configs of a live broker or of a topic; `None`: there is none."""
        scope, name = place
        if scope == BROKER:
            broker = self._model.brokers.get(int(name))
            return broker.configs if broker is not None and broker.is_live else None
        topic = self._model.table.topics.get(name)
        return None if topic is None else topic.configs

    def set_configs(self, changes: Mapping[Place, ConfigChanges]) -> dict[Place, str]:
        """Change configs; return the refusals, also of brokers that are down."""
        return self.network.change(
            "change configs",
            lambda: _refusals((p, self._configure(p, c)) for p, c in changes.items()),
        )

    def _configure(self, place: Place, changes: ConfigChanges) -> str | None:
        """Change the configs of one broker or topic; return the refusal."""
        configs = self._configs_of(place)
        if configs is None:
            return DOWN if place.scope == BROKER else f"[Error 3] {NO_TOPIC}"
        done = configs.change(changes)
        if done.refusal is None and place.scope == BROKER:
            self._model.copies.throttle_broker(self._model.brokers[int(place.name)])
        for key in TOPIC_THROTTLES:
            if values := done.values.get(key):
                self._model.copies.throttle_replicas(place.name, values)
        return done.refusal

    # -- faults of the cluster -----------------------------------------------

    def at(self, seconds: float, action: Callable[[], None]) -> None:
        """Run an action once so many virtual seconds have passed since the start."""
        self._model.at(seconds, action)

    def kill(self, broker: int) -> None:
        """End a broker at once; it is fenced."""
        if self._model.brokers[broker].is_live:
            self._model.fence(broker)

    def restart(self, broker: int) -> None:
        """Start a broker that was killed, unless all its log dirs have failed."""
        owner = self._model.brokers[broker]
        if not owner.is_live and owner.can_run:
            self._model.unfence(broker)

    def fail_log_dir(self, broker: int, path: str) -> None:
        """Fail a log dir of a broker; without another one the broker ends."""
        self._model.fail_dir(broker, path)

    def delete_topic(self, topic: str) -> None:
        """Delete a topic."""
        table = self._model.table
        self._model.forget(table.topics[topic])
        table.delete_topic(topic)

    def create_topic(
        self, topic: str, replicas: Sequence[Brokers], *, size_bytes: int = 0
    ) -> None:
        """
        Create a topic, with a new id.

        Parameters
        ----------
        topic
            Name of a topic that does not exist.
        replicas
            Broker ids of each partition; one of them must be live.
        size_bytes
            Bytes of a replica.
        """
        self._model.table.create_topic(topic)
        self.add_partitions(topic, replicas, size_bytes=size_bytes)

    def add_partitions(
        self, topic: str, replicas: Sequence[Brokers], *, size_bytes: int = 0
    ) -> None:
        """Add partitions to a topic; see `create_topic`."""
        table = self._model.table
        first = len(table.keys_of(table.topics[topic]))
        for number, row in enumerate(replicas, start=first):
            live = tuple(b for b in row if self._model.copies.is_live(b))
            one = SimulatedPartition(
                key=(topic, number),
                size_bytes=float(size_bytes),
                in_bytes_per_s=0.0,
                replicas=tuple(row),
                in_sync=live,
                leader=live[0],
            )
            table.create_partition(one)
            self._model.follow(one)


def _refusals(found: Iterable[tuple[_Name, str | None]]) -> dict[_Name, str]:
    return {name: refusal for name, refusal in found if refusal is not None}
