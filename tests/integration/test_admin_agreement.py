"""The simulated cluster against a real one: the same requests, the same outcome."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from kafka import KafkaAdminClient

from integration.kafka.cluster import Cluster, wait_until
from integration.steps import create
from planner.execution.cluster.live_cluster import LiveCluster
from planner.execution.cluster.running_cluster import RunningCluster
from planner.execution.simulation.simulated_admin import SimulatedAdmin
from planner.kafka.actions.config_changes import Place
from planner.kafka.client.addresses import parse_bootstrap
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka_files.creation import Creation
from planner.verify.state_rows import Brokers, Key

pytestmark = pytest.mark.kafka

Lists = dict[int, list[int] | None]
FOUR = 4
"""Broker that is killed, in a process of its own."""
SETTLED_S = 30.0
SAME_LOOKS = 4
"""Number of equal states, one after the other, that count as settled."""
LEADER = "leader.replication.throttled.replicas"
FOLLOWER = "follower.replication.throttled.replicas"
MIN_ISR = {"min.insync.replicas": ("SET", "2")}
RATE = "leader.replication.throttled.rate"


class Both:
    """
    One topic on the real cluster and on the simulated one.

    Parameters
    ----------
    cluster, client
        The real cluster.
    topic
        Name of the new topics, each with partitions of one replication factor.
    replicas
        Broker ids of the partitions; requests name these by their place here.
    has_known_dirs
        Whether the log dirs of new replicas are compared; brokers choose at random
        among those with equally many.
    """

    def __init__(
        self,
        cluster: Cluster,
        client: ClusterClient,
        topic: str,
        replicas: list[list[int]],
        *,
        has_known_dirs: bool = False,
    ) -> None:
        self._cluster = cluster
        lists: dict[str, list[list[int]]] = defaultdict(list)
        for row in replicas:
            lists[f"{topic}-{len(row)}"].append(row)
        for name, rows in lists.items():
            create(cluster, name, rows)
        numbers = {name: iter(range(len(rows))) for name, rows in lists.items()}
        names = [f"{topic}-{len(row)}" for row in replicas]
        self.keys = [(name, next(numbers[name])) for name in names]
        self.topics = sorted(lists)
        self._has_known_dirs = has_known_dirs
        self._real = LiveCluster(client)
        self._simulated = SimulatedAdmin(self._real.snapshot())
        self.agree()

    def key(self, number: int) -> Key:
        """Return a partition, or one that does not exist."""
        is_there = number < len(self.keys)
        return self.keys[number] if is_there else (self.topics[0], number)

    def do(self, request: Callable[[RunningCluster], dict[Any, str]]) -> dict[Any, str]:
        """Make a request to both; return the refusals once the outcomes agree."""
        simulated, real = request(self._simulated), request(self._real)
        assert _names(simulated) == _names(real)
        self.agree()
        return real

    def reassign(self, lists: Lists) -> dict[Any, str]:
        targets = {
            self.key(number): None if row is None else tuple(row)
            for number, row in lists.items()
        }
        return self.do(lambda one: one.reassign(targets))

    def move(self, dirs: Mapping[tuple[int, int], int]) -> dict[Any, str]:
        """Move replicas, by partition and broker, to the log dirs of some numbers."""
        paths = {
            (self.key(number), broker): self.path(broker, to)
            for (number, broker), to in dirs.items()
        }
        return self.do(lambda one: one.move_replicas(paths))

    def path(self, broker: int, number: int) -> str:
        return str(self._cluster.home(broker) / f"d{number}")

    def create(self, wanted: Creation, *, is_trial: bool = False) -> str | None:
        """Create partitions of both; return the name of the refusal."""
        simulated = self._simulated.create(wanted, is_trial=is_trial)
        real = self._real.create(wanted, is_trial=is_trial)
        names = [None if x is None else x.split(":")[0] for x in (simulated, real)]
        assert names[0] == names[1], (simulated, real)
        if real is None and not is_trial:
            self.keys += wanted.by_key
            self.topics = sorted({topic for topic, _ in self.keys})
        self.agree()
        return names[1]

    def elect(self, *numbers: int) -> dict[Any, str]:
        keys = [self.key(number) for number in numbers]
        return self.do(lambda one: one.elect(keys))

    def configure(self, scope: str, name: object, **changes: Any) -> dict[Any, str]:
        keys = {"leader": LEADER, "follower": FOLLOWER, "rate": RATE}
        wanted = {keys.get(key, key): change for key, change in changes.items()}
        place = Place(scope, str(name))
        refusals = self.do(lambda one: one.set_configs({place: wanted}))
        self._real.snapshot()  # which notes min.insync.replicas
        return refusals

    def kill(self) -> None:
        self._cluster.kill(FOUR)
        self._simulated.kill(FOUR)
        self.agree()

    def restart(self) -> None:
        self._cluster.start_node(FOUR)
        self._simulated.restart(FOUR)
        self.agree()

    def fail_dir(self, number: int) -> None:
        """Put a file where a log dir of the broker that may fail was."""
        path = self._cluster.log_dirs(FOUR)[number - 1]
        path.rename(path.with_suffix(".gone"))
        path.touch()
        self._simulated.fail_log_dir(FOUR, str(path))
        self.agree()

    def delete(self) -> None:
        with KafkaAdminClient(bootstrap_servers=self._cluster.bootstrap) as admin:
            admin.delete_topics(self.topics)
        for topic in self.topics:
            self._simulated.delete_topic(topic)
        self.agree()

    def agree(self) -> None:
        """Wait until both have settled on the same state, and it stays."""
        self._simulated.sleep(1000)
        expected, looks = self._state(self._simulated), [False]

        def is_same() -> bool:
            looks.append(self._state(self._real) == expected)
            return all(looks[-SAME_LOOKS:])

        try:
            wait_until(is_same, "the clusters to agree", timeout_s=SETTLED_S)
        except TimeoutError:
            assert self._state(self._real) == expected
            raise

    def _state(self, one: RunningCluster) -> dict[str, Any]:
        live = one.live_brokers()
        seen = one.partitions([*self.keys, self.key(99)])
        replicas = [(key, b) for key, each in seen.items() for b in each.replicas]
        places = [Place("topic", topic) for topic in self.topics]
        places += [Place("broker", str(b)) for b in sorted(live)]
        return {
            "live": live,
            "reassignments": one.reassignments(),
            "partitions": {
                key: (each.replicas, each.leader, sorted(each.in_sync))
                for key, each in seen.items()
            },
            "dirs": {
                broker: (
                    {
                        name: copy.path if self._has_known_dirs else ""
                        for name, copy in dirs.current.items()
                    },
                    {name: copy.path for name, copy in dirs.future.items()},
                    sorted(each["log_dir"] for each in dirs.dirs),
                )
                for broker, dirs in one.log_dirs(replicas).items()
            },
            "configs": one.configs(places),
            "health": one.health(),
        }


def _names(refusals: Mapping[Any, str]) -> dict[Any, str]:
    """Return the refusals with the code alone of those that are Kafka's own words."""
    return {
        name: text.split("]")[0] if text.startswith("[Error") else text
        for name, text in refusals.items()
    }


