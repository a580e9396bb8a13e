"""Charts of results, and how notebooks show them."""

import json

import pytest

import planner
from planner import extras
from planner.demo import SNAPSHOT_FILE
from support.commands import run

SCENARIOS = {
    "scenarios": [
        {
            "name": "<b>peak</b>",
            "then": "nothing",
            "changes": [{"change": "traffic", "factor": 1.5}],
        }
    ]
}


@pytest.fixture(scope="module")
def snapshot():
    return planner.read_snapshot(SNAPSHOT_FILE)


@pytest.fixture(scope="module")
def plan(snapshot):
    return planner.rebalance(snapshot)


@pytest.fixture(scope="module")
def results(snapshot, plan):
    return {
        "plan": plan,
        "score": planner.score_cluster(snapshot, band=0.2),
        "scenarios": planner.play_scenarios(snapshot, SCENARIOS),
    }


def titles(chart):
    return [each["title"]["text"] for each in chart.to_dict()["concat"]]


@pytest.mark.slow
def test_a_plan_is_plotted_by_broker_or_rack(plan):
    assert titles(plan.plot())[0] == "disk by broker, % of capacity"
    assert titles(plan.plot("rack"))[-1] == "leaders by rack, leaders"


@pytest.mark.not_quick
def test_a_chart_has_the_numbers_of_the_table(plan):
    spec = plan.plot().to_dict()
    rows = spec["datasets"][spec["concat"][0]["data"]["name"]]

    disk = [row for row in plan.brokers.to_rows() if row["resource"] == "disk"]
    for row, cell in zip(rows, disk, strict=True):
        assert row["now"] == pytest.approx(
            100 * cell["load_after"] / cell["capacity"], abs=1e-3
        )
        assert row["before"] == pytest.approx(
            100 * cell["load_before"] / cell["capacity"], abs=1e-3
        )


def test_a_level_that_is_not_there_is_named(plan):
    with pytest.raises(ValueError, match="no 'log dir' to plot, only 'broker', 'rack'"):
        plan.plot("log dir")


def test_a_score_has_log_dirs_too(results):
    assert titles(results["score"].plot("log dir")) == [
        "disk by log dir, % of capacity"
    ]


def test_a_score_is_that_of_the_command(capsys, results):
    options = ["--band", "0.2", "--format", "json"]
    printed = run(capsys, "score", SNAPSHOT_FILE, *options).document

    document = {**results["score"].document}

    for each in (document, printed):
        del each["data_age_s"]
    assert json.loads(json.dumps(document)) == printed
    assert repr(results["score"]).splitlines()[0].startswith("Cluster    orders-eu")


def test_wrong_arguments_of_a_score_are_named(snapshot):
    with pytest.raises(planner.errors.BadInputError, match="band"):
        planner.score_cluster(snapshot, band={"disk": -1})


def test_scenarios_are_plotted_beside_today(results):
    chart = results["scenarios"].plot().to_dict()

    assert [each["title"]["text"].split()[0] for each in chart["concat"]] == [
        "disk",
        "in",
        "out",
    ]


@pytest.mark.not_quick
@pytest.mark.parametrize("name", ["plan", "score", "scenarios"])
def test_notebooks_show_the_charts(results, name):
    html = results[name]._repr_html_()

    assert html.count("<svg") >= 3
    assert "<b>peak" not in html


@pytest.mark.parametrize("name", ["plan", "score", "scenarios"])
def test_without_the_extra_notebooks_show_the_words_alone(monkeypatch, results, name):
    monkeypatch.setattr(extras, "find_spec", lambda _: None)

    assert "<svg" not in results[name]._repr_html_()
    assert "<pre>" in results[name]._repr_html_()
    with pytest.raises(planner.errors.BadInputError, match=r"kafka-planner\[report\]"):
        results[name].plot()
