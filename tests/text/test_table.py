"""Tables of a screen: alignment, escapes, widths, and both ways to render them."""

import os
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.text import table as tables
from planner.text.printable import cell_width, printable, shorten
from planner.text.table import Column, table_blocks, table_lines

WORDS = st.text(max_size=12)
COLUMNS = st.builds(
    Column,
    heading=st.text(max_size=6),
    align=st.sampled_from(["left", "right"]),
    gap=st.integers(0, 3),
    least=st.integers(0, 8),
    most=st.none() | st.integers(8, 12),
    cut=st.sampled_from(["start", "middle", "end"]),
)


@st.composite
def drawn_tables(draw):
    columns = draw(st.lists(COLUMNS, min_size=1, max_size=4))
    row = st.lists(WORDS, min_size=len(columns), max_size=len(columns))
    return columns, draw(st.lists(row, max_size=4))


@settings(max_examples=60)
@given(drawn_tables())
def test_the_quick_way_gives_the_lines_of_rich(drawn):
    columns, rows = drawn

    with pytest.MonkeyPatch.context() as patch:
        quickly = table_lines(columns, rows)
        patch.setattr(tables, "terminal_width", lambda: 1000)
        by_rich = table_lines(columns, rows)

    assert by_rich == quickly


@given(WORDS, st.integers(1, 12), st.sampled_from(["start", "middle", "end"]))
def test_a_shortened_text_fits(text, width, cut):
    shown = printable(text)

    short = shorten(shown, width, cut)

    assert cell_width(short) <= width
    assert short == shown or "…" in short


@pytest.mark.parametrize("width", [None, 80])
def test_wide_characters_keep_columns_aligned(width, monkeypatch):
    monkeypatch.setattr(tables, "terminal_width", lambda: width)

    lines = table_lines(
        [Column("RACK"), Column("LAG", align="right")],
        [("東京", "1"), ("paris", "22")],
    )

    assert lines == ["RACK   LAG", "東京     1", "paris   22"]
    assert len({cell_width(line) for line in lines}) == 1


@pytest.mark.parametrize("width", [None, 80])
def test_markup_in_a_name_is_shown_as_it_is(width, monkeypatch):
    monkeypatch.setattr(tables, "terminal_width", lambda: width)

    lines = table_lines([Column()], [("[red]x[/red]",), (":smile:",), ("[/]",)])

    assert lines == ["[red]x[/red]", ":smile:", "[/]"]


def test_control_characters_are_escaped():
    lines = table_lines([Column()], [("a\x1b[2Jb",), ("c\nd\te",), ("f\u202eg",)])

    assert lines == ["a\\u001b[2Jb", "c\\u000ad\\u0009e", "f\\u202eg"]


def test_nothing_is_cut_without_a_terminal():
    name = "n" * 300

    assert table_lines([Column("A", is_flexible=True)], [(name,)]) == ["A", name]


@pytest.mark.parametrize("count", [1, tables.MOST_RICH_ROWS + 1])
def test_flexible_columns_are_cut_on_a_terminal(count, monkeypatch):
    monkeypatch.setattr(tables.sys, "stdout", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(
        tables.shutil,
        "get_terminal_size",
        lambda *_, **__: os.terminal_size((30, 24)),
    )
    columns = [
        Column("PARTITION", cut="middle", is_flexible=True),
        Column("BYTES", align="right"),
    ]

    lines = table_lines(columns, [("a-topic-with-a-long-name-17", "1.23 TB")] * count)

    assert lines[1] == "a-topic-wi…ng-name-17  1.23 TB"
    assert max(map(len, lines)) <= 30


def test_columns_that_do_not_fit_follow_below():
    columns = [Column(least=4, gap=0), *(Column(name) for name in "abc")]

    blocks = table_blocks(columns, [("b1", "111", "22", "3")], 11)

    assert blocks == [["    a    b", "b1  111  22"], ["    c", "b1  3"]]


def test_a_column_wider_than_the_screen_has_a_block_of_its_own():
    blocks = table_blocks([Column(), Column(), Column()], [("b", "x" * 9, "y")], 5)

    assert blocks == [["b  xxxxxxxxx"], ["b  y"]]


def test_a_column_of_empty_cells_takes_only_its_gap():
    assert table_lines([Column(), Column(), Column()], [("", "rule", "[3, 1]")]) == [
        "  rule  [3, 1]"
    ]
