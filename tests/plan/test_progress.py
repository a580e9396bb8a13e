"""What a plan shows of its gap while it is made."""

import re

import pytest

from planner.demo import SNAPSHOT_FILE
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from planner.progress import listening
from planner.snapshot import read_snapshot


def stages(**options):
    words = []
    with listening(lambda stage: words.append(str(stage))):
        make(
            read_snapshot(SNAPSHOT_FILE).to_state(),
            PlanRequest(goal="rebalance", band=("0.05",), **options),
        )
    return words


@pytest.mark.slow
def test_the_gap_between_copies_and_their_bound_is_shown_as_it_closes():
    shown = [words for words in stages() if "not under" in words]

    form = r"planning rebalance: [\d.]+ TB, not under [\d.]+ TB \(gap [\d.e-]+ %\)"
    assert shown
    assert all(re.fullmatch(form, words) for words in shown)
