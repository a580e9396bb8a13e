"""Pictures of every kind of report: kept for readers, and compared loosely."""

import os
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from support.browser import Watched, chromium
from support.profile import IS_THOROUGH, crossed
from support.report_kinds import KINDS, write_reports
from support.screenshots import kept_folder, measured

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
DOCS = Path(__file__).parents[2] / "docs"
MOST_BYTES = 200_000
"""Largest picture of the documentation."""
LOOKS = {
    "light": ({"color_scheme": "light"}, 1280),
    "dark": ({"color_scheme": "dark"}, 1280),
    "narrow": ({"color_scheme": "light"}, 480),
    "print": ({"color_scheme": "dark"}, 1000),
}
WITHOUT_CHARTS = {"failures", "size", "loss", "status", "check", "verify"}
SCHEMES = ["light", "dark"]
IN_SCHEMES = [
    (kind, scheme)
    for number, kind in enumerate(KINDS)
    for place, scheme in enumerate(SCHEMES)
    if IS_THOROUGH or (number + place) % 2 == 0
]
"""Every kind in one scheme, and in both where there is time."""
SHOWN = {"plan": "report-plan.png", "what-if": "report-what-if.png"}
"""Reports that docs/reports.md shows."""


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    return write_reports(tmp_path_factory.mktemp("reports"))


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return kept_folder(tmp_path_factory.mktemp("pictures"))


def picture_of(browser, path, options, width, *, is_print=False, height=900, full=True):
    viewport = {"width": width, "height": height}
    with Watched(browser, path, viewport=viewport, **options) as each:
        if is_print:
            each.page.emulate_media(media="print", **options)
        picture = each.page.screenshot(full_page=full)
        assert each.console == []
    return picture


@pytest.mark.parametrize(("kind", "look"), crossed(KINDS, LOOKS))
def test_a_report_looks_as_it_should(browser, reports, pictures, kind, look):
    options, width = LOOKS[look]

    picture = picture_of(
        browser, reports[kind], options, width, is_print=look == "print"
    )
    (pictures / f"{kind}-{look}.png").write_bytes(picture)

    found = measured(browser, picture)
    assert found.width == width
    assert found.height >= 400
    # Paper, whatever its colour, has most of a page; charts have colours.
    assert found.light > 0.8 if look != "dark" else found.light < 0.2
    assert kind in WITHOUT_CHARTS or 0.001 < found.coloured < 0.4


@pytest.mark.parametrize(("kind", "scheme"), IN_SCHEMES)
def test_axe_finds_nothing_in_any_kind_of_report(browser, reports, kind, scheme):
    # The policy keeps out axe itself, which is put into the page as a script.
    options = {"bypass_csp": True, "color_scheme": scheme}
    with Watched(browser, reports[kind], **options) as each:
        each.page.evaluate(
            "document.querySelectorAll('details').forEach(part => part.open = true)"
        )

        found = Axe().run(each.page)

        assert found.response["violations"] == []


@pytest.mark.parametrize("kind", SHOWN)
def test_the_documentation_shows_the_report_as_it_is(browser, reports, kind):
    path = DOCS / SHOWN[kind]
    picture = picture_of(
        browser, reports[kind], {"color_scheme": "light"}, 1100, height=800, full=False
    )
    # To take the pictures anew: PLANNER_WRITE_PAGES=1 pytest tests/report
    if os.environ.get("PLANNER_WRITE_PAGES"):
        path.write_bytes(picture)

    shown, found = measured(browser, path.read_bytes()), measured(browser, picture)

    assert path.stat().st_size <= MOST_BYTES
    assert (shown.width, shown.height) == (found.width, found.height)
    assert shown.coloured == pytest.approx(found.coloured, rel=0.3, abs=0.003)
    assert shown.light == pytest.approx(found.light, abs=0.05)
    page = (DOCS / "reports.md").read_text(encoding="utf-8")
    assert f"]({SHOWN[kind]})" in page
