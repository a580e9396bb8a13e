"""What fewer bytes would leave out of band."""

import itertools

import pytest

from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from planner.plan.screen.trade_off import TradeOff, trade_off, trade_off_lines
from planner.snapshot import Snapshot
from support.commands import run
from support.plans import planned_for, skewed_document, write_document

DOCUMENT = skewed_document(num_brokers=6, num_partitions=30, seed=1)
QUICK = ("--trade-off", "--effort", "quick")
STATE = Snapshot.from_document(DOCUMENT).to_state()


@pytest.fixture(scope="module")
def curve() -> list[TradeOff]:
    request = PlanRequest(goal="rebalance", effort="quick")
    return trade_off(STATE, request, make(STATE, request))


def test_more_bytes_come_nearer_to_the_bands(curve):
    assert len(curve) > 3
    for less, more in itertools.pairwise(curve):
        assert less.bytes < more.bytes
        assert (less.deviation, less.brokers_out) > (more.deviation, more.brokers_out)


def test_every_point_keeps_to_its_cap_and_is_the_plan_of_that_cap(curve):
    for point in curve[:-1]:
        assert point.bytes <= point.max_bytes
        planned = planned_for(
            DOCUMENT, "rebalance", max_bytes=str(point.max_bytes), effort="quick"
        )
        assert planned.is_ok
        assert planned.plan.moves["bytes"] == point.bytes
        assert planned.plan.moves["replicas"] == point.replicas


def test_the_last_point_is_as_good_as_the_plan_itself(curve):
    whole = planned_for(DOCUMENT, "rebalance", effort="quick").plan

    assert curve[-1].bytes <= whole.moves["bytes"]
    assert curve[-1].deviation <= whole.placed.solution.certificate.deviation.value


def test_where_nothing_is_to_be_copied_there_is_one_point():
    request = PlanRequest(goal="rebalance", band=("9",), effort="quick")

    curve = trade_off(STATE, request, make(STATE, request))

    assert [(point.bytes, point.replicas) for point in curve] == [(0, 0)]
    assert len(list(trade_off_lines(curve))) == 2


@pytest.mark.not_quick
def test_the_command_shows_it_in_both_forms(capsys, tmp_path, monkeypatch):
    write_document(DOCUMENT, tmp_path / "s.json")
    monkeypatch.chdir(tmp_path)

    text = run(capsys, "plan", "rebalance", "s.json", *QUICK).out
    found = run(
        capsys, "plan", "rebalance", "s.json", *QUICK, "--format", "json"
    ).document

    assert "Trade-off" in text
    assert max(map(len, text.splitlines())) <= 80
    assert found["trade_off"][0].keys() == {
        "max_bytes",
        "bytes",
        "replicas",
        "deviation",
        "brokers_out",
    }
    assert found["trade_off"][-1]["bytes"] <= found["moves"]["bytes"]
