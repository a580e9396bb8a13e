"""First answers that take long: shown in progress, stopped by a click or by Stop."""

import html
import threading
import time

import pytest
from starlette.testclient import TestClient

from planner.demo import SNAPSHOT_FILE
from planner.errors import PlannerError
from planner.snapshot import read_snapshot
from planner.ui.ui_play import play_of
from planner.ui.ui_server import UiApp
from planner.ui.ui_session import Session
from planner.ui.ui_state import UiState
from planner.ui.ui_work import STOPPED, PlanWork
from support.slow_answers import Gated
from support.ui import traffic
from support.ui_processes import patient

LONG_S = 120
TOKEN, PORT = "a-token", 8123


@pytest.fixture(scope="module")
def snapshot():
    return read_snapshot(SNAPSHOT_FILE)


@pytest.fixture
def gated(snapshot):
    return Gated(snapshot)


@pytest.fixture
def session(snapshot, gated):
    """Return a session whose figures take as long as the gate is closed."""
    found = Session(snapshot, PlanWork(snapshot, patient), answerer=gated, wait_s=0.05)
    yield found
    gated.gate.set()
    found.close()


@pytest.fixture
def client(session, tmp_path):
    return client_of(session, tmp_path)


@pytest.fixture
def patient_client(snapshot, tmp_path):
    """Return a client of a session that waits for its figures until they are there."""
    session = Session(snapshot, PlanWork(snapshot, patient), wait_s=None)
    yield client_of(session, tmp_path)
    session.close()


def client_of(session, folder):
    app = UiApp(session, "snap.json", folder).guarded(TOKEN, PORT)
    return TestClient(app, base_url=f"http://127.0.0.1:{PORT}")


def get(client, path="", **params):
    return client.get(f"/{TOKEN}/{path}", params=params)


def wait_until(is_so):
    ends = time.monotonic() + LONG_S
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_figures_that_take_long_are_in_progress_and_then_there(session, gated):
    answer = session.answer(traffic(1.1))
    assert answer.first is None
    assert answer.pending is answer.computing
    wait_until(lambda: answer.computing.words == "at the gate")

    gated.gate.set()

    assert answer.computing.ended.wait(LONG_S)
    assert session.answer(traffic(1.1)) is answer
    assert answer.first is answer.computing.outcome
    assert answer.pending is answer.job
    assert len(gated.begun) == 1


def test_a_newer_state_stops_the_figures_of_older_ones(session, gated):
    first = session.answer(traffic(1.1))
    wait_until(lambda: gated.begun)
    second = session.answer(traffic(1.2))
    assert second.computing.outcome is None

    third = session.answer(traffic(1.3))
    gated.gate.set()

    assert third.computing.ended.wait(LONG_S)
    assert first.computing.outcome is second.computing.outcome is STOPPED
    assert first.job is second.job is None
    assert gated.finished == [traffic(1.3)]


def test_an_older_request_that_is_late_stops_nothing_of_a_newer_one(session, gated):
    turns = [session.turn(), session.turn()]
    newer = session.answer(traffic(1.2), turn=turns[1])

    older = session.answer(traffic(1.1), turn=turns[0])

    assert older.refused is STOPPED
    assert newer.pending is newer.computing
    gated.gate.set()
    assert newer.computing.ended.wait(LONG_S)
    assert gated.finished == [traffic(1.2)]


def test_stop_waits_for_nothing_and_the_figures_can_be_computed_again(session, gated):
    answer = session.answer(traffic(1.1))

    session.stop()

    assert answer.refused is STOPPED
    assert session.answer(traffic(1.1), starts=False).pending is None
    again = session.answer(traffic(1.1))
    assert again is answer
    assert again.pending is again.computing
    gated.gate.set()
    assert again.computing.ended.wait(LONG_S)
    assert again.first is not None


def test_an_older_plan_is_stopped_while_newer_figures_are_computed(session, gated):
    gated.gate.set()
    older = session.answer(traffic(1.1))
    assert older.computing.ended.wait(LONG_S)
    assert older.job.outcome is None

    gated.gate.clear()
    newer = session.answer(traffic(1.2))

    assert older.job.ended.wait(LONG_S)
    assert older.job.outcome is STOPPED
    assert newer.earlier is older.first


def test_an_impossible_state_is_refused_and_stops_no_plan(snapshot, gated):
    gated.gate.set()
    session = Session(snapshot, PlanWork(snapshot, patient), answerer=gated)
    answer = session.answer(traffic(1.1))
    state = UiState(({"change": "lose", "brokers": "99"},))

    with pytest.raises(PlannerError, match="there must be such a broker"):
        session.answer(play_of(state))

    assert answer.job.outcome is None
    session.close()


