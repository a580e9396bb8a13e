"""Cruise Control's capacity files and answers."""

import copy

import pytest

from planner.errors import BadInputError
from planner.snapshot.importers import merge
from planner.snapshot.importers.cruise_control.capacity_files import (
    read_broker_sets,
    read_capacity,
)
from planner.snapshot.importers.cruise_control.cruise_control_folder import (
    read_cruise_control,
)
from planner.snapshot.importers.cruise_control.partition_load import read_partition_load
from planner.snapshot.importers.cruise_control.rest_answers import (
    read_cluster_state,
    read_load,
)
from planner.snapshot.importers.kafka_tools.reassignment_json import read_assignment
from support.commands import run
from support.monitoring import (
    BROKER_SETS,
    CAPACITY,
    CAPACITY_CORES,
    CAPACITY_JBOD,
    LOAD,
    PARTITION_LOAD,
    STATE,
    encoded,
)
from support.samples import imported, partitions, refusal, words

MB, KB = 1 << 20, 1 << 10


def assignment(*lists):
    entries = [
        {"topic": "a", "partition": number, "replicas": ids}
        for number, ids in enumerate(lists)
    ]
    return read_assignment(encoded({"partitions": entries}), file="now.json")


def capacity(document):
    return read_capacity(encoded(document), file="capacity.json")


def changed(document, *path, to):
    other = copy.deepcopy(document)
    at = other
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = to
    return other


@pytest.fixture
def folder(tmp_path):
    for name, document in {
        "state": STATE,
        "load": LOAD,
        "partition_load": PARTITION_LOAD,
        "brokerSets": {"brokerSets": [{"brokerSetId": "blue", "brokerIds": [1, 2]}]},
    }.items():
        (tmp_path / f"{name}.json").write_bytes(encoded(document))
    return tmp_path


def test_topics_with_remote_storage_are_tiered():
    rows = [
        one | {"remote-storage-enabled": one["topic"] == "orders"}
        for one in STATE["KafkaPartitionState"]["other"]
    ]
    document = changed(STATE, "KafkaPartitionState", "other", to=rows)

    topics = imported(read_cluster_state(encoded(document), file="state"))["topics"]

    storages = {name: one.get("storage") for name, one in topics.items()}
    assert storages.pop("orders") == "tiered"
    assert set(storages.values()) == {None}


def test_a_folder_of_answers_is_a_cluster(folder):
    document = imported(*read_cruise_control(folder))

    found = partitions(document)
    assert found["orders", 0] == {
        "partition": 0,
        "replicas": [1, 2],
        "leader": 1,
        "isr": [1, 2],
        "size_bytes": 10 * MB,
        "in_bytes_per_s": 100 * KB,
        # 350 KB/s less the 100 that the follower fetches.
        "out_bytes_per_s": 250 * KB,
        "leader_cpu_cores": 0.5,
    }
    assert found["orders", 1]["out_bytes_per_s"] == 0
    assert "in_bytes_per_s" not in found["logs.eu", 0]
    assert document["topics"]["orders"]["configs"] == {"min.insync.replicas": "2"}
    brokers = document["brokers"]
    assert brokers[1] == {
        "id": 1,
        "rack": "a",
        "host": "k1",
        "state": "alive",
        "broker_set": "blue",
        "disk_bytes": 200 * MB,
        "in_bytes_per_s": 1000 * KB,
        "out_bytes_per_s": 2000 * KB,
        "cpu_cores": 8,
        "log_dirs": [
            {"path": "/d1", "state": "online"},
            {"path": "/d2", "state": "online"},
        ],
    }
    assert (brokers[2]["state"], "rack" in brokers[2]) == ("demoted", False)
    assert brokers[2]["log_dirs"][1] == {"path": "/d2", "state": "offline"}
    assert brokers[3]["state"] == "dead"
    assert document["rates"] == {"source": "cruise-control", "split": "equal"}


