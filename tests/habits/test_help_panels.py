"""The help at several widths: panels, nothing cut off, frames on terminals alone."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from planner.cli.common.help_panels import MANY_COMMANDS, MANY_OPTIONS, OPTION_PANELS
from planner.cli.common.help_screen import help_width
from planner.cli.main import build_command
from support.commands import run

COMMAND = Path(sys.executable).with_name("kafka-planner")
ROOT = build_command()
TITLE = re.compile(r"^([A-Z][^:]*):$", re.MULTILINE)
FRAME = re.compile(r"^╭─ (.+?) ─+╮$", re.MULTILINE)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def walk(command, path=()):
    yield " ".join(path), command
    for name, child in getattr(command, "commands", {}).items():
        yield from walk(child, (*path, name))


COMMANDS = dict(walk(ROOT))
GROUPS = {name: one for name, one in COMMANDS.items() if hasattr(one, "commands")}
EVERY = pytest.mark.parametrize("name", COMMANDS, ids=lambda name: name or "first")


@pytest.fixture(params=[80, 120])
def width(request, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(request.param))
    return request.param


@pytest.fixture
def frames(monkeypatch):
    monkeypatch.setattr("planner.cli.common.help_screen.has_frames", lambda _: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def help_of(name, capsys):
    outcome = run(capsys, *name.split(), "--help")
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out


def without_colours(text):
    return COLOURS.sub("", text)


@EVERY
def test_nothing_is_cut_off(name, width, capsys):
    lines = help_of(name, capsys).splitlines()

    assert max(map(len, lines)) <= width
    assert [line for line in lines if line.rstrip().endswith(("...", "…"))] == []
    assert [line for line in lines if re.search(r"\w…", line)] == []


@EVERY
def test_nothing_is_cut_off_in_frames(name, width, frames, capsys):
    plain = without_colours(help_of(name, capsys))

    lines = [line.strip("│╭╮╰╯─ ") for line in plain.splitlines()]
    assert {len(line) for line in plain.splitlines() if line[:1] in "│╭╰"} <= {0, width}
    assert [line for line in lines if line.endswith(("...", "…"))] == []
    for parameter in COMMANDS[name].params:
        long = [one for one in parameter.opts if one.startswith("--")]
        assert all(option in plain for option in long)


@EVERY
def test_frames_and_sections_show_the_same(name, monkeypatch, capsys):
    sections = help_of(name, capsys)
    monkeypatch.setattr("planner.cli.common.help_screen.has_frames", lambda _: True)
    frames = without_colours(help_of(name, capsys))

    assert TITLE.findall(sections) == FRAME.findall(frames)
    assert sorted(words_of(frames)) == sorted(words_of(sections))


def words_of(text):
    return re.sub(r"[│╭╮╰╯─:]", " ", text).split()


@pytest.mark.parametrize("name", GROUPS, ids=lambda name: name or "first")
def test_every_command_of_a_large_group_is_in_a_panel(name, capsys):
    children = GROUPS[name].commands

    text = help_of(name, capsys)

    if len(children) > MANY_COMMANDS:
        assert all(child.rich_help_panel for child in children.values())
        assert "Commands" not in TITLE.findall(text)
    for child in children:
        assert re.search(rf"^  {child}  +\S", text, re.MULTILINE)


@pytest.mark.parametrize("name", GROUPS, ids=lambda name: name or "first")
def test_summaries_of_commands_fit_a_line(name, frames, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")

    text = without_colours(help_of(name, capsys))

    for child, command in GROUPS[name].commands.items():
        summary = " ".join(command.help.partition("\n\n")[0].split()).removesuffix(".")
        assert re.search(rf"^│ {child} +{re.escape(summary)} *│$", text, re.MULTILINE)


@EVERY
def test_options_of_a_large_command_are_in_panels(name, capsys):
    command = COMMANDS[name]

    titles = TITLE.findall(help_of(name, capsys))

    is_large = len(command.params) > MANY_OPTIONS + 2
    assert ("Output" in titles) >= is_large
    assert len(titles) == len(set(titles))


def test_panels_of_options_share_no_option():
    listed = [option for options in OPTION_PANELS.values() for option in options]

    assert len(listed) == len(set(listed))


def test_panels_list_options_that_there_are():
    known = {
        option
        for command in COMMANDS.values()
        for parameter in command.params
        for option in parameter.opts
    }

    assert {one for each in OPTION_PANELS.values() for one in each} <= {
        *known,
        "--help",
    }


@pytest.mark.parametrize(
    ("columns", "expected"),
    [("20", 60), ("60", 60), ("100", 100), ("400", 120), ("x", 80)],
)
def test_the_width_is_that_of_the_terminal_within_bounds(
    columns, expected, monkeypatch
):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("os.get_terminal_size", _no_terminal)

    assert help_width() == expected


def _no_terminal(*_):
    raise OSError


def on_terminal(*arguments, **environment):
    """Run a command whose stdout is a terminal; return its exit code and its text."""
    ours, theirs = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "TERM"}}
    process = subprocess.Popen(
        [COMMAND, *arguments],
        stdout=theirs,
        env={**kept, "TERM": "xterm", "COLUMNS": "80", **environment},
    )
    os.close(theirs)
    text = b""
    while chunk := _read(ours):
        text += chunk
    os.close(ours)
    return process.wait(), text.decode().replace("\r\n", "\n")


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux's way to report that the other end is closed
        return b""


def test_a_terminal_has_frames_and_colours():
    code, text = on_terminal("plan", "--help")

    assert code == 0
    assert "\x1b[36m--help" in text
    assert "Change brokers" in FRAME.findall(without_colours(text))


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_plain_terminal_has_what_a_pipe_has(environment, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")

    code, text = on_terminal("plan", "--help", **environment)

    assert (code, text) == (0, help_of("plan", capsys))


def test_no_library_of_frames_is_loaded_for_a_pipe():
    program = (
        "import sys; sys.argv[1:] = ['plan', 'rebalance', '--help']\n"
        "import atexit, planner.cli.main as main\n"
        "main.leave = lambda code: print('rich' in sys.modules)\n"
        "main.run()"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )

    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        ("", "COMMAND [OPTIONS]"),
        ("status", "status [SNAP] [OPTIONS]"),
        ("score", "score SNAP... [OPTIONS]"),
        ("what-if", "what-if SNAP SCENARIOS [OPTIONS]"),
        ("group import", "group import [TEXT...] [OPTIONS]"),
    ],
)
def test_the_usage_names_arguments_before_options(name, usage, capsys):
    first = help_of(name, capsys).splitlines()[0]

    assert first == f"Usage: kafka-planner {usage}"
