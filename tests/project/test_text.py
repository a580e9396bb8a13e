"""What is written in the project's text files and pages."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

# Written so that this file does not match its own patterns.
FORBIDDEN = {
    "a home or work folder": r"(?<![\w.])/(?:w[o]rk|ro[o]t|h[o]me|U[s]ers)/\w",
    "a package index": r"https?://[^ )\"']*(?:/s[i]mple\b|/maven[2]|pythonh[o]sted)",
    "an index option": r"--(?:extra-)?index[-]url|--find[-]links|--trusted[-]host",
}


def read_text(path):
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_text_names(what, tracked_files, root):
    pattern = re.compile(FORBIDDEN[what])

    found = [
        f"{path.relative_to(root)}: {match.group()}"
        for path in tracked_files
        for match in pattern.finditer(read_text(path))
    ]

    assert not found


@pytest.mark.parametrize(
    ("what", "parts"),
    [
        ("a home or work folder", ["see ", "home", "ann", "kafka"]),
        ("a package index", ["https:", "", "pypi.example", "simple", "numpy"]),
        ("an index option", ["--index-", "url https:", "", "example"]),
    ],
)
def test_forbidden_text_would_be_found(what, parts):
    separator = "" if what == "an index option" else "/"

    assert re.search(FORBIDDEN[what], separator.join(parts))


def test_no_text_names_where_it_was_written(tracked_files, root):
    places = {str(root), str(Path.home())} - {"/"}

    found = [
        (path.relative_to(root), place)
        for path in tracked_files
        for place in places
        if f"{place}/" in read_text(path)
    ]

    assert not found


def test_changelog_starts_with_this_version(root):
    headings = re.findall(
        r"^## \[(.+?)\]", (root / "CHANGELOG.md").read_text(), re.MULTILINE
    )

    released = [heading for heading in headings if heading != "Unreleased"]

    assert released[0] == version("kafka-planner")


def test_citation_names_this_version(root):
    cited = re.search(
        r"^version: (.+)$", (root / "CITATION.cff").read_text(), re.MULTILINE
    )

    assert cited
    assert cited.group(1) == version("kafka-planner")


def test_every_constraint_is_one_exact_version(root):
    lines = (root / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]

    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][^ ]*", pin) for pin in pins)
    assert len({pin.split("==")[0].lower() for pin in pins}) == len(pins)


def test_everything_asked_for_is_pinned(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())
    asked = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["spark"],
        *project["project"]["optional-dependencies"]["report"],
        *project["project"]["optional-dependencies"]["ui"],
        *project["dependency-groups"]["build"],
        *project["dependency-groups"]["docs"],
        *(x for x in project["dependency-groups"]["dev"] if isinstance(x, str)),
    ]
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (root / "constraints.txt").read_text().splitlines()
    }

    names = {re.match(r"[A-Za-z0-9_.-]+", line).group().lower() for line in asked}

    assert names <= pinned


def test_links_of_pages_lead_somewhere(tracked_files, root):
    pages = [path for path in tracked_files if path.suffix == ".md"]

    broken = [
        f"{page.relative_to(root)} -> {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
        if not (page.parent / target).exists()
    ]

    assert len(pages) >= 5
    assert not broken


def test_the_changelog_is_at_most_a_page(root):
    text = (root / "CHANGELOG.md").read_text()

    assert len(text.splitlines()) <= 100


def test_citation_and_changelog_have_one_date(root):
    released = re.search(
        r"^## \[\d.*?\] - (\S+)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    cited = re.search(
        r"^date-released: (.+)$", (root / "CITATION.cff").read_text(), re.MULTILINE
    )

    assert released
    assert cited
    assert cited.group(1) == released.group(1)
