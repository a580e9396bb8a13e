"""Brokers, the controller and disks that fail while a plan is carried out."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from integration.conftest import SLOW_COPIES
from integration.kafka.cluster import CONTROLLER, Cluster, wait_until
from integration.messages import Messages
from integration.runs import QUICK, carried_out, completed, plan_folder
from integration.shell import throttles
from integration.steps import create, replicas_of
from integration.told import told_brokers

pytestmark = [
    pytest.mark.kafka,
    # The producer leaves sockets to a dead broker to the garbage collector.
    pytest.mark.filterwarnings("ignore:Exception ignored in. <socket"),
]

NUMBERS = count(1)


@pytest.fixture(scope="module")
def breakable(libs, archive, tmp_path_factory) -> Iterator[Cluster]:
    """Four brokers, of which the third may be killed."""
    base = tmp_path_factory.mktemp("breakable") / "kafka"
    options = {"num_brokers": 4, "archive": archive, "apart": (3,)}
    with Cluster(libs, base, config=SLOW_COPIES, **options) as cluster:
        yield cluster


@pytest.fixture
def topic(breakable: Cluster) -> str:
    """Return the name of a new topic, once every broker is well again."""
    wait_until(
        lambda: (
            all(
                state != "fenced"
                for _, state in told_brokers(breakable.endpoints()).values()
            )
            and not breakable.topics("--describe", "--under-replicated-partitions")
        ),
        "every broker to be well",
    )
    return f"broken-{next(NUMBERS)}"


def filled(
    cluster: Cluster,
    topic: str,
    folder: Path,
    lists: dict[int, list[int]],
    before: list[list[int]],
) -> tuple[Messages, Path]:
    """Create a topic with messages, and return them with a plan."""
    create(cluster, topic, before)
    messages = Messages(cluster.bootstrap, topic, len(before)).write(20)
    return messages, plan_folder(cluster, folder, topic, lists)


def test_a_destination_dies_and_returns(breakable: Cluster, topic: str, tmp_path):
    lists = {0: [1, 3], 1: [2, 4]}
    messages, plan = filled(breakable, topic, tmp_path, lists, [[1, 2], [2, 1]])
    before = throttles(breakable)

    def restart() -> None:
        breakable.kill(3)
        breakable.start_node(3)

    with messages:
        event = carried_out(plan, breakable.bootstrap, {"admitted": restart})[-1]

    assert event.status == "completed"
    assert replicas_of(breakable, topic) == list(lists.values())
    assert throttles(breakable) == before
    messages.check()


def test_a_destination_dies_for_good_and_the_rest_is_finished(
    breakable: Cluster, topic: str, tmp_path
):
    lists = {0: [1, 3], 1: [2, 4], 2: [3, 1]}
    was = [[1, 2], [2, 1], [2, 1]]
    messages, plan = filled(breakable, topic, tmp_path, lists, was)
    before = throttles(breakable)

    with messages:
        event = carried_out(
            plan, breakable.bootstrap, {"admitted": lambda: breakable.kill(3)}
        )[-1]
        half = replicas_of(breakable, topic)
        breakable.start_node(3)
        completed(plan, breakable.bootstrap)

    assert event.status == "stopped"
    assert sorted(event.set_aside) == [
        f"{topic}-{number}: broker 3: down for {QUICK.broker_grace_s:g} s"
        for number in (0, 2)
    ]
    assert event.next
    # What Kafka cancels keeps the brokers of before, those of the target first.
    assert half == [[1, 2], lists[1], [1, 2]]
    assert replicas_of(breakable, topic) == list(lists.values())
    assert throttles(breakable) == before
    messages.check()


def test_the_source_dies_and_another_replica_in_sync_sends(
    breakable: Cluster, topic: str, tmp_path
):
    lists = {0: [2, 4], 1: [4, 1]}
    messages, plan = filled(breakable, topic, tmp_path, lists, [[3, 2], [3, 1]])
    before = throttles(breakable)

    with messages:
        event = carried_out(
            plan, breakable.bootstrap, {"admitted": lambda: breakable.kill(3)}
        )[-1]
        breakable.start_node(3)
        completed(plan, breakable.bootstrap)

    assert event.completed == len(lists), event
    assert replicas_of(breakable, topic) == list(lists.values())
    assert throttles(breakable) == before
    messages.check()


def test_the_controller_stops_and_returns(breakable: Cluster, topic: str, tmp_path):
    lists = {0: [1, 4], 1: [4, 1]}
    messages, plan = filled(breakable, topic, tmp_path, lists, [[1, 2], [2, 1]])
    before = throttles(breakable)

    def restart() -> None:
        breakable.stop_node(CONTROLLER)
        breakable.start_node(CONTROLLER)

    with messages:
        event = carried_out(plan, breakable.bootstrap, {"admitted": restart})[-1]

    assert event.status == "completed"
    assert replicas_of(breakable, topic) == list(lists.values())
    assert throttles(breakable) == before
    messages.check()