def test_what_is_found_to_be_impossible_after_the_wait_is_shown_with_its_reason(
    session, client, gated, monkeypatch
):
    real, gate = gated.check, gated.gate

    def slow(play):
        gate.wait(LONG_S)
        real(play)

    monkeypatch.setattr(gated, "check", slow)
    state = UiState(({"change": "lose", "brokers": "99"},))
    assert session.answer(play_of(state)).pending is not None

    gate.set()

    wait_until(lambda: session.answer(play_of(state), waits=False).pending is None)
    text = get(client, "answer", steps=state.text(), waits="figures").text
    assert "No figures: " in text
    assert "there must be such a broker" in html.unescape(text)


class Endless:
    """Answerer that computes in Python without any stage until it is stopped."""

    def __init__(self):
        self.ended = threading.Event()

    def check(self, play):
        pass

    def first(self, play, heard):
        try:
            while True:
                sum(range(1000))
        finally:
            self.ended.set()


def test_a_computation_without_stages_is_ended_as_well(snapshot):
    endless = Endless()
    session = Session(
        snapshot, PlanWork(snapshot, patient), answerer=endless, wait_s=0.01
    )
    answer = session.answer(traffic(1.1))

    session.stop()

    assert answer.refused is STOPPED
    assert endless.ended.wait(LONG_S)
    session.close()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError("full"), "the figures failed: MemoryError: full"),
        (PlannerError("no room"), "no room"),
    ],
)
def test_figures_that_fail_are_explained_and_can_be_computed_again(
    session, gated, monkeypatch, error, message
):
    def fails(*_):
        raise error

    gated.gate.set()
    with monkeypatch.context() as failing:
        failing.setattr(gated._real, "first", fails)
        answer = session.answer(traffic(1.1))
        assert answer.computing.ended.wait(LONG_S)
    assert answer.refused.message == message
    assert answer.first is None

    again = session.answer(traffic(1.1))

    assert again.computing.ended.wait(LONG_S)
    assert again.first is not None


def test_of_clicks_without_an_answer_only_the_last_state_is_computed(client, gated):
    before = '[{"lose-broker": "4"}, {"lose-rack": "b"}]'

    get(client, "change", steps="[]", before=before, **{"lose-broker": "3"})
    gated.gate.set()

    wait_until(lambda: gated.finished)
    (play,) = gated.finished
    assert len(play.places) == 3
    assert gated.begun == gated.checked == [play]


def test_of_clicks_without_an_answer_only_the_impossible_ones_are_refused(
    patient_client,
):
    before = '[{"lose-broker": "4"}, {"lose-broker": "99"}]'

    text = get(
        patient_client, "change", steps="[]", before=before, **{"lose-broker": "3"}
    ).text

    assert "there must be such a broker" in html.unescape(text)
    assert text.count('<span class="step">') == 2


def test_the_page_shows_progress_with_its_stop_and_draws_the_cluster_of_before(
    client, session, gated
):
    gated.gate.set()
    assert session.answer(play_of(UiState())).computing.ended.wait(LONG_S)
    gated.gate.clear()

    text = get(client, "change", steps="[]", **{"lose-broker": "3"}).text

    assert "The figures are being computed." in text
    assert 'id="progress"' in text
    assert 'id="stop"' in text
    assert '"waits": "figures"' in html.unescape(text)
    assert "Loads are still those of the answer before." in text
    assert 'id="broker-3" class="lose" aria-pressed="true"' in text
    assert 'id="figures"' not in text


def test_a_page_without_any_figures_yet_draws_nothing_and_polls(client, gated):
    text = get(client).text
    assert 'class="rack"' not in text
    assert 'id="progress"' in text
    poll = get(client, "answer", waits="figures")
    assert poll.text.startswith('<span id="progress"')

    gated.gate.set()
    wait_until(lambda: gated.finished)
    wait_until(
        lambda: (
            'id="figures"' in get(client, "answer", waits="figures", steps="[]").text
        )
    )
    # The plan is being made: whoever waits for that gets its progress alone.
    poll = get(client, "answer", waits="plan")
    assert poll.text.startswith('<span id="progress"')


def test_stop_answers_while_figures_are_computed(client):
    get(client)

    text = get(client, "stop", steps="[]").text

    assert "No figures: stopped." in text
    assert "Compute again" in text
    assert 'id="progress"' in get(client, "change", steps="[]").text


def test_scenarios_are_saved_before_there_are_figures(client):
    state = UiState(({"change": "lose", "brokers": "3"},))

    answer = get(client, "scenarios.toml", steps=state.text())

    assert answer.status_code == 200
    assert "lose" in answer.text
