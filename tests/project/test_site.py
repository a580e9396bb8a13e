"""The documentation as a site: every page is in its navigation, no link is broken."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


def settings():
    return yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def pages_in(navigation):
    for entry in navigation:
        if isinstance(entry, str):
            yield entry
        else:
            for inside in entry.values():
                yield from pages_in(inside if isinstance(inside, list) else [inside])


def pages_from_elsewhere():
    text = (ROOT / "mkdocs_hooks.py").read_text(encoding="utf-8")
    listed = re.search(r"^PAGES = \{(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    return dict(re.findall(r'"([^"]+)": "([^"]+)"', listed[1]))


def test_every_page_is_in_the_navigation_once():
    pages = {
        p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")
    }
    navigation = list(pages_in(settings()["nav"]))

    assert sorted(navigation) == sorted({*pages, *pages_from_elsewhere().values()})


def test_pages_from_elsewhere_exist():
    assert [
        name for name in pages_from_elsewhere() if not (ROOT / name).is_file()
    ] == []


def test_every_page_is_in_the_list_of_all_documentation():
    text = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w./-]+\.md)\)", text))
    pages = {
        p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")
    }

    assert pages - linked == {"README.md"}


def build(*options):
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", *options],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )


@pytest.mark.slow
def test_the_site_builds_without_a_broken_link(tmp_path):
    done = build("--site-dir", str(tmp_path))

    assert done.returncode == 0, done.stderr
    home = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'href="overview/"' in home
    assert (tmp_path / "examples" / "add_brokers.py").is_file()
    overview = (tmp_path / "overview" / "index.html").read_text(encoding="utf-8")
    assert 'href="../python/"' in overview


def test_a_broken_link_would_fail(tmp_path):
    pages = tmp_path / "docs"
    pages.mkdir()
    (pages / "index.md").write_text("[gone](gone.md) [nowhere](#nowhere)\n")
    validation = yaml.safe_dump({"validation": settings()["validation"]})
    (tmp_path / "mkdocs.yml").write_text(f"site_name: s\ntheme: mkdocs\n{validation}")

    done = build("-f", str(tmp_path / "mkdocs.yml"), "-d", str(tmp_path / "site"))

    assert done.returncode == 1
    assert "gone.md" in done.stderr
    assert "#nowhere" in done.stderr
