"""Examples in docstrings are run: they are what a reader tries first."""

import doctest
import importlib
import pkgutil

import pytest

PACKAGES = ("placement", "assignment", "planner")


def modules() -> list[str]:
    found = list(PACKAGES)
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        found += [m.name for m in pkgutil.walk_packages(path, f"{package}.")]
    return [name for name in found if not name.endswith("__main__")]


@pytest.mark.not_quick
@pytest.mark.parametrize(
    "package",
    ["placement", "assignment", pytest.param("planner", marks=pytest.mark.slow)],
)
def test_examples_give_what_they_say(package: str):
    names = [name for name in modules() if name.split(".")[0] == package]
    results = {name: doctest.testmod(importlib.import_module(name)) for name in names}

    assert {name: r for name, r in results.items() if r.failed} == {}
    assert sum(r.attempted for r in results.values())
