"""Brokers, the controller and disks that fail while a plan is carried out."""

import contextlib
import json
import shutil
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from integration.conftest import SLOW_COPIES
from integration.kafka.cluster import CONTROLLER, Cluster, wait_until
from integration.kafka_tool_output import printed_brokers
from integration.messages import Messages
from integration.runs import CRAWL, QUICK, carried_out, completed, plan_folder
from integration.shell import throttles
from integration.steps import create, replicas_of

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
    # A killed broker leaves its indexes at full length, which fill a small disk.
    config = SLOW_COPIES | {"log.index.size.max.bytes": "65536"}
    options = {"num_brokers": 4, "archive": archive, "apart": (3,)}
    with Cluster(libs, base, config=config, **options) as cluster:
        yield cluster


@pytest.fixture
def topic(breakable: Cluster) -> str:
    """Return the name of a new topic, once every broker is well again."""
    wait_until(
        lambda: (
            all(
                state != "fenced"
                for _, state in printed_brokers(breakable.endpoints()).values()
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
    assert throttles(breakable, until=before) == before
    messages.check()


def test_a_destination_dies_for_good_and_the_rest_is_finished(
    breakable: Cluster, topic: str, tmp_path
):
    lists = {0: [1, 3], 1: [2, 4], 2: [3, 1]}
    was = [[1, 2], [2, 1], [2, 1]]
    messages, plan = filled(breakable, topic, tmp_path, lists, was)
    before = throttles(breakable)

    with messages:
        # On a busy machine a faster copy ends before the broker does.
        event = carried_out(
            plan,
            breakable.bootstrap,
            {"admitted": lambda: breakable.kill(3)},
            rate=CRAWL,
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
    assert throttles(breakable, until=before) == before
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
    assert throttles(breakable, until=before) == before
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
    assert throttles(breakable, until=before) == before
    messages.check()


def fail(path: Path) -> None:
    """Put a file where a log dir was, so that nothing can be written there."""
    path.rename(path.with_suffix(".away"))
    path.touch()


def repair(path: Path) -> None:
    path.unlink()
    path.with_suffix(".away").rename(path)


def dir_of(cluster: Cluster, topic: str, broker: int) -> Path:
    """Return the log dir in which a new replica of a broker lies."""
    found: list[Path] = []

    def is_there() -> bool:
        found[:] = [d for d in cluster.log_dirs(broker) if any(d.glob(f"{topic}-*"))]
        return bool(found)

    wait_until(is_there, f"a replica of {topic} on broker {broker}")
    return found[0]


def test_a_log_dir_of_a_destination_fails(breakable: Cluster, topic: str, tmp_path):
    lists = {0: [1, 3], 1: [2, 4]}
    messages, plan = filled(breakable, topic, tmp_path, lists, [[1, 2], [2, 1]])
    before = throttles(breakable)
    failed: list[Path] = []

    def break_dir() -> None:
        failed.append(dir_of(breakable, topic, 3))
        fail(failed[0])

    with messages:
        # The broker sees that a disk has failed when it writes its checkpoints, every
        # few seconds: a faster copy ends before that.
        event = carried_out(
            plan, breakable.bootstrap, {"admitted": break_dir}, rate=CRAWL
        )[-1]
        half = replicas_of(breakable, topic)
        breakable.kill(3)
        repair(failed[0])
        breakable.start_node(3)
        completed(plan, breakable.bootstrap)

    assert event.status == "stopped"
    assert event.set_aside == [
        f"{topic}-0: log dirs of broker 3 are offline: {failed[0]}"
    ]
    assert half == [[1, 2], lists[1]]
    assert replicas_of(breakable, topic) == list(lists.values())
    assert throttles(breakable, until=before) == before
    messages.check()


def test_a_log_dir_fails_that_a_replica_moves_to_inside_its_broker(
    breakable: Cluster, topic: str, tmp_path
):
    lists = {0: [3, 1], 1: [4, 2]}
    messages, plan = filled(breakable, topic, tmp_path, lists, [[3, 1], [4, 2]])
    before = throttles(breakable)
    first = dir_of(breakable, topic, 3)
    (target,) = [path for path in breakable.log_dirs(3) if path != first]
    document = json.loads((plan / "reassignment.json").read_text())
    document["partitions"][0]["log_dirs"] = [str(target), "any"]
    (plan / "reassignment.json").write_text(json.dumps(document))
    wrong = {"topic": topic, "partition": 0, "replicas": [3, 1]}
    wrong["log_dirs"] = [str(first), "any"]
    rollback = {"version": 1, "partitions": [wrong, document["partitions"][1]]}
    (plan / "rollback.json").write_text(json.dumps(rollback))

    with messages:
        act = {"admitted": lambda: fail(target)}
        event = carried_out(plan, breakable.bootstrap, act)[-1]
        breakable.kill(3)
        repair(target)
        breakable.start_node(3)
        completed(plan, breakable.bootstrap)

    assert event.status == "stopped"
    assert event.set_aside == [f"{topic}-0: log dirs of broker 3 are offline: {target}"]
    assert any(target.glob(f"{topic}-0"))
    assert throttles(breakable, until=before) == before
    messages.check()


@pytest.fixture
def small_dir(breakable: Cluster, topic: str) -> Iterator[Path]:
    """Give the second log dir of broker 3 a file system of its own, of 32 MB."""
    path = breakable.log_dirs(3)[1]
    kept = path.with_suffix(".kept")
    breakable.kill(3)
    shutil.copytree(path, kept)
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(path)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        breakable.start_node(3)
        pytest.skip("mounting a small file system needs root")
    try:
        shutil.copytree(kept, path, dirs_exist_ok=True)
        breakable.start_node(3)
        yield path
        breakable.kill(3)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)
    breakable.start_node(3)


def test_the_disk_of_a_destination_is_full(
    breakable: Cluster, topic: str, small_dir: Path, tmp_path
):
    lists = {0: [1, 3], 1: [2, 4]}
    create(breakable, topic, [[1, 2], [2, 1]])
    messages = Messages(breakable.bootstrap, topic, 2).write(40)
    log_dirs = {0: ["any", str(small_dir)]}
    plan = plan_folder(breakable, tmp_path, topic, lists, log_dirs)
    before = throttles(breakable)
    filler = small_dir / "filler"

    def fill() -> None:
        wait_until(lambda: any(small_dir.glob(f"{topic}-*")), "the new replica")
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(4096)):
                pass

    with messages:
        event = carried_out(plan, breakable.bootstrap, {"admitted": fill})[-1]
        breakable.kill(3)
        filler.unlink()
        breakable.start_node(3)
        completed(plan, breakable.bootstrap)

    assert event.status == "stopped"
    (aside,) = event.set_aside
    assert aside.startswith(f"{topic}-0: ")
    assert "offline" in aside or "down" in aside
    assert replicas_of(breakable, topic) == list(lists.values())
    assert throttles(breakable, until=before) == before
    messages.check()
