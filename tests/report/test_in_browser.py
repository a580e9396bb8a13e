"""Reports in a real browser: every control, hostile names, access, dark and print."""

import csv
import io
import json
import re
import unicodedata

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import planner
from planner.cli.main import _run
from planner.demo import SNAPSHOT_FILE
from planner.report.charts.theme import DARK, LIGHT
from planner.report.html_page import html_of
from planner.report.pages.blocks import BrowsedTable, Page, Section
from planner.report.pages.document_page import MOST_COLUMNS
from support.browser import (
    HOSTILE,
    Watched,
    chromium,
    hostile_fleet,
    hostile_group,
    hostile_snapshot,
    with_hostile_topics,
)
from support.report_kinds import printed

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with reports of the demo and of hostile names."""
    made = tmp_path_factory.mktemp("reports")
    hostile = hostile_snapshot(made / "hostile.json")
    for name, snapshot in (("demo", SNAPSHOT_FILE), ("hostile", hostile)):
        plan = ["plan", "rebalance", str(snapshot), "--waves", "--report"]
        assert _run([*plan, "-o", str(made / name)], as_json=False) == 0
        page = made / f"{name}-score.html"
        assert _run(["report", str(snapshot), "-o", str(page)], as_json=False) == 0
    for name, document in documents(made).items():
        answer = made / f"{name}.json"
        answer.write_text(json.dumps(document), encoding="utf-8")
        page = made / f"{name}.html"
        assert _run(["report", str(answer), "-o", str(page)], as_json=False) == 0
    fleet, page = hostile_fleet(made / "fleet"), made / "fleet.html"
    assert _run(["report", str(fleet), "-o", str(page)], as_json=False) == 0
    with_hostile_topics(made / "hostile/moves.csv")
    plan, page = made / "hostile", made / "hostile/report.html"
    assert _run(["report", str(plan), "-o", str(page)], as_json=False) == 0
    return made


def documents(folder):
    """Return what commands print, with hostile names, by the name of the page."""

    def answer(words):
        return json.loads(printed(words, folder / "answer.json").read_text())

    snapshot = planner.read_snapshot(SNAPSHOT_FILE)
    change = {"change": "traffic", "factor": 1.5}
    scenario = {"name": HOSTILE[0], "then": "nothing", "changes": [change]}
    group, events = hostile_group(folder)
    return {
        "scenarios": planner.play_scenarios(
            snapshot, {"scenarios": [scenario]}
        ).document,
        "failures": answer(["failures", str(SNAPSHOT_FILE)]),
        "size": answer(["size", str(SNAPSHOT_FILE)]),
        "assignment": answer(["group", "assign", str(group)]),
        "events": answer(["group", "what-if", str(group), str(events)]),
    }


KIND, REASON = 2, 8
REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
"""Classes of Unicode's bidirectional controls."""
PAGES = ["demo/report.html", "hostile/report.html"]
PAGES += ["demo-score.html", "hostile-score.html", "scenarios.html"]
PAGES += ["failures.html", "size.html", "assignment.html", "events.html", "fleet.html"]
HOSTILE_PAGES = ["scenarios.html", "assignment.html", "events.html", "fleet.html"]
WITHOUT_CHARTS = ["failures.html", "size.html"]


@pytest.fixture
def opened(browser, folder):
    """Return a function that opens a report; at the end its console must be empty."""
    pages = []

    def open_page(name="demo/report.html", **options):
        pages.append(Watched(browser, folder / name, **options))
        return pages[-1].page

    yield open_page
    for each in pages:
        console, requests = each.console, each.requests
        each.context.close()
        assert console == []
        assert all(url.startswith(("file:", "blob:")) for url in requests)


def rows_of(page, column=None):
    rows = page.locator(".browsed .tabulator-row")
    cells = rows.evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
    )
    return cells if column is None else [row[column] for row in cells]


def counted(page):
    return page.locator(".browsed .count").text_content().partition(", page")[0]


def filtered(page, column, value):
    page.locator(f"select[data-column='{column}']").select_option(value)


@pytest.mark.parametrize("name", PAGES)
def test_every_report_opens_without_an_error_or_a_request(opened, name):
    page = opened(name)

    assert page.title() != "taken"
    assert page.locator("h1").text_content() == page.title()
    least = {"fleet.html": 1, "assignment.html": 1}.get(name, 2)
    if name not in WITHOUT_CHARTS:
        assert page.locator("main svg").count() >= least
    if "score" not in name:
        assert page.locator("p.strong").first.is_visible()


def test_hostile_names_stay_text(opened):
    page = opened("hostile/report.html")
    page.locator("#table-moves .search").fill("document.title")

    assert page.title() == f"Plan: rebalance on {HOSTILE[0]}"
    assert page.locator("main img, main script:not([type])").count() == 0
    assert HOSTILE[0] in rows_of(page, 0)
    assert HOSTILE[1] in rows_of(page, 0)
    assert HOSTILE[2] in page.locator("#racks").text_content()


