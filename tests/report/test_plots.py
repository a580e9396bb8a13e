"""Pictures on terminals: their marks, any width, colours where there are some."""

import io
import re

import pytest

from planner.demo import SNAPSHOT_FILE
from planner.report.charts.pictures import LoadPicture
from planner.report.charts.plots import ASCII, BLOCKS, Marks, plot_lines
from planner.text.printable import cell_width
from support.commands import run


def picture(**changes):
    given = {
        "name": "brokers-disk",
        "resource": "disk",
        "level": "broker",
        "unit": "%",
        "places": ["1", "2"],
        "now": [50.0, 25.0],
        "before": [100.0, None],
        "target": [40.0, 40.0],
        "lower": [35.0, 35.0],
        "upper": [45.0, 45.0],
        "threshold": [80.0, None],
    }
    return LoadPicture(**{**given, **changes})


def test_marks_lie_where_their_numbers_are():
    title, first, second, *_ = plot_lines([picture()], 42, ASCII)

    assert title == "disk by broker, %"
    bars = [line[2:].ljust(40) for line in (first, second)]
    assert [bars[0].index(mark) for mark in "|!o"] == [16, 32, 39]
    assert bars[0].rindex("#") == 20
    assert bars[1] == "#" * 11 + " " * 3 + ".." + "|" + ".." + " " * 21


def test_every_mark_of_the_picture_is_in_the_legend():
    lines = list(plot_lines([picture()], 80, ASCII))

    assert lines[-1] == "# after  o before  | target  . band  ! threshold"
    alone = picture(before=None, lower=(), upper=(), threshold=())
    assert list(plot_lines([alone], 80, ASCII))[-1] == "# now  | target"


def test_unknown_loads_are_a_question_mark_and_no_bar():
    unknown = picture(now=[None, 25.0], before=None, target=[None, 40.0], lower=())

    line = list(plot_lines([unknown], 80, ASCII))[1]

    assert line.endswith(" ?")
    assert "#" not in line


@pytest.mark.parametrize("width", [8, 12, 20, 43, 44, 80, 200, 320])
@pytest.mark.parametrize("marks", [BLOCKS, ASCII], ids=["blocks", "ascii"])
def test_no_line_is_wider_than_asked(width, marks):
    names = ["1", "機" * 20 + "\x1b[31m"]
    many = picture(places=names, omitted=12345)

    lines = list(plot_lines([many, picture()], width, marks))

    # A legend that does not fit is one mark to a line.
    assert max(map(cell_width, lines)) <= max(width, len("! threshold"))
    assert not any("\x1b" in line for line in lines)


def test_colours_change_no_character():
    plain = list(plot_lines([picture()], 60, Marks()))
    coloured = list(plot_lines([picture()], 60, Marks(has_colours=True)))

    assert any("\x1b[" in line for line in coloured)
    stripped = [re.sub(r"\x1b\[\d+m", "", line) for line in coloured]
    assert [line.rstrip() for line in stripped] == plain


def test_score_draws_the_brokers_below_its_screen(capsys):
    plain = run(capsys, "score", SNAPSHOT_FILE).out

    drawn = run(capsys, "score", SNAPSHOT_FILE, "--plot").out

    assert drawn.startswith(plain)
    more = drawn.removeprefix(plain)
    assert more.startswith("disk by broker, % of capacity\n1 (a)")
    assert "after" not in more
    assert max(map(cell_width, more.splitlines())) <= 80


@pytest.mark.not_quick
def test_a_plan_draws_before_and_after(capsys):
    plain = run(capsys, "plan", "rebalance", SNAPSHOT_FILE).out

    drawn = run(capsys, "plan", "rebalance", SNAPSHOT_FILE, "--plot").out

    assert drawn.startswith(plain)
    lines = drawn.removeprefix(plain).splitlines()
    assert "4 (a)" in lines[4]
    assert lines[4].endswith("81.3 -> 49.5")
    assert "after" in lines[-1]


def test_json_stays_one_document_with_plot(capsys):
    outcome = run(capsys, "score", SNAPSHOT_FILE, "--plot", "--format", "json")

    assert outcome.document["brokers"] == 12


class Narrow(io.TextIOWrapper):
    """A stream that cannot show blocks."""

    def isatty(self):
        return False


def test_a_stream_without_blocks_gets_ascii(monkeypatch):
    from planner.cli.common.plots import plotted
    from planner.report.charts.load_pictures import Levels, Limits

    monkeypatch.setattr("sys.stdout", Narrow(io.BytesIO(), encoding="ascii"))
    cell = {"load": 1.0, "capacity": 2.0, "target": 1.0, "deviation": 0.0}
    levels = Levels(
        level="broker", labels=["1"], now=[{"disk": cell}], resources=("disk",)
    )

    lines = plotted(levels, Limits())

    assert "\n".join(lines).isascii()
