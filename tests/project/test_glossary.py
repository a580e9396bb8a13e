"""The glossary has one meaning per word, in order."""

import re
from itertools import pairwise
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\*\*.+?) \| .+ \|$", re.MULTILINE)


def words(section):
    """Return the words of a section, several of one row together."""
    return [re.sub(r"\*\*", "", entry) for entry in ROW.findall(section)]


SECTIONS = [words(section) for section in PAGE.split("\n## ")]


def test_every_word_has_one_meaning():
    found = [
        word for section in SECTIONS for row in section for word in row.split(", ")
    ]

    assert len(found) >= 100
    assert sorted(word for word in found if found.count(word) > 1) == []


def test_words_are_in_alphabetical_order():
    for section in SECTIONS:
        lower = [word.lower() for word in section]
        assert [(a, b) for a, b in pairwise(lower) if a > b] == []
