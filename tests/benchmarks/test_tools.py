"""The comparison with other tools: its table is what the code writes today."""

from pathlib import Path

import pytest

from benchmarks import cruise_control, tools
from support.profile import sampled

PAGE = Path(__file__).parents[2] / "docs" / "comparison.md"


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(tools.INSTANCES))
def test_the_page_has_the_rows_of_today(name):
    page = PAGE.read_text(encoding="utf-8")

    for answer in tools.answers(name):
        assert tools.row_text(name, answer) in page


def test_the_copies_of_cruise_control_are_those_that_were_published():
    for name in tools.INSTANCES:
        theirs = cruise_control.read_plan(name)
        before = cruise_control.read_cluster(name)

        counted = tools._answer(before, "theirs", theirs.after)

        assert counted.copies == theirs.moves == theirs.published["moved"]
        assert counted.copied_bytes == theirs.copied_bytes
        assert counted.copied_bytes / 1e9 == pytest.approx(theirs.published["gb"])


@pytest.mark.parametrize("name", tools.INSTANCES)
def test_recorded_plans_start_from_the_clusters_and_keep_the_replication_factor(name):
    before = cruise_control.read_cluster(name)
    now = {
        before.name_of(p): tuple(before.brokers_of(p))
        for p in range(before.num_partitions)
    }
    known = set(before.brokers.ids.tolist())

    recorded = tools.recorded_plans(name)

    assert recorded
    for path in recorded.values():
        rows = list(cruise_control.read_lists(path))
        assert len(dict(rows)) == len(rows)
        for (topic, number), (old, new) in rows:
            assert old == now[f"{topic}-{number}"] != new
            assert len(set(new)) == len(new) == len(old)
            assert set(new) <= known


def test_every_recorded_plan_is_in_the_table():
    shown = {
        path for name in tools.INSTANCES for path in tools.recorded_plans(name).values()
    }
    folders = {path.parent for path in shown}

    kept = {path for folder in folders for path in folder.glob("*.plan.csv.gz")}

    assert shown == kept


def test_partitions_with_two_replicas_in_a_rack_are_counted():
    before = cruise_control.read_cluster("S_c")
    together = before.replicas.broker_idx.copy()
    together[1] = next(
        b
        for b in range(before.num_brokers)
        if b != together[0]
        and before.brokers.rack_idx[b] == before.brokers.rack_idx[together[0]]
    )

    found = tools.sharing_a_rack(cruise_control.with_lists(before, together))

    assert found == tools.sharing_a_rack(before) + 1 == 1