@pytest.mark.parametrize("name", HOSTILE_PAGES)
def test_hostile_names_of_scenarios_members_and_clusters_stay_text(opened, name):
    page = opened(name)

    assert page.title() != "taken"
    assert page.locator("main img, main script:not([type])").count() == 0
    assert HOSTILE[0] in page.locator("main").text_content()


@pytest.mark.parametrize("name", ["hostile/report.html", *HOSTILE_PAGES])
def test_no_name_reorders_the_text_around_it(opened, name):
    page = opened(name)
    page.evaluate(
        "document.querySelectorAll('details').forEach(part => part.open = true)"
    )

    shown = page.evaluate("document.body.innerText + document.title")

    assert not any(unicodedata.bidirectional(c) in REORDERING for c in shown)
    if name in {"hostile/report.html", "assignment.html", "fleet.html"}:
        assert "\\u202eolleh" in shown


def test_a_name_without_an_end_makes_no_page_wider(opened, folder):
    text = (folder / "hostile/report.html").read_text(encoding="utf-8")
    (folder / "long.html").write_text(text.replace(">Verdict<", f">{'x' * 400}<"))

    page = opened("long.html", viewport={"width": 640, "height": 900})

    beyond = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(beyond) <= 0


def test_members_and_clusters_are_searched_and_sorted(opened):
    for name, table in (("assignment.html", "members"), ("fleet.html", "overview")):
        page = opened(name)
        page.locator(f"#table-{table} .search").fill("quoted")
        rows = rows_of(page, 0)
        assert rows == [HOSTILE[3]]


def test_moves_are_searched_by_all_words(opened):
    page = opened()

    page.locator("#table-moves .search").fill("orders fills-new")

    rows = rows_of(page)
    assert rows
    assert all("orders" in row[0] and row[8] == "fills-new" for row in rows)
    assert counted(page) == f"{len(rows)} of 303 rows"


def test_moves_are_filtered_by_kind_and_reason(opened):
    page = opened()

    filtered(page, KIND, "leader")

    assert set(rows_of(page, KIND)) == {"leader"}
    assert counted(page) == "76 of 303 rows"
    filtered(page, KIND, "")
    filtered(page, REASON, "over-threshold")
    assert set(rows_of(page, REASON)) == {"over-threshold"}


def test_moves_are_sorted_by_number_and_not_by_text(opened):
    page = opened()
    head = page.locator("#table-moves .tabulator-col", has_text="Partition")

    head.get_by_role("button").click()
    upwards = [int(text) for text in rows_of(page, 1)]
    assert head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").click()
    downwards = [int(text) for text in rows_of(page, 1)]

    assert upwards == sorted(upwards)
    assert head.get_attribute("aria-sort") == "descending"
    assert downwards == sorted(downwards, reverse=True)
    assert max(downwards) > max(upwards)


def test_pages_of_moves_are_turned_by_the_keyboard(opened):
    page = opened()
    first = rows_of(page)

    page.locator("#table-moves [data-page=next]").focus()
    page.keyboard.press("Enter")
    second = rows_of(page)
    page.locator("#table-moves [data-page=prev]").focus()
    page.keyboard.press("Space")

    assert len(first) == len(second) == 50
    assert first != second
    assert rows_of(page) == first
    assert page.locator("#table-moves [data-page=prev]").is_disabled()


@pytest.mark.parametrize("name", ["demo", "hostile"])
def test_the_downloaded_csv_reads_back_as_moves_csv(opened, folder, name):
    page = opened(f"{name}/report.html", accept_downloads=True)

    with page.expect_download() as event:
        page.get_by_role("button", name="Download CSV").click()

    assert event.value.suggested_filename == "moves.csv"
    text = event.value.path().read_bytes().decode()
    downloaded = [*csv.reader(io.StringIO(text, newline=""))][1:]
    with (folder / name / "moves.csv").open(encoding="utf-8", newline="") as file:
        written = [*csv.reader(file)][1:]
    kinds = {"replica": "copy", "leader": "leader", "drop": "drop"}
    expected = [[*row[:2], kinds[row[2]], *row[3:5], *row[5:9]] for row in written]
    assert [row[:9] for row in downloaded] == expected


def test_the_download_has_only_the_rows_that_are_chosen(opened):
    page = opened(accept_downloads=True)
    filtered(page, KIND, "leader")

    with page.expect_download() as event:
        page.get_by_role("button", name="Download CSV").click()

    lines = event.value.path().read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 76


def test_commands_and_rows_are_copied(opened, folder):
    allowed = ["clipboard-read", "clipboard-write"]
    page = opened(permissions=allowed)
    command = page.locator(".command").first

    page.locator("#run-1 summary").click()
    command.get_by_role("button", name="Copy").click()

    expect(page.locator("#announce")).to_have_text("Command copied")
    pasted = page.evaluate("navigator.clipboard.readText()")
    assert pasted == command.locator("code").text_content()
    assert pasted in (folder / "demo/RUNBOOK.md").read_text()
    filtered(page, KIND, "leader")
    page.locator(".copy-rows").click()
    expect(page.locator("#announce")).to_have_text("76 rows copied")
    assert len(page.evaluate("navigator.clipboard.readText()").splitlines()) == 77


