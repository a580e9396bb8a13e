"""The page in a real browser: every control, files it saves, access, left open."""

import json
import time
import tomllib
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from planner.demo import SNAPSHOT_FILE
from planner.report.charts.theme import DARK, LIGHT
from planner.ui.ui_facts import comparison
from support.browser import HOSTILE, Watched, chromium, hostile_snapshot
from support.commands import run
from support.ui import served

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
PLANNED_MS = 120_000
REPLACED = ("htmx:afterRequest, ", "htmx:sendAbort, ")
"""Messages of htmx on the console when a newer request replaces one."""


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


@pytest.fixture(scope="module")
def address(folder):
    with served(SNAPSHOT_FILE, "-o", folder) as url:
        yield url


@pytest.fixture(scope="module")
def hostile_address(folder):
    snapshot = hostile_snapshot(folder / "hostile.json")
    with served(snapshot, "-o", folder) as url:
        yield url


@pytest.fixture
def opened(browser, address):
    """Return a function that opens the page; at the end its console must be empty."""
    pages = []

    def open_page(url=address, **options):
        pages.append((Watched(browser, url, **options), url))
        return pages[-1][0].page

    yield open_page
    for each, url in pages:
        console, requests = each.console, each.requests
        each.context.close()
        assert [text for text in console if not text.startswith(REPLACED)] == []
        origin = url.split("/")[2]
        allowed = (f"http://{origin}/", "data:", "blob:")
        assert all(one.startswith(allowed) for one in requests)


def steps(page):
    return page.locator(".step").all_text_contents()


def has_steps(page, *texts):
    expect(page.locator(".step")).to_have_text([*texts])


def planned(page):
    """Wait for the plan of the present state."""
    expect(page.locator("#certificate")).to_be_visible(timeout=PLANNED_MS)


def figures(page):
    """Return the texts of the table of figures by label."""
    rows = page.locator("#figures tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return {label: texts for label, *texts in rows}


def entered(page, name, value):
    field = page.locator(f"#set-{name}")
    field.fill(value)
    field.press("Tab")


def test_the_page_opens_on_todays_cluster(opened):
    page = opened()

    assert page.title() == "What if: orders-eu"
    expect(page.locator("#undo")).to_be_disabled()
    assert page.locator(".rack").count() == 3
    assert page.locator(".brokers > .tile").count() == 12
    assert page.locator(".dirs > li").count() == 24
    expect(page.locator("#shades")).to_contain_text("The darker, the fuller")
    planned(page)
    assert page.locator("#verdict").text_content() == (
        "Today: does not hold (disk binds: broker 4 81 % of 80 %); after the changes, "
        "as it is: the same; with the plan: holds."
    )


def test_brokers_racks_and_log_dirs_are_lost_and_restored_by_a_click(opened):
    page = opened()

    page.get_by_role("button", name="Lose Broker 3", exact=True).click()
    has_steps(page, "lose broker 3")
    expect(page.locator("#broker-3")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".tile.down")).to_have_count(1)
    page.get_by_role("button", name="Lose rack b").click()
    has_steps(page, "lose broker 3", "lose rack b")
    page.locator("#dir-4-2").click()
    has_steps(page, "lose broker 3", "lose rack b", "lose log dir 4:/data/d2")
    page.locator("#broker-3").click()
    has_steps(page, "lose rack b", "lose log dir 4:/data/d2")
    page.locator("#lose-log-dir").fill("4:/data/d2")
    page.locator("#lose").click()
    has_steps(page, "lose rack b")


def test_sliders_are_turned_by_the_keyboard_and_say_where_they_are(opened):
    page = opened()

    page.locator("#set-traffic").focus()
    page.keyboard.press("ArrowRight")
    has_steps(page, "traffic 1.05 times today's")
    page.locator("#set-growth").fill("5")
    expect(page.locator("#out-growth")).to_have_text("5")
    has_steps(page, "traffic 1.05 times today's", "growth 5 % per month")
    page.locator("#set-months").fill("12")
    has_steps(
        page,
        "traffic 1.05 times today's",
        "growth 5 % per month",
        "12 months from now",
    )
    page.locator("#set-months").fill("6")
    expect(page.locator(".step").nth(2)).to_have_text("6 months from now")
    row = figures(page)["First over a threshold in"]
    assert " d: " in row[0] or " y: " in row[0]


