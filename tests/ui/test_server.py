"""The page's application: who may ask, what it answers, and what stays text."""

import gzip
import hashlib
import html
import json
import re
import tomllib
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from planner.demo import SNAPSHOT_FILE
from planner.snapshot import read_snapshot
from planner.ui import ui_security
from planner.ui.ui_server import UiApp
from planner.ui.ui_session import Session
from planner.ui.ui_state import UiState
from support.browser import HOSTILE, hostile_snapshot

TOKEN, PORT = "a-token", 8123
ORIGIN = f"http://127.0.0.1:{PORT}"
HTMX_SHA256 = {
    "htmx.min.js": "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717",
    "htmx.LICENSE": "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38",
}
"""Checksums of dist/htmx.min.js and LICENSE in htmx.org 2.0.11 of npm."""
LOSS = UiState(({"change": "lose", "brokers": "3"},))


@pytest.fixture(scope="module")
def made():
    """Return a function that serves a snapshot, and ends all at the end."""
    sessions = []

    def serve(path, output):
        sessions.append(Session(read_snapshot(path), wait_s=None))
        app = UiApp(sessions[-1], "snap.json", output).guarded(TOKEN, PORT)
        return TestClient(app, base_url=ORIGIN)

    yield serve
    for each in sessions:
        each.close()


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    return tmp_path_factory.mktemp("output")


@pytest.fixture(scope="module")
def client(made, output):
    return made(SNAPSHOT_FILE, output)


def get(client, path="", **params):
    return client.get(f"/{TOKEN}/{path}", params=params)


def steps_of(answer):
    found = re.search(r'name="steps" value="([^"]*)"', answer.text)
    return json.loads(html.unescape(found[1]))


def finished(client, state):
    """Return the answer after the plan has ended."""
    get(client, steps=state.text())
    while True:
        answer = get(client, "answer", steps=state.text())
        if 'id="progress"' not in answer.text:
            return answer


@pytest.mark.parametrize(
    "path", ["/", "/a-toke", "/a-token-/", "//", "/static/page.css", "/%61/", "/ä/"]
)
def test_without_the_token_nothing_is_served(client, path):
    answer = client.get(path)

    assert answer.status_code == 403
    assert "token" in answer.text
    assert "orders" not in answer.text


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        pytest.param({"host": "evil.example"}, "host", id="host"),
        pytest.param({"host": f"evil.example:{PORT}"}, "host", id="rebound"),
        pytest.param({"host": "127.0.0.1:1"}, "host", id="port"),
        pytest.param({"host": ""}, "host", id="no host"),
        pytest.param({"origin": "http://evil.example"}, "another page", id="origin"),
        pytest.param({"origin": "null"}, "another page", id="null"),
        pytest.param({"origin": f"https://127.0.0.1:{PORT}"}, "another", id="https"),
        pytest.param({"sec-fetch-site": "cross-site"}, "another page", id="site"),
        pytest.param({"sec-fetch-site": "same-site"}, "another page", id="same site"),
    ],
)
def test_other_hosts_and_origins_are_refused(client, headers, reason):
    answer = client.get(f"/{TOKEN}/", headers=headers)

    assert answer.status_code == 403
    assert reason in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_served_by_both_of_its_names(client, host):
    headers = {"host": f"{host}:{PORT}", "origin": f"http://{host}:{PORT}"}
    headers["sec-fetch-site"] = "same-origin"

    assert client.get(f"/{TOKEN}/", headers=headers).status_code == 200


def test_nothing_is_written_without_an_origin(client, output):
    form = {"folder": "stolen", "steps": "[]"}

    answer = client.post(f"/{TOKEN}/write", data=form)

    assert answer.status_code == 403
    assert not (output / "stolen").exists()


@pytest.mark.parametrize("path", ["", "static/page.css", "change", "nothing", "write"])
def test_every_answer_has_the_strict_headers(client, path):
    answer = get(client, path)

    for name, value in ui_security.HEADERS.items():
        assert answer.headers[name] == value
    assert "unsafe" not in answer.headers["content-security-policy"]


def test_a_refusal_has_the_strict_headers_too(client):
    assert client.get("/").headers["content-security-policy"] == ui_security.POLICY


def test_the_page_has_no_inline_script_or_style(client):
    text = get(client, steps=LOSS.text()).text

    assert not re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=", text)
    assert "http:" not in text.replace("http://www.w3.org", "")


