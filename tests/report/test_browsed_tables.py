"""Tables of many rows: the library in the page, and each control in a real browser."""

import hashlib
import json
from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from planner.report.html_page import html_of
from planner.report.pages.blocks import BrowsedTable, Page, Section, Words
from support.browser import HOSTILE, Watched, chromium
from support.report_pages import TABULATOR, check_page, library_text, scripts

SHA256 = "ffac518cb793c672a2f0522b7fc80bf862234d96bb1e581c8aaf7f48f130eafa"
"""Checksum of dist/js/tabulator.min.js in tabulator-tables 6.5.3 of npm."""
LICENCE_SHA256 = "191a2ee554684e1064c897b432f0e1bc6dfa714ca045d3f6ea2cf692cbd398b7"
LONG = "n" * 300
NAMES = [*HOSTILE, LONG, "\N{GRINNING FACE} <b>bold</b> &amp;", 'it\'s "so"']
SIZES = [1_220_000_000_000, None, 999, 5 * 10**9, 2_000_000, 0, None, 7]
ROWS = [
    (name, size, kind, number / 8)
    for number, (name, size, kind) in enumerate(
        zip(NAMES, SIZES, ["a", "b", None, "a", None, "b", "a", "b"], strict=True)
    )
]
TABLE = BrowsedTable(
    name="names",
    caption="Names",
    heads=["Name", "Bytes", "Kind", "Share"],
    rows=ROWS,
    filters=[2],
    sizes=[1],
    total=len(ROWS),
)
CSV_LINES = [
    "Name,Bytes,Kind,Share",
    "<script>document.title='taken'</script>,1220000000000,a,0",
    '"</script><img src=x onerror=""document.title=\'taken\'"">",,b,0.125',
    "{{7*7}}{% raw %},999,,0.25",
    '"=2+3,""quoted""\nnext",5000000000,a,0.375',
    "\u202eolleh & 'räck' 机架,2000000,,0.5",
    f"{LONG},0,b,0.625",
    "\N{GRINNING FACE} <b>bold</b> &amp;,,a,0.75",
    '"it\'s ""so""",7,b,0.875',
]


def page_of(*blocks):
    sections = [Section("rows", "Rows", blocks)]
    return Page(title="Tables", taken_at=None, sections=sections)


@pytest.fixture(scope="module")
def page_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "tables.html"
    path.write_text(html_of(page_of(TABLE)), encoding="utf-8")
    return path


# The library in the page.


def test_the_library_is_the_published_file_with_its_licence_beside_it():
    licence = TABULATOR.with_name("tabulator.LICENSE")
    text = TABULATOR.read_text(encoding="utf-8")

    assert hashlib.sha256(TABULATOR.read_bytes()).hexdigest() == SHA256
    assert hashlib.sha256(licence.read_bytes()).hexdigest() == LICENCE_SHA256
    assert text.startswith("/* Tabulator v6.5.3 (c) Oliver Folkerd")
    assert licence.read_text(encoding="utf-8").startswith("The MIT License (MIT)")


def test_the_library_could_end_no_element_and_runs_no_text():
    text = library_text()

    for part in ("</script", "<!--", "eval(", "new Function", "sourceMappingURL"):
        assert part not in text


def test_a_page_with_a_browsed_table_carries_the_library_and_its_licence():
    page = html_of(page_of(Words("text"), TABLE))

    check_page(page)
    assert len(scripts(page)) == 2
    assert TABULATOR.with_name("tabulator.LICENSE").read_text().strip() in page
    assert html_of(page_of(Words("text"), TABLE)) == page


def test_a_page_without_a_browsed_table_is_without_the_library():
    page = html_of(page_of(Words("text")))

    check_page(page)
    assert len(scripts(page)) == 1
    assert "Oli Folkerd" not in page
    assert len(page.encode()) < 30_000


def test_tables_in_one_page_share_the_library():
    page = html_of(page_of(TABLE, Words("text"), TABLE))

    assert len(scripts(page)) == 2


# The controls.


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def opened(browser, page_path):
    """Return a function that opens the page; at the end its console must be empty."""
    pages = []

    def open_page(path=page_path, **options):
        pages.append(Watched(browser, path, **options))
        return pages[-1].page

    yield open_page
    for each in pages:
        console = each.console
        each.context.close()
        assert console == []


pytestmark = [pytest.mark.xdist_group("browser")]
in_browser = pytest.mark.browser


def cells(page, column):
    found = page.locator(f".tabulator-row > :nth-child({column + 1})")
    return found.evaluate_all("cells => cells.map(cell => cell.textContent)")


def head(page, name):
    return page.get_by_role("columnheader", name=name)


def sort_by(page, name, key="Enter"):
    head(page, name).get_by_role("button").focus()
    page.keyboard.press(key)


