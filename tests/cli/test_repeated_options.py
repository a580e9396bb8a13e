"""Options given more than once: only those that may be repeated take it."""

import pytest

from planner.demo import SNAPSHOT_FILE
from support.commands import run


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(
            ["plan", "remove-brokers", "--broker-list", "4", "--broker-list", "5"],
            "--broker-list takes one value, and 4 and 5 are given",
            id="two-lists",
        ),
        pytest.param(
            ["plan", "rebalance", "--topics=a.*", "--topics", "b.*"],
            "--topics takes one value, and a.* and b.* are given",
            id="both-ways-to-write-it",
        ),
    ],
)
def test_a_list_that_another_would_hide_is_refused(capsys, arguments, words):
    outcome = run(capsys, *arguments, SNAPSHOT_FILE)

    assert outcome.code == 2
    assert words in outcome.err
    assert not outcome.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(
            ["--seed", "7", "--seed=8"],
            "--seed is 8: 7 before it is not taken",
            id="number",
        ),
        pytest.param(
            ["--resources=disk", "--resources", "in,out", "--resources", "cpu"],
            "--resources is cpu: disk, in,out before it is not taken",
            id="three",
        ),
    ],
)
def test_any_other_value_that_another_hides_is_noted(capsys, arguments, words):
    noted = run(capsys, "config", "show", *arguments)
    quiet = run(capsys, "config", "show", *arguments, "--quiet")

    assert (noted.code, noted.err) == (0, f"note: {words}\n")
    assert (quiet.code, quiet.err) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--band", "0.1", "--band", "disk=0.05"], id="repeatable"),
        pytest.param(["--seed", "3", "--seed=3"], id="the-same-value"),
        pytest.param(["--waves", "--no-waves"], id="a-switch"),
    ],
)
def test_what_loses_nothing_is_accepted(capsys, arguments):
    outcome = run(capsys, "config", "show", *arguments)

    assert (outcome.code, outcome.err) == (0, "")


def test_the_variable_is_overridden_by_the_option(capsys, monkeypatch):
    monkeypatch.setenv("PLANNER_SEED", "7")

    outcome = run(capsys, "config", "show", "--seed", "3", "--format", "json")

    assert outcome.code == 0


def test_an_option_without_its_value_is_named_with_its_command(capsys):
    outcome = run(capsys, "plan", "rebalance", SNAPSHOT_FILE, "--band")

    assert "kafka-planner plan rebalance: Option '--band' requires" in outcome.err


def test_a_variable_that_is_no_option_is_noted(capsys, monkeypatch):
    for name in ("PLANNER_BNAD", "PLANNER_MAX_BYTE", "PLANNER_SEED", "PLANNER_ZZZ"):
        monkeypatch.setenv(name, "7")

    noted = run(capsys, "config", "show").err
    quiet = run(capsys, "config", "show", "--quiet").err

    assert noted.splitlines() == [
        "note: PLANNER_BNAD is no option: did you mean PLANNER_BAND?",
        "note: PLANNER_MAX_BYTE is no option: did you mean PLANNER_MAX_BYTES?",
    ]
    assert not quiet