def test_the_address_restores_the_state(client):
    answer = get(client, steps=LOSS.text(), show="out")

    assert answer.status_code == 200
    assert steps_of(answer) == [*LOSS.steps]
    assert '<span class="step">lose broker 3</span>' in answer.text
    assert '<option value="out" selected>' in answer.text
    assert re.search(r'id="broker-3" class="lose" aria-pressed="true"', answer.text)


def test_a_change_gives_the_next_state_and_its_address(client):
    answer = get(client, "change", steps=LOSS.text(), **{"lose-rack": "b"})

    assert steps_of(answer) == [*LOSS.steps, {"change": "lose", "racks": ["b"]}]
    restored = client.get(f"/{TOKEN}/{answer.headers['hx-push-url'][2:]}")
    assert steps_of(restored) == steps_of(answer)


def test_undo_gives_the_state_before(client):
    answer = get(client, "change", steps=LOSS.text(), undo="1")

    assert steps_of(answer) == []
    assert answer.headers["hx-push-url"] == "./?show=disk"


@pytest.mark.parametrize(
    ("form", "words"),
    [
        pytest.param(
            {"topics-form": "retention", "topics": "((", "keep": "1d"},
            "must be a regular expression",
            id="pattern",
        ),
        pytest.param(
            {"topics-form": "replication-factor", "factor": "99"},
            "must be at most the number of brokers that take replicas: 11",
            id="factor",
        ),
        pytest.param({"set": "band", "band": "-1"}, "fraction from 0 to 10", id="band"),
        pytest.param({"set": "cpu", "cpu": "x"}, "must be", id="cap"),
        pytest.param({"set": "bandwidth", "bandwidth": "fast"}, "50MB/s", id="rate"),
        pytest.param({"lose-broker": "99"}, "there must be such a broker", id="broker"),
        pytest.param({"lose-log-dir": "4:/x"}, "such a log dir", id="log dir"),
        pytest.param({"add": "1", "count": "0"}, "greater than or equal", id="count"),
        pytest.param({"add": "1", "count": "1", "like": "-5"}, "step 2", id="like"),
    ],
)
def test_bad_input_is_a_message_and_changes_nothing(client, form, words):
    answer = get(client, "change", steps=LOSS.text(), **form)

    assert answer.status_code == 200
    assert words in html.unescape(answer.text)
    assert answer.headers["hx-retarget"] == "#messages"
    assert "hx-push-url" not in answer.headers


def test_changes_without_an_answer_yet_are_made_first(client):
    before = json.dumps([{"lose-broker": "4"}, {"lose-rack": "b"}, {"undo": "1"}])

    answer = get(client, "change", steps=LOSS.text(), before=before, clear="")
    assert steps_of(answer) == []
    answer = get(client, "change", steps=LOSS.text(), before=before, remove="1")
    assert steps_of(answer) == [{"change": "lose", "brokers": "4"}]


def test_a_refused_change_among_others_is_explained_and_the_others_are_made(client):
    before = json.dumps([{"lose-broker": "99"}, {"lose-broker": "4"}])

    answer = get(
        client,
        "change",
        steps=LOSS.text(),
        before=before,
        **{"set": "band", "band": "-1"},
    )

    assert steps_of(answer) == [*LOSS.steps, {"change": "lose", "brokers": "4"}]
    text = html.unescape(answer.text)
    assert "there must be such a broker" in text
    assert "fraction from 0 to 10" in text
    assert "hx-retarget" not in answer.headers


@pytest.mark.parametrize(
    "before",
    ["{", "{}", "[1]", '[{"undo":1}]', '["undo"]', "[" * 9000, "1" * 31_000],
    ids=range(7),
)
def test_wrong_earlier_changes_are_explained_and_change_nothing(client, before):
    answer = get(client, "change", steps=LOSS.text(), before=before, undo="1")

    assert answer.headers["hx-retarget"] == "#messages"
    assert "before" in answer.text
    assert "must be JSON: must be" not in answer.text


