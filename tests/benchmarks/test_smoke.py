import pytest

from benchmarks.cases import CASES
from benchmarks.run import (
    END,
    SMOKE_REPLICAS,
    START,
    Measurement,
    measure,
    replace_between_markers,
    table,
)
from support.profile import sampled


@pytest.mark.slow
@pytest.mark.parametrize("case", sampled([pytest.param(c, id=c.name) for c in CASES]))
def test_every_case_runs_small(case):
    num_replicas = min(case.num_replicas, SMOKE_REPLICAS)

    found = measure(case, num_replicas=num_replicas, num_runs=1)

    assert (found.name, found.num_runs) == (case.name, 1)
    assert found.wall_s > 0
    assert found.peak_bytes > 0


def test_case_names_differ():
    assert len({case.name for case in CASES}) == len(CASES)


def test_page_keeps_what_stands_around_the_table():
    page = f"# Title\n{START}\nold\n{END}\nmore\n"
    measured = table([Measurement("a case", 3000, 5, 0.25, 0.5, 10**8, 5 * 10**6)])

    once = replace_between_markers(page, measured)

    assert "| a case | 3,000 | 5 | 0.250 | 0.500 | 100 | 5 |" in once
    assert once.startswith("# Title\n")
    assert once.endswith(f"{END}\nmore\n")
    assert "old" not in once
    assert replace_between_markers(once, measured) == once


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("no markers", id="none"),
        pytest.param(START, id="one"),
        pytest.param(f"{END}{START}", id="wrong-order"),
        pytest.param(f"{START}{END}{START}{END}", id="twice"),
    ],
)
def test_page_without_its_markers_is_left_alone(page):
    with pytest.raises(ValueError, match="once each"):
        replace_between_markers(page, "")
