"""First answers of the page of `ui`: every change of the benchmark is answered."""

import time

import pytest

from benchmarks.answering import CHANGES, SMALL, first_answers, snapshot_of


@pytest.mark.not_quick
def test_every_change_has_a_first_answer():
    seconds = dict(first_answers(snapshot_of(SMALL), clock=time.thread_time))

    assert set(seconds) == set(CHANGES)
    assert all(one > 0 for one in seconds.values())
