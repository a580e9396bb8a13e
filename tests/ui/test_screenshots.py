"""Pictures of the page of `ui`: kept for readers, and compared loosely."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from planner.demo import SNAPSHOT_FILE
from support.browser import Watched, chromium
from support.screenshots import kept_folder, measured
from support.ui import served

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
SHOWN = Path(__file__).parents[2] / "docs" / "ui.png"
MOST_BYTES = 200_000
"""Largest picture of the documentation."""
PLANNED_MS = 120_000
LOOKS = {
    "light": ({"color_scheme": "light"}, 1280),
    "dark": ({"color_scheme": "dark"}, 1280),
    "narrow": ({"color_scheme": "light"}, 480),
    "print": ({"color_scheme": "dark"}, 1000),
}


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with served(SNAPSHOT_FILE, "-o", tmp_path_factory.mktemp("written")) as url:
        yield url


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return kept_folder(tmp_path_factory.mktemp("pictures"))


def picture_of(browser, address, look, *, full=True):
    """Take a picture of the page without broker 3, with the plan of the others."""
    options, width = LOOKS[look]
    viewport = {"width": width, "height": 800}
    with Watched(browser, address, viewport=viewport, **options) as each:
        each.page.locator("#broker-3").click()
        expect(each.page.locator(".step")).to_have_text(["lose broker 3"])
        expect(each.page.locator("#certificate")).to_be_visible(timeout=PLANNED_MS)
        if look == "print":
            each.page.emulate_media(media="print", **options)
        each.page.evaluate("scrollTo(0, 0)")
        picture = each.page.screenshot(full_page=full)
        assert each.console == []
    return picture


@pytest.mark.parametrize("look", LOOKS)
def test_the_page_looks_as_it_should(browser, address, pictures, look):
    picture = picture_of(browser, address, look)
    (pictures / f"ui-{look}.png").write_bytes(picture)

    found = measured(browser, picture)
    assert found.width == LOOKS[look][1]
    assert found.height >= 400
    assert found.light > 0.6 if look != "dark" else found.light < 0.3
    assert 0.001 < found.coloured < 0.5


def test_the_documentation_shows_the_page_as_it_is(browser, address):
    picture = picture_of(browser, address, "light", full=False)
    # To take the picture anew: PLANNER_WRITE_PAGES=1 pytest tests/ui
    if os.environ.get("PLANNER_WRITE_PAGES"):
        SHOWN.write_bytes(picture)

    shown, found = measured(browser, SHOWN.read_bytes()), measured(browser, picture)

    assert SHOWN.stat().st_size <= MOST_BYTES
    assert (shown.width, shown.height) == (found.width, found.height)
    assert shown.coloured == pytest.approx(found.coloured, rel=0.3, abs=0.003)
    assert shown.light == pytest.approx(found.light, abs=0.05)
    page = (SHOWN.parent / "ui.md").read_text(encoding="utf-8")
    assert f"]({SHOWN.name})" in page
