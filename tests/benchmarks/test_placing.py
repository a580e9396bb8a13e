from dataclasses import replace

import numpy as np
import pytest

from benchmarks import cruise_control
from benchmarks.comparing import compared_text, their_row
from benchmarks.exact_bounds import key_of, known
from benchmarks.placing import HEADER, growth_lines, is_within, row_text
from benchmarks.placing_cases import FREE, PLACINGS, SMOKE, Limits, Placing
from benchmarks.placing_measures import Placed, measure
from support.profile import sampled

FOUND = Placed(
    name="S(a) 5 %",
    seed=1,
    wall_s=4.0,
    cpu_s=0.5,
    bound_s=0.1,
    peak_bytes=2**20,
    moves=10,
    copied_bytes=10**9,
    ratio=1.01,
    brokers_out=0,
    furthest=0.0,
    least_furthest=0.0,
    status="feasible",
    num_findings=0,
)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in SMOKE])
def test_every_family_is_planned_small(tmp_path, row):
    found = measure(row, 1, tmp_path)

    assert found.ratio >= 1
    assert found.num_findings == 0
    # The others may be within so wide a band from the start.
    assert found.moves > 0 or row.family in {"c", "d", "e", "g"}
    assert (found.brokers_out == 0) == (found.furthest == 0)


def test_names_of_rows_differ():
    assert len({row.name for row in PLACINGS}) == len(PLACINGS)


def test_no_aim_is_below_its_must():
    for row in PLACINGS:
        if row.aim != FREE:
            assert row.aim.seconds <= row.must.seconds
            assert row.aim.ratio <= row.must.ratio
            assert row.aim.peak_bytes <= row.must.peak_bytes


@pytest.mark.parametrize(
    ("changes", "is_met"),
    [
        pytest.param({}, True, id="waited-for-others"),
        pytest.param({"cpu_s": 4.0}, False, id="slow"),
        pytest.param({"ratio": 1.03}, False, id="dear"),
        pytest.param({"peak_bytes": 2**31}, False, id="large"),
        pytest.param({"brokers_out": 1, "furthest": 0.01}, False, id="out-of-band"),
        pytest.param(
            {"brokers_out": 1, "furthest": 0.01, "least_furthest": 0.01},
            True,
            id="out-of-band-for-need",
        ),
        pytest.param(
            {"brokers_out": 1, "furthest": 0.02, "least_furthest": 0.01},
            False,
            id="further-out-than-needed",
        ),
        pytest.param({"num_findings": 1}, False, id="refused-by-the-checker"),
    ],
)
def test_a_row_is_met_when_all_its_limits_are(changes, is_met):
    limits = Limits(seconds=1, ratio=1.02, peak_bytes=2**30)

    assert is_within([replace(FOUND, **changes)], limits) == is_met


def test_the_worst_seed_counts_for_brokers_and_the_median_for_times():
    slow, out = replace(FOUND, cpu_s=9.0), replace(FOUND, brokers_out=1, furthest=0.1)

    assert is_within([slow, FOUND, FOUND], Limits(seconds=1))
    assert not is_within([out, FOUND, FOUND], Limits(seconds=1))


def test_a_row_has_a_cell_for_every_column():
    row = Placing("S", "a", must=Limits(1, 1.02))

    text = row_text(row, [FOUND, replace(FOUND, ratio=1.03)])

    head = HEADER.splitlines()[0]
    assert text.count("|") == head.count("|")
    assert "1.0100-1.0300" in text
    assert text.endswith("| yes |")


def test_growth_is_given_where_both_sizes_are_measured():
    large, small = (Placing(size, "a") for size in ("XL", "L"))
    five_times = replace(FOUND, cpu_s=2.5, peak_bytes=5 * 2**20)

    lines = growth_lines({small: [FOUND], large: [five_times]})

    assert lines[-1] == "| (a) 5 % | 5.0 | 5.0 | 7, 5 | yes |"
    slow = replace(five_times, cpu_s=3.6)
    assert growth_lines({small: [FOUND], large: [slow]})[-1].endswith("| **no** |")
    assert growth_lines({large: [five_times]}) == []


@pytest.mark.parametrize("name", cruise_control.NAMES)
def test_their_plans_do_what_was_published(name):
    plan = cruise_control.read_plan(name)

    assert plan.moves == plan.published["moved"]
    assert plan.copied_bytes == pytest.approx(plan.published["gb"] * 1e9)
    assert _deviation(plan.after, 4) == pytest.approx(plan.published["dev"]["count"])
    assert _deviation(plan.after, 0) == pytest.approx(plan.published["dev"]["disk"])


def _deviation(state, resource):
    """Return the largest deviation from the mean, in percent."""
    from placement.model.load import broker_loads, weigh

    load = broker_loads(state, weigh(state), state.partitions.leader_idx)[:, resource]
    return 100 * float(np.abs(load / load.mean() - 1).max())


def test_plans_are_compared_at_the_price_that_halves_theirs():
    theirs = their_row("S_c")
    ours = replace(FOUND, name="S_c ours", moves=39, copied_bytes=0)

    rows = compared_text("S_c", [ours], theirs).splitlines()

    assert [row.split("|")[7].strip() for row in rows] == ["1.000", "0.500"]


ROWS_BY_KEY = {
    key_of(row, seed): (row, seed)
    for row in PLACINGS
    for seed in range(1, 10)
    if row.effort == "normal" and not row.is_command and not row.asks
}


@pytest.mark.slow
@pytest.mark.parametrize("key", sampled(list(known())))
def test_no_plan_is_below_what_the_exact_model_proved(tmp_path, key):
    row, seed = ROWS_BY_KEY[key]

    found = measure(row, seed, tmp_path)

    assert found.brokers_out == 0
    assert found.exact_ratio is not None
    assert found.exact_ratio >= 1
    assert found.held_ratio <= found.ratio
