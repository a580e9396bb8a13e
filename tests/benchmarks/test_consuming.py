from dataclasses import replace

import pytest

from benchmarks.consuming import (
    HEADER,
    MARKERS,
    OURS,
    THEIRS,
    Consumed,
    is_met,
    measure,
    row_text,
)
from benchmarks.consuming_cases import CONSUMING, SMOKE, Consuming, make_group
from benchmarks.run import ROOT

ROW = Consuming(num_partitions=10, num_members=2, must_s=0.1, must_ratio=1.02)
FOUND = Consumed(
    name=ROW.name,
    assignor=OURS,
    seed=1,
    wall_s=4.0,
    cpu_s=0.05,
    peak_bytes=2**20,
    most=5.0,
    least=5.0,
    mean=5.0,
    busiest_ratio=1.0,
    moved=2,
    moved_ratio=1.01,
    num_findings=0,
)


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{at} {row.name}") for at, row in enumerate(SMOKE)]
)
def test_every_kind_is_assigned_small(row):
    found = measure(row, 1, num_runs=1)

    assert [one.assignor for one in found] == [OURS, THEIRS][: 1 + row.is_compared]
    assert not any(one.num_findings for one in found)
    ours = found[0]
    if not row.is_weighted:
        assert ours.busiest_ratio == ours.moved_ratio == 1
        assert ours.most - ours.least <= 1 or row.topics_each
    # What is compared is told what members had: it keeps that as well as it can.
    assert all(one.moved <= row.num_partitions / 10 for one in found)


def test_members_that_left_own_nothing_and_newcomers_neither():
    left = make_group(SMOKE[1], 1)
    joined = make_group(SMOKE[2], 1)

    assert left.num_members == 19
    assert len(left.owned.idx) < left.num_partitions
    assert joined.num_members == 20
    assert len(joined.owned.idx) == joined.num_partitions
    assert min(joined.owned.counts.tolist()) == 0


def test_the_same_seed_makes_the_same_group():
    first, again, other = (make_group(SMOKE[3], seed) for seed in (1, 1, 2))

    assert first.subscribed.idx.tolist() == again.subscribed.idx.tolist()
    assert first.subscribed.idx.tolist() != other.subscribed.idx.tolist()


def test_names_of_rows_differ():
    assert len({row.name for row in CONSUMING}) == len(CONSUMING)


def test_no_aim_is_above_its_must():
    assert all(row.aim_s <= row.must_s for row in CONSUMING)


@pytest.mark.parametrize(
    ("changes", "limits", "is_so"),
    [
        pytest.param({}, {}, True, id="waited-for-others"),
        pytest.param({"cpu_s": 0.2}, {}, False, id="slow"),
        pytest.param({"moved_ratio": 1.03}, {}, False, id="moves-too-much"),
        pytest.param({"busiest_ratio": 1.001}, {}, False, id="too-busy"),
        pytest.param({"num_findings": 1}, {}, False, id="refused-by-the-checker"),
        pytest.param(
            {"busiest_ratio": 1.04, "most": 5.2}, {"must_even": 1.05}, True, id="even"
        ),
        pytest.param({"most": 5.3}, {"must_even": 1.05}, False, id="uneven"),
    ],
)
def test_what_counts_as_met(changes, limits, is_so):
    row, found = replace(ROW, **limits), [replace(FOUND, **changes)]

    assert is_met(row, found) is is_so
    assert row_text(row, found).endswith("| yes |" if is_so else "| **no** |")
    assert row_text(row, found).count("|") == HEADER.splitlines()[0].count("|")


def test_the_page_has_a_place_for_the_table():
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")

    assert all(page.count(marker) == 1 for marker in MARKERS)
