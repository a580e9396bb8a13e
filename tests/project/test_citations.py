"""Docstrings and pages cite headings and files that exist."""

import re
from pathlib import Path

import pytest

PACKAGES = ("placement", "assignment", "planner", "tests", "examples")
# A page, and the heading that is cited in quotation marks after it, if any.
CITATION = re.compile(r'docs/([\w-]+)\.md(?:,\s+"([^"]+)")?')
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PAGE = re.compile(r"(?<![\w/.{}*-])[\w-]+\.md\b")
# Files that plans are made of, and those that tests write.
NOT_PAGES = {"RUNBOOK.md", "gone.md", "index.md"}
LABEL = re.compile(r"\b(?:[Tt]heory|requirements?) [A-Z]\d| \(T\d[a-z]?\)\.")
MODULE = re.compile(
    r"`((?:placement|assignment|planner|core|tests)/[\w/]+(?:\.py)?)/?`"
)

PAGES = (
    *("architecture", "design-notes", "theory", "core", "formats"),
    *("contributing/add-a-bound", "contributing/add-an-assignor"),
    *("contributing/add-an-importer", "contributing/add-a-rule"),
    *("contributing/add-an-option", "contributing/add-an-operation"),
)
"""Pages whose paths of modules must exist."""


@pytest.fixture(scope="module")
def sources(root):
    return [path for package in PACKAGES for path in (root / package).rglob("*.py")]


@pytest.fixture(scope="module")
def headings(root):
    return {
        page.stem: set(HEADING.findall(page.read_text(encoding="utf-8")))
        for page in (root / "docs").glob("*.md")
    }


def test_citations_of_pages_name_headings_that_exist(root, sources, headings):
    cited = [
        (path.relative_to(root), page, " ".join(heading.split()))
        for path in sources
        for page, heading in CITATION.findall(path.read_text(encoding="utf-8"))
    ]

    unknown = [
        (str(path), page, heading)
        for path, page, heading in cited
        if page not in headings or (heading and heading not in headings[page])
    ]

    assert sum(bool(heading) for _, _, heading in cited) >= 10
    assert not unknown


@pytest.mark.not_quick
def test_no_source_names_a_document_outside_the_repository(root, sources):
    here = {path.name for path in (*root.glob("*.md"), *(root / "docs").glob("*.md"))}

    found = [
        f"{path.relative_to(root)}: {name}"
        for path in sources
        for text in [path.read_text(encoding="utf-8")]
        for name in [*PAGE.findall(text), *LABEL.findall(text)]
        if name not in here | NOT_PAGES
    ]

    assert not found


@pytest.mark.parametrize("page", PAGES)
def test_modules_that_a_page_names_exist(root, page):
    text = (root / "docs" / f"{page}.md").read_text(encoding="utf-8")

    named = {
        Path(f"placement/{name}" if name.startswith("core/") else name)
        for name in MODULE.findall(text)
    }

    missing = [str(name) for name in sorted(named) if not (root / name).exists()]
    assert not missing