def test_the_page_tells_the_age_of_its_snapshot(opened):
    page = opened()

    assert "before this page was opened" in page.locator("#age").text_content()


@pytest.mark.parametrize(
    ("name", "scheme"),
    [("hostile/report.html", "dark"), ("hostile-score.html", "light")],
)
def test_axe_finds_nothing_where_names_are_hostile(browser, folder, name, scheme):
    # The policy keeps out axe itself, which is put into the page as a script.
    with Watched(browser, folder / name, bypass_csp=True, color_scheme=scheme) as each:
        each.page.evaluate(
            "document.querySelectorAll('details').forEach(part => part.open = true)"
        )

        found = Axe().run(each.page)

        assert found.response["violations"] == []


@pytest.mark.parametrize(
    ("scheme", "colors"), [("light", LIGHT), ("dark", DARK)], ids=["light", "dark"]
)
def test_charts_follow_the_colours_of_the_page(opened, scheme, colors):
    page = opened(color_scheme=scheme)
    fill = "element => getComputedStyle(element).fill"

    bar = page.locator(f"#brokers-disk svg [fill='{LIGHT['now']}']").first
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert bar.evaluate(fill) == rgb(colors["now"])
    assert paper == rgb(colors["paper"])


def rgb(color):
    numbers = [int(color[at : at + 2], 16) for at in (1, 3, 5)]
    return f"rgb({', '.join(map(str, numbers))})"


def test_print_is_light_and_without_controls(opened):
    page = opened(color_scheme="dark")

    page.emulate_media(media="print", color_scheme="dark")

    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == rgb(LIGHT["paper"])
    assert not page.locator(".controls").is_visible()
    assert not page.locator("nav").is_visible()
    assert page.locator("#brokers-disk").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def before_print(page):
    """Dispatch the event that a browser sends to a page before printing."""
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")


def test_print_has_every_command_every_number_and_every_row(opened, folder):
    page = opened()
    page.locator("#table-moves [data-page=next]").click()
    second = rows_of(page)

    before_print(page)

    for part in page.locator("details").all():
        assert part.locator("> :not(summary)").first.is_visible()
    commands = page.locator(".command code").all_text_contents()
    runbook = (folder / "demo/RUNBOOK.md").read_text()
    assert len(commands) == runbook.count("```") // 2
    assert len(rows_of(page)) == 303
    assert page.locator(".unprinted").first.text_content() == ""
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator("#run-1 details").get_attribute("open") is None
    assert rows_of(page) == second


def pages_of(pdf):
    return len(re.findall(rb"/Type /Page\b", pdf))


def test_a_printed_file_has_the_rows_that_the_screen_turns_to(opened):
    page = opened()
    filtered(page, KIND, "leader")
    few = pages_of(page.pdf(format="A4"))
    filtered(page, KIND, "")

    assert pages_of(page.pdf(format="A4")) > few


def test_folded_parts_are_printed_without_the_script_too(opened):
    page = opened(java_script_enabled=False)
    folded = page.locator("#run-1 details > :not(summary)").first
    assert not folded.is_visible()

    page.emulate_media(media="print")

    assert folded.is_visible()


WIDE = "columns.html"
"""A page whose table has as many columns as a page shows."""


@pytest.fixture(scope="module")
def wide(folder):
    """Write a page of a table with many columns and long words in them."""
    heads = [f"Column number {n}" for n in range(MOST_COLUMNS)]
    rows = [[f"value-{row}-{n}" * 3 for n in range(MOST_COLUMNS)] for row in range(60)]
    table = BrowsedTable(
        name="columns", caption="Columns", heads=heads, rows=rows, total=len(rows)
    )
    page = Page(
        title="Columns", taken_at=None, sections=[Section("all", "All", [table])]
    )
    (folder / WIDE).write_text(html_of(page), encoding="utf-8")


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize(
    ("name", "width"),
    [
        *(("demo/report.html", width) for width in (320, 640, 1280, 2560)),
        *((WIDE, width) for width in (320, 1280)),
        *(("fleet.html", width) for width in (320, 1280)),
    ],
)
def test_no_width_scrolls_sideways(opened, name, width):
    page = opened(name, viewport={"width": width, "height": 900})

    beyond = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(beyond) <= 0


def test_without_script_the_first_rows_and_all_else_are_there(opened):
    page = opened(java_script_enabled=False)

    assert page.locator(".browsed tbody tr").count() == 50
    assert not page.locator(".controls").is_visible()
    assert page.locator("#brokers-disk svg").is_visible()
    assert page.get_by_text("The first 50 rows").is_visible()
