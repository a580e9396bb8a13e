"""The README does what it says, in the order it says it."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from planner.cli.main import build_command
from planner.demo import SNAPSHOT_FILE

COMMAND = Path(sys.executable).with_name("kafka-planner")


@pytest.fixture(scope="module")
def readme(root):
    return (root / "README.md").read_text()


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def command_lines(text):
    """Return the arguments of each `kafka-planner` line in the shell blocks."""
    joined = "".join(blocks(text, "sh")).replace("\\\n", " ")
    lines = [shlex.split(line, comments=True) for line in joined.splitlines()]
    return [words[1:] for words in lines if words and words[0] == "kafka-planner"]


def options_of(arguments):
    """Return the options of the command that the arguments name; it must exist."""
    command = build_command()
    for position, word in enumerate(arguments):
        if not hasattr(command, "commands"):
            break
        assert word in command.commands, f"no command {arguments[: position + 1]}"
        command = command.commands[word]
    assert not hasattr(command, "commands"), f"{arguments} names no command"
    return {name for option in command.params for name in option.opts}


def test_every_command_and_option_in_a_block_exists(readme):
    used = command_lines(readme)

    assert len(used) >= 8
    for arguments in used:
        named = {word for word in arguments if word.startswith("-")}
        assert named <= options_of(arguments)


def test_every_command_of_the_table_exists(readme):
    named = re.findall(r"^\| `kafka-planner ([a-z -]+)` \|", readme, re.MULTILINE)

    assert len(named) >= 10
    for words in named:
        assert options_of(words.split())


def test_every_command_is_in_the_table(readme):
    def names(command, path=()):
        children = getattr(command, "commands", {})
        for name, child in children.items():
            yield from names(child, (*path, name))
        if not children:
            yield " ".join(path)

    named = set(re.findall(r"`kafka-planner ([a-z -]+)`", readme))

    assert set(names(build_command())) <= named


@pytest.mark.slow
def test_blocks_that_need_no_cluster_run_in_order(readme, tmp_path):
    bundled = tmp_path / "planner" / "demo" / SNAPSHOT_FILE.name
    bundled.parent.mkdir(parents=True)
    shutil.copy(SNAPSHOT_FILE, bundled)
    (block,) = [b for b in blocks(readme, "sh") if str(Path("planner/demo")) in b]

    for arguments in command_lines(f"```sh\n{block}```\n"):
        done = subprocess.run(
            [COMMAND, *arguments],
            check=False,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{arguments}\n{done.stdout}{done.stderr}"


@pytest.mark.slow
def test_python_blocks_run(readme, tmp_path):
    found = blocks(readme, "python")

    assert found
    for block in found:
        done = subprocess.run(
            [sys.executable, "-c", block],
            check=False,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout


@pytest.mark.slow
def test_demo_is_shown_as_it_prints(readme, tmp_path):
    shown = re.search(
        r"<!-- demo: start.*?-->\n```\n\$ kafka-planner demo\n(.*?)```\n"
        r"<!-- demo: end -->",
        readme,
        re.DOTALL,
    )

    done = subprocess.run(
        [COMMAND, "demo"], check=False, cwd=tmp_path, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    assert shown
    assert shown.group(1) == done.stdout
