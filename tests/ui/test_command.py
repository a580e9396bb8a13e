"""The command `ui`: its options, its address, its end, and what it refuses."""

import json
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import pytest

from planner import extras
from planner.demo import SNAPSHOT_FILE
from planner.ui import ui_run
from planner.ui.ui_run import UiRecord
from support.commands import run
from support.ui import COMMAND, served

ROOT = Path(__file__).parents[2]


def test_a_missing_extra_is_one_line_with_the_command(capsys, monkeypatch):
    monkeypatch.setattr(
        extras,
        "find_spec",
        lambda name: None if name in {"starlette", "uvicorn"} else find_spec(name),
    )

    outcome = run(capsys, "ui", SNAPSHOT_FILE)

    assert outcome.code == 2
    error, *more = outcome.err.splitlines()
    assert "Starlette, Uvicorn are not installed" in error
    assert "python -m pip install 'kafka-planner[ui]'" in error
    assert len(more) == 1


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        pytest.param([], "exactly one of the two must be given", id="neither"),
        pytest.param(
            [SNAPSHOT_FILE, "--bootstrap-server", "x:1"],
            "exactly one of the two must be given",
            id="both",
        ),
        pytest.param(["nothing.json"], "nothing.json", id="no file"),
    ],
)
def test_what_is_no_cluster_is_refused(capsys, words, rule):
    outcome = run(capsys, "ui", *words)

    assert outcome.code == 2
    assert rule in outcome.err
    assert outcome.out == ""


def test_a_port_that_is_taken_is_refused_with_every_other_problem(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = run(capsys, "ui", "nothing.json", "--port", port)

    assert outcome.code == 2
    assert "must be free on 127.0.0.1" in outcome.err
    assert "leave it out" in outcome.err
    assert "nothing.json" in outcome.err


def get(url):
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310
        return answer.status, answer.read().decode()


@pytest.mark.slow
def test_the_page_is_served_at_the_printed_address_and_on_this_machine_alone():
    with served(SNAPSHOT_FILE) as url:
        status, text = get(url)
        port = int(url.split(":")[2].split("/", maxsplit=1)[0])
        with pytest.raises(urllib.error.HTTPError, match="403"):
            get(f"http://127.0.0.1:{port}/")
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.2", port), timeout=5)

    assert status == 200
    assert "What if: orders-eu" in text
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=5)


@pytest.mark.slow
def test_two_servers_have_different_tokens():
    with served(SNAPSHOT_FILE) as one, served(SNAPSHOT_FILE) as other:
        assert one.split("/")[3] != other.split("/")[3]
        assert min(len(url.split("/")[3]) for url in (one, other)) >= 32


def test_the_document_is_that_of_its_schema_and_the_browser_is_opened(
    capsys, monkeypatch, tmp_path
):
    opened = []
    monkeypatch.setattr(ui_run.webbrowser, "open", opened.append)
    monkeypatch.setattr(
        "uvicorn.Server.run", lambda _, sockets: signal.raise_signal(signal.SIGINT)
    )
    monkeypatch.setattr(ui_run, "Session", _NoSession)

    outcome = run(capsys, "ui", SNAPSHOT_FILE, "-o", tmp_path, "--format", "json")

    assert outcome.code == 0
    document = UiRecord.model_validate(outcome.document)
    assert document.url.startswith(f"http://127.0.0.1:{document.port}/")
    assert document.folder == str(tmp_path)
    assert opened == [document.url]
    assert outcome.err == "the page is served no more\n"


class _NoSession:
    """A session without background work."""

    def __init__(self, snapshot):
        self.snapshot = snapshot

    def close(self):
        """End nothing."""


@pytest.mark.slow
def test_nothing_is_left_running_when_the_server_is_killed(tmp_path):
    process = subprocess.Popen(
        [COMMAND, "ui", SNAPSHOT_FILE, "--no-browser", "--format", "json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        if line == "}\n":
            break
    pids = []
    ends = time.monotonic() + 60
    while not pids and time.monotonic() < ends:
        time.sleep(0.1)
        pids = children_of(process.pid)
    assert pids

    process.kill()
    process.communicate(timeout=60)

    for pid in pids:
        wait_for_end(pid)


def children_of(pid):
    """Return the ids of the processes that any thread of a process has started."""
    files = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in files for child in file.read_text().split()]


def wait_for_end(pid):
    """Wait until a process is gone, or dead and not yet collected."""
    status = Path(f"/proc/{pid}/status")
    ends = time.monotonic() + 60
    while status.exists() and "State:\tZ" not in status.read_text():
        assert time.monotonic() < ends
        time.sleep(0.1)


def test_the_other_commands_load_no_server(tmp_path):
    code = (
        "import sys; from planner.cli.main import build_command; build_command(); "
        "print([m for m in ('starlette', 'uvicorn', 'jinja2', 'planner.ui') "
        "if m in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert json.loads(done.stdout) == []


WITHOUT_REPORT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"altair", "vl_convert"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
from contextlib import closing
from pathlib import Path
from planner.demo import SNAPSHOT_FILE
from planner.snapshot import read_snapshot
from planner.ui import ui_pages, ui_run
from planner.ui.ui_play import play_of
from planner.ui.ui_server import UiApp
from planner.ui.ui_session import Session
from planner.ui.ui_state import UiState

if __name__ == "__main__":
    snapshot = read_snapshot(SNAPSHOT_FILE)
    cluster = ui_pages.Cluster(snapshot=snapshot, name="s")
    with closing(Session(snapshot, wait_s=None)) as session:
        UiApp(session, "s", Path()).guarded("a", 1)
        answer = session.answer(play_of(UiState()))
        answer.job.ended.wait()
        view = ui_pages.View(
            cluster=cluster, state=UiState(), show="disk", answer=answer
        )
        text = ui_pages.page_html(view)
    assert ui_pages.static_file("page.css")
    print('id="certificate"' in text)
"""


@pytest.mark.slow
def test_the_page_needs_nothing_of_the_extra_of_reports(tmp_path):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert not any(line.startswith(("altair", "vl-convert")) for line in extras["ui"])
    script = tmp_path / "serve.py"
    script.write_text(WITHOUT_REPORT)

    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr
