"""Pictures of `keys skew`: on a terminal, as SVG, in a report and a notebook."""

import json
import re

import pytest

import planner
from planner.report.charts.key_pictures import key_pictures
from support.commands import run
from support.report_pages import without_library

KEYS = [f"order-{n % 40}" for n in range(400)]


@pytest.fixture
def document():
    skew = planner.keys_skew(KEYS, partitions=3, sweep=range(2, 7))
    return skew.document


def test_pictures_have_the_numbers_of_the_document(document):
    shares, sweep = key_pictures(document)

    assert shares.places == ["0", "1", "2"]
    assert shares.now == [round(100 * p["share"], 3) for p in document["partitions"]]
    assert shares.target == [33.333] * 3
    assert sweep.places == ["2", "3", "4", "5", "6"]
    assert sweep.now == [row["max_over_mean"] for row in document["sweep"]]
    assert sweep.threshold == [row["least_max_over_mean"] for row in document["sweep"]]


@pytest.mark.not_quick
def test_many_partitions_and_counts_are_drawn_in_part():
    document = planner.keys_skew(KEYS, partitions=100, sweep=range(1, 101)).document

    shares, sweep = key_pictures(document, most=20)

    listed = sorted(row["share"] for row in document["partitions"])
    assert min(shares.now) >= round(100 * listed[-20], 3)
    assert len(shares.places) == 20
    assert shares.omitted == 80
    assert sweep.places == [str(count) for count in range(1, 101, 5)]


def test_bounds_of_estimates_are_a_band(document):
    rows = [{**row, "low": 0.1, "high": 0.6} for row in document["partitions"]]

    picture, _ = key_pictures({**document, "partitions": rows})

    assert (picture.lower, picture.upper) == ([10.0] * 3, [60.0] * 3)


def test_the_terminal_shows_shares_and_sweep(capsys, tmp_path):
    path = tmp_path / "keys.txt"
    path.write_text("\n".join(KEYS))
    words = ("keys", "skew", path, "--partitions", 3)

    without = run(capsys, *words, "--sweep", "2-6").out
    outcome = run(capsys, *words, "--sweep", "2-6", "--plot")

    assert outcome.out.startswith(without)
    drawn = outcome.out.removeprefix(without)
    assert "share of records by partition, %" in drawn
    assert "skew by number of partitions, busiest partition over the mean" in drawn
    assert "expected of equally hot keys" in drawn
    assert max(map(len, drawn.splitlines())) <= 80
    single = run(capsys, *words, "--plot").out
    assert "even share" in single
    assert "number of partitions" not in single


def test_json_is_not_drawn(capsys, tmp_path):
    path = tmp_path / "keys.txt"
    path.write_text("\n".join(KEYS))
    words = ("keys", "skew", path, "--partitions", 3, "--plot", "--format", "json")

    assert json.loads(run(capsys, *words).out)["partitioner"] == "default"


def test_the_report_has_both_charts_and_saves_them(capsys, tmp_path, document):
    path = tmp_path / "skew.json"
    path.write_text(json.dumps(document))

    outcome = run(
        capsys, "report", path, "-o", tmp_path / "x.html", "--save", tmp_path / "c"
    )

    assert outcome.code == 0, outcome.err
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "<title>Skew of keys</title>" in page
    assert without_library(page).count("<svg") == 2
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    svg = (tmp_path / "c/sweep-max-over-mean.svg").read_text(encoding="utf-8")
    assert "busiest over mean" in svg
    assert "at least, by the hottest key" in svg


def test_notebooks_show_charts_of_a_skew_alone():
    skew = planner.keys_skew(KEYS, partitions=3)
    growth = planner.keys_grow(KEYS, old=3, new=6)

    assert "<svg" in skew._repr_html_()
    assert skew.plot().to_dict()["concat"]
    assert "<svg" not in growth._repr_html_()
    with pytest.raises(ValueError, match="no shares"):
        growth.plot()
