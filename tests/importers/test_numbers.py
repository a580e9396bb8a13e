"""Numbers as other tools write them, by one reader wherever they stand."""

import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import BadInputError, InputProblem
from planner.fleet.dumps.dump_rejects import Reject, Scope, folded_rejects
from planner.fleet.dumps.rate_rows import read_rows
from planner.io.problem_folding import folded
from planner.snapshot.formats.number_text import finite_number, whole_number
from planner.snapshot.importers.cruise_control.capacity_files import read_capacity
from planner.snapshot.importers.hardware.broker_table import read_broker_table
from planner.snapshot.importers.hardware.strimzi import read_strimzi
from planner.snapshot.importers.metrics.rates_table import read_rates

HEAD = "topic,partition,in_bytes_per_s,size_bytes\n"
SPELT = {
    "17-digits": ("0.12345678901234567", 0.12345678901234567),
    "negative-exponent": ("1.2345e-05", 1.2345e-05),
    "exponent": ("1.0E+07", 1e7),
    "three-digits-of-exponent": ("1e-300", 1e-300),
    "java": ("1.1234567890123457E8", 1.1234567890123457e8),
    "printf": ("119999.99999999999272404238581657409667968750000", 120000.0),
    "no-leading-digit": (".5", 0.5),
    "no-digit-after-point": ("5.", 5.0),
    "plus": ("+5", 5.0),
    "least": ("5e-324", 5e-324),
    "most": ("1e18", 1e18),
}


@pytest.mark.parametrize(("text", "value"), SPELT.values(), ids=SPELT)
def test_every_number_in_range_is_taken_from_tables(text, value):
    line = f"{HEAD}orders,0,{text},1.5e3\n".encode()

    imported = read_rates(line, file="r.csv").partitions
    ingested, rejects = read_rows(line, file="r.csv")

    assert rejects == []
    for read in (imported, ingested):
        assert read.values == {"in_bytes_per_s": [value], "size_bytes": [1500]}


@given(st.floats(0, 1e18))
def test_a_rate_is_read_as_it_was_written(rate):
    for text in (repr(rate), f"{rate:.17g}", f"{rate:.17e}"):
        found = read_rates(f"{HEAD}orders,0,{text},\n".encode(), file="r.csv")

        assert found.partitions.values["in_bytes_per_s"] == [rate]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_is_read(number):
    assert finite_number(repr(number)) == number


@given(st.integers(-(2**80), 2**80))
def test_integers_are_read_exactly(number):
    assert whole_number(str(number)) == number


@pytest.mark.parametrize(
    "text", ["", "e5", ".", "1e", "0x10", "1_000", "\u0661", "1e999"]
)
def test_what_is_no_finite_number_is_none(text):
    assert finite_number(text) is None


def test_capacities_with_exponents_are_taken():
    capacity = {"DISK": "1e6", "NW_IN": 1e-05, "NW_OUT": "1.2345678901234567E4"}
    entry = {"brokerId": "1", "capacity": capacity | {"CPU": {"num.cores": "8e0"}}}
    document = {"brokerCapacities": [entry]}

    (read,) = read_capacity(json.dumps(document).encode(), file="c.json").brokers

    assert read.values["disk_bytes"] == 2**20 * 10**6
    assert math.isclose(read.values["in_bytes_per_s"], 1e-05 * 1024)
    assert math.isclose(read.values["out_bytes_per_s"], 12345.678901234567 * 1024)
    assert read.values["cpu_cores"] == 8


def test_brokers_of_a_table_have_capacities_with_exponents():
    text = "id,disk_bytes,in_bytes_per_s,cpu_cores\n1,1.5E+12,1.25e8,7.50000000000001\n"

    (read,) = read_broker_table(text.encode(), file="b.csv").brokers

    expected = {"disk_bytes": 1500000000000, "in_bytes_per_s": 1.25e8}
    assert read.values == expected | {"cpu_cores": 7.50000000000001}


def test_quantities_of_kubernetes_have_exponents():
    pool = {
        "apiVersion": "kafka.strimzi.io/v1beta2",
        "kind": "KafkaNodePool",
        "metadata": {"name": "p", "labels": {"strimzi.io/cluster": "c"}},
        "spec": {
            "replicas": 1,
            "roles": ["broker"],
            "storage": {"type": "persistent-claim", "size": "1.5e12"},
            "resources": {"limits": {"cpu": "25e-1"}},
        },
        "status": {"nodeIds": [0]},
    }

    read = read_strimzi(json.dumps(pool).encode(), file="p.json")

    assert [record.values["cpu_cores"] for record in read.brokers] == [2.5]
    assert [record.values["size_bytes"] for record in read.log_dirs] == [1.5e12]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("-1e-5", "-1e-5", id="negative"),
        pytest.param("1e19", "1e19", id="too-high"),
        pytest.param("Infinity", "Infinity", id="infinite"),
        pytest.param("5.5.5GB", "5.5.5GB", id="no-number"),
        pytest.param("hunter2", "text of 7 characters", id="may-be-a-secret"),
    ],
)
def test_a_message_always_shows_the_value(text, shown):
    with pytest.raises(BadInputError) as caught:
        read_rates(f"{HEAD}orders,0,{text},\n".encode(), file="r.csv")

    assert [problem.value for problem in caught.value.problems] == [shown]


@pytest.mark.parametrize("value", [float("nan"), -1e-5, float("inf")])
def test_a_message_shows_the_value_of_parquet(value):
    table = pa.table({"topic": ["t"], "partition": [0], "in_bytes_per_s": [value]})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)

    with pytest.raises(BadInputError) as caught:
        read_rates(sink.getvalue().to_pybytes(), file="r")

    assert [problem.value for problem in caught.value.problems] == [str(value)]


def bad_lines(count):
    return "".join(f"t,{n},-{n},-5\n" for n in range(1, count + 1))


def test_rejects_of_one_kind_are_one_row_with_their_count():
    data = f"{HEAD}t,0,1,1\n{bad_lines(3)}".encode()
    _, rejects = read_rows(data, file="r.csv")

    found = folded_rejects(rejects)

    told = [(each.problem.place, each.problem.value, each.count) for each in found]
    assert told == [
        ("line 3, in_bytes_per_s", "-1", 3),
        ("line 3, size_bytes", "-5", 3),
    ]


def test_files_columns_and_rules_are_distinguished():
    kinds = [
        ("a.csv", "line 2, size_bytes", "must be bytes"),
        ("a.csv", "line 2, in_bytes_per_s", "must be bytes"),
        ("b.csv", "line 2, size_bytes", "must be bytes"),
        ("a.csv", "line 3", "must have 4 cells, as the heading has; it has 3"),
        ("a.csv", "line 9", "must have 4 cells, as the heading has; it has 2"),
    ]
    problems = [
        InputProblem(file=file, place=place, value="", rule=rule, remedy="")
        for file, place, rule in kinds
    ]

    rejects = folded_rejects(Reject(scope=Scope.ROW, problem=p) for p in problems)
    told = folded(problems)

    assert [reject.count for reject in rejects] == [1, 1, 1, 2]
    assert told[:3] == problems[:3]
    assert told[3].rule == f"{kinds[3][2]}; 2 are so, this is the first"
