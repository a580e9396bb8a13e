"""Fractions are taken in percent wherever they are taken as numbers."""

import pytest

from planner.text.units import parse_fraction
from support.commands import run
from support.plans import skewed_document, write_document


@pytest.fixture(autouse=True)
def effort(monkeypatch):
    """Plan quickly: what options stand for is the same."""
    monkeypatch.setenv("PLANNER_EFFORT", "quick")


@pytest.fixture
def snap(tmp_path):
    return write_document(skewed_document(), tmp_path / "s.json")


@pytest.mark.parametrize(
    ("words", "number", "percent"),
    [
        (["plan", "rebalance"], ["--band", "0.05"], ["--band", "5%"]),
        (["plan", "rebalance"], ["--band", "disk=0.05"], ["--band", "disk=5 %"]),
        (
            ["plan", "rebalance"],
            ["--capacity-threshold", "disk=0.7"],
            ["--capacity-threshold", "disk=70%"],
        ),
        (["plan", "rebalance"], ["--spread-band", "1.5"], ["--spread-band", "150%"]),
        (["score"], ["--band", "0.2"], ["--band", "20%"]),
        (
            ["failures"],
            ["--capacity-threshold", "disk=0.7"],
            ["--capacity-threshold", "disk=70%"],
        ),
        (
            ["size"],
            ["--capacity-threshold", "disk=0.7"],
            ["--capacity-threshold", "disk=70%"],
        ),
    ],
)
def test_percents_are_the_numbers_that_they_stand_for(
    capsys, snap, words, number, percent
):
    by_number = run(capsys, *words, snap, *number, "--format", "json")
    by_percent = run(capsys, *words, snap, *percent, "--format", "json")

    documents = [one.document for one in (by_number, by_percent)]
    for document in documents:
        for name in ("seconds", "data_age_s", "peak_memory_bytes"):
            document.pop(name, None)
    assert by_number.code == by_percent.code
    assert documents[0] == documents[1]


def test_they_are_taken_in_planner_toml(capsys, tmp_path, snap):
    config = tmp_path / "planner.toml"
    config.write_text('[plan]\nband = { all = "5%" }\n')

    found = run(capsys, "plan", "rebalance", snap, "--config", config)

    assert "band 5 %" in found.out


@pytest.mark.parametrize("text", ["5%%", "%", "x%", "nan", "inf%", ""])
def test_what_is_no_fraction_is_refused(capsys, snap, text):
    with pytest.raises(ValueError, match=r".*"):
        parse_fraction(text)

    found = run(capsys, "plan", "rebalance", snap, "--band", text)

    assert found.code == 2
    assert "--band" in found.err


@pytest.mark.parametrize("text", ["5%%", "-1%", "x"])
def test_a_tolerance_that_is_none_is_refused(capsys, tmp_path, text):
    found = run(capsys, "group", "assign", tmp_path / "g", "--tolerance", text)

    assert found.code == 2
    assert "--tolerance" in found.err
