"""Colours of one chart stay apart for every common deficiency, in light and in dark."""

import re
from itertools import combinations
from pathlib import Path

import pytest

import planner.ui
from planner.report.charts.pictures import Bar, LoadPicture, TimelinePicture
from planner.report.charts.theme import DARK, KINDS, LIGHT, MOST_CELL
from planner.report.charts.vega_charts import svg_of
from support.colour_vision import DEFICIENCIES, ciede2000, contrast, distance, mixed

APART = 15
"""Least CIEDE2000 distance of two colours of one chart; 1 is just noticeable."""
OF_MARKS, OF_TEXT = 3, 4.5
"""Least contrasts of WCAG 2.1 for graphical objects and for small text."""
THEMES = {"light": LIGHT, "dark": DARK}
CHARTS = {
    "loads": ("now", "before", "target", "limit", "band"),
    "waves": tuple(KINDS.values()),
    "page of what-if": ("now", "limit"),
}
SHADE = re.compile(r"\.(shade-\d|over) \{ background: color-mix\(in srgb, "
                   r"var\(--(\w+)\) (\d+)%, var\(--paper\)\)")  # fmt: skip


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("scheme", THEMES)
def test_colours_of_one_chart_stay_apart(scheme, chart, deficiency):
    colors = THEMES[scheme]
    pairs = {
        (one, other): distance(colors[one], colors[other], deficiency)
        for one, other in combinations(CHARTS[chart], 2)
    }

    assert {pair: d for pair, d in pairs.items() if d < APART} == {}


@pytest.mark.parametrize("scheme", THEMES)
def test_marks_and_texts_stand_out_from_the_paper(scheme):
    colors = THEMES[scheme]
    marks = {"now", "before", "target", "limit", *KINDS.values()}

    assert min(contrast(colors[name], colors["paper"]) for name in marks) >= OF_MARKS
    for name in ("ink", "muted"):
        assert contrast(colors[name], colors["paper"]) >= OF_TEXT


@pytest.mark.parametrize("scheme", THEMES)
def test_the_text_of_the_darkest_cell_of_a_matrix_can_be_read(scheme):
    colors = THEMES[scheme]

    cell = mixed(colors["now"], colors["paper"], MOST_CELL)

    assert contrast(colors["ink"], cell) >= OF_TEXT


@pytest.mark.parametrize("scheme", THEMES)
def test_texts_on_the_shades_of_the_page_of_what_if_can_be_read(scheme):
    colors = THEMES[scheme]
    style = Path(planner.ui.__file__).parent / "static/page.css"
    shades = SHADE.findall(style.read_text(encoding="utf-8"))

    assert len(shades) == 6
    for name, color, percent in shades:
        shade = mixed(colors[color], colors["paper"], int(percent) / 100)
        assert contrast(colors["ink"], shade) >= OF_TEXT, name


@pytest.mark.parametrize("scheme", THEMES)
def test_every_colour_has_one_meaning(scheme):
    assert len(set(THEMES[scheme].values())) == len(THEMES[scheme])
    assert THEMES[scheme].keys() == LIGHT.keys()


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((22.7233, 20.0904, -46.694), (23.0331, 14.973, -42.5619), 2.0373),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_distance_is_that_of_its_authors(one, other, expected):
    assert ciede2000(one, other) == pytest.approx(expected, abs=1e-4)


def test_red_and_green_of_equal_lightness_are_alike_without_red_cones():
    red, green = "#a86a1c", "#728b1c"

    assert distance(red, green) > 2 * distance(red, green, "deuteranopia")


def test_the_contrast_of_black_and_white_is_the_largest():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_marks_are_drawn_in_the_colours_that_are_held_apart():
    load = LoadPicture(
        name="x",
        resource="disk",
        level="broker",
        unit="B",
        places=["1", "2"],
        now=[1.0, 2.0],
        before=[2.0, 1.0],
        target=[1.5, 1.5],
        lower=[1.0, 1.0],
        upper=[2.0, 2.0],
        threshold=[3.0, 3.0],
        omitted=0,
    )
    timeline = TimelinePicture(
        name="y", bars=[Bar("1", kind, 0.0, 0.0, "") for kind in KINDS], omitted=0
    )

    for picture, names in ((load, CHARTS["loads"]), (timeline, CHARTS["waves"])):
        svg = svg_of(picture)
        assert all(LIGHT[name] in svg for name in names)
        assert not re.search(r'opacity="0\.\d', svg)
