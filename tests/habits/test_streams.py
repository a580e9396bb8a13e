"""Terminals, pipes and Ctrl-C: what a command writes where, and what it leaves."""

import io
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from placement.core.search import compilation
from placement.core.search.compilation import PLAIN_ITEMS
from planner.cli.common.progress_line import ProgressLine, is_wanted, progress_line
from planner.cli.plan.config_commands import _write_new
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from planner.group.files.group_files import write_group as write_group_file
from planner.group.group_document import GroupDocument
from planner.io.interrupts import interrupts_wait
from planner.plan.folder.plan_folder import replace_plan
from planner.progress import Stage, listening, stage
from planner.score import score_snapshot
from planner.score.score_folder import write_tables
from planner.snapshot import read_snapshot, write_snapshot
from planner.what_if import play_scenarios as what_if
from support.commands import run

COMMAND = Path(sys.executable).with_name("kafka-planner")
NOW = datetime(2026, 11, 21, tzinfo=UTC)
WIPE = "\r\x1b[K"


class Terminal(io.StringIO):
    """A stream that says it is a terminal, and tells when something is drawn."""

    def __init__(self):
        super().__init__()
        self.drawn = threading.Event()

    def isatty(self):
        return True

    def write(self, text):
        self.drawn.set()
        return super().write(text)


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