def test_the_value_of_a_slider_is_shown_while_it_is_turned(opened):
    page = opened()

    page.locator("#set-traffic").evaluate(
        "e => { e.value = 2.5; e.dispatchEvent(new Event('input', {bubbles: true})) }"
    )

    expect(page.locator("#out-traffic")).to_have_text("2.5")
    assert steps(page) == []


def test_brokers_are_added_like_another(opened):
    page = opened()

    page.locator("#add-count").fill("2")
    page.locator("#add-like").fill("4")
    page.locator("#add-rack").fill("a")
    page.locator("#add").click()

    has_steps(page, "add brokers: like 4, rack a, count 2")
    assert page.locator(".brokers > .tile").count() == 14
    expect(page.locator(".tile", has=page.locator("#broker-13"))).to_contain_text("new")
    assert figures(page)["Brokers"][:2] == ["12", "14"]


def test_topics_change_by_pattern(opened):
    page = opened()

    for kind, pattern, field, value in (
        ("retention", "clicks.*", "keep", "14d"),
        ("replication-factor", "logs.*", "factor", "2"),
        ("partitions", "orders.*", "count", "60"),
    ):
        page.locator(f"#{kind}-topics").fill(pattern)
        page.locator(f"#{kind}-{field}").fill(value)
        page.locator(f"#{kind}").click()
        expect(page.locator(".step").last).to_have_text(
            f"{kind.replace('-', ' ')}: topics {pattern}, {field} {value}"
        )

    today, changed, *_ = figures(page)["Replicas"]
    assert today != changed


def test_bands_caps_and_the_plan_are_settings(opened):
    page = opened()

    for name, value, words in (
        ("band", "0.2", "band 0.2"),
        ("disk", "0.7", "at most 0.7 of disk"),
        ("in", "0.75", "at most 0.75 of in"),
        ("out", "75%", "at most 75% of out"),
        ("cpu", "0.6", "at most 0.6 of cpu"),
        ("bandwidth", "100MB/s", "copies at 100MB/s per broker"),
    ):
        entered(page, name, value)
        expect(page.locator(".step").last).to_have_text(words)
    page.locator("#set-effort").select_option("normal")
    expect(page.locator(".step").last).to_have_text("effort normal")
    page.locator("#set-then").select_option("nothing")
    expect(page.locator(".step").last).to_have_text("no plan")
    assert page.locator("#figures thead th").all_text_contents() == [
        "Figure",
        "Today",
        "After the changes, nothing moved",
    ]
    assert page.locator("#write").count() == 0
    page.locator("#set-then").select_option("needed")
    expect(page.locator(".step").last).to_have_text("move only what must move")


def painted(page):
    """Return the background of every broker, and its figures, as the browser has it."""
    tiles = page.locator(".brokers > .tile").evaluate_all(
        "tiles => tiles.map(tile => [getComputedStyle(tile).backgroundColor,"
        " tile.querySelector(':scope > .figures-text').textContent])"
    )
    colours, texts = zip(*tiles, strict=True)
    return colours, texts


def test_colours_follow_the_resource(opened):
    page = opened()
    planned(page)
    shade = page.locator(".tile", has=page.locator("#broker-3"))
    before, found = shade.get_attribute("class"), {}

    for name in ("disk", "in", "out", "cpu", "replicas", "leaders"):
        page.locator("#show").select_option(name)
        expect(page.locator("#show")).to_have_value(name)
        page.wait_for_url(f"**show={name}")
        found[name] = painted(page)

    assert len({colours for colours, _ in found.values()}) > 1
    assert found["disk"][0] != found["out"][0]
    assert len({texts for _, texts in found.values()}) == len(found)
    page.locator("#show").select_option("disk")
    expect(shade).to_have_attribute("class", before)
    assert painted(page) == found["disk"]
    assert steps(page) == []


