"""The packages import what pyproject.toml declares, and no declaration is idle."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("placement", "assignment", "planner")
# Names of modules where they are not those of the distribution.
MODULES = {
    "kafka-python": "kafka",
    "pyyaml": "yaml",
    "vl-convert-python": "vl_convert",
}
BROUGHT = {
    "markupsafe": "by jinja2",
    "pydantic_core": "by pydantic",
    "typing_extensions": "by pydantic",
}
"""Modules that are imported and come with another dependency."""
NOT_IMPORTED = {
    "networkx": "the oracle of the tests on flows",
    "pandas": "PySpark imports it",
}
"""Dependencies that no module imports, and why they are declared."""


def third_party_imports():
    found = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    found |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - set(PACKAGES)


@pytest.fixture(scope="module")
def imported():
    return third_party_imports()


@pytest.fixture(scope="module")
def declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"]]
    asked += [*extras["spark"], *extras["report"], *extras["ui"]]
    names = (re.match(r"[\w.-]+", line).group().lower() for line in asked)
    return {MODULES.get(name, name.replace("-", "_")) for name in names}


def test_every_import_is_declared(imported, declared):
    assert imported - declared == set(BROUGHT)


def test_every_dependency_is_imported_or_has_a_reason(imported, declared):
    assert declared - imported == set(NOT_IMPORTED)
