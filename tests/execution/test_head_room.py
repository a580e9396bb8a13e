"""Rate of copies that is chosen from the head-room of networks."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execution.simulated_runs import job, write_plan
from planner.execution.choices import Choices
from planner.execution.prepare import Prepared, prepare
from planner.execution.run.run import run
from planner.execution.simulation.simulated_admin import SimulatedAdmin
from planner.plan.input.plan_input import read_plan
from planner.snapshot import Snapshot

MB = 10**6
GB = 10**9
DEFAULT = 50 * MB


def snapshot(capacities, rates, lists) -> Snapshot:
    """Return a cluster with network capacities, in and out, and rates of producers."""
    brokers = [
        {"id": number}
        | {
            name: value
            for name, value in zip(
                ("in_bytes_per_s", "out_bytes_per_s"), both, strict=True
            )
            if value is not None
        }
        for number, both in enumerate(capacities, start=1)
    ]
    partitions = [
        {"partition": n, "replicas": list(row), "size_bytes": 100 * MB}
        | ({} if rate is None else {"in_bytes_per_s": rate, "out_bytes_per_s": rate})
        for n, (row, rate) in enumerate(zip(lists, rates, strict=True))
    ]
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "simulated",
        "brokers": brokers,
        "topics": [{"name": "t", "partitions": partitions}],
    }
    return Snapshot.from_document(document)


def prepared(folder: Path, now: Snapshot, before, after, **choices) -> Prepared:
    plan = write_plan(folder, before, after)
    return prepare(read_plan(plan), now, Choices(**choices))


FULL = [(GB, GB)] * 4
ONE = ([(1, 2)], [(1, 3)])


def test_the_tightest_end_decides_and_traffic_in_sync_comes_on_top(tmp_path):
    now = snapshot([(GB, 100 * MB), *FULL[1:]], [10 * MB], ONE[0])

    found = prepared(tmp_path, now, *ONE)

    # Broker 1 sends 10 MB/s to readers and to a follower each: 80 - 20 are left; in
    # sync it sends to the follower and to the new replica.
    assert found.least_rate.bytes_per_s == 20 * MB
    assert found.rate_bytes_per_s == 80 * MB
    assert found.notes == (
        "the rate was chosen from head-room: 60 MB/s out of broker 1, and what "
        "replicas in sync take",
    )
    assert found.is_ready


def test_a_broker_without_room_has_a_hundredth_of_its_capacity(tmp_path):
    now = snapshot([(GB, 20 * MB), *FULL[1:]], [10 * MB], ONE[0])

    found = prepared(tmp_path, now, *ONE)

    assert found.rate_bytes_per_s == 20 * MB + 200_000
    assert found.is_ready


def test_no_rate_of_our_own_is_above_a_gigabyte_of_copies(tmp_path):
    now = snapshot([(90 * GB, 90 * GB)] * 4, [10 * MB], ONE[0])

    assert prepared(tmp_path, now, *ONE).rate_bytes_per_s == GB + 20 * MB


@pytest.mark.parametrize(
    ("capacities", "rates"),
    [
        pytest.param([(None, None)] * 4, [10 * MB], id="no-capacities"),
        pytest.param([*FULL[:2], (None, GB), FULL[3]], [10 * MB], id="one-receiver"),
        pytest.param(FULL, [None], id="no-rates"),
    ],
)
def test_the_default_says_that_something_is_unknown(tmp_path, capacities, rates):
    found = prepared(tmp_path, snapshot(capacities, rates, ONE[0]), *ONE)

    assert found.rate_bytes_per_s == DEFAULT
    assert found.notes == (
        "the rate is the default: network capacities or loads are unknown",
    )


def test_capacities_and_loads_of_the_plan_count_where_the_cluster_knows_none(tmp_path):
    plan = write_plan(tmp_path, *ONE)
    document = json.loads((plan / "plan.json").read_text())
    end = {"capacity": 100 * MB, "load": 30 * MB}
    rows = [{"broker": b, "in": end, "out": end} for b in (1, 2, 3, 4)]
    document["before"] = {"by_broker": rows}
    (plan / "plan.json").write_text(json.dumps(document))
    now = snapshot([(None, None)] * 4, [None], ONE[0])

    found = prepare(read_plan(plan), now, Choices())

    assert found.rate_bytes_per_s == 50 * MB
    assert "50 MB/s" in found.notes[0]


def test_what_was_given_is_not_chosen(tmp_path):
    now = snapshot(FULL, [10 * MB], ONE[0])

    given = prepared(tmp_path, now, *ONE, rate_bytes_per_s=30 * MB)
    none = prepared(tmp_path, now, *ONE, has_throttle=False)
    idle = prepared(tmp_path, now, [(1, 2)], [(2, 1)])

    assert (given.rate_bytes_per_s, given.notes) == (30 * MB, ())
    assert none.notes == ()
    assert (idle.rate_bytes_per_s, idle.notes) == (DEFAULT, ())


def test_a_run_sets_the_rate_that_the_preview_shows(tmp_path):
    now = snapshot(FULL, [10 * MB], ONE[0])
    found = prepared(tmp_path, now, *ONE)
    one = replace(job(tmp_path / "plan"), choices=Choices())

    events = list(run(one, SimulatedAdmin(now)))

    assert events[0].throttle_bytes_per_s == found.rate_bytes_per_s
    assert events[-1].status == "completed"


rates = st.integers(0, 50).map(lambda n: n * MB)
capacities = st.integers(1, 200).map(lambda n: n * 10 * MB)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(capacities, capacities), min_size=5, max_size=5),
    st.lists(st.tuples(st.permutations(range(1, 6)), rates), min_size=1, max_size=6),
)
def test_a_chosen_rate_makes_progress_and_keeps_every_threshold(
    tmp_path_factory, given_capacities, rows
):
    before = [tuple(row[:2]) for row, _ in rows]
    after = [(row[0], row[2]) for row, _ in rows]
    now = snapshot(given_capacities, [rate for _, rate in rows], before)

    found = prepared(tmp_path_factory.mktemp("rate"), now, before, after)

    came = dict.fromkeys(range(1, 6), 0)
    sent = dict(came)
    for (first, second), (_, rate) in zip(before, rows, strict=True):
        came[first] += rate
        came[second] += rate
        sent[first] += 2 * rate  # to its follower, and to what reads
    pace = found.rate_bytes_per_s - found.least_rate.bytes_per_s
    assert pace > 0
    assert found.is_ready
    ends = {(row[2], 0) for row in (r for r, _ in rows)}
    ends |= {(row[0], 1) for row, _ in rows}
    for broker, way in ends:
        capacity, load = given_capacities[broker - 1][way], (came, sent)[way][broker]
        room = max(0.8 * capacity - load, 0.01 * capacity)
        assert pace <= room + 1
    assert (
        any(
            pace
            >= max(
                0.8 * given_capacities[b - 1][w] - (came, sent)[w][b],
                0.01 * given_capacities[b - 1][w],
            )
            - 1
            for b, w in ends
        )
        or pace == GB
    )
