"""
Records of the producer of Kafka 3.9 are on the partitions that `keys` foretells.

It is the last line with DefaultPartitioner and UniformStickyPartitioner, and its
RoundRobinPartitioner still loses a turn at every new batch (KAFKA-9965).
"""

from collections import Counter
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pytest

from assignment.partitioners import find_partitioner, place_records
from assignment.partitioners.key_column import KeyColumn
from integration.kafka.cluster import Cluster
from integration.kafka.tools import run_tool
from integration.readers import create
from integration.test_keys import NOT_IDEMPOTENT
from support.lake.parts import jars_of

pytestmark = pytest.mark.kafka

POM = Path(__file__).parents[1] / "support" / "stream" / "pom.xml"
"""Names the clients of Kafka 3.9, which Spark's connector needs."""
PACKAGE = "org.apache.kafka.clients.producer"
DEFAULT = f"partitioner.class={PACKAGE}.internals.DefaultPartitioner"
UNIFORM = f"partitioner.class={PACKAGE}.UniformStickyPartitioner"
ROUND_ROBIN = f"partitioner.class={PACKAGE}.RoundRobinPartitioner"
KEYS: list[bytes | None] = [
    *(f"customer-{n}".encode() for n in range(300)),
    *(n.to_bytes(8, "big") for n in range(100)),
    *(b"x" * n for n in range(40)),
]
PER_BATCH, RECORD_BYTES = 10, 110
"""Records that fit into a batch, and the bytes of one in it: 100 and its head."""
BATCH_BYTES = 61 + PER_BATCH * RECORD_BYTES + 20
"""A batch begins with 61 bytes of its own."""


def older_places(
    cluster: Cluster, topic: str, keys: list[bytes | None], *settings: str
) -> tuple[list[int], list[int]]:
    """Return the order of the partitions in the client, and that of each record."""
    clients = [jar for jar in jars_of(POM) if jar.name.startswith("kafka-clients")]
    logging = sorted(cluster.libs.glob("slf4j-*.jar"))
    words = ["-" if key is None else key.hex() for key in keys]
    class_path = ":".join(map(str, [*clients, *logging]))
    java = ("java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", class_path)
    settings = (NOT_IDEMPOTENT, *settings)
    done = run_tool(
        java, "Records", [cluster.bootstrap, topic, *settings, "--", *words]
    )
    assert done.returncode == 0, done.stderr
    order, *lines = done.stdout.splitlines()
    return [int(each) for each in order.split()], [int(line) for line in lines]


def foretold(
    name: str, keys: list[bytes | None], count: int, batch_bytes: int = 16_384
) -> list[int]:
    return place_records(
        find_partitioner(name, batch_bytes=batch_bytes),
        KeyColumn.of(keys),
        count,
        sizes=np.full(len(keys), RECORD_BYTES, np.int64),
    ).tolist()


def test_the_default_of_2_4_to_3_2_places_keys_as_foretold(
    shared_cluster: Cluster,
) -> None:
    create(shared_cluster, "older-default", 7)

    _, placed = older_places(shared_cluster, "older-default", KEYS, DEFAULT)

    assert placed == foretold("default-sticky", KEYS, 7)


@pytest.mark.parametrize(
    ("name", "setting", "key"),
    [
        pytest.param("default-sticky", DEFAULT, None, id="default"),
        pytest.param("uniform-sticky", UNIFORM, None, id="uniform"),
        pytest.param("uniform-sticky", UNIFORM, b"k", id="uniform-keys"),
    ],
)
def test_sticky_batches_end_when_full_and_the_next_is_elsewhere(
    shared_cluster: Cluster, name: str, setting: str, key: bytes | None
) -> None:
    topic = f"older-sticky-{name}-{key is None}"
    create(shared_cluster, topic, 4)
    settings = (setting, f"batch.size={BATCH_BYTES}", "linger.ms=60000")

    _, placed = older_places(shared_cluster, topic, [key] * 4000, *settings)
    ours = foretold(name, [key] * 4000, 4, PER_BATCH * RECORD_BYTES)

    # The client may send a batch before it is full, so that the next begins early.
    for each in (placed, ours):
        lengths = [len(list(run)) for _, run in groupby(each)]
        assert max(lengths) == PER_BATCH
        assert lengths.count(PER_BATCH) > len(lengths) / 2
        assert max(Counter(each).values()) / 1000 < 1.3


@pytest.mark.parametrize("batch_bytes", [1, 16_384], ids=["one-by-one", "filled"])
@pytest.mark.parametrize(
    ("count", "used", "key"), [(2, 1, b"k"), (4, 2, b"k"), (4, 2, None), (6, 3, b"k")]
)
def test_round_robin_skips_half_of_an_even_number(
    shared_cluster: Cluster, count: int, used: int, key: bytes | None, batch_bytes: int
) -> None:
    """A partition that is skipped never has a batch, and so is skipped again."""
    topic = f"older-turn-{count}-{batch_bytes}-{key is None}"
    create(shared_cluster, topic, count)
    settings = (ROUND_ROBIN, f"batch.size={batch_bytes}", "linger.ms=5000")

    order, placed = older_places(shared_cluster, topic, [key] * 300, *settings)

    ours = foretold("roundrobin-skips", [key] * 300, count, batch_bytes)
    assert placed == [order[each] for each in ours]
    assert len(set(placed)) == used


def test_round_robin_skips_every_other_turn_if_each_record_begins_a_batch(
    shared_cluster: Cluster,
) -> None:
    create(shared_cluster, "older-turn-odd", 5)

    order, placed = older_places(
        *(shared_cluster, "older-turn-odd", [b"k"] * 300),
        *(ROUND_ROBIN, "batch.size=1", "linger.ms=5000"),
    )

    ours = foretold("roundrobin-skips", [b"k"] * 300, 5, 1)
    assert placed == [order[each] for each in ours]
    assert {(order.index(b) - order.index(a)) % 5 for a, b in pairwise(placed)} == {2}
