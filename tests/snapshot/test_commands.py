"""`snapshot …` and `schema`: exit codes, output and files."""

import json
from pathlib import Path
from typing import Any

import pytest

from placement.model.cluster import BrokerState
from planner.snapshot import Snapshot, read_snapshot, write_snapshot
from planner.snapshot.tables.snapshot_records import TOPIC
from support.clusters import make_state
from support.commands import run
from support.snapshots import small_document


@pytest.fixture
def small(tmp_path: Path) -> Path:
    write_snapshot(Snapshot.from_document(small_document()), tmp_path / "small.json")
    return tmp_path / "small.json"


def test_show_as_text(capsys: pytest.CaptureFixture[str], small: Path):
    done = run(capsys, "snapshot", "show", small)

    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "Cluster      small",
        "Taken        unknown",
        "Kafka        unknown",
        "Brokers      3 (3 alive)",
        "             a: 1 brokers, 1 replicas",
        "             b: 1 brokers, 2 replicas",
        "             c: 1 brokers, 1 replicas",
        "Log dirs     6 online",
        "Controllers  not listed",
        "Topics       1",
        "Partitions   2 (2 RF 2)",
        "Replicas     4",
        "Disk         600 B of 3 kB, known for 100 % of the partitions",
        "In           1.5 B/s, known for 50 % of the partitions, source unknown",
        "Out          unknown",
        "Health       all replicas in sync",
        "Biggest      orders: 2 partitions, 600 B",
    ]


def test_the_health_of_a_snapshot_is_that_of_its_first_line(capsys, tmp_path):
    state = make_state(
        [[0, 1], [1]],
        states={1: BrokerState.FENCED},
        isr=[[0], [1]],
        leaders=[0, None],
    )
    path = tmp_path / "s.json"
    write_snapshot(Snapshot.from_state(state), path)

    text = " ".join(run(capsys, "snapshot", "show", path).out.split())

    assert "1 partition under min ISR; 2 partitions under-replicated" in text
    assert "2 under replicated, 1 under min isr" in text


def test_show_as_json(capsys: pytest.CaptureFixture[str], small: Path):
    document = json.loads(small.read_text())
    document["brokers"][2] |= {"state": "dead", "rack": None}
    document["topics"][0]["partitions"][1] |= {"replica_bytes": [210, None]}
    small.write_text(json.dumps(document))

    done = run(capsys, "snapshot", "show", small, "--format", "json")

    found = json.loads(done.out)
    assert done.code == 0
    assert found["broker_states"] == {"alive": 2, "dead": 1}
    assert found["racks"][-1] == {"rack": None, "brokers": 1, "replicas": 1}
    assert found["health"]["offline_replicas"] == 1
    assert found["health"]["under_replicated"] == 1
    assert found["sizes"]["replica_bytes"] == 2 * 100 + 210 + 200
    assert found["rates"]["in_bytes_per_s"] == {"known_fraction": 0.5, "total": 1.5}
    assert found["replication_factors"] == {"2": 2}


def test_show_of_an_empty_cluster(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    (tmp_path / "s.json").write_text(
        '{"format": "kafka-planner/snapshot", "version": 1}'
    )

    done = run(capsys, "snapshot", "show", tmp_path / "s.json")

    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("name", ["s", "s.json", "s.json.gz"])
def test_convert(
    capsys: pytest.CaptureFixture[str], name: str, small: Path, tmp_path: Path
):
    done = run(capsys, "snapshot", "convert", small, "-o", tmp_path / name)

    assert (done.code, done.out) == (0, "")
    assert "3 brokers" in done.err
    assert read_snapshot(tmp_path / name).equals(read_snapshot(small))


def test_apply(capsys: pytest.CaptureFixture[str], small: Path, tmp_path: Path):
    entry = {"topic": "orders", "partition": 0, "replicas": [3, 1]}
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"version": 1, "partitions": [entry]}))

    where = ("-o", tmp_path / "s", "--format", "json")
    done = run(capsys, "snapshot", "apply", plan, small, *where)

    assert json.loads(done.out)["partitions"] == 2
    replicas = read_snapshot(tmp_path / "s").partitions.column("replicas")
    assert replicas.to_pylist() == [[3, 1], [2, 3]]


def test_anonymize(capsys: pytest.CaptureFixture[str], small: Path, tmp_path: Path):
    done = run(
        capsys, "snapshot", "anonymize", small, "-o", tmp_path / "a.json", "--quiet"
    )

    assert (done.code, done.out, done.err) == (0, "", "")
    assert "orders" not in (tmp_path / "a.json").read_text()


def test_bad_input_is_one_document_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    bad = small_document(colour="red", version=2)
    (tmp_path / "bad.json").write_text(json.dumps(bad))
    out = tmp_path / "out.json"

    where = ("-o", out, "--format", "json")
    done = run(capsys, "snapshot", "convert", tmp_path / "bad.json", *where)

    found = json.loads(done.out)
    assert (done.code, done.err) == (2, "")
    assert {each["place"] for each in found["problems"]} == {"version", "colour"}
    assert not out.exists()


def test_schema_names_every_key(capsys: pytest.CaptureFixture[str]):
    done = run(capsys, "schema", "snapshot")

    schema = json.loads(done.out)
    assert set(schema["required"]) == {"format", "version"}
    partition = schema["$defs"]["PartitionRecord"]
    assert partition["additionalProperties"] is False
    assert set(partition["required"]) == {"partition", "replicas"}
    assert set(schema["$defs"]["TopicRecord"]["properties"]) == set(
        TOPIC.json_schema()["properties"]
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["schema", "nothing"], 2, id="unknown"),
        pytest.param(["schema", "list"], 0, id="list"),
    ],
)
def test_schema_of_other_names(
    capsys: pytest.CaptureFixture[str], arguments: list[Any], code: int
):
    assert run(capsys, *arguments).code == code
