"""The page on keys shows what the commands print, and figures of its own tables."""

import re
from pathlib import Path

from assignment.partitioners.balls_into_bins import expected_max_over_mean, moved_share
from support.printed_page import check_page

PAGE = Path(__file__).parents[2] / "docs" / "keys.md"
FILE = re.compile(r"`([\w.]+)`:\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINES = re.compile(r"`([\w.]+)` has ([\d,]+) lines `(.*?)`")
ROW = re.compile(r"^\| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)


def test_the_page_shows_what_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    for name, content in FILE.findall(text):
        Path(name).write_text(content, encoding="utf-8")

    for name, count, line in LINES.findall(text):
        repeated = f"{line}\n" * int(count.replace(",", ""))
        Path(name).write_text(repeated, encoding="utf-8")

    check_page(PAGE, capsys, 8)


def test_figures_of_the_page_are_those_of_the_theory():
    text = PAGE.read_text(encoding="utf-8")
    rows = ROW.findall(text)

    assert len(rows) == 5
    for keys, *shown in rows:
        count = int(keys.replace(",", ""))
        expected = [expected_max_over_mean(count, n) for n in (6, 12, 48)]
        assert shown == [f"{value:.2f}" for value in expected]
    assert (moved_share(6, 8), moved_share(6, 12)) == (0.75, 0.5)
    assert round(moved_share(10, 11), 2) == 0.91
