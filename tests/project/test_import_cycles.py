"""No modules import each other in a cycle, and no sub-packages of one package."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import pytest

# Files are parsed here and no line of theirs is run.
pytestmark = pytest.mark.no_cover

ROOT = Path(__file__).parents[2]
NAMES = ("placement", "assignment", "planner")
OWN = "its own modules"
"""Node of the modules that stand in a package beside its sub-packages."""

ALLOWED_BY_TYPES = (
    # A rule fills the draft, whose settings list the rules.
    {"placement.draft.draft", "placement.draft.rule", "placement.draft.settings"},
)


class Import(NamedTuple):
    """Import of a module by another; for types alone if under `TYPE_CHECKING`."""

    importer: str
    imported: str
    is_for_types: bool


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


def imports_in(
    node: ast.AST, importer: str, *, is_for_types: bool = False
) -> Iterator[Import]:
    """Yield the imports below a node, those inside functions included."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        is_for_types = True
    for name in targets(node):
        if name in modules() and name != importer:
            yield Import(importer, name, is_for_types)
    for child in ast.iter_child_nodes(node):
        yield from imports_in(child, importer, is_for_types=is_for_types)


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
def test_no_modules_import_each_other():
    edges = [(one.importer, one.imported) for one in imports() if not one.is_for_types]

    assert cycles(edges) == []


@pytest.mark.not_quick
def test_no_modules_import_each_other_for_types():
    edges = [(one.importer, one.imported) for one in imports()]

    assert [found for found in cycles(edges) if found not in ALLOWED_BY_TYPES] == []


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

    assert found == [
        Import("placement.errors", "placement.model.load", is_for_types=True),
        Import("placement.errors", "placement.model.load", is_for_types=False),
    ]
