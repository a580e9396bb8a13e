"""
What is wrong with files, importer by importer: each row holds for each of them.

Encodings, Windows line ends and secrets are in `test_bad_input`; that no beginning of a
file is taken for the file, in `test_fuzz`.
"""

import json

import pytest

from planner.snapshot.importers.cruise_control.capacity_files import (
    read_broker_sets,
    read_capacity,
)
from planner.snapshot.importers.cruise_control.partition_load import read_partition_load
from planner.snapshot.importers.cruise_control.rest_answers import (
    read_cluster_state,
    read_load,
)
from planner.snapshot.importers.hardware.broker_table import read_broker_table
from planner.snapshot.importers.hardware.strimzi import read_strimzi
from planner.snapshot.importers.kafka_tools.kafka_cluster import read_endpoints
from planner.snapshot.importers.kafka_tools.kafka_configs import read_configs
from planner.snapshot.importers.kafka_tools.kafka_features import read_features
from planner.snapshot.importers.kafka_tools.kafka_log_dirs import read_log_dirs
from planner.snapshot.importers.kafka_tools.kafka_quorum import read_quorum
from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from planner.snapshot.importers.kafka_tools.kcat import read_kcat
from planner.snapshot.importers.kafka_tools.reassignment_json import read_assignment
from planner.snapshot.importers.metrics.prometheus import read_prometheus
from planner.snapshot.importers.metrics.rates_table import read_rates
from support.monitoring import (
    BROKER_SETS,
    CAPACITY,
    CAPACITY_CORES,
    LOAD,
    PARTITION_LOAD,
    POOLS,
    STATE,
    encoded,
)
from support.samples import COVERED, READERS, SAMPLES, records_of, refusal, words

EVERY = [
    # The longest text: of a short line the rest may be missed by nobody.
    pytest.param(r, max(d, key=len), id=r.__name__)
    for r, d in READERS.items()
]
EVERY += [
    pytest.param(read_strimzi, data, id="read_strimzi-topics")
    for data in READERS.get(read_strimzi, ())[1:]
]
OLD_TOPICS = b"""Topic:foo\tPartitionCount:1\tReplicationFactor:1\tConfigs:
\tTopic: foo\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1
"""


def told(source):
    columns = source.partitions
    return (
        source.header,
        [(r.key, r.values) for r in records_of(source)],
        columns and (list(columns.topics), list(columns.partitions), columns.values),
        source.series,
    )


def first(reader):
    return READERS[reader][0]


def check(error):
    """A refusal says file, rule and remedy."""
    assert error.problems
    for problem in error.problems:
        assert problem.file == "given.txt"
        assert problem.rule
        assert problem.remedy, words(error)
    return error


