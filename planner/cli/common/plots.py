"""Pictures on a terminal: their width, their marks, and whether they are coloured."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.common.output import has_colours
from planner.text.format import SCREEN_WIDTH
from planner.text.table import terminal_width

if TYPE_CHECKING:
    from planner.report.charts.load_pictures import Levels, Limits
    from planner.report.charts.pictures import LoadPicture

MOST_PLACES = 20
"""Largest number of brokers in a picture on a terminal."""
Plot = Annotated[
    bool,
    typer.Option("--plot", help="Also draw the brokers' loads as bars of text."),
]


def print_plot(levels: "Levels", limits: "Limits") -> None:
    """Print the loads of one level as pictures, as wide as the terminal."""
    typer.echo("\n".join(plotted(levels, limits)))


def plotted(levels: "Levels", limits: "Limits") -> Sequence[str]:
    """Return the lines of the loads of one level."""
    from planner.report.charts.load_pictures import load_pictures

    return drawn(list(load_pictures(levels, limits, most=MOST_PLACES)))


def drawn(pictures: "Sequence[LoadPicture]") -> Sequence[str]:
    """Return the lines of pictures, as wide as the terminal."""
    from planner.report.charts.plots import ASCII, BLOCKS, plot_lines

    encoding = (sys.stdout.encoding or "").lower()
    marks = BLOCKS if encoding.startswith("utf") else ASCII
    marks = replace(marks, has_colours=has_colours(sys.stdout))
    return list(plot_lines(pictures, terminal_width() or SCREEN_WIDTH, marks))