def test_steps_are_undone_removed_and_begun_anew(opened):
    page = opened()
    for broker in (3, 4, 5):
        page.locator(f"#broker-{broker}").click()
        expect(page.locator(".step")).to_have_count(broker - 2)

    page.locator("#undo").click()
    has_steps(page, "lose broker 3", "lose broker 4")
    page.get_by_role("button", name="Remove step 1").click()
    has_steps(page, "lose broker 4")
    page.locator("#clear").click()
    has_steps(page)
    expect(page.locator("#undo")).to_be_disabled()


def test_the_address_is_the_state(opened, browser):
    page = opened()
    page.locator("#broker-3").click()
    has_steps(page, "lose broker 3")
    page.locator("#broker-4").click()
    has_steps(page, "lose broker 3", "lose broker 4")

    other = opened(page.url)
    has_steps(other, "lose broker 3", "lose broker 4")
    page.go_back()
    has_steps(page, "lose broker 3")
    page.go_forward()
    has_steps(page, "lose broker 3", "lose broker 4")
    page.reload()
    has_steps(page, "lose broker 3", "lose broker 4")


def test_saved_files_give_the_same_figures_by_the_command(
    opened, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    page = opened(accept_downloads=True)
    page.locator("#set-growth").fill("5")
    has_steps(page, "growth 5 % per month")
    page.locator("#broker-3").click()
    has_steps(page, "growth 5 % per month", "lose broker 3")
    planned(page)
    for name in ("save", "save-snapshot"):
        with page.expect_download() as event:
            page.locator(f"#{name}").click()
        event.value.save_as(event.value.suggested_filename)
    shown = figures(page)

    words = ["what-if", "snapshot.json.gz", "scenarios.toml", "--effort", "quick"]
    document = run(capsys, *words, "--format", "json").document

    assert len(tomllib.loads(Path("scenarios.toml").read_text())["scenarios"]) == 2
    rows = [document["today"], *document["scenarios"]]
    assert shown == dict(comparison(rows))


def test_a_written_plan_is_one_that_check_accepts(opened, folder, capsys):
    page = opened()
    page.locator("#broker-3").click()
    has_steps(page, "lose broker 3")
    planned(page)
    shown = figures(page)

    page.locator("#folder").fill("loss")
    page.locator("#write").click()

    plan = folder / "loss/planned/plan"
    expect(page.locator("#written")).to_have_text(f"Written: {plan}")
    document = json.loads((plan / "plan.json").read_text())
    assert shown["Replicas copied"][2] == f"{document['moves']['replicas']:,}"
    cluster = folder / "loss/planned/cluster.json.gz"
    assert run(capsys, "check", plan, "--snapshot", cluster).code == 0


def test_bad_input_is_explained_and_changes_nothing(opened):
    page = opened()
    page.locator("#broker-3").click()
    has_steps(page, "lose broker 3")
    url = page.url

    page.locator("#retention-topics").fill("((")
    page.locator("#retention-keep").fill("14d")
    page.locator("#retention").click()
    expect(page.locator("#messages")).to_contain_text("must be a regular expression")
    page.locator("#replication-factor-factor").fill("99")
    page.locator("#replication-factor").click()
    expect(page.locator("#messages")).to_contain_text(
        "must be at most the number of brokers that take replicas: 11 (found 99); "
        "add brokers before, or lower it"
    )
    page.locator("#folder").fill("../elsewhere")
    page.locator("#write").click()
    expect(page.locator("#written")).to_contain_text("without slashes")

    assert page.url == url
    assert steps(page) == ["lose broker 3"]
    entered(page, "band", "0.2")
    has_steps(page, "lose broker 3", "band 0.2")
    assert page.locator("#messages").text_content().strip() == ""


def test_a_plan_is_stopped_and_made_again(opened):
    page = opened()
    page.locator("#set-effort").select_option("normal")
    has_steps(page, "effort normal")
    page.locator("#broker-5").click()
    has_steps(page, "effort normal", "lose broker 5")

    page.locator("#stop").click()

    expect(page.locator("#refused")).to_contain_text("No plan: stopped.")
    page.locator("#again").click()
    expect(page.locator("#progress")).to_be_visible()
    planned(page)


def test_a_newer_change_is_answered_while_a_plan_is_made(opened):
    page = opened()
    page.locator("#set-effort").select_option("normal")
    has_steps(page, "effort normal")

    for number, broker in enumerate((3, 4, 6, 7), start=2):
        page.locator(f"#broker-{broker}").click()
        expect(page.locator(".step")).to_have_count(number)

    page.locator("#set-effort").select_option("quick")
    planned(page)
    assert figures(page)["Brokers"][0] == "12"
    assert figures(page)["Brokers"][1] == "8"


def clicked_at_once(page, *ids):
    """Click controls one after the other, before any answer can be there."""
    page.evaluate("ids => ids.forEach(id => document.getElementById(id).click())", ids)


def test_clicks_while_an_answer_is_on_its_way_all_count(opened):
    page = opened()

    clicked_at_once(page, "broker-3", "broker-4", "rack-1", "broker-4")
    has_steps(page, "lose broker 3", "lose rack a")
    clicked_at_once(page, "broker-5", "broker-6", "undo")
    has_steps(page, "lose broker 3", "lose rack a", "lose broker 5")
    clicked_at_once(page, "remove-1", "remove-2")
    has_steps(page, "lose broker 5")

    page.go_back()
    has_steps(page, "lose broker 3", "lose rack a", "lose broker 5")


def test_a_click_that_is_refused_loses_no_other(opened):
    page = opened()
    page.locator("#lose-log-dir").fill("4:/nowhere")

    clicked_at_once(page, "broker-3", "lose", "broker-4")

    has_steps(page, "lose broker 3", "lose broker 4")
    expect(page.locator("#messages")).to_contain_text("such a log dir")


ACTED_AND_REPLACED = """([id, within]) => {
  const control = document.getElementById(id), place = control.closest(within);
  control.click();
  place.replaceWith(place.cloneNode(true));
}"""
"""Act on a control, and replace what is around it before the response is there."""


def test_an_answer_that_was_replaced_meanwhile_is_dropped(opened):
    page = opened()
    page.locator("#set-effort").select_option("normal")
    has_steps(page, "effort normal")
    expect(page.locator("#stop")).to_be_visible()

    with page.expect_response(lambda response: "/stop?" in response.url):
        page.evaluate(ACTED_AND_REPLACED, ["stop", "#answer"])

    page.wait_for_load_state("networkidle")
    expect(page.locator("#stop")).to_be_visible()
    expect(page.locator("#refused")).to_have_count(0)


def test_a_refusal_is_shown_where_its_control_was_replaced_meanwhile(opened):
    page = opened()
    page.locator("#lose-log-dir").fill("4:/nowhere")

    page.evaluate(ACTED_AND_REPLACED, ["lose", "form"])

    expect(page.locator("#messages")).to_contain_text("such a log dir")
    page.locator("#broker-3").click()
    has_steps(page, "lose broker 3")
    expect(page.locator("#messages")).to_have_text("")


def test_what_is_typed_stays_when_an_answer_arrives(opened):
    page = opened()
    page.locator("#set-band").focus()
    page.evaluate(
        """typed => {
          for (const id in typed) document.getElementById(id).value = typed[id];
          document.getElementById("broker-3").click();
        }""",
        {"retention-topics": "clicks.*", "set-band": "0.2"},
    )
    has_steps(page, "lose broker 3")

    expect(page.locator("#retention-topics")).to_have_value("clicks.*")
    assert page.evaluate("document.activeElement.id") == "set-band"
    page.locator("#set-band").press("Tab")
    has_steps(page, "lose broker 3", "band 0.2")

    page.locator("#retention-keep").fill("14d")
    page.locator("#retention").click()
    expect(page.locator(".step")).to_have_count(3)
    expect(page.locator("#retention-topics")).to_have_value("")


def test_the_name_of_a_folder_stays_when_the_plan_arrives(opened):
    page = opened()
    page.locator("#set-bandwidth").fill("60MB/s")
    page.locator("#set-bandwidth").press("Tab")
    expect(page.locator("#progress")).to_be_visible()

    page.locator("#folder").fill("mine")
    planned(page)

    expect(page.locator("#folder")).to_have_value("mine")


def test_the_focus_stays_where_it_is(opened):
    page = opened()
    planned(page)

    page.locator("#broker-3").focus()
    page.keyboard.press("Enter")
    has_steps(page, "lose broker 3")
    assert page.evaluate("document.activeElement.id") == "broker-3"
    planned(page)

    assert page.evaluate("document.activeElement.id") == "broker-3"


def test_hostile_names_stay_text(opened, hostile_address):
    page = opened(hostile_address)

    for number in (1, 2, 3):
        page.locator(f"#rack-{number}").click()
        expect(page.locator(f"#rack-{number}")).to_have_attribute(
            "aria-pressed", "true"
        )
        page.locator("#undo").click()
        has_steps(page)
    page.locator("#dir-1-1").click()
    has_steps(page, f"lose log dir 1:/data/{HOSTILE[0]}")

    assert page.title() == f"What if: {HOSTILE[0]}"
    assert page.locator("main img, main script").count() == 0
    assert "\u202e" not in page.evaluate("document.body.innerText")
    racks = page.locator(".rack h3").all_text_contents()
    assert sorted(racks) == sorted(
        f"\nLose rack {name}\n".strip() for name in HOSTILE[:3]
    )


def test_what_was_clicked_stays_where_it_is_on_the_screen(opened):
    page = opened(viewport={"width": 1280, "height": 800})
    planned(page)
    page.locator("#broker-12").scroll_into_view_if_needed()
    page.evaluate("scrollBy(0, 200)")
    place = "document.getElementById('broker-12').getBoundingClientRect().top"
    before = page.evaluate(place)

    page.locator("#broker-12").click()
    has_steps(page, "lose broker 12")
    assert page.evaluate(place) == pytest.approx(before, abs=20)
    planned(page)

    assert page.evaluate(place) == pytest.approx(before, abs=60)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, address, scheme):
    # The policy keeps out axe itself, which is put into the page as a script.
    with Watched(browser, address, bypass_csp=True, color_scheme=scheme) as each:
        page = each.page
        page.locator("#broker-3").click()
        has_steps(page, "lose broker 3")
        planned(page)
        page.locator("#retention-topics").fill("((")
        page.locator("#retention-keep").fill("14d")
        page.locator("#retention").click()
        expect(page.locator("#messages")).to_contain_text("regular expression")

        found = Axe().run(page)

        assert found.response["violations"] == []