def test_replicas_in_failed_log_dirs_are_offline(folder):
    rows = [
        one | {"in-sync": one["in-sync"][:1], "offline": one["replicas"][1:]}
        for one in STATE["KafkaPartitionState"]["other"]
    ]
    document = changed(STATE, "KafkaPartitionState", "other", to=rows)
    (folder / "state.json").write_bytes(encoded(document))

    snapshot = merge(read_cruise_control(folder)).snapshot

    state = snapshot.to_state()
    is_seen = state.is_offline & state.brokers.is_live[state.replicas.broker_idx]
    found = state.brokers.ids[state.replicas.broker_idx[is_seen]].tolist()
    assert found == [b for one in rows for b in one["offline"]] == [2]


def test_cpu_is_unknown_where_cores_are():
    load = read_partition_load(encoded(PARTITION_LOAD), file="f")

    assert "leader_cpu_cores" not in load.partitions.values


@pytest.mark.parametrize(
    ("document", "broker", "expected"),
    [
        pytest.param(
            CAPACITY,
            1,
            {
                "disk_bytes": 500000 * MB,
                "in_bytes_per_s": 50000 * KB,
                "out_bytes_per_s": 50000 * KB,
            },
            id="plain",
        ),
        pytest.param(
            CAPACITY,
            2,
            {
                "disk_bytes": 100 * MB,
                "in_bytes_per_s": 10 * KB,
                "out_bytes_per_s": 20 * KB,
            },
            id="default",
        ),
        pytest.param(
            CAPACITY_CORES,
            1,
            {
                "disk_bytes": 100 * MB,
                "in_bytes_per_s": 10 * KB,
                "out_bytes_per_s": 20 * KB,
                "cpu_cores": 16,
            },
            id="cores",
        ),
        pytest.param(
            CAPACITY_JBOD,
            1,
            {
                "in_bytes_per_s": 10 * KB,
                "out_bytes_per_s": 20 * KB,
                "log_dirs": [
                    {"path": "/d1", "size_bytes": 100 * MB},
                    {"path": "/d2", "size_bytes": 50 * MB},
                ],
            },
            id="jbod-default",
        ),
        pytest.param(
            CAPACITY_JBOD,
            2,
            {
                "in_bytes_per_s": 10 * KB,
                "out_bytes_per_s": 20 * KB,
                "log_dirs": [{"path": "/d1", "size_bytes": 70 * MB}],
            },
            id="jbod",
        ),
    ],
)
def test_capacities_of_brokers(document, broker, expected):
    found = imported(assignment([1, 2], [2, 3]), capacity(document))

    assert found["brokers"][broker] == {"id": broker, **expected}


def test_sets_of_brokers():
    sets = read_broker_sets(encoded(BROKER_SETS), file="f")

    found = imported(assignment([1, 2, 3]), sets)

    names = [broker["broker_set"] for broker in found["brokers"].values()]
    assert names == ["blue", "blue", "green"]


@pytest.mark.parametrize(
    ("reader", "document", "place", "rule"),
    [
        pytest.param(
            read_capacity,
            changed(CAPACITY, "brokerCapacities", 0, "capacity", "DISK", to="lots"),
            "brokerCapacities[0].DISK",
            "not negative",
            id="no-number",
        ),
        pytest.param(
            read_capacity,
            changed(CAPACITY, "brokerCapacities", 1, "capacity", to={"DISK": "1"}),
            "brokerCapacities[1].NW_IN",
            "missing",
            id="a-resource-less",
        ),
        pytest.param(
            read_capacity,
            changed(CAPACITY, "brokerCapacities", 1, "brokerId", to="one"),
            "brokerCapacities[1].brokerId",
            "broker id",
            id="no-id",
        ),
        pytest.param(
            read_capacity,
            changed(CAPACITY, "brokerCapacities", 1, "brokerId", to="-1"),
            "brokerCapacities[1]",
            "once",
            id="two-defaults",
        ),
        pytest.param(
            read_capacity,
            changed(
                CAPACITY_JBOD,
                "brokerCapacities",
                0,
                "capacity",
                "DISK",
                to={"d1": "1"},
            ),
            "brokerCapacities[0].DISK",
            "absolute",
            id="relative-log-dir",
        ),
        pytest.param(
            read_capacity,
            changed(CAPACITY, "brokerCapacities", 0, "capacity", "DISK", to={}),
            "brokerCapacities[0].DISK",
            "must list a log dir",
            id="jbod-without-log-dirs",
        ),
        pytest.param(
            read_capacity,
            changed(CAPACITY, "brokerCapacities", 0, "capacity", "DISK", to="9" * 18),
            "brokerCapacities[0].DISK",
            "64 bits",
            id="huge-disk",
        ),
        pytest.param(
            read_capacity,
            changed(CAPACITY, "brokerCapacities", 1, "brokerId", to=1 << 31),
            "brokerCapacities[1].brokerId",
            "32 bits",
            id="huge-id",
        ),
        pytest.param(
            read_cluster_state,
            changed(STATE, "KafkaPartitionState", to={"other": []}),
            "KafkaPartitionState",
            "must list partitions",
            id="no-partitions",
        ),
        pytest.param(
            read_broker_sets,
            changed(BROKER_SETS, "brokerSets", 1, "brokerIds", to=[2]),
            "brokerSets[1].brokerIds[0]",
            "once",
            id="a-broker-in-two-sets",
        ),
        pytest.param(
            read_cluster_state,
            changed(STATE, "KafkaPartitionState", "other", to=[]),
            "KafkaPartitionState",
            "all 5 replicas; it lists 2",
            id="not-verbose",
        ),
        pytest.param(
            read_cluster_state,
            changed(STATE, "KafkaPartitionState", "urp", 0, "leader", to=-1),
            "KafkaPartitionState.with-offline-replicas[0]",
            "agree with KafkaPartitionState.urp[0]",
            id="lists-that-differ",
        ),
        pytest.param(
            read_cluster_state,
            changed(
                STATE,
                "KafkaBrokerState",
                "OnlineLogDirsByBrokerId",
                "2",
                to=["timed_out"],
            ),
            "OnlineLogDirsByBrokerId",
            "broker 2 did not answer",
            id="a-broker-timed-out",
        ),
        pytest.param(
            read_load,
            changed(LOAD, "brokers", 0, "BrokerState", to="SLEEPING"),
            "brokers[0].BrokerState",
            "must be one of ALIVE",
            id="unknown-state",
        ),
        pytest.param(
            read_load,
            changed(LOAD, "brokers", 1, "Broker", to=1),
            "brokers[1]",
            "once",
            id="a-broker-twice",
        ),
        pytest.param(
            read_partition_load,
            changed(PARTITION_LOAD, "records", 0, "disk", to=-1.0),
            "records[0].disk",
            "at least 0",
            id="negative-size",
        ),
        pytest.param(
            read_partition_load,
            changed(PARTITION_LOAD, "records", 0, "disk", to=1e17),
            "records",
            "64 bits",
            id="huge-size",
        ),
    ],
)
def test_bad_documents_are_refused(reader, document, place, rule):
    error = refusal(reader, encoded(document))

    assert any(
        place in problem.place and rule in problem.rule for problem in error.problems
    ), words(error)


