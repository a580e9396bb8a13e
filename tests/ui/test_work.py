"""Plans in the background: the newest wins, and nothing holds up the page."""

import time

import pytest

from planner.demo import SNAPSHOT_FILE
from planner.snapshot import read_snapshot
from planner.ui.ui_answer import PlanAnswer
from planner.ui.ui_play import play_of
from planner.ui.ui_session import MOST_KEPT, Session
from planner.ui.ui_state import UiState
from planner.ui.ui_work import ENDED, STOPPED, PlanWork
from planner.ui.ui_worker import Order, Written
from support.ui import traffic
from support.ui_processes import deaf, mortal, patient

LONG_S = 120


@pytest.fixture(scope="module")
def snapshot():
    return read_snapshot(SNAPSHOT_FILE)


@pytest.fixture
def working(snapshot):
    """Return a function that starts background work with a process of its own."""
    made = []

    def start(target):
        made.append(PlanWork(snapshot, target))
        return made[-1]

    yield start
    for each in made:
        each.close()


def outcome_of(job):
    assert job.ended.wait(LONG_S)
    return job.outcome


def wait_for_words(job, words):
    """Wait until a process reports that it is at work on a job."""
    ends = time.monotonic() + LONG_S
    while job.words != words:
        assert time.monotonic() < ends
        time.sleep(0.01)


@pytest.mark.not_quick
def test_a_newer_plan_stops_the_older_one_at_once(working):
    work = working(patient)
    first = work.ask(Order(traffic(1.1)))
    wait_for_words(first, "still at it")

    second = work.ask(Order(traffic(1.2)))

    assert first.outcome is STOPPED
    assert second.outcome is None
    work.stop()
    assert outcome_of(second) is STOPPED


@pytest.mark.not_quick
def test_a_folder_is_written_although_a_newer_plan_is_asked_for(working, tmp_path):
    work = working(patient)
    written = work.ask(Order(traffic(1.1), tmp_path))
    newer = work.ask(Order(traffic(1.2)))

    assert isinstance(outcome_of(written), Written)
    work.stop()
    assert outcome_of(newer) is STOPPED


@pytest.mark.slow
def test_a_process_that_does_not_stop_is_ended(working):
    work = working(deaf)
    first = work.ask(Order(traffic(1.1)))
    wait_for_words(first, "deaf")
    process = work._process
    work.stop()

    assert outcome_of(first) is STOPPED
    wait_for_words(work.ask(Order(traffic(1.2))), "deaf")
    assert work._process is not process
    assert process.exitcode is not None


@pytest.mark.not_quick
def test_a_process_that_ends_is_replaced(working):
    work = working(mortal)

    for load in (1.1, 1.2):
        job = work.ask(Order(traffic(load)))
        assert outcome_of(job) is ENDED
        assert job.words == "at it"


@pytest.mark.slow
def test_a_real_plan_is_stopped_and_made_again(snapshot):
    session = Session(snapshot)
    try:
        slow = play_of(UiState().with_setting("effort", "normal"))
        first = session.answer(slow)
        other = session.answer(traffic(1.3))
        assert outcome_of(first.job) is STOPPED
        assert isinstance(outcome_of(other.job), PlanAnswer)

        again = session.answer(slow)

        assert again is first
        assert isinstance(outcome_of(again.job), PlanAnswer)
        assert session.answer(slow).job is again.job
    finally:
        session.close()


@pytest.mark.not_quick
def test_answers_are_kept_for_undo_and_the_oldest_are_dropped(snapshot, working):
    session = Session(snapshot, working(patient))
    first = session.answer(traffic(1.0), starts=False)

    assert session.answer(traffic(1.0), starts=False) is first
    for number in range(MOST_KEPT):
        session.answer(traffic(2 + number / 100), starts=False)
    assert session.answer(traffic(1.0), starts=False) is not first
