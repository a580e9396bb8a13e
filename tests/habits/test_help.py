"""Help, completion, options from the environment: what every command has."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from planner.cli.main import build_command
from support.commands import run

COMMAND = Path(sys.executable).with_name("kafka-planner")
ROOT = build_command()


def walk(command, path=()):
    children = getattr(command, "commands", {})
    for name, child in children.items():
        yield from walk(child, (*path, name))
    if not children:
        yield " ".join(path), command


COMMANDS = dict(walk(ROOT))
EVERY = pytest.mark.parametrize("name", COMMANDS)


def option_names(command):
    return {name for p in command.params for name in (*p.opts, *p.secondary_opts)}


def help_of(name, capsys):
    outcome = run(capsys, *name.split(), "--help")
    assert outcome.code == 0
    return outcome.out


@EVERY
def test_help_has_an_example_that_the_command_takes(name, capsys):
    text = help_of(name, capsys)

    found = re.search(r"^  Example: (.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert found, text
    example = found[1]
    words = " ".join(example.split())
    assert words.startswith(f"kafka-planner {name}")
    used = set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", example))
    assert used <= option_names(COMMANDS[name])
    # Click breaks lines after hyphens, also inside an option.
    assert not re.search(r"\w-\n", example)


@EVERY
def test_help_fits_80_columns(name, capsys):
    text = help_of(name, capsys)

    assert [line for line in text.splitlines() if len(line) > 80] == []


@EVERY
def test_every_command_takes_the_options_that_all_have(name):
    assert option_names(COMMANDS[name]) >= {"--format", "--quiet", "--verbose"}


@EVERY
def test_every_option_but_yes_may_stand_in_the_environment(name):
    for parameter in COMMANDS[name].params:
        long = [one for one in parameter.opts if one.startswith("--")]
        if long and long[0] != "--yes":
            variable = long[0][2:].replace("-", "_").upper()
            assert parameter.envvar == f"PLANNER_{variable}"
        elif long:
            assert not parameter.envvar


def test_completion_itself_is_not_asked_for_by_the_environment():
    assert all(not parameter.envvar for parameter in ROOT.params)


def test_an_option_in_the_environment_is_taken(monkeypatch, capsys):
    monkeypatch.setenv("PLANNER_FORMAT", "json")

    assert isinstance(run(capsys, "schema", "list").document, dict | list)


@pytest.mark.parametrize("switch", ["1", "true", "YES"])
def test_quiet_in_the_environment_is_taken(switch, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("PLANNER_QUIET", switch)

    outcome = run(capsys, "demo", "-o", tmp_path / "plan")

    assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.not_quick
def test_verbose_says_what_is_done(capsys, tmp_path, monkeypatch):
    # As users search so small a cluster: nothing has to be compiled first.
    monkeypatch.setattr("placement.core.search.compilation.PLAIN_ITEMS", 4000)

    outcome = run(capsys, "demo", "--verbose", "-o", tmp_path / "plan")

    stages = outcome.err.splitlines()
    planning = stages.index("planning add-brokers")
    assert stages[planning + 1].startswith("planning add-brokers: 1.215 TB, not under")
    assert stages[planning + 2] == "checking the plan"


def completions(shell, *words):
    line = " ".join(("kafka-planner", *words))
    environment = {
        **os.environ,
        "_KAFKA_PLANNER_COMPLETE": f"complete_{shell}",
        # Bash tells the words and which of them; the others the line.
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words)),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_WORD_TO_COMPLETE": words[-1],
    }
    done = subprocess.run(
        [COMMAND], check=False, capture_output=True, text=True, env=environment
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(("sn",), "snapshot", id="command"),
        pytest.param(("plan", "set-"), "set-replication-factor", id="subcommand"),
        pytest.param(("score", "--fai"), "--fail-on", id="option"),
        pytest.param(("score", "--format", "js"), "json", id="value"),
    ],
)
def test_shells_complete(shell, words, expected):
    assert expected in completions(shell, *words)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_that_completes_is_printed(shell):
    done = subprocess.run(
        [COMMAND, "--show-completion", shell],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "_KAFKA_PLANNER_COMPLETE" in done.stdout


def test_the_first_help_tells_where_to_begin(capsys):
    text = run(capsys, "--help").out

    assert "Example: kafka-planner demo" in text
    assert "PLANNER_MAX_BYTES=2TB" in text
    assert [line for line in text.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("words", [(), ("plan",), ("snapshot",)], ids=" ".join)
def test_without_a_command_the_help_is_shown(words, capsys):
    shown = run(capsys, *words)
    asked = run(capsys, *words, "--help")

    assert (shown.code, shown.out) == (2, "")
    assert shown.err.strip() == asked.out.strip()


def test_in_json_mode_a_missing_command_is_one_problem(monkeypatch, capsys):
    monkeypatch.setenv("PLANNER_FORMAT", "json")

    outcome = run(capsys, "plan")

    assert outcome.code == 2
    (problem,) = outcome.document["problems"]
    assert problem["place"] == "kafka-planner plan"
    assert problem["rule"] == "a command must be named"