@pytest.mark.parametrize(
    ("sources", "places"),
    [
        pytest.param(
            [
                read_cluster_state(encoded(STATE), file="state.json"),
                capacity(CAPACITY_JBOD),
            ],
            ("capacity.json: log dirs of broker 2", "those in state.json; /d2"),
            id="log-dirs",
        ),
        pytest.param(
            [read_load(encoded(LOAD), file="load.json"), capacity(CAPACITY)],
            ("capacity.json: brokerCapacities[1], disk_bytes of broker 1", "load.json"),
            id="capacities",
        ),
        pytest.param(
            [
                read_cluster_state(
                    encoded(
                        changed(
                            STATE, "KafkaPartitionState", "other", 0, "min-isr", to=1
                        )
                    ),
                    file="state.json",
                )
            ],
            (
                "state.json: KafkaPartitionState.other[1], configs of topic orders",
                "[0]",
            ),
            id="two-min-isr-of-a-topic",
        ),
    ],
)
def test_contradictions(sources, places):
    with pytest.raises(BadInputError) as caught:
        merge([assignment([1, 2], [2, 3]), *sources])

    found = [str(problem) for problem in caught.value.problems]
    assert any(all(place in problem for place in places) for problem in found), found


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        ("task.json", {"progress": [], "version": 1}, "still working"),
        ("error.json", {"errorMessage": "k1 hunter2", "stackTrace": "x"}, "an error"),
        ("other.json", {"x": 1}, "a file or an answer of Cruise Control"),
        ("list.json", [1], "a file or an answer of Cruise Control"),
    ],
)
def test_other_answers_in_the_folder_are_refused(folder, name, content, rule):
    (folder / name).write_bytes(encoded(content))

    with pytest.raises(BadInputError) as caught:
        read_cruise_control(folder)

    (problem,) = caught.value.problems
    assert rule in problem.rule
    assert problem.file.endswith(name)
    assert "hunter2" not in words(caught.value)


def test_cut_answers_are_refused_together(folder):
    for name in ("state.json", "load.json"):
        (folder / name).write_bytes((folder / name).read_bytes()[:-20])

    with pytest.raises(BadInputError) as caught:
        read_cruise_control(folder)

    assert len(caught.value.problems) == 2


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="is not a folder of Cruise Control"):
        read_cruise_control(tmp_path)
    with pytest.raises(BadInputError):
        read_cruise_control(tmp_path / "nosuch")


def test_of_several_capacity_files_the_named_one_is_read(tmp_path):
    for name, document in {
        "capacity": CAPACITY,
        "capacityCores": CAPACITY_CORES,
        "capacityJBOD": CAPACITY_JBOD,
        "clusterConfigs": {"min.insync.replicas": 1},
    }.items():
        (tmp_path / f"{name}.json").write_bytes(encoded(document))
    with pytest.raises(BadInputError) as caught:
        read_cruise_control(tmp_path)
    assert "one capacity file" in caught.value.problems[0].rule

    (tmp_path / "cruisecontrol.properties").write_text(
        "bootstrap.servers=k1\ncapacity.config.file=config/capacityCores.json\n"
    )

    (source,) = read_cruise_control(tmp_path)
    assert source.default_broker.values["cpu_cores"] == 16


@pytest.mark.parametrize("option", [("--cruise-control",), ()])
def test_the_command_reads_a_folder(capsys, folder, tmp_path, option):
    output = tmp_path / "s" / "out.json"
    output.parent.mkdir()

    outcome = run(capsys, "snapshot", "import", *option, folder, "-o", output)

    assert outcome.code == 0
    assert "3 brokers, 2 topics, 3 partitions" in outcome.err


@pytest.mark.parametrize("kind", ["capacity", "sets"])
def test_a_broker_that_only_a_configuration_names_is_not_live(kind):
    if kind == "capacity":
        numbers = {"DISK": "9", "CPU": "100", "NW_IN": "9", "NW_OUT": "9"}
        entries = [{"brokerId": id_, "capacity": numbers} for id_ in ("-1", "99")]
        source = capacity({"brokerCapacities": entries})
    else:
        sets = [{"brokerSetId": "blue", "brokerIds": [1, 2, 99]}]
        source = read_broker_sets(encoded({"brokerSets": sets}), file="sets.json")

    merged = merge([assignment([1, 2], [2, 1]), source])

    states = {
        one["id"]: one.get("state") for one in merged.snapshot.to_document()["brokers"]
    }
    assert states == {1: None, 2: None, 99: "dead"}
    assert any("counted as dead" in note and "99" in note for note in merged.notes)
