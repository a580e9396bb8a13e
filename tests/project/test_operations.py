"""Code asks operations for their facts, and never compares their names."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from placement.operations.descriptor import OPERATIONS
from planner.options.declared.plan_options import OPTIONS

ROOT = Path(__file__).parents[2]
PACKAGES = ("placement", "assignment", "planner")
ASKED = {"goal", "operation"}
"""Names of variables and attributes that hold the name of an operation."""


def choices_by_name(source: str) -> Iterator[int]:
    """Yield the lines that compare the name of an operation, or look it up by text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(is_asked, sides)) and any(map(has_name, sides)):
                yield node.lineno
        elif isinstance(node, ast.match_case) and has_name(node.pattern):
            yield node.pattern.lineno
        elif isinstance(node, ast.Dict):
            keys = [key for key in node.keys if key is not None]
            if keys and all(has_name(key) for key in keys):
                yield node.lineno


def is_asked(node: ast.AST) -> bool:
    """Return whether a variable or an attribute holds the name of an operation."""
    name = getattr(node, "attr", getattr(node, "id", None))
    return name in ASKED


def has_name(node: ast.AST) -> bool:
    """Return whether an expression is, or lists, names of operations as texts."""
    return any(
        isinstance(each, ast.Constant) and each.value in OPERATIONS
        for each in ast.walk(node)
    )


@pytest.mark.parametrize(
    "source",
    [
        'if plan.goal == "fix": pass',
        'if goal != "demote": pass',
        'is_far = request.operation in {"leaders", "log-dirs"}',
        'found = {"add-brokers": 1, "remove-brokers": 2}[goal]',
        'WITHOUT = {"leaders": frozenset({"disk"})}',
        'match goal:\n    case "fix": pass',
    ],
)
def test_a_choice_by_name_is_found(source):
    assert list(choices_by_name(source)) != []


@pytest.mark.parametrize(
    "source",
    [
        'run_plan("fix", snapshot)',
        "if describe(plan.goal).is_minimal: pass",
        'if rule != "log-dirs": pass',
        'counts = {"leaders": 1, "replicas": 2}',
    ],
)
def test_other_texts_are_left_alone(source):
    assert list(choices_by_name(source)) == []


@pytest.mark.not_quick
@pytest.mark.parametrize("package", PACKAGES)
def test_no_operation_is_chosen_by_its_name(package):
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for line in choices_by_name(path.read_text(encoding="utf-8"))
    ]

    assert found == []


def test_every_option_of_an_operation_is_declared():
    listed = {name for each in OPERATIONS.values() for name in each.options}

    assert listed <= set(OPTIONS)


def test_a_descriptor_has_the_name_by_which_it_is_listed():
    assert [each.name for each in OPERATIONS.values()] == list(OPERATIONS)
