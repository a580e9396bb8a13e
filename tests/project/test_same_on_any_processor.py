"""Plans do not depend on the instructions of a processor."""

import ast
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from placement.core.exact.one_node.item_exchanges import _is_smallest

ROOT = Path(__file__).parents[2]
UNSTABLE = {"argsort", "argpartition"}
"""The order of equal values depends on the processor, unless a stable sort is asked."""
WITHOUT_EFFECT = {"placement/core/exact/one_node/half_pairs.py"}
"""Order the searches of ranges, which find the same in any order."""
INEXACT = {
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "power", "float_power"),
    *("sin", "cos", "tan", "tanh", "sinh", "cosh", "arctan", "arctan2", "cbrt"),
}
"""Last bits depend on the processor where numpy has vector instructions for them."""


@cache
def calls(folder):
    """Return file, line and node of each call of a function or method."""
    return [
        (path.relative_to(ROOT).as_posix(), node)
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]


def is_stable(call):
    return any(
        each.arg == "kind" and getattr(each.value, "value", None) == "stable"
        for each in call.keywords
    )


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["placement", "assignment", "planner"])
def test_sorts_keep_the_order_of_equal_values(folder):
    unstable = [
        f"{file}:{call.lineno}"
        for file, call in calls(folder)
        if call.func.attr in UNSTABLE
        and not is_stable(call)
        and file not in WITHOUT_EFFECT
    ]

    assert unstable == []


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["placement/core", "placement/synthetic"])
def test_what_is_solved_and_drawn_uses_exact_functions_of_numpy(folder):
    inexact = [
        f"{file}:{call.lineno}"
        for file, call in calls(folder)
        if call.func.attr in INEXACT
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "np"
    ]

    assert inexact == []


@pytest.mark.parametrize("most", [1, 2, 3, 5, 6])
def test_of_equal_values_the_first_are_the_smallest(most):
    values = np.array([2.0, 1.0, 2.0, 0.0, 2.0, 3.0])
    first = sorted(range(len(values)), key=values.__getitem__)[:most]

    assert np.nonzero(_is_smallest(values, most))[0].tolist() == sorted(first)