@pytest.mark.parametrize(("reader", "data"), EVERY)
def test_truncated(reader, data):
    whole = data.rstrip()
    if reader is read_assignment:
        # Below the current assignment nothing is read, so that may be cut.
        whole = whole[: whole.index(b"}]}")]

    for length in (len(whole) - 1, len(whole) * 2 // 3, len(whole) // 3):
        check(refusal(reader, whole[:length]))


@pytest.mark.parametrize(("reader", "data"), EVERY)
def test_columns_cut_by_a_narrow_terminal(reader, data):
    lines = data.split(b"\n")
    width = max(map(len, lines)) // 2

    error = check(refusal(reader, b"\n".join(line[:width] for line in lines)))

    assert any(problem.place for problem in error.problems)


@pytest.mark.parametrize(("reader", "data"), EVERY)
@pytest.mark.parametrize("width", [20, 40])
def test_lines_wrapped_by_a_narrow_terminal(reader, data, width):
    pieces = [
        line[at : at + width]
        for line in data.split(b"\n")
        for at in range(0, max(1, len(line)), width)
    ]
    wrapped = b"\n".join(pieces)
    is_json = data.startswith(b"{")

    try:
        source = reader(wrapped, file="given.txt")
    except ValueError as error:
        check(error)
        return
    # Blanks do no harm between the words of JSON, and short lines are not wrapped.
    assert is_json or wrapped == data
    assert told(source) == told(reader(data, file="given.txt"))


@pytest.mark.parametrize(("reader", "data"), EVERY)
def test_two_outputs_in_one_file(reader, data):
    check(refusal(reader, data + data))


def with_(document, **changed):
    return encoded({**document, **changed})


MIXED = {
    read_topics: first(read_topics) + OLD_TOPICS,
    read_log_dirs: first(read_log_dirs).replace(b'"version":1', b'"version":2'),
    read_endpoints: (SAMPLES / "cluster-list-endpoints.txt").read_bytes()
    + b"ID HOST PORT RACK ENDPOINT_TYPE\n7 k7 9092 r1 broker\n",
    read_configs: first(read_configs) + b"Configs for topic other are:\n",
    read_features: first(read_features).replace(b"SupportedMinVersion", b"Min", 1),
    read_quorum: first(read_quorum).replace(b'[{"id": 100', b'[7, {"id": 100'),
    read_assignment: b'{"version":2,"partitions":[{"topic":"a","partition":0,'
    b'"replicas":[1]}]}',
    read_kcat: first(read_kcat).replace(b'[{"id":3},{"id":1}]', b"[3,1]"),
    read_broker_table: first(read_broker_table) + b"4,a,,2TB,100MB/s,8\n",
    read_rates: first(read_rates) + b"orders,2,1\n",
    read_capacity: encoded(
        {
            "brokerCapacities": [
                *CAPACITY["brokerCapacities"][:1],
                {**CAPACITY_CORES["brokerCapacities"][0], "brokerId": "7"},
            ]
        }
    ),
    read_broker_sets: with_(BROKER_SETS, brokerSets=[{"brokerSetId": "x", "ids": [1]}]),
    read_cluster_state: with_(STATE, version=2),
    read_load: with_(LOAD, version=2),
    read_partition_load: with_(PARTITION_LOAD, version=2),
    read_prometheus: encoded(
        {
            "status": "success",
            "data": {
                "resultType": "vector",
                "result": [
                    {
                        "metric": {"planner": "in", "topic": "a"},
                        "value": [1, "2"],
                        "values": [[1, "2"]],
                    }
                ],
            },
        }
    ),
    read_strimzi: POOLS.replace(b"nodeIds", b"nodes", 1),
}


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_mixed_versions(reader):
    check(refusal(reader, MIXED[reader]))


OTHERS = [
    pytest.param(reader, other, id=f"{reader.__name__}-{other.__name__}")
    for reader in READERS
    for other in READERS
    if reader is not other
]


@pytest.mark.parametrize(("reader", "other"), OTHERS)
def test_output_of_another_command(reader, other):
    for data in READERS[other]:
        check(refusal(reader, data))


@pytest.mark.parametrize(
    "reader", [r for r in READERS if r not in COVERED], ids=lambda r: r.__name__
)
def test_output_of_any_of_kafka_s_tools(reader):
    for path in sorted(SAMPLES.iterdir()):
        check(refusal(reader, path.read_bytes()))


def test_every_importer_has_every_row():
    from planner.snapshot.importers.load_files import READERS as LOADED

    # A folder of Cruise Control's answers is read by three.
    of_folders = {read_cluster_state, read_load, read_partition_load}
    assert READERS.keys() == set(LOADED.values()) | of_folders
    assert MIXED.keys() == READERS.keys()


def test_every_importer_has_an_option():
    from planner.cli.snapshot.snapshot_import import FILES, FOLDERS
    from planner.snapshot.importers.load_files import READERS as LOADED

    assert FILES.keys() == LOADED.keys() | FOLDERS


def test_json_may_stand_on_many_lines():
    for reader in (read_kcat, read_log_dirs, read_capacity):
        text = (
            first(reader).split(b"\n", 2)[-1]
            if reader is read_log_dirs
            else first(reader)
        )
        pretty = json.dumps(json.loads(text), indent=2).encode() + b"\n"

        assert told(reader(pretty, file="f")) == told(reader(text, file="f"))
