"""Each type of numpy array has one declaration, which all modules import."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

# Files are parsed here and no line of theirs is run.

ROOT = Path(__file__).parents[2]
HOME = "placement/array_types.py"
SHARED = {
    target.id
    for node in ast.parse((ROOT / HOME).read_text(encoding="utf-8")).body
    if isinstance(node, ast.Assign)
    for target in node.targets
    if isinstance(target, ast.Name)
}

NAMED = re.compile(rf"NDArray|{'|'.join(SHARED)}")


@cache
def trees():
    """Return the trees of files in which a type of arrays is named."""
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for name in ("placement", "assignment", "planner", "tests")
        for path in sorted((ROOT / name).rglob("*.py"))
    }
    return [
        (path, ast.parse(text)) for path, text in texts.items() if NAMED.search(text)
    ]


def declared_in(tree):
    for node in tree.body:
        is_alias = isinstance(node, ast.Assign) and isinstance(
            node.value, ast.Subscript
        )
        if is_alias and ast.unparse(node.value.value).endswith("NDArray"):
            yield from (one.id for one in node.targets if isinstance(one, ast.Name))


@pytest.mark.slow
def test_each_array_type_is_declared_once():
    places = defaultdict(list)
    for path, tree in trees():
        for name in declared_in(tree):
            places[name].append(path)

    assert {name: found for name, found in places.items() if len(found) > 1} == {}
    assert set(places) >= SHARED >= {"BoolArray", "IndexArray", "RowArray"}


@pytest.mark.slow
def test_shared_array_types_are_imported_from_their_module():
    others = [
        f"{path}: {node.module}.{alias.name}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module != "placement.array_types"
        for alias in node.names
        if alias.name in SHARED
    ]

    assert others == []
