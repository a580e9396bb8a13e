"""Requests of a run to a real cluster, over the admin protocol."""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from planner.errors import BadInputError
from planner.execution.cluster.running_cluster import (
    Health,
    Reassigned,
    ReplicaKey,
    Seen,
)
from planner.kafka.actions.config_changes import (
    ConfigChanges,
    Place,
    change_configs,
    read_configs,
)
from planner.kafka.actions.create_topics import request_creation
from planner.kafka.actions.elect_leaders import hold, preview
from planner.kafka.actions.elections import ElectionType
from planner.kafka.actions.reassign import move_replicas, reassign
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.broker_requests import ask_brokers, live_ids, read_cluster
from planner.kafka.read.live_snapshot import take_snapshot
from planner.kafka.read.log_dirs import BrokerDirs, Partition, broker_dirs
from planner.kafka.read.topic_metadata import (
    kafka_topic_id,
    read_reassignments,
    read_topics,
    refuse_hidden,
)
from planner.kafka_files.creation import Creation
from planner.snapshot import Snapshot
from planner.throttles import BROKER_THROTTLES, TOPIC_THROTTLES
from planner.verify.state_rows import Brokers, Key

_THROTTLES = (*BROKER_THROTTLES, *TOPIC_THROTTLES)
_MIN_ISR = "min.insync.replicas"


