"""Packages stay small enough to be read as a list."""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("placement", "assignment", "planner")
MOST_MODULES = 16


def test_no_package_has_more_modules_than_a_reader_takes_in():
    modules = [path for name in PACKAGES for path in (ROOT / name).rglob("*.py")]
    counts = Counter(path.parent for path in modules if path.name != "__init__.py")

    assert {
        folder.relative_to(ROOT).as_posix(): count
        for folder, count in counts.items()
        if count > MOST_MODULES
    } == {}
    assert max(counts.values()) > 1
