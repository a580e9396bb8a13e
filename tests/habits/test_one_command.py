"""A command is built alone when it is run, and is the same as among all the others."""

import subprocess
import sys

import pytest

from planner.cli import commands
from planner.cli.main import build_command

WHOLE = build_command()


def described(command):
    """Return the options of a command, and of those below it, as far as users see."""
    children = getattr(command, "commands", {})
    return (
        [(one.opts, one.envvar, one.required, one.help) for one in options_of(command)],
        {name: described(child) for name, child in children.items()},
    )


def options_of(command):
    return [one for one in command.params if hasattr(one, "help")]


def test_the_table_names_every_command():
    assert set(WHOLE.commands) == commands.NAMES


@pytest.mark.parametrize("name", sorted(commands.NAMES))
def test_a_command_alone_is_the_same_as_among_all(name):
    alone = build_command(name)
    assert set(alone.commands) == {name}
    assert described(alone.commands[name]) == described(WHOLE.commands[name])


def test_a_run_imports_no_other_command():
    run = (
        "import sys; from planner.cli.main import _run; "
        "_run(['schema', '--help'], as_json=False); "
        "others = {f'planner.cli.{name}' for name in ('demo', 'elect', 'ui')}; "
        "print(sorted(others & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", run], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