class LiveCluster:
    """
    A running cluster; see `RunningCluster`.

    Parameters
    ----------
    client
        Client of the cluster.
    allow_partial
        Whether to continue if the user may not see everything.
    note
        Function that shows notes of the reader.
    """

    def __init__(
        self,
        client: ClusterClient,
        *,
        allow_partial: bool = False,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._client, self._allow_partial, self._note = client, allow_partial, note
        self._min_isr: dict[str, int] = {}
        self._default_min_isr = 1

    def now_s(self) -> float:
        """Return seconds on a monotonic clock."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait for some seconds; refused credentials are tried again afterwards."""
        time.sleep(seconds)
        self._client.forgive()

    def snapshot(self, sample_s: float = 0.0) -> Snapshot:
        """Return the whole cluster; rates are sampled for some seconds, 0: none."""
        found = take_snapshot(
            self._client,
            sample_seconds=sample_s,
            allow_partial=self._allow_partial,
            note=self._note,
        )
        self._note_min_isr(found)
        return found

    def _note_min_isr(self, now: Snapshot) -> None:
        self._default_min_isr = int(now.configs.get(_MIN_ISR, 1))
        names, configs = now.topics["topic"].to_pylist(), now.topics["configs"]
        own = {
            n: dict(c or ()) for n, c in zip(names, configs.to_pylist(), strict=True)
        }
        self._min_isr = {n: int(c[_MIN_ISR]) for n, c in own.items() if _MIN_ISR in c}

    def live_brokers(self) -> frozenset[int]:
        """Return the brokers that are registered and not fenced."""
        return frozenset(live_ids(read_cluster(self._client)))

    def reassignments(self) -> dict[Key, Reassigned]:
        """Return every reassignment under way."""
        return {
            (name.topic, name.partition): _reassigned(one)
            for name, one in read_reassignments(self._client).items()
        }

    def partitions(self, keys: Collection[Key]) -> dict[Key, Seen]:
        """Return partitions as brokers describe them; those that are gone lack."""
        wanted = set(keys)
        topics = read_topics(self._client, sorted({topic for topic, _ in wanted}))
        # A topic that the user may not see is not gone.
        refuse_hidden(self._client, topics)
        return {
            key: _seen(one, topic["topic_id"])
            for name, topic in topics.items()
            for one in topic["partitions"]
            if (key := (name, one["partition_index"])) in wanted
        }

    def log_dirs(self, replicas: Collection[ReplicaKey]) -> dict[int, BrokerDirs]:
        """Return the log dirs of the brokers of some replicas, with these replicas."""
        asked = _by_broker(replicas)

        def ask(admin: Any, broker: int) -> BrokerDirs:  # noqa: ANN401 - untyped
            at_s = time.monotonic()
            (found,) = admin.describe_log_dirs(asked[broker], brokers=[broker])
            return broker_dirs(found["log_dirs"], at_s)

        live = self.live_brokers()
        brokers = sorted(asked.keys() & live)
        return ask_brokers(self._client, brokers, ask, needs="Describe on Cluster")

    def health(self) -> Health:
        """Return the number of partitions in trouble."""
        adding = {key: one.adding for key, one in self.reassignments().items()}
        offline = short = behind = 0
        for name, topic in read_topics(self._client).items():
            least = self._min_isr.get(name, self._default_min_isr)
            for one in topic["partitions"]:
                new = adding.get((name, one["partition_index"]), ())
                replicas = set(one["replica_nodes"]) - set(new)
                in_sync = set(one["isr_nodes"])
                offline += one["leader_id"] < 0
                short += len(in_sync) < min(least, len(replicas))
                behind += not replicas <= in_sync
        return Health(offline=offline, under_min_isr=short, under_replicated=behind)

    def reassign(self, targets: Mapping[Key, Brokers | None]) -> dict[Key, str]:
        """Start reassignments, or cancel those with `None`; return the refusals."""
        wanted = {
            Partition(*key): None if row is None else list(row)
            for key, row in targets.items()
        }
        refused = reassign(self._client, wanted)
        return {(n.topic, n.partition): text for n, text in refused.items()}

    def move_replicas(self, paths: Mapping[ReplicaKey, str]) -> dict[ReplicaKey, str]:
        """Move replicas to log dirs of their brokers; return the refusals."""
        wanted = {(Partition(*key), b): path for (key, b), path in paths.items()}
        refused = move_replicas(self._client, wanted)
        return {((n.topic, n.partition), b): text for (n, b), text in refused.items()}

    def create(self, wanted: Creation, *, is_trial: bool = False) -> str | None:
        """Create partitions, or validate the request only; return the refusal."""
        try:
            request_creation(self._client, wanted, is_trial=is_trial)
        except BadInputError as error:
            return "; ".join(f"{one.value}: {one.rule}" for one in error.problems)
        return None

    def elect(self, keys: Collection[Key]) -> dict[Key, str]:
        """Elect the preferred leaders of partitions; return the refusals."""
        names = [Partition(*key) for key in keys]
        done = hold(self._client, preview(self._client, names, ElectionType.PREFERRED))
        return {
            (one.topic, one.partition): f"{one.outcome.value} {one.message}".strip()
            for one in done.partitions
            if not one.outcome.is_fine
        }

    def configs(self, places: Collection[Place]) -> dict[Place, dict[str, str]]:
        """Return the throttles of live brokers and of topics that exist."""
        return read_configs(self._client, places, _THROTTLES)

    def set_configs(self, changes: Mapping[Place, ConfigChanges]) -> dict[Place, str]:
        """Change configs; return the refusals, also of brokers that are down."""
        return change_configs(self._client, changes)


def _reassigned(one: Mapping[str, Any]) -> Reassigned:
    removing = tuple(one["removing_replicas"])
    return Reassigned(
        target=tuple(b for b in one["replicas"] if b not in removing),
        adding=tuple(one["adding_replicas"]),
        removing=removing,
    )


def _seen(one: Mapping[str, Any], topic_id: object) -> Seen:
    leader = one["leader_id"]
    return Seen(
        replicas=tuple(one["replica_nodes"]),
        in_sync=tuple(one["isr_nodes"]),
        leader=leader if leader >= 0 else None,
        topic_id=kafka_topic_id(topic_id),
    )


def _by_broker(replicas: Iterable[ReplicaKey]) -> dict[int, dict[str, list[int]]]:
    found: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for (topic, number), broker in replicas:
        found[broker][topic].append(number)
    return {broker: dict(topics) for broker, topics in found.items()}
