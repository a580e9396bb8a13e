"""Real consumers with our assignor: join, leave, crash, new partitions, a new topic."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from integration.kafka.cluster import Cluster, wait_until
from integration.readers import Reader, create, produce, settled
from support.profile import sampled

pytestmark = pytest.mark.kafka


def read(readers: list[Reader]) -> Counter[tuple[Any, ...]]:
    """Return how often each message was read."""
    return Counter(tuple(at) for reader in readers for at in reader.told("read"))


@pytest.mark.parametrize("kind", sampled(["BalancedAssignor", "StickyAssignor"]))
def test_a_group_lives_through_everything(
    shared_cluster: Cluster, start_reader: Callable[[str, str, str], Reader], kind: str
) -> None:
    name = f"plugged-{kind.lower()}"
    topic, later, pattern = f"{name}-a", f"{name}-b", f"^{name}-.*"
    create(shared_cluster, topic, 6)
    produce(shared_cluster, topic, range(6), 50)

    # Join, one after the other, while there is something to read.
    first = start_reader(name, pattern, kind)
    settled([first], [6])
    second = start_reader(name, pattern, kind)
    settled([first, second], [3, 3])
    third = start_reader(name, pattern, kind)
    produce(shared_cluster, topic, range(6), 50)
    settled([first, second, third], [2, 2, 2])

    # New partitions, and a topic that matches the pattern.
    shared_cluster.topics("--alter", "--topic", topic, "--partitions", "9")
    settled([first, second, third], [3, 3, 3])
    create(shared_cluster, later, 3)
    settled([first, second, third], [4, 4, 4])
    produce(shared_cluster, later, range(3), 50)

    # Leave in order: whatever was written has been read exactly once.
    second.leave()
    settled([first, third], [6, 6])
    wait_until(
        lambda: len(read([first, second, third])) == 6 * 100 + 3 * 50,
        "all messages to be read",
    )
    assert set(read([first, second, third]).values()) == {1}

    # Crash: the session times out, and the other takes everything over.
    third.crash()
    settled([first], [12])
    produce(shared_cluster, topic, range(9), 10)
    wait_until(
        lambda: len(read([first, second, third])) == 6 * 100 + 3 * 50 + 90,
        "what was written after the crash to be read",
    )


JAVA = "org.apache.kafka.clients.consumer"


@pytest.mark.parametrize("kind", ["StickyAssignor"])
def test_javas_consumers_share_a_group_with_ours(
    shared_cluster: Cluster, start_reader: Callable[[str, str, str], Reader], kind: str
) -> None:
    topic = name = f"mixed-{kind.lower()}"
    create(shared_cluster, topic, 6)
    ours = [start_reader(name, f"^{topic}$", kind) for _ in range(2)]
    settled(ours, [3, 3])
    strategy = f"partition.assignment.strategy={JAVA}.{kind}"
    theirs = shared_cluster.consume(
        "ConsoleConsumer",
        *("--topic", topic, "--group", name, "--command-property", strategy),
    )

    def is_shared() -> bool:
        owned = [reader.has for reader in ours]
        return sorted(map(len, owned)) == [2, 2] and len(set.union(*owned)) == 4

    # Whoever leads the group reads what the others ask for, and is understood.
    try:
        wait_until(is_shared, "Java's consumer to have the rest")
        leaving = ours.pop(0)
        leaving.leave()
        settled(ours, [3])
    finally:
        theirs.kill()
        theirs.wait(30)