@pytest.fixture(scope="module")
def cluster(libs, archive, tmp_path_factory) -> Iterator[Cluster]:
    base = tmp_path_factory.mktemp("agreement") / "kafka"
    with Cluster(libs, base, num_brokers=4, archive=archive, apart=(FOUR,)) as one:
        yield one


@pytest.fixture
def client(cluster: Cluster) -> Iterator[ClusterClient]:
    servers = parse_bootstrap(cluster.bootstrap)
    with ClusterClient(servers, timeout_s=10) as one:
        yield one


def test_replicas_that_are_added_removed_and_reordered(
    cluster: Cluster, client: ClusterClient
):
    lists = [[1, 2], [1, 2], [1, 2, 3], [1, 2, 3], [1, 2], [2, 1], [1], [2]]
    both = Both(cluster, client, "moved", lists)

    both.reassign({0: [3, 1], 1: [3, 2], 2: [3, 2, 1], 3: [2, 3], 4: [1, 2, 3]})
    both.reassign({5: [2, 1], 6: [2, 3], 7: [3]})
    both.elect(*range(8))
    both.elect(*range(8))
    both.reassign({0: [4, 2], 1: [1, 4, 3], 2: [2], 3: [4], 4: [4, 3, 2, 1]})


def test_refusals_leave_the_other_partitions_of_a_request(
    cluster: Cluster, client: ClusterClient
):
    both = Both(cluster, client, "refused", [[1, 2], [1, 2], [1, 2], [1, 2]])

    refused = both.reassign(
        {0: [1, 77], 1: [2, 2], 2: None, 3: [1, 3], 98: [1], 99: None}
    )

    assert len(refused) == 5
    assert both.elect(3, 99)
    assert both.do(lambda one: one.reassign({("no-such-topic", 0): (1, 2)}))


