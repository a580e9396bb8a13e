"""No modules import each other in a cycle, and no sub-packages of one package."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import pytest

# Files are parsed here and no line of theirs is run.

ROOT = Path(__file__).parents[2]
NAMES = ("placement", "assignment", "planner")
OWN = "its own modules"
"""Node of the modules that stand in a package beside its sub-packages."""


class Import(NamedTuple):
    """Import of a module by another."""

    importer: str
    imported: str


@cache
def modules() -> dict[str, Path]:
    """Return the files of all modules by dotted name; packages are modules too."""
    paths = (path for name in NAMES for path in (ROOT / name).rglob("*.py"))
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(
            ".__init__"
        ): path
        for path in paths
    }


def targets(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            yield full if full in modules() else str(node.module)


def imports_in(node: ast.AST, importer: str) -> Iterator[Import]:
    """Yield the imports below a node, for types alone or inside functions included."""
    for name in targets(node):
        if name in modules() and name != importer:
            yield Import(importer, name)
    for child in ast.iter_child_nodes(node):
        yield from imports_in(child, importer)


@cache
def imports() -> tuple[Import, ...]:
    return tuple(
        found
        for name, path in modules().items()
        for found in imports_in(ast.parse(path.read_text(encoding="utf-8")), name)
    )


def cycles(edges) -> list[set[str]]:
    found = nx.strongly_connected_components(nx.DiGraph(edges))
    return [component for component in found if len(component) > 1]


def packages() -> list[str]:
    return [name for name, path in modules().items() if path.name == "__init__.py"]


def part_of(package: str, module: str) -> str | None:
    """Return the sub-package in which a module of a package stands."""
    if module == package or not module.startswith(f"{package}."):
        return None
    part = module.removeprefix(f"{package}.").split(".")[0]
    is_package = modules().get(f"{package}.{part}", Path()).name == "__init__.py"
    return part if is_package else OWN


@pytest.mark.slow
def test_no_modules_import_each_other_not_even_for_types():
    assert cycles(imports()) == []


@pytest.mark.parametrize("package", packages())
def test_no_parts_of_a_package_import_each_other(package):
    edges = [
        (part_of(package, one.importer), part_of(package, one.imported))
        for one in imports()
    ]

    assert cycles((a, b) for a, b in edges if a and b and a != b) == []


def test_a_cycle_would_be_found():
    assert cycles([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]) == [{"a", "b", "c"}]
    assert part_of("placement", "placement.errors") == OWN
    assert part_of("placement", "placement.core.solve") == "core"
    assert part_of("placement.core", "placement.errors") is None


def test_imports_of_every_kind_are_found():
    text = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from placement.model.load import Weights
def late():
    from placement.model import load
"""
    found = list(imports_in(ast.parse(text), "placement.errors"))

    assert found == [Import("placement.errors", "placement.model.load")] * 2
