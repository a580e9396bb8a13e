"""Loads after a loss: what is gone fetches nothing, and fetches again on return."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from placement.failures.failover import ON_RETURN
from placement.failures.failure_domains import DomainKind
from placement.failures.failure_outlook import outlook
from placement.failures.pair_failures import pair_failures
from placement.failures.single_failures import single_failures
from placement.model.cluster import BrokerState
from placement.model.load import Resource
from planner.demo import SNAPSHOT_FILE
from planner.failures.lost_sources import no_source
from support.clusters import make_state
from support.commands import run
from support.plans import write_document

OUT = 0


def failures(capsys: Any, path: Path, *options: str) -> Any:
    return run(capsys, "failures", path, *options, "--format", "json")


def test_restarting_a_broker_is_judged_by_the_followers_that_are_left(capsys):
    outcome = failures(capsys, SNAPSHOT_FILE, "--broker", "7", "--clean-shutdown")

    found = outcome.document
    assert (outcome.code, found["survives"]) == (0, True)
    assert found["pushed_over_threshold"] == 0
    lost, back = found["stages"]["lost"]["busiest"]["out"], found["on_return"]
    assert (lost["broker"], lost["use"]) == (2, pytest.approx(0.7204, abs=1e-4))
    assert found["binding"] == {
        "resource": "out",
        "broker": 2,
        "use": lost["use"],
        "threshold": 0.8,
    }
    assert back["busiest_out"]["use"] == pytest.approx(0.8278, abs=1e-4)
    assert back["over_threshold"] == 1
    # Broker 2 sends at 50 MB/s of its 150 MB/s besides, while it is a source.
    copying = back["busiest_out_while_copying"]["use"]
    assert copying == pytest.approx(back["busiest_out"]["use"] + 1 / 3)


@pytest.mark.slow
def test_a_rack_lost_at_peak_traffic_has_figures_with_and_without_its_followers(
    capsys, tmp_path: Path
):
    file = tmp_path / "s.toml"
    file.write_text(
        """
        [[scenarios]]
        name = "lost"
        then = "nothing"
        changes = [{change = "traffic", factor = 2.5}, {change = "lose", racks = ["b"]}]
        [[scenarios]]
        name = "rebuilt"
        changes = [{change = "traffic", factor = 2.5}, {change = "lose", racks = ["b"]}]
        [[scenarios]]
        name = "still lost"
        after = "lost"
        then = "nothing"
        [[scenarios]]
        name = "busy"
        then = "nothing"
        changes = [{change = "traffic", factor = 2.5}]
        """,
        encoding="utf-8",
    )

    found = run(capsys, "what-if", SNAPSHOT_FILE, file, "--format", "json").document

    lost, rebuilt, still, busy = found["scenarios"]
    for row in (lost, still):
        assert row["resources"]["out"]["max_use"] == pytest.approx(2.69, abs=0.005)
        assert row["out_on_return"]["max_use"] == pytest.approx(3.48, abs=0.005)
    # No plan carries that much: part of what was lost has no place, nor fetches.
    assert rebuilt["status"] == "infeasible"
    assert rebuilt["resources"]["out"]["max_use"] == pytest.approx(2.73, abs=0.005)
    assert rebuilt["out_on_return"]["max_use"] == pytest.approx(3.19, abs=0.005)
    for row in (found["today"], busy):
        assert row["out_on_return"] is None


def test_figures_of_one_loss_are_those_of_all(capsys):
    every = failures(capsys, SNAPSHOT_FILE).document

    for kind, option in (("broker", "--broker"), ("rack", "--rack")):
        for row in every["single"][kind][::4]:
            one = failures(capsys, SNAPSHOT_FILE, option, row["lost"][0]).document
            assert one["stages"]["lost"]["busiest"] == row["busiest"]
            for name, value in row["on_return"].items():
                assert one["on_return"][name] == value


def test_followers_that_are_offline_today_fetch_nothing_either():
    state = make_state(
        [[0, 1, 2, 3]],
        in_rate=[100.0],
        out_rate=[7.0],
        states={3: BrokerState.FENCED},
        failed=[[2]],
        isr=[[0, 1]],
        log_dirs={},
    )

    given = outlook(state)
    single = single_failures(given, DomainKind.BROKER)
    pair = pair_failures(given, DomainKind.BROKER)

    assert given.carried[0, [OUT, ON_RETURN]].tolist() == [107_000, 307_000]
    # Lost: broker 0, then 1, then 2, which served nobody.
    assert single.peaks.value[:, OUT].tolist() == [7.0, 7.0, 107.0]
    assert single.peaks.value[:, ON_RETURN].tolist() == [307.0, 307.0, 307.0]
    assert pair.peaks.value[1:, OUT].tolist() == [7.0, 7.0]


def test_a_return_that_overloads_a_broker_does_not_change_the_verdict():
    state = make_state(
        [[0, 1, 2]], in_rate=[50.0], out_rate=[10.0], broker_out=[100.0, 100.0, 100.0]
    )
    thresholds = {Resource.OUT: 0.8}

    found = single_failures(outlook(state, thresholds=thresholds), DomainKind.BROKER)

    # Broker 1 leads in place of 0: one follower is left, two fetch later.
    assert found.peaks.value[0, [OUT, ON_RETURN]].tolist() == [0.6, 1.1]
    assert found.peaks.num_over[0] == 0
    assert found.peaks.num_over_on_return[0] == 1
    assert found.is_survived[0]


def test_rates_that_are_not_known_leave_nothing_to_take_off():
    state = make_state([[0, 1, 2]], in_rate=[100.0], out_rate=[np.nan])

    found = single_failures(outlook(state), DomainKind.BROKER)

    assert found.peaks.value[:, OUT].tolist() == [0.0, 0.0, 0.0]


def test_partitions_without_a_source_are_named_and_not_rebuilt(capsys, tmp_path: Path):
    brokers = [{"id": b, "rack": "abcd"[b - 1]} for b in (1, 2, 3, 4)]
    brokers[2]["state"] = "fenced"
    # Broker 3 holds all that was written last; broker 2 has an old copy.
    stuck = {"partition": 0, "replicas": [3, 2], "isr": [3], "leader": None}
    fine = {"partition": 1, "replicas": [1, 2], "isr": [1, 2], "leader": 1}
    rows = [{**one, "size_bytes": 100} for one in (stuck, fine)]
    snapshot = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": brokers,
        "topics": [{"name": "t", "partitions": rows}],
    }
    path = write_document(snapshot, tmp_path / "s.json")

    every = failures(capsys, path).document
    lost = failures(capsys, path, "--broker", "2").document
    screen = " ".join(run(capsys, "failures", path, "--broker", "1").out.split())

    named = [{"topic": "t", "partition": 0, "last_copies": [3]}]
    assert every["no_source"] == {"count": 1, "partitions": named}
    assert lost["no_source"] == {"count": 1, "partitions": named}
    # Of broker 2's 200 bytes only those of t-1 can come from somewhere.
    assert (lost["rebuild"]["replicas"], lost["rebuild"]["bytes"]) == (1, 100)
    single = {row["lost"][0]: row for row in every["single"]["broker"]}
    assert single["2"]["rebuilt_bytes"] == 100
    assert "t-0 (last on broker 3)" in screen


def test_the_only_replica_has_the_last_copy():
    state = make_state(
        [[0], [1, 0]],
        states={0: BrokerState.DEAD},
        leaders=[None, None],
        isr=[[], []],
    )

    found = no_source(state)

    assert [one.last_copies for one in found.partitions] == [[0], []]


def test_the_demo_names_no_partition_without_a_source(capsys):
    found = failures(capsys, SNAPSHOT_FILE).document

    assert found["no_source"] == {"count": 0, "partitions": []}
    assert "No source" not in run(capsys, "failures", SNAPSHOT_FILE).out