def test_a_reassignment_to_a_broker_that_is_down(
    cluster: Cluster, client: ClusterClient
):
    both = Both(
        cluster, client, "hangs", [[1, 2], [1, 2], [1, 2, 3], [1, 2], [1, 2, 3]]
    )
    both.kill()
    both.reassign({0: [4, 2], 1: [4, 2], 2: [2, 4], 3: [4, 3], 4: [4, 1, 2]})
    # The same list once more, another one, and the way back, over the running one.
    both.reassign({0: [4, 2], 3: [3, 1], 4: [1, 2, 3]})
    both.reassign({1: None, 2: None, 4: None})
    both.reassign({1: None})
    both.elect(0, 1, 2)
    both.restart()


def test_leaders_on_a_broker_that_goes_down_and_comes_back(
    cluster: Cluster, client: ClusterClient
):
    both = Both(cluster, client, "fenced", [[4, 1], [1, 4], [4], [4, 2, 3]])
    for topic in both.topics:
        both.configure("topic", topic, **MIN_ISR)
    both.kill()
    assert both.elect(0, 1, 2, 3)
    both.reassign({0: [1], 2: [1], 3: [2, 3]})
    both.reassign({2: None})
    both.configure("broker", FOUR, rate=("SET", "1000"))
    both.restart()
    both.elect(0, 1, 2, 3)
    both.configure("broker", FOUR, rate=("SET", "1000"))


def test_log_dirs_of_present_and_future_replicas(
    cluster: Cluster, client: ClusterClient
):
    both = Both(cluster, client, "dirs", [[1, 2], [1, 2], [2, 3]], has_known_dirs=True)
    both.move(dict.fromkeys(((0, 1), (1, 1), (0, 2), (1, 2), (2, 2), (2, 3)), 1))
    both.move({(0, 1): 2, (0, 2): 1})
    both.move({(0, 1): 1, (1, 2): 2})
    # Remembered for a replica that is added later, and for one that never is.
    both.move({(0, 3): 2, (1, 3): 1, (2, 1): 2})
    both.reassign({0: [1, 3], 1: [3, 1]})
    both.reassign({0: [1, 2], 1: [1, 2]})
    both.move({(0, 3): 1, (0, 1): 2})
    both.reassign({0: [3, 1]})
    assert both.do(lambda one: one.move_replicas({(both.key(0), 1): "/no/such/dir"}))
    no_topic = {(("no-such-topic", 0), 1): both.path(1, 1)}
    assert both.do(lambda one: one.move_replicas(no_topic))
    no_number = {(both.key(99), 1): both.path(1, 1)}
    assert both.do(lambda one: one.move_replicas(no_number))
    no_broker = {(both.key(0), 9): both.path(1, 1)}
    assert both.do(lambda one: one.move_replicas(no_broker))


def test_a_new_replica_gets_the_log_dir_with_the_fewest(
    cluster: Cluster, client: ClusterClient
):
    both = Both(
        cluster,
        client,
        "fewest",
        [[1, 3], [1, 3], [1, 3], [1, 3], [1, 2], [1, 2]],
        has_known_dirs=True,
    )
    both.move({(number, 3): 1 for number in range(4)})

    both.reassign({4: [1, 3]})


def test_a_log_dir_that_fails(cluster: Cluster, client: ClusterClient):
    lists = [[4, 1], [1, 4], [4], [4, 2], [1, 2]]
    both = Both(cluster, client, "failed-dir", lists, has_known_dirs=True)
    both.move({(0, 4): 1, (1, 4): 1, (2, 4): 1, (3, 4): 2})
    try:
        both.fail_dir(1)
        assert both.elect(0, 2, 3)
        both.reassign({0: [2, 1], 2: [1], 4: [1, 4]})
        both.reassign({2: None})
        assert both.move({(3, 4): 1, (1, 4): 2})
        assert both.move({(1, 4): 1})
        both.reassign({1: [1, 3]})
    finally:
        repair_dir(cluster, 1)


