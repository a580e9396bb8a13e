"""Figures that take long, in a real browser: progress, newer clicks, Stop."""

import threading

import pytest
import uvicorn
from playwright.sync_api import expect

from planner.demo import SNAPSHOT_FILE
from planner.snapshot import read_snapshot
from planner.ui.ui_run import HOST, listen
from planner.ui.ui_server import UiApp
from planner.ui.ui_session import Session
from support.browser import Watched, chromium
from support.slow_answers import Gated

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
PREFIX = "a-token"


@pytest.fixture
def gated():
    return Gated(read_snapshot(SNAPSHOT_FILE))


@pytest.fixture
def address(gated, tmp_path):
    """Serve a page whose figures take as long as the gate is closed."""
    session = Session(read_snapshot(SNAPSHOT_FILE), answerer=gated, wait_s=0.05)
    listener = listen(0)
    port = listener.getsockname()[1]
    app = UiApp(session, "snap.json", tmp_path).guarded(PREFIX, port)
    server = uvicorn.Server(
        uvicorn.Config(app, lifespan="off", log_level="error", access_log=False)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://{HOST}:{port}/{PREFIX}/"
    server.should_exit = True
    gated.gate.set()
    thread.join()
    session.close()
    listener.close()


def test_figures_that_take_long_show_progress_and_end_by_a_click_or_stop(
    gated, address
):
    with chromium() as browser, Watched(browser, address) as watched:
        page = watched.page
        expect(page.locator("#progress")).to_contain_text("at the gate")
        gated.gate.set()
        expect(page.locator("#certificate")).to_be_visible()
        gated.gate.clear()

        page.locator("#broker-3").click()
        expect(page.locator("#verdict")).to_have_text("The figures are being computed.")
        expect(page.locator("#picture")).to_contain_text("of the answer before")
        page.locator("#broker-4").click()
        expect(page.locator(".step")).to_have_text(["lose broker 3", "lose broker 4"])
        page.locator("#stop").click()
        expect(page.locator("#refused")).to_contain_text("No figures: stopped.")
        page.get_by_role("button", name="Compute again").click()
        expect(page.locator("#progress")).to_be_visible()
        gated.gate.set()

        expect(page.locator("#certificate")).to_be_visible()
        expect(page.locator("#picture")).not_to_contain_text("of the answer before")
        assert [len(play.places) for play in gated.finished] == [0, 2]
