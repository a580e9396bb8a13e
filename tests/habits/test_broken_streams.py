"""Streams that cannot be written: a full disk, a closed descriptor, a reader gone."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from planner.cli.common.exit_codes import ExitCode
from planner.cli.main import _output_lost
from planner.demo import SNAPSHOT_FILE

COMMAND = Path(sys.executable).with_name("kafka-planner")

has_full_device = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs a device that is always full"
)


def shell(line):
    """Run a line of bash; return its exit code, stdout and stderr."""
    found = subprocess.run(
        ["bash", "-c", line.replace("PLANNER", f"{COMMAND}")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return found.returncode, found.stdout, found.stderr


@has_full_device
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(f"score {SNAPSHOT_FILE}", id="text"),
        pytest.param(f"score {SNAPSHOT_FILE} --format json", id="json"),
        pytest.param("--version", id="a-line"),
        pytest.param("score --help", id="help"),
    ],
)
def test_a_full_disk_behind_stdout_is_refused_in_one_line(arguments):
    code, _, words = shell(f"PLANNER {arguments} > /dev/full")

    assert code == ExitCode.BAD_INPUT
    assert words.count("\n") == 1
    assert words.startswith("error: the output cannot be written: No space left")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["elect", "--yes"], ExitCode.ANSWER_UNKNOWN, id="consent"),
        pytest.param(["elect"], ExitCode.BAD_INPUT, id="a-preview"),
    ],
)
def test_a_change_whose_answer_is_lost_is_unknown(monkeypatch, arguments, expected):
    monkeypatch.setattr("planner.cli.main.discard", lambda *_: None)
    lost = OSError(errno.ENOSPC, "No space left on device")

    assert _output_lost(lost, arguments) == expected


@has_full_device
def test_a_refusal_that_cannot_be_a_document_is_printed_as_words():
    code, _, words = shell("PLANNER score nope.json --format json > /dev/full")

    assert code == ExitCode.BAD_INPUT
    assert words.startswith("error: nope.json is not a snapshot")


@has_full_device
def test_a_full_disk_behind_stderr_changes_no_exit_code():
    assert shell("PLANNER score nope.json 2> /dev/full")[0] == ExitCode.BAD_INPUT


@pytest.mark.parametrize(
    ("closed", "arguments", "expected"),
    [
        pytest.param(">&-", f"score {SNAPSHOT_FILE}", ExitCode.OK, id="stdout"),
        pytest.param("2>&-", f"score {SNAPSHOT_FILE}", ExitCode.OK, id="stderr"),
        pytest.param("2>&-", "score nope.json", ExitCode.BAD_INPUT, id="refused"),
        pytest.param(
            ">&- 2>&- <&-", f"score {SNAPSHOT_FILE}", ExitCode.OK, id="all-of-them"
        ),
    ],
)
def test_a_closed_stream_changes_no_exit_code(closed, arguments, expected):
    code, _, words = shell(f"PLANNER {arguments} {closed}")

    assert (code, words) == (expected, "")