def repair_dir(cluster: Cluster, number: int) -> None:
    """Bring a log dir back; the broker reads it when it starts."""
    path = cluster.log_dirs(FOUR)[number - 1]
    cluster.stop_node(FOUR)
    path.unlink(missing_ok=True)
    path.with_suffix(".gone").rename(path)
    cluster.start_node(FOUR)


def test_lists_and_rates_of_throttles(cluster: Cluster, client: ClusterClient):
    both = Both(cluster, client, "throttled", [[1, 2], [1, 2]])
    topic = ("topic", "throttled-2")

    both.configure(*topic, leader=("APPEND", "0:1,0:2"), follower=("APPEND", "0:3"))
    both.configure(*topic, leader=("APPEND", "0:2,1:1"), follower=("SUBTRACT", "0:3"))
    both.configure(*topic, leader=("SUBTRACT", "0:1,7:7"), follower=("SET", "*"))
    assert both.configure(*topic, follower=("APPEND", "0:3"))
    assert both.configure(*topic, leader=("SET", "1:x"), follower=("DELETE", ""))
    assert both.configure(*topic, leader=("SET", "0:1,*"))
    both.configure(*topic, leader=("DELETE", ""), follower=("DELETE", ""))
    both.configure(*topic, leader=("SUBTRACT", "0:1"))
    both.configure(*topic, leader=("SET", ""))
    assert both.configure("topic", "no-such-topic", leader=("SET", "0:1"))
    both.configure("broker", 1, rate=("SET", "1000"))
    assert both.configure("broker", 1, rate=("SET", "fast"))
    assert both.configure("broker", 1, rate=("SET", "-1"))
    assert both.configure("broker", 1, rate=("APPEND", "1"))
    both.configure("broker", 1, rate=("DELETE", ""))
    both.configure("broker", 1, rate=("DELETE", ""))
    assert both.configure("broker", 9, rate=("SET", "1000"))


def test_topics_and_partitions_that_are_created(
    cluster: Cluster, client: ClusterClient
):
    both = Both(cluster, client, "grown", [[1, 2], [2, 1]])
    (topic,) = both.topics
    two = ((2, 3), (1, 3))

    def ask(first: int, *lists: Brokers, name: str = topic) -> list[str]:
        """Create partitions on trial, and then; return the names of the refusals."""
        wanted = Creation(topic=name, first=first, lists=lists, configs={})
        tried = both.create(wanted, is_trial=True)
        return [text for text in (tried, both.create(wanted)) if text is not None]

    assert ask(2, *two) == []
    assert ask(2, *two) == ["InvalidPartitions"] * 2
    assert ask(1, *two) == ["InvalidPartitions"] * 2
    assert ask(3, *two) == ["InvalidReplicationAssignment"] * 2
    assert ask(4, (1, 77)) == ["InvalidReplicationAssignment"] * 2
    assert ask(4, (1, 1)) == ["InvalidReplicationAssignment"] * 2
    assert ask(4, (1, 2, 3)) == ["InvalidReplicationAssignment"] * 2
    assert ask(2, *two, name="no-such-topic") == ["UnknownTopicOrPartition"] * 2
    assert ask(0, *two) == ["TopicAlreadyExists"] * 2
    assert (
        ask(0, (1, 2), (3,), name="grown-new") == ["InvalidReplicationAssignment"] * 2
    )
    assert ask(0, (1, 2), (3, 1), name="grown-new") == []
    both.kill()
    assert ask(4, (4, 1)) == []
    assert ask(5, (4,), name=topic) == ["InvalidReplicationAssignment"] * 2
    both.restart()


def test_a_topic_that_is_deleted(cluster: Cluster, client: ClusterClient):
    both = Both(cluster, client, "gone", [[1, 2]])
    both.delete()

    assert both.reassign({0: [1, 3]})
    assert both.elect(0)
    assert both.configure("topic", "gone-2", leader=("SET", "0:1"))
