"""The page on the architecture names every package, and only what exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGES = ("placement", "assignment", "planner")
ROW = re.compile(r"^\| `([\w.]+)` \| .* \| (.*) \|$", re.MULTILINE)
NAME = re.compile(r"`((?:placement|assignment|planner)(?:\.\w+)*)`")


@cache
def packages():
    found = (path for name in PACKAGES for path in (ROOT / name).rglob("__init__.py"))
    return {".".join(path.parent.relative_to(ROOT).parts) for path in found}


@cache
def names_in(path):
    """Return what a module defines or imports, classes with their methods."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            members = (one for one in node.body if isinstance(one, ast.FunctionDef))
            found |= {f"{node.name}.{member.name}" for member in members}
    return found


def exists(name):
    """Tell whether a dotted name is a package, a module, or defined in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        path = ROOT.joinpath(*parts[:end])
        rest = ".".join(parts[end:])
        if path.is_dir():
            return not rest or rest in names_in(path / "__init__.py")
        if path.with_suffix(".py").is_file():
            return not rest or rest in names_in(path.with_suffix(".py"))
    return False


def imports_of(package):
    """Return the modules of the project that a package's own modules import."""
    for path in ROOT.joinpath(*package.split(".")).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def package_of(module):
    """Return the package in which an imported module, or name of a module, is."""
    parts = module.split(".")
    while parts and ".".join(parts) not in packages():
        parts.pop()
    return ".".join(parts)


def covers(entry, module):
    """Tell whether an entry of the last column covers an imported module."""
    package = package_of(module)
    if entry.endswith(".*"):
        return f"{package}.".startswith(entry[:-1])
    if entry in packages():
        return package == entry
    return f"{module}.".startswith(f"{entry}.")


QUESTION = re.compile(r"^\| ([^|]+\?) \| `([\w/.]+)` \|$", re.MULTILINE)
ROWS = dict(ROW.findall(PAGE.split("\n## Packages\n")[1].split("\n## ")[0]))


def test_every_package_is_named():
    assert set(ROWS) == packages()


@pytest.mark.parametrize("package", ROWS)
def test_a_package_imports_what_the_page_says(package):
    listed = re.findall(r"`([\w.*]+)`", ROWS[package])
    allowed = {package, "placement.array_types", *listed}

    others = [
        module
        for module in imports_of(package)
        if module.split(".")[0] in PACKAGES
        and not any(covers(entry, module) for entry in allowed)
    ]

    assert sorted(set(others)) == []


def test_every_dotted_name_exists():
    named = set(NAME.findall(PAGE))

    assert len(named) >= 80
    assert sorted(name for name in named if not exists(name)) == []


def test_twenty_questions_have_the_file_that_answers_them():
    answers = dict(QUESTION.findall(PAGE.split("\n## Twenty questions\n")[1]))

    assert len(answers) == 20
    assert [path for path in answers.values() if not (ROOT / path).is_file()] == []


def test_a_name_that_is_gone_would_be_found():
    assert exists("placement.core.solve.solve")
    assert not exists("placement.core.solve.solved_by_magic")
    assert not exists("placement.nothing")


def test_entries_cover_what_they_say():
    assert covers("placement.*", "placement.core.solve.solve")
    assert covers("placement.model.cluster", "placement.model.cluster.ClusterState")
    assert not covers("placement", "placement.core.solve.solve")
    assert not covers("placement.model.cluster", "placement.model.load.weigh")
