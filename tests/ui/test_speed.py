"""First answers: processor time after a change, at the sizes of docs/ui.md."""

import time
from statistics import median

import pytest

from benchmarks.answering import CHANGES, LARGE, SMALL, first_answers, snapshot_of


@pytest.mark.parametrize(
    ("size", "most_s"),
    [
        pytest.param(SMALL, 0.3, id="12 brokers"),
        pytest.param(LARGE, 1.0, id="100 brokers", marks=pytest.mark.slow),
    ],
)
def test_a_change_is_answered_in_time(size, most_s):
    seconds = dict(first_answers(snapshot_of(size), clock=time.thread_time))

    assert set(seconds) == set(CHANGES)
    assert median(seconds.values()) < most_s / 2
    assert max(seconds.values()) < most_s