@pytest.fixture(autouse=True)
def pythons_own_answer_to_ctrl_c():
    """Spark has another one, where its tests ran in this process before."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_stages_are_shown_while_a_listener_is_set():
    heard = []

    stage("unheard")
    with listening(heard.append):
        stage("reading s.json")
        stage("playing scenarios", 3, 40)
    stage("unheard, too")

    assert list(map(str, heard)) == ["reading s.json", "playing scenarios 3/40"]


def test_a_line_says_what_is_done_and_is_wiped(terminal):
    line = ProgressLine(terminal, delay_s=0)

    line.hear(Stage("planning rebalance"))
    line.start()
    assert terminal.drawn.wait(30)
    line.stop()

    drawn = terminal.getvalue()
    assert drawn.startswith(f"{WIPE}planning rebalance … 0 s")
    assert drawn.endswith(WIPE)


def test_nothing_is_drawn_of_what_takes_no_second(terminal):
    line = ProgressLine(terminal)

    line.start()
    line.stop()

    assert terminal.getvalue() == ""


def test_a_line_fits_the_terminal(terminal):
    line = ProgressLine(terminal)

    line.hear(Stage("reading /a/" + "long/" * 40))
    line.draw()

    assert len(terminal.getvalue().removeprefix(WIPE)) == 79


def test_in_json_mode_each_stage_is_one_line_of_json(terminal):
    line = ProgressLine(terminal, as_json=True)

    for one in (Stage("a"), Stage("a"), Stage("b", 1, 2)):
        line.hear(one)
        line.draw()
    line.wipe()

    told = [json.loads(text) for text in terminal.getvalue().splitlines()]
    assert [one.pop("seconds") >= 0 for one in told] == [True, True]
    assert told == [{"progress": "a"}, {"progress": "b", "done": 1, "total": 2}]


def test_a_terminal_that_went_away_harms_nothing():
    class Gone(io.StringIO):
        def write(self, _):
            raise OSError

    line = ProgressLine(Gone(), delay_s=0)
    line.start()
    line.stop()


def test_the_line_is_wiped_before_anything_else_is_written(terminal, monkeypatch):
    results = io.StringIO()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("sys.stdout", results)
    monkeypatch.setattr("planner.cli.common.progress_line.DELAY_S", 0)

    with progress_line(as_json=False, is_quiet=False):
        line = sys.stderr._line
        with line._lock:
            line.draw()
            sys.stdout.write("result\n")
            wiped = terminal.getvalue()
            sys.stderr.write("note\n")
        assert sys.stderr.isatty()

    assert sys.stderr is terminal
    assert results.getvalue() == "result\n"
    assert wiped.endswith(f" s{WIPE}")
    assert "note\n" in terminal.getvalue()


@pytest.mark.parametrize(
    ("num_items", "is_at_hand", "expected"),
    [
        pytest.param(PLAIN_ITEMS, False, False, id="small"),
        pytest.param(PLAIN_ITEMS + 1, False, True, id="first-time"),
        pytest.param(PLAIN_ITEMS + 1, True, False, id="compiled-before"),
    ],
)
def test_who_has_to_wait_for_the_compiler(monkeypatch, num_items, is_at_hand, expected):
    monkeypatch.setattr(compilation, "PLAIN_ITEMS", PLAIN_ITEMS)
    monkeypatch.setattr(compilation, "is_at_hand", lambda _: is_at_hand)

    assert compilation.needs_compiling(num_items) == expected


@pytest.mark.parametrize("has_rounds", [True, False])
def test_many_rounds_are_worth_compiling_for(monkeypatch, has_rounds):
    monkeypatch.setattr(compilation, "PLAIN_ITEMS", PLAIN_ITEMS)
    monkeypatch.setattr(compilation, "is_at_hand", lambda _: False)

    is_waiting = compilation.needs_compiling(PLAIN_ITEMS, has_rounds=has_rounds)

    assert is_waiting == has_rounds


@pytest.mark.not_quick
def test_waiting_for_the_compiler_is_said(monkeypatch, capsys):
    monkeypatch.setattr(
        "planner.plan.run.make_plan.needs_compiling", lambda _, **__: True
    )

    outcome = run(capsys, "plan", "rebalance", SNAPSHOT_FILE, "--verbose")

    assert "planning rebalance, the search compiled once for all\n" in outcome.err


@pytest.mark.parametrize(
    ("is_terminal", "term", "is_quiet", "expected"),
    [
        pytest.param(True, "xterm", False, True, id="terminal"),
        pytest.param(False, "xterm", False, False, id="pipe"),
        pytest.param(True, "dumb", False, False, id="dumb"),
        pytest.param(True, "", False, False, id="no-term"),
        pytest.param(True, "xterm", True, False, id="quiet"),
    ],
)
def test_progress_is_for_terminals(monkeypatch, is_terminal, term, is_quiet, expected):
    monkeypatch.setenv("TERM", term)
    stream = Terminal() if is_terminal else io.StringIO()

    assert is_wanted(stream, is_quiet=is_quiet) == expected


def on_terminal(*arguments, **environment):
    """Run a command whose stderr is a terminal; return its exit code and its words."""
    ours, theirs = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "TERM"}}
    process = subprocess.Popen(
        [COMMAND, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**kept, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    words = b""
    while chunk := read(ours):
        words += chunk
    os.close(ours)
    return process.wait(), words.decode()


def read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux's way to say that nobody writes any more
        return b""


@pytest.mark.not_quick
@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [
        pytest.param({}, True, id="terminal"),
        pytest.param({"NO_COLOR": "1"}, False, id="no-color"),
        pytest.param({"NO_COLOR": ""}, True, id="no-color-empty"),
        pytest.param({"TERM": "dumb"}, False, id="dumb"),
    ],
)
def test_words_are_coloured_on_terminals_alone(environment, is_coloured):
    code, words = on_terminal("snapshot", "show", "none.json", **environment)

    assert code == 2
    assert "the snapshot cannot be read" in words
    assert ("\x1b[31m" in words) == is_coloured
    # A progress line, where the machine is slow, moves the cursor and has no colours.
    assert ("\x1b[" in words.replace("\x1b[K", "")) == is_coloured


@pytest.mark.not_quick
def test_nothing_is_coloured_in_a_pipe():
    done = subprocess.run(
        [COMMAND, "snapshot", "show", "none.json"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "TERM": "xterm"},
    )

    assert done.stderr.startswith("error: ")
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.not_quick
@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_reader_that_goes_away_is_no_error(closed, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, closed: writing}
    words = {"stdout": ["schema", "snapshot"], "stderr": ["demo", "--verbose"]}

    command = [COMMAND, *words[closed]]
    done = subprocess.run(command, check=False, cwd=tmp_path, **streams)
    os.close(writing)

    assert done.returncode == 0
    assert not done.stderr


@pytest.mark.not_quick
def test_ctrl_c_ends_a_command_that_waits_and_leaves_nothing(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        port = server.getsockname()[1]
        process = subprocess.Popen(
            [
                *(COMMAND, "snapshot", "live", "-o", "s.json"),
                *("--bootstrap-server", f"127.0.0.1:{port}"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            text=True,
        )
        connection, _ = server.accept()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        connection.close()

    assert process.returncode == 130
    assert (out, "Traceback" in err) == ("", False)
    assert list(tmp_path.iterdir()) == []


def snapshot_files(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_json(path):
    write_snapshot(read_snapshot(SNAPSHOT_FILE), path / "s.json")


def write_parquet(path):
    write_snapshot(read_snapshot(SNAPSHOT_FILE), path / "s")


def write_plan(path):
    known = {"plan.json": '{"format": "kafka-planner/plan"}', "waves/a.json": "{}"}
    replace_plan(known, path / "plan")


def write_scores(path):
    scored = score_snapshot(read_snapshot(SNAPSHOT_FILE), now=NOW)
    write_tables([scored], path / "scores")


def write_group(path):
    member = {"member_id": "c0", "topics": ["t"]}
    topics = [{"name": "t", "partitions": 2}]
    document = {"format": "kafka-planner/group", "version": 1, "group_id": "g"}
    document |= {"topics": topics, "members": [member]}
    write_group_file(GroupDocument.from_document(document, file="g"), path / "g.json")


def write_config(path):
    with suppress(BadInputError):  # one that stands there is kept
        _write_new(path / "planner.toml", "# nothing\n")


@pytest.mark.parametrize(
    ("writer", "number"),
    [
        pytest.param(write_json, 0, id="json"),
        pytest.param(write_parquet, 0, id="parquet-first-file"),
        pytest.param(write_parquet, 3, id="parquet-fourth-file"),
        pytest.param(write_plan, 0, id="plan-first-file"),
        pytest.param(write_plan, 1, id="plan-second-file"),
        pytest.param(write_scores, 0, id="scores-first-file"),
        pytest.param(write_scores, 1, id="scores-second-file"),
        pytest.param(write_group, 0, id="group"),
        pytest.param(write_config, 0, id="config"),
    ],
)
@pytest.mark.parametrize("is_new", [True, False])
def test_ctrl_c_while_files_are_written_leaves_what_was(
    writer, number, is_new, tmp_path, monkeypatch
):
    if not is_new:
        writer(tmp_path)
    before = snapshot_files(tmp_path)
    left = number

    def interrupted(write):
        def wrapper(*arguments, **options):
            nonlocal left
            if left <= 0:
                raise KeyboardInterrupt
            left -= 1
            return write(*arguments, **options)

        return wrapper

    monkeypatch.setattr(Path, "write_text", interrupted(Path.write_text))
    monkeypatch.setattr("pyarrow.parquet.write_table", interrupted(_no_write))
    monkeypatch.setattr(Path, "replace", interrupted(Path.replace))
    monkeypatch.setattr(Path, "write_bytes", interrupted(Path.write_bytes))
    with pytest.raises(KeyboardInterrupt):
        writer(tmp_path)

    assert snapshot_files(tmp_path) == before
    assert [p for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def _no_write(*_, **__):
    """Stand for a file that was written."""


def test_other_processes_end_by_ctrl_c_without_a_word(monkeypatch):
    monkeypatch.setattr(what_if.Player, "unpickled", lambda given: given)
    before = signal.getsignal(signal.SIGINT)
    try:
        what_if._start_worker(())
        found = signal.getsignal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
        what_if._worker.clear()

    assert found is signal.SIG_DFL


def test_ctrl_c_between_two_renames_waits_for_the_second():
    done = []

    def rename_twice():
        with interrupts_wait():
            signal.raise_signal(signal.SIGINT)
            done.append("first")
            done.append("second")

    with pytest.raises(KeyboardInterrupt):
        rename_twice()

    assert done == ["first", "second"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_ctrl_c_nothing_waits():
    with interrupts_wait():
        pass

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_never_wait():
    handlers = []

    def work():
        with interrupts_wait():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert handlers == [signal.default_int_handler]


@pytest.mark.not_quick
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("snapshot", "show", "s.json"), id="snapshot-show"),
        pytest.param(("score", "s.json"), id="score"),
        pytest.param(("plan", "rebalance", "s.json"), id="plan-rebalance"),
        pytest.param(("plan", "add-brokers", "s.json", "--waves"), id="waves"),
        pytest.param(("plan", "fix", "s.json"), id="plan-fix"),
        pytest.param(("plan", "leaders", "s.json"), id="plan-leaders"),
        pytest.param(("failures", "s.json"), id="failures"),
        pytest.param(("size", "s.json"), id="size"),
        pytest.param(("demo", "-o", "demo"), id="demo"),
        pytest.param(("check", "plan", "--snapshot", "s.json"), id="check"),
        pytest.param(("verify", "plan", "--snapshot", "s.json"), id="verify"),
        pytest.param(("explain", "plan", "--snapshot", "s.json"), id="explain"),
        pytest.param(("config", "show"), id="config-show"),
        pytest.param(("--help",), id="help"),
    ],
)
def test_screens_fit_80_columns(words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_snapshot(read_snapshot(SNAPSHOT_FILE), Path("s.json"))
    if "plan" in words[1:]:
        run(capsys, "plan", "add-brokers", "s.json", "-o", "plan")

    outcome = run(capsys, *words)

    assert outcome.code in {0, 3, 4}, outcome.err
    assert outcome.out
    long = [line for line in outcome.out.splitlines() if len(line) > 80]
    assert long == []