@in_browser
def test_cells_are_text_and_hidden_characters_are_escaped(opened):
    page = opened()

    shown = cells(page, 0)

    assert shown == [name.replace("\u202e", "\\u202e") for name in NAMES]
    assert page.locator(".tabulator-cell > *").count() == 0
    assert page.title() == "Tables"


@in_browser
def test_sizes_have_units_and_are_sorted_by_number_and_nothing_is_first(opened):
    page = opened()
    upwards = ["", "", "0 B", "7 B", "999 B", "2 MB", "5 GB", "1.22 TB"]

    sort_by(page, "Bytes")
    assert cells(page, 1) == upwards
    assert head(page, "Bytes").get_attribute("aria-sort") == "ascending"
    sort_by(page, "Bytes", "Space")
    assert cells(page, 1) == upwards[::-1]
    assert head(page, "Bytes").get_attribute("aria-sort") == "descending"
    assert head(page, "Name").get_attribute("aria-sort") == "none"
    expect(head(page, "Bytes").get_by_role("button")).to_be_focused()


@in_browser
def test_numbers_are_aligned_to_the_right_and_texts_to_the_left(opened):
    page = opened()
    align = "cells => cells.map(cell => getComputedStyle(cell).textAlign)"

    row = page.locator(".tabulator-row").first

    assert row.locator("> *").evaluate_all(align) == ["left", "right", "left", "right"]


@in_browser
def test_a_second_column_sorts_rows_that_are_equal_in_the_first(opened):
    page = opened()

    sort_by(page, "Kind")
    sort_by(page, "Bytes", "Shift+Enter")

    assert cells(page, 2) == ["", "", "a", "a", "a", "b", "b", "b"]
    assert cells(page, 1)[2:5] == ["", "5 GB", "1.22 TB"]
    assert cells(page, 1)[5:] == ["", "0 B", "7 B"]


@in_browser
def test_a_filter_has_each_value_of_its_column_once(opened):
    page = opened()
    kinds = page.get_by_label("Kind")

    labels = kinds.locator("option").all_text_contents()
    kinds.select_option("b")

    assert labels == ["all", "none", "a", "b"]
    assert cells(page, 2) == ["b", "b", "b"]
    kinds.select_option("none")
    assert cells(page, 2) == ["", ""]
    kinds.select_option("all")
    assert len(cells(page, 0)) == len(NAMES)


@in_browser
def test_a_filter_of_hostile_names_finds_each_of_them(opened, tmp_path):
    path = tmp_path / "names.html"
    path.write_text(html_of(page_of(replace(TABLE, filters=[0]))), encoding="utf-8")
    page = opened(path)
    names = page.locator("select")

    values = names.locator("option").evaluate_all("all => all.map(each => each.value)")

    assert [json.loads(value) for value in values[1:]] == sorted(NAMES)
    for value in values[1:]:
        names.select_option(value)
        assert cells(page, 0) == [json.loads(value).replace("\u202e", "\\u202e")]
    assert "\u202e" not in names.inner_text()


@in_browser
@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("  SO   it's ", [7]),
        ("<b>", [6]),
        ("机架 räck", [4]),
        ("none such", []),
        ("1220000000000", [0]),
        ("   ", range(8)),
    ],
)
def test_a_search_finds_rows_with_all_words_in_any_column(opened, words, rows):
    page = opened()

    page.get_by_label("Search").fill(words)

    shown = [NAMES[row].replace("\u202e", "\\u202e") for row in rows]
    assert cells(page, 0) == shown
    status = page.locator(".count[role=status]")
    assert status.text_content() == f"{len(shown)} of 8 rows, page 1 of 1"


@in_browser
def test_a_copy_and_a_download_have_the_raw_rows_as_csv(opened):
    page = opened(
        accept_downloads=True, permissions=["clipboard-read", "clipboard-write"]
    )

    with page.expect_download() as event:
        page.get_by_role("button", name="Download CSV").click()
    expect(page.locator("#announce")).to_have_text("names.csv downloaded")
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#announce")).to_have_text("8 rows copied")

    text = "\n".join(CSV_LINES) + "\n"
    assert event.value.suggested_filename == "names.csv"
    assert event.value.path().read_bytes() == text.encode()
    assert page.evaluate("navigator.clipboard.readText()") == text


@in_browser
def test_a_download_has_the_chosen_rows_in_their_order(opened):
    page = opened(accept_downloads=True)
    page.get_by_label("Kind").select_option("b")
    sort_by(page, "Share")
    sort_by(page, "Share")

    with page.expect_download() as event:
        page.get_by_role("button", name="Download CSV").click()

    lines = [CSV_LINES[number] for number in (0, 8, 6, 2)]
    assert event.value.path().read_bytes().decode() == "\n".join(lines) + "\n"


@in_browser
def test_the_tab_key_reaches_every_control_in_the_order_of_the_page(opened):
    page = opened()
    page.get_by_label("Search").focus()
    seen = []
    name = "(e => e.getAttribute('aria-label') ?? e.textContent)"
    for _ in range(8):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(f"{name}(document.activeElement)"))

    # One page of rows: its buttons that turn pages are disabled.
    assert seen[1:] == ["Copy", "Download CSV", "Names", *TABLE.heads]


@in_browser
def test_the_table_has_its_name_and_its_rows_for_screen_readers(opened):
    page = opened()
    table = page.get_by_role("grid", name="Names")

    assert table.get_by_role("columnheader").count() == len(TABLE.heads)
    assert table.get_by_role("row").count() == 1 + len(ROWS)


@in_browser
def test_the_columns_fit_their_heads_and_long_names_break(opened):
    page = opened(viewport={"width": 320, "height": 800})
    left = "parts => parts.map(part => Math.round(part.getBoundingClientRect().left))"

    heads = page.locator(".tabulator-col").evaluate_all(left)
    row = page.locator(".tabulator-row").nth(5).locator("> *")

    assert row.evaluate_all(left) == heads
    beyond = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(beyond) <= 0
    assert row.first.evaluate("cell => cell.offsetWidth <= 28 * 16")


@in_browser
@pytest.mark.parametrize("width", [320, 720])
def test_on_paper_the_table_has_no_controls_and_nothing_is_cut_off(opened, width):
    page = opened(viewport={"width": width, "height": 800})
    page.emulate_media(media="print")

    assert not page.locator(".controls").is_visible()
    assert not page.locator(".pages").is_visible()
    assert page.locator(".tabulator-row").count() == len(ROWS)
    inside = "part => part.scrollWidth <= part.clientWidth"
    assert page.locator(".scroll").evaluate(inside)
    table = page.locator(".tabulator")
    assert table.evaluate("part => getComputedStyle(part).display") == "table"
    header = page.locator(".tabulator-header")
    shown = "part => getComputedStyle(part).display"
    assert header.evaluate(shown) == "table-header-group"


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_table_that_is_sorted_or_empty(
    browser, page_path, scheme
):
    # The policy keeps out axe itself, which is put into the page as a script.
    with Watched(browser, page_path, bypass_csp=True, color_scheme=scheme) as each:
        sort_by(each.page, "Bytes")
        assert Axe().run(each.page).response["violations"] == []

        each.page.get_by_label("Search").fill("none such")

        assert Axe().run(each.page).response["violations"] == []


@in_browser
def test_very_many_rows_are_turned_page_by_page(opened, tmp_path):
    rows = [(f"t{number}", number) for number in range(4_000)]
    many = BrowsedTable(
        name="many", caption="Many", heads=["Name", "Number"], rows=rows, total=4_000
    )
    path = tmp_path / "many.html"
    path.write_text(html_of(page_of(many)), encoding="utf-8")
    page = opened(path)
    count = page.locator(".count")

    assert count.text_content() == "4000 of 4000 rows, page 1 of 80"
    page.get_by_role("button", name="Last Page").click()
    assert cells(page, 1) == [str(number) for number in range(3_950, 4_000)]
    assert count.text_content() == "4000 of 4000 rows, page 80 of 80"
    page.get_by_role("button", name="First Page").click()
    page.get_by_role("button", name="Next Page").click()
    assert cells(page, 1)[0] == "50"
    sort_by(page, "Number")
    sort_by(page, "Number")
    assert cells(page, 1)[0] == "3999"
    assert count.text_content() == "4000 of 4000 rows, page 1 of 80"
    page.get_by_role("button", name="Next Page").click()
    page.get_by_label("Search").fill("39")
    assert count.text_content() == "179 of 4000 rows, page 1 of 4"
    assert cells(page, 1)[0] == "3999"


def test_of_a_table_too_long_for_paper_the_first_rows_are_printed_and_it_says_so(
    browser, tmp_path
):
    rows = [(f"n{number}", number, "a", 0.5) for number in range(1234)]
    path = tmp_path / "long.html"
    path.write_text(html_of(page_of(replace(TABLE, rows=rows, total=1234))))
    with Watched(browser, path) as watched:
        page = watched.page
        heads = page.locator(".tabulator-col button")
        heads.nth(1).click()
        heads.nth(1).click()

        page.evaluate("dispatchEvent(new Event('beforeprint'))")

        assert page.locator(".tabulator-row").count() == 500
        # In the order that was chosen.
        assert page.locator(".tabulator-row").first.text_content().startswith("n1233")
        assert page.locator(".unprinted").text_content() == (
            "Printed are the first 500 of 1234 rows; 734 are left out, and in the CSV "
            "that the page downloads."
        )
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator(".tabulator-row").count() == 50
        assert not page.locator(".unprinted").is_visible()
        assert watched.console == []