@pytest.mark.parametrize(
    "steps",
    [
        "{",
        '[{"change":"lose","brokers":{"a":1}}]',
        '[{"change":"add-brokers","count":"many"}]',
        '[{"change":"fly"}]',
        '[{"change":"remove-brokers","brokers":"1"}]',
        '[{"change":"grow","months":3}]',
        '[{"set":"traffic","to":"much"}]',
        "[" * 20_000,
    ],
    ids=range(8),
)
@pytest.mark.parametrize("path", ["", "change", "answer", "scenarios.toml", "stop"])
def test_a_wrong_address_is_explained_and_never_a_crash(client, path, steps):
    answer = get(client, path, steps=steps)

    assert answer.status_code in {200, 400}
    assert "the page was given what it cannot use" in answer.text or path in {
        "answer",
        "stop",
    }
    assert "Traceback" not in answer.text
    assert "must be JSON: must be" not in answer.text


def test_the_answer_has_the_plan_once_it_is_made(client):
    answer = finished(client, LOSS)

    assert answer.headers["hx-retarget"] == "#answer"
    assert 'id="certificate"' in answer.text
    assert 'id="picture" hx-swap-oob="true"' in answer.text
    assert "least possible" in answer.text or "gap" in answer.text


def test_a_plan_that_was_stopped_can_be_made_again(client):
    state = LOSS.with_setting("effort", "normal")
    assert 'id="progress"' in get(client, steps=state.text()).text

    stopped = get(client, "stop", steps=state.text())

    assert "No plan: stopped." in stopped.text
    assert 'id="again"' in stopped.text
    assert 'id="progress"' in get(client, "change", steps=state.text()).text
    get(client, "stop", steps=state.text())


def test_the_scenarios_file_is_that_of_the_steps(client):
    answer = get(client, "scenarios.toml", steps=LOSS.text())

    scenarios = tomllib.loads(answer.text)["scenarios"]
    assert [each["changes"] for each in scenarios] == [[*LOSS.steps]] * 2
    assert "kafka-planner what-if snap.json scenarios.toml" in answer.text


def test_the_snapshot_is_that_of_the_page(client, tmp_path):
    path = tmp_path / "s.json.gz"
    path.write_bytes(get(client, "snapshot.json.gz").content)

    assert json.loads(gzip.decompress(path.read_bytes()))["cluster_id"] == "orders-eu"
    assert read_snapshot(path).to_state().num_brokers == 12


def write(client, **form):
    return client.post(f"/{TOKEN}/write", data=form, headers={"origin": ORIGIN})


def test_a_plan_folder_is_written_where_the_command_said(client, output):
    answer = write(client, folder="loss", steps=LOSS.text())

    place = output / "loss/planned/plan"
    assert str(place) in answer.text
    assert (place / "plan.json").exists()


@pytest.mark.parametrize("name", ["", "..", "../x", "/x", "a/b", ".hidden", "a\0b"])
def test_folders_elsewhere_are_refused(client, output, name):
    before = sorted(output.rglob("*"))

    answer = write(client, folder=name, steps="[]")

    assert answer.status_code == 200
    assert "must be a name of letters" in answer.text
    assert sorted(output.rglob("*")) == before


def test_what_cannot_be_written_is_a_message(client, output):
    (output / "mine").write_text("notes")

    assert "is not a plan folder" in write(client, folder="mine", steps="[]").text
    state = UiState().with_setting("then", "nothing")
    assert "there is no plan" in write(client, folder="x", steps=state.text()).text
    assert "must be JSON" in write(client, folder="x", steps="{").text
    assert (output / "mine").read_text() == "notes"


@pytest.mark.not_quick
def test_hostile_names_stay_text(made, output, tmp_path):
    client = made(hostile_snapshot(tmp_path / "s.json"), output)
    state = UiState(({"change": "lose", "racks": [HOSTILE[0]]},))

    for text in (get(client, steps=state.text()).text, finished(client, state).text):
        assert "<script>document" not in text
        assert "<img" not in text
        assert html.escape(HOSTILE[0]) in text or "&lt;script&gt;" in text
        assert "{{7*7}}" in text


def test_a_file_that_is_none_of_the_page_is_not_served(client):
    for name in ("page.html", "htmx.LICENSE", "..%2f__init__.py", "x"):
        assert get(client, f"static/{name}").status_code == 404
    assert get(client, "static/htmx.min.js").status_code == 200


def test_htmx_is_the_published_file_with_its_licence_beside_it():
    folder = Path(ui_security.__file__).parent / "static"
    found = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in HTMX_SHA256
    }

    assert found == HTMX_SHA256
    assert "Zero-Clause BSD" in (folder / "htmx.LICENSE").read_text()
    assert 'version:"2.0.11"' in (folder / "htmx.min.js").read_text()
