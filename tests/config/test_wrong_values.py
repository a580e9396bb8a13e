"""Values that no option takes are refused at their place, whatever they are."""

import itertools

import pytest

from planner.options.declared.plan_options import OPTIONS
from support.commands import run

VALUES = (
    *("nan", "inf", "-1", "true", '""', '"("', '"x"', '"\\u0000"', '"a=b=c"', '"40-2"'),
    *("[]", "[[1]]", "[true]", '["a"]', '[1, "a"]', "{a = 1}", '{disk = "x"}'),
    *("1979-05-27", "9223372036854775808"),
)


@pytest.mark.parametrize("name", OPTIONS)
def test_no_value_of_an_option_crashes(capsys, tmp_path, name):
    operations = OPTIONS[name].operations or ("rebalance",)
    for value, operation in itertools.product(VALUES, operations):
        path = tmp_path / "planner.toml"
        path.write_text(f"[operation.{operation}]\n{name} = {value}\n")

        shown = run(
            capsys, "config", "show", "--config", path, "--operation", operation
        )

        assert shown.code in {0, 2}, (value, shown)


@pytest.mark.parametrize("value", ["{disk = 0.1}", '["soft"]', "1", '"weak"'])
def test_a_rule_is_soft_or_hard(capsys, tmp_path, value):
    path = tmp_path / "planner.toml"
    path.write_text(f"[rules]\nrack = {value}\n")

    shown = run(capsys, "config", "show", "--config", path)

    assert shown.code == 2
    assert 'rules.rack: must be "soft" or "hard"' in shown.err
