"""Strimzi's resources."""

import json
from pathlib import Path

import pytest

from planner.errors import BadInputError
from planner.snapshot.importers import merge
from planner.snapshot.importers.hardware.strimzi import read_strimzi
from planner.snapshot.importers.kafka_tools.reassignment_json import read_assignment
from support.commands import run
from support.monitoring import POOLS
from support.samples import imported, refusal, words

yaml = pytest.importorskip("yaml")
TOPIC = read_assignment(
    b'{"partitions":[{"topic":"a","partition":0,"replicas":[1,2]}]}', file="now.json"
)


def as_json(text: bytes) -> bytes:
    items = []
    for document in yaml.safe_load_all(text):
        items += document.get("items", [document])
    return json.dumps({"kind": "List", "items": items}, default=str).encode()


@pytest.mark.parametrize("text", [POOLS, as_json(POOLS)], ids=["yaml", "json"])
def test_pools_are_brokers(text):
    document = imported(TOPIC, read_strimzi(text, file="pools"))

    brokers = document["brokers"]
    assert brokers[1] == {
        "id": 1,
        "in_bytes_per_s": 10_000_000,
        "out_bytes_per_s": 10_240_000,
        "cpu_cores": 1.5,
        "tags": {"node_pool": "brokers"},
        "log_dirs": [
            {"path": "/var/lib/kafka/data-0/kafka-log1", "size_bytes": 100 * 2**30},
            {"path": "/var/lib/kafka/data-1/kafka-log1", "size_bytes": 2**40},
        ],
    }
    assert brokers[3]["cpu_cores"] == 4
    assert brokers[3]["in_bytes_per_s"] == 2**30
    assert document["controllers"] == [{"id": 100, "voter": True, "combined": False}]
    assert document["cluster_id"] == "abc"
    assert document["kafka_version"] == "4.1.0"
    assert document["configs"] == {"min.insync.replicas": "2"}


def test_every_broker_of_a_pool_has_what_the_pool_says():
    without = POOLS.replace(b"cruiseControl", b"cruiseControlOff")

    brokers = imported(TOPIC, read_strimzi(without, file="pools"))["brokers"].values()

    assert len(brokers) == 3
    assert {one.get("cpu_cores") for one in brokers} == {1.5}
    assert {one["tags"]["node_pool"] for one in brokers} == {"brokers"}
    assert {len(one["log_dirs"]) for one in brokers} == {2}


def test_other_resources_are_passed_over_and_said():
    notes = merge([TOPIC, read_strimzi(POOLS, file="pools")]).notes

    assert any("1 resources of other kinds" in note for note in notes)
    assert not any("hunter2" in note for note in notes)


def test_brokers_that_no_pool_has_are_dead():
    gone = read_assignment(
        b'{"partitions":[{"topic":"a","partition":0,"replicas":[1,9]}]}', file="now"
    )

    document = imported(gone, read_strimzi(POOLS, file="pools"))

    assert document["brokers"][9]["state"] == "dead"


def test_a_kafka_alone_gives_capacities_to_all():
    kafka = POOLS.split(b"---\n")[1]

    document = imported(TOPIC, read_strimzi(kafka, file="kafka"))

    assert document["brokers"][2]["in_bytes_per_s"] == 10_000_000


@pytest.mark.parametrize(
    ("old", "new", "place", "rule"),
    [
        pytest.param(b"100Gi", b"much", "spec.storage", "a quantity", id="size"),
        pytest.param(
            b"10000KB/s", b"10 Gbit", "inboundNetwork", "a bandwidth", id="bandwidth"
        ),
        pytest.param(
            b"    nodeIds: [1, 2, 3]\n",
            b"",
            "status.nodeIds",
            "required",
            id="without-its-status",
        ),
        pytest.param(b"[100]", b"[x]", "status.nodeIds[0]", "", id="no-id"),
        pytest.param(
            b"name: prod\nspec", b"name: x\nspec", "", "one cluster", id="two"
        ),
        pytest.param(
            b"strimzi.io/v1beta2", b"example.io/v1", "", "must hold", id="none-of-ours"
        ),
        pytest.param(b"- id: 0", b"- no: 0", "spec.storage", "an id", id="no-volume"),
        pytest.param(
            b"status:\n  clusterId: abc",
            b"status:\n  clusterId: xyz",
            "document 2",
            "the same",
            id="two-ids",
        ),
        pytest.param(
            b"  name: prod\nspec:",
            b"  name: &a prod\n  x: *a\nspec:",
            "",
            "without aliases",
            id="aliases",
        ),
        pytest.param(
            b"kind: List", b"kind: List\nkind: List", "line 3", "unique", id="twice"
        ),
        pytest.param(b"kind: List", b"kind: [List", "line ", "YAML", id="no-yaml"),
        pytest.param(b"items:", b"\titems:", "line 3", "YAML", id="tabs"),
    ],
)
def test_bad_resources_are_refused(old, new, place, rule):
    assert old in POOLS

    error = refusal(read_strimzi, POOLS.replace(old, new))

    assert any(
        place in problem.place and rule in problem.rule for problem in error.problems
    ), words(error)
    assert "hunter2" not in words(error)


