"""What-if and sizing from Python: the same as the commands, as tables."""

from pathlib import Path

import pytest

import planner
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from support.commands import run
from support.plans import skewed_document, write_document
from support.scenarios import scenario

TRAFFIC = {"change": "traffic", "factor": 1.5}
FEWER = {"change": "remove-brokers", "brokers": "1"}


@pytest.fixture(scope="module")
def snapshot():
    from planner.snapshot import Snapshot

    return Snapshot.from_document(skewed_document())


@pytest.fixture(scope="module")
def found(snapshot):
    document = {
        "scenarios": [
            scenario("busy", TRAFFIC, then="nothing"),
            scenario("fewer", FEWER),
        ]
    }
    return planner.play_scenarios(
        snapshot, document, growth="10%/month", effort="quick"
    )


def test_scenarios_are_rows_of_a_table(found):
    assert found.names == ("busy", "fewer")
    rows = {row["name"]: row for row in found.table.to_rows()}
    assert list(rows) == ["today", "busy", "fewer"]
    assert rows["busy"]["in_mean_use"] == pytest.approx(
        1.5 * rows["today"]["in_mean_use"]
    )
    assert rows["fewer"]["brokers"] == 5
    assert rows["fewer"]["full_days"] > 0
    assert found.table.to_arrow().num_rows == found.table.to_polars().height == 3


def test_steps_and_prices_are_columns(snapshot):
    more = {"change": "add-brokers", "count": 1}
    document = {
        "prices": {"broker": 2.0},
        "scenarios": [
            scenario("one", more),
            scenario("two", more, then="nothing") | {"after": "one"},
        ],
    }

    found = planner.play_scenarios(snapshot, document, effort="quick")

    today, one, two = found.table.to_rows()
    assert [row["price"] for row in (today, one, two)] == [12.0, 14.0, 16.0]
    assert [row["after"] for row in (today, one, two)] == [None, None, "one"]
    assert two["copied_bytes"] == 0 < one["copied_bytes"]
    assert 0 < one["copied_between_racks"] <= one["copied_bytes"]
    assert found.cluster("two").brokers.num_rows == 8


def test_it_reads_well(found):
    lines = repr(found).splitlines()

    assert len(lines) == 4
    assert lines[0].split()[:2] == ["brk", "disk"]
    assert all(len(line) <= 80 for line in lines)


def test_figures_are_found_by_name(found):
    assert found["today"]["brokers"] == 6
    assert found.is_ok == all(row["holds"] for row in found)
    with pytest.raises(KeyError):
        found["nothing"]


def test_each_scenario_has_the_plan_of_its_figures(found):
    plan = found.plan("fewer")

    assert plan.is_ok
    assert plan.counts["bytes"] == found["fewer"]["copies"]["bytes"]
    cluster = found.cluster("fewer")
    assert planner.check_plan(plan, cluster).ok
    with pytest.raises(ValueError, match="no plan"):
        found.plan("busy")
    with pytest.raises(KeyError):
        found.plan("nothing")


def test_the_command_says_the_same(capsys, snapshot, tmp_path: Path):
    path = write_document(skewed_document(), tmp_path / "s.json")
    file = tmp_path / "s.toml"
    file.write_text(
        '[[scenarios]]\nname = "busy"\nthen = "nothing"\n'
        'changes = [{change = "traffic", factor = 1.5}]\n'
    )

    outcome = run(capsys, "what-if", path, file, "--format", "json")
    found = planner.play_scenarios(snapshot, file)

    assert outcome.document["scenarios"] == found.document["scenarios"]


def test_growth_by_topic_comes_from_what_was_measured(snapshot):
    as_is = {"scenarios": [scenario("s", then="nothing")]}

    slow = planner.play_scenarios(snapshot, as_is, growth={"a": 10.0})
    fast = planner.play_scenarios(snapshot, as_is, growth={"a": 100.0})

    first, second = (each["today"]["full"] for each in (slow, fast))
    assert (first["broker"], first["resource"]) == (second["broker"], "disk")
    assert first["days"] == pytest.approx(10 * second["days"], rel=1e-3)


def test_problems_name_arguments(snapshot):
    with pytest.raises(BadInputError) as caught:
        planner.play_scenarios(snapshot, {}, band=-1.0)

    assert caught.value.problems[0].file == "arguments"


def test_columns_have_their_types_with_any_values(snapshot, found):
    as_is = {"scenarios": [scenario("s", then="nothing")]}

    bare = planner.play_scenarios(snapshot, as_is).table.to_arrow()

    told = found.table.to_arrow()
    assert bare.schema == told.schema
    assert bare.column("full_resource").null_count == 2
    assert str(told.schema.field("copied_bytes").type) == "int64"
    assert str(told.schema.field("copy_seconds").type) == "double"
    assert "null" not in {str(field.type) for field in told.schema}


def test_growth_that_is_none_is_named_as_an_argument(snapshot):
    for ask in (
        lambda: planner.size_cluster(snapshot, growth="fast"),
        lambda: planner.play_scenarios(snapshot, {}, growth="fast"),
    ):
        with pytest.raises(BadInputError) as caught:
            ask()
        (only,) = caught.value.problems
        assert (only.file, only.place) == ("arguments", "growth")


@pytest.mark.slow
def test_clusters_say_what_the_snapshot_said():
    snapshot = planner.read_snapshot(SNAPSHOT_FILE)
    grown = {"name": "grown", "changes": [{"change": "traffic", "factor": 1.1}]}
    lost = {"name": "lost", "changes": [{"change": "lose", "racks": ["b"]}]}
    found = planner.play_scenarios(snapshot, {"scenarios": [grown, lost]})
    sized = planner.size_cluster(snapshot, survives="nothing")

    said = snapshot.header()
    assert found.cluster("grown").header() == said
    del said["controllers"]
    assert found.cluster("lost").header() == said
    # Three brokers are gone, and might be controllers.
    assert sized.placement.header() == said


def test_sizes_are_tables_too():
    snapshot = planner.read_snapshot(SNAPSHOT_FILE)

    sized = planner.size_cluster(snapshot, survives=())

    assert (sized.brokers, sized.lower_bound, sized.status) == (9, 9, "exact")
    assert [row["brokers"] for row in sized.fleet.to_rows()] == [3, 3, 3]
    assert sized.placement is not None
    assert sized.placement.brokers.num_rows == 9
    words = " ".join(repr(sized).split())
    assert "proven for disk, in and out alone (cpu unknown): nothing less" in words


def test_types_may_be_said_in_python():
    snapshot = planner.read_snapshot(SNAPSHOT_FILE)
    large = {"name": "large", "price": 2.7, "disk": "3TB"}

    sized = planner.size_cluster(snapshot, types=[large])

    assert sized.status == "exact"
    assert sized.brokers == 5
    with pytest.raises(BadInputError):
        planner.size_cluster(snapshot, types=[{"name": "large"}])