@pytest.mark.parametrize(
    ("scheme", "colors"), [("light", LIGHT), ("dark", DARK)], ids=["light", "dark"]
)
def test_colours_follow_the_system(opened, scheme, colors):
    page = opened(color_scheme=scheme)

    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")

    numbers = [int(colors["paper"][at : at + 2], 16) for at in (1, 3, 5)]
    assert paper == f"rgb({', '.join(map(str, numbers))})"


@pytest.mark.parametrize("width", [360, 800, 1280, 2560])
def test_no_width_scrolls_sideways(opened, width):
    page = opened(viewport={"width": width, "height": 900})
    planned(page)

    beyond = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(beyond) <= 0


def test_a_page_that_was_left_open_still_answers(opened):
    page = opened()
    planned(page)
    page.clock.install()
    # The server closes connections that are idle for five seconds.
    time.sleep(6)
    page.clock.fast_forward("14:00:00")

    page.locator("#broker-3").click()

    has_steps(page, "lose broker 3")
    page.clock.run_for(60_000)
    planned(page)


def test_a_page_whose_server_has_ended_says_so(browser):
    with served(SNAPSHOT_FILE) as url:
        watched = Watched(browser, url)
    with watched as each:
        each.page.locator("#broker-3").click()

        expect(each.page.locator("#messages")).to_contain_text("server has ended")


def test_a_page_whose_address_is_of_an_earlier_server_says_so(browser):
    with served(SNAPSHOT_FILE) as url:
        watched = Watched(browser, url)
        port = url.split("/")[2].split(":")[1]
    with served(SNAPSHOT_FILE, "--port", port), watched as each:
        each.page.locator("#broker-3").click()

        expect(each.page.locator("#messages")).to_contain_text("token")