def test_a_broker_in_two_pools_is_refused():
    error = refusal(
        read_strimzi,
        POOLS.replace(b"[100]", b"[100, 3]").replace(
            b"roles: [controller]", b"roles: [controller, broker]"
        ),
    )

    assert "once" in error.problems[0].rule


C11 = Path(__file__).parents[1] / "data" / "cases" / "c11"
KAFKA = (C11 / "kafka.yaml").read_text()


def test_a_kafka_without_node_pools_says_the_brokers_and_their_disks(capsys, tmp_path):
    given = [f"--{option}" for option in ("topics", "log-dirs", "strimzi")]
    files = [C11 / "topics.txt", C11 / "dirs.txt", C11 / "kafka.yaml"]
    words = [word for pair in zip(given, files, strict=True) for word in pair]

    outcome = run(capsys, "snapshot", "import", *words, "-o", tmp_path / "s.json")

    assert outcome.code == 0
    brokers = json.loads((tmp_path / "s.json").read_text())["brokers"]
    assert [
        [one["size_bytes"] for one in broker["log_dirs"]] for broker in brokers
    ] == [[100 * 2**30] * 2] * 3
    assert [broker["in_bytes_per_s"] for broker in brokers] == [
        20_480_000,
        30_720_000,
        30_720_000,
    ]
    assert outcome.err.count("volume deleteClaim") == 1
    for key in ("kafka.listeners", "kafka.rack", "zookeeper"):
        assert outcome.err.count(f"Kafka spec.{key}") == 1


def sources_of(old, new):
    assert old in KAFKA
    return read_strimzi(KAFKA.replace(old, new).encode(), file="kafka")


def test_one_volume_is_the_folder_data():
    text, rest = KAFKA.split("    storage:\n", 1)
    rest = rest[rest.index("  zookeeper:") :]
    storage = "    storage:\n      type: persistent-claim\n      size: 1Ti\n"

    source = read_strimzi(f"{text}{storage}{rest}".encode(), file="kafka")

    assert [(one.key, one.values) for one in source.log_dirs] == [
        ((broker, f"/var/lib/kafka/data/kafka-log{broker}"), {"size_bytes": 2**40})
        for broker in range(3)
    ]


def test_processors_of_a_kafka_without_node_pools():
    source = sources_of(
        "    replicas: 3\n    listeners:",
        "    replicas: 3\n    resources:\n      limits:\n        cpu: 1500m\n"
        "    listeners:",
    )

    assert [one.values["cpu_cores"] for one in source.brokers] == [1.5, 2.5, 2.5]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "  namespace: kafka\n",
            "  annotations:\n    strimzi.io/node-pools: enabled\n",
        ),
        ("version: 3.1.0", "version: 4.0.0"),
    ],
)
def test_brokers_in_node_pools_are_asked_for(old, new):
    source = sources_of(old, new)

    assert not source.log_dirs
    assert not source.lists_members
    assert any("the brokers are in node pools" in note for note in source.notes)
    assert any("Kafka spec.kafka.replicas" in note for note in source.notes)


def test_node_pools_say_more_than_the_kafka_beside_them():
    pool = POOLS.split(b"---\n")[0].decode()

    kafka = KAFKA.replace("name: my-cluster", "name: prod")
    kafka = kafka.replace("8Ff0cW2bTxqyGfWkQzAbCd", "abc")

    source = read_strimzi(f"{kafka}---\n{pool}".encode(), file="both")

    assert {one.key[0] for one in source.log_dirs} == {
        one.key for one in source.brokers
    }
    assert any("Kafka spec.kafka.storage" in note for note in source.notes)


@pytest.mark.parametrize("count", ["0", "x", "-1", "1000000"])
def test_replicas_that_are_no_number_of_brokers_are_refused(count):
    with pytest.raises(BadInputError) as caught:
        sources_of(
            "    replicas: 3\n    listeners:", f"    replicas: {count}\n    listeners:"
        )

    assert "spec.kafka.replicas" in caught.value.problems[0].place


NAMESPACE = """apiVersion: v1
kind: Namespace
metadata: {name: kafka}
"""


def test_resources_of_other_kinds_are_named_by_kind():
    source = read_strimzi(f"{KAFKA}---\n{NAMESPACE}---\n{NAMESPACE}".encode(), file="f")

    assert "f: 2 resources of other kinds skipped (Namespace)" in source.notes


def test_resources_may_stand_in_a_list_of_json():
    documents = list(yaml.safe_load_all(POOLS))
    text = json.dumps(documents, default=str)

    source = read_strimzi(f"{text}\n".encode(), file="f")

    plain = read_strimzi(POOLS, file="f")
    assert [one.key for one in source.brokers] == [one.key for one in plain.brokers]
