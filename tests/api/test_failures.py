"""Failures from Python: the same as the command, as tables."""

import pytest

import planner
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from planner.snapshot import Snapshot
from support.commands import run

FORMAT = {"format": "kafka-planner/snapshot", "version": 1}


@pytest.fixture(scope="module")
def snapshot():
    return planner.read_snapshot(SNAPSHOT_FILE)


@pytest.fixture(scope="module")
def found(snapshot):
    return planner.try_failures(snapshot)


def test_every_failure_is_a_row_the_worst_first(found):
    rows = found.table.to_rows()

    for kind, listed in found.document["single"].items():
        mine = [row for row in rows if row["kind"] == kind]
        assert [row["lost"] for row in mine] == [one["lost"][0] for one in listed]
        for row, one in zip(mine, listed, strict=True):
            assert row["and_lost"] is None
            assert row["at_min_isr"] == one["at_min_isr"]
            assert row["survives"] == one["survives"]
            assert row["out_broker"] == one["busiest"]["out"]["broker"]
            assert row["out_most"] == pytest.approx(one["busiest"]["out"]["use"])
            assert row["leaders_most"] == one["busiest"]["leaders"]["load"]
            full = one["fullest_when_rebuilt"]["disk"]
            assert row["disk_rebuilt"] == pytest.approx(full)
    assert len(rows) == sum(map(len, found.document["single"].values()))


def test_every_pair_is_a_row(found):
    rows = found.pairs.to_rows()

    for kind, told in found.document["pairs"].items():
        mine = [row for row in rows if row["kind"] == kind]
        assert len(mine) == told["looked_at"]
        worst = [one["lost"] for one in told["worst"]]
        assert [[r["lost"], r["and_lost"]] for r in mine[: len(worst)]] == worst


def test_without_pairs_there_are_their_columns(snapshot):
    found = planner.try_failures(snapshot, pairs=False)

    assert found.pairs.to_rows() == []
    assert found.pairs.to_arrow().schema == found.table.to_arrow().schema


def test_a_text_is_one_name(snapshot):
    lost = planner.lose(snapshot, log_dirs="4:/data/d1", racks="b")

    assert lost.document["lost"] == ["rack b", "log dir 4:/data/d1"]


def test_the_verdict_is_that_of_the_command(found, capsys):
    outcome = run(capsys, "failures", SNAPSHOT_FILE, "--format", "json")

    told = {kind: one["survives"] for kind, one in outcome.document["verdict"].items()}
    assert dict(found.survives) == told
    assert found.is_ok is (outcome.code == 0) is False


def test_a_loss_is_that_of_the_command(snapshot, capsys):
    lost = planner.lose(snapshot, brokers=[7], racks=["b"], clean_shutdown=True)
    words = ("--broker", "7", "--rack", "b", "--clean-shutdown", "--format", "json")

    told = run(capsys, "failures", SNAPSHOT_FILE, *words).document

    clock = {"data_age_s"}
    mine = {key: value for key, value in lost.document.items() if key not in clock}
    assert mine == {key: value for key, value in told.items() if key not in clock}
    stages = {row["stage"]: row for row in lost.stages.to_rows()}
    assert list(stages) == ["now", "lost", "returned", "elected"]
    assert stages["lost"]["under_min_isr"] == told["stages"]["lost"]["under_min_isr"]
    assert stages["lost"]["out_broker"] == told["binding"]["broker"]
    assert len(lost.partitions) == told["num_partitions"]
    leaders = [row["leader"] for row in lost.partitions.to_rows()]
    assert leaders == [one["leader"] for one in told["partitions"]]


def test_the_cluster_of_a_stage_can_be_asked_further(snapshot):
    lost = planner.lose(snapshot, brokers=[7])

    after = lost.cluster("lost")

    states = {row["id"]: row["state"] for row in after.brokers.to_pylist()}
    assert states[7] == "fenced"
    assert planner.lose(after, brokers=[8]).document["caused"]["under_min_isr"] > 0
    # What is said once still holds; of the controllers nobody knows who is left.
    said = snapshot.header()
    quorum = said.pop("controllers")
    assert (len(quorum), after.header()) == (3, said)
    assert lost.cluster("returned").header() == snapshot.header()


def test_unknown_values_are_null():
    brokers = [{"id": broker} for broker in (1, 2, 3)]
    topic = {"name": "t", "partitions": [{"partition": 0, "replicas": [1, 2]}]}
    blind = Snapshot.from_document({"brokers": brokers, "topics": [topic]} | FORMAT)

    rows = planner.try_failures(blind, pairs=False).table.to_rows()

    unknown = ("rebuilt_bytes", "rebuild_s", "out_most", "out_broker", "disk_rebuilt")
    assert {row[name] for row in rows for name in unknown} == {None}
    assert rows[0]["leaders_most"] == 1


def test_it_reads_well_in_a_notebook(snapshot, found):
    lost = planner.lose(snapshot, brokers=[7])

    for each in (found, lost):
        assert max(map(len, repr(each).splitlines())) <= 80
        assert "Next" not in repr(each)
        assert each._repr_html_().startswith("<pre>Snapshot &quot;orders-eu")
    assert "N-1 rack   no" in repr(found)
    assert "<table>" in found.table._repr_html_()


def test_problems_name_arguments(snapshot):
    with pytest.raises(BadInputError) as caught:
        planner.lose(snapshot, brokers=[77], racks=["B"], bandwidth="fast")
    with pytest.raises(ValueError, match="nothing is lost"):
        planner.lose(snapshot)

    assert [(p.place, p.remedy) for p in caught.value.problems[:2]] == [
        ("brokers", "did you mean 7?"),
        ("racks", "did you mean b?"),
    ]
