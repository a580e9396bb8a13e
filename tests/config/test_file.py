"""`planner.toml`: what it may say, and what it may not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.cli.plan.config_options import plan_operations
from planner.config.config_example import example_config
from planner.config.config_file import read_config
from planner.config.config_option import ConfigOption, Kind


def read(tmp_path, text):
    path = tmp_path / "planner.toml"
    path.write_text(text, encoding="utf-8")
    return read_config(path, plan_operations())


def values(settings):
    return {name: setting.value for name, setting in settings.items()}


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        pytest.param("band = 0.05", "band", ["0.05"], id="one-number"),
        pytest.param('band = "disk=0.05"', "band", ["disk=0.05"], id="as-on-the-line"),
        pytest.param(
            "band = {all = 0.1, disk = 0.05}",
            "band",
            ["0.1", "disk=0.05"],
            id="a-table-by-resource",
        ),
        pytest.param("topic = ['a', 'b']", "topic", ["a", "b"], id="repeated"),
        pytest.param("resources = ['in']", "resources", "in", id="names"),
        pytest.param(
            "destination-broker-list = [1, '3-5']",
            "destination_broker_list",
            "1,3-5",
            id="ids-and-ranges-and-dashes-in-the-key",
        ),
        pytest.param("max_bytes = 7", "max_bytes", "7", id="bare-bytes"),
        pytest.param("max_bytes = '2TB'", "max_bytes", "2TB", id="with-unit"),
        pytest.param("max_moves = 7", "max_moves", 7, id="count"),
        pytest.param("waves = true", "waves", True, id="flag"),
        pytest.param("prefer = 'moves'", "prefer", "moves", id="choice"),
        pytest.param(
            "exclude_topics = ['a.*', 'b']",
            "exclude_topics",
            "(?:a.*)|(?:b)",
            id="patterns",
        ),
    ],
)
def test_values(line, name, value, tmp_path):
    config = read(tmp_path, f"[plan]\n{line}\n")

    assert config.problems == ()
    assert values(config.plan) == {name: value}


def test_weights_of_cpu_have_a_table_of_their_own(tmp_path):
    config = read(tmp_path, "[cpu]\nleader_in = 0.02\nfollower-in = 0.01\n")

    assert config.problems == ()
    assert config.plan["cpu_weight"].value == ["leader_in=0.02", "follower-in=0.01"]
    assert config.plan["cpu_weight"].place == "cpu"


def test_what_is_soft_or_hard_has_a_table_of_its_own(tmp_path):
    text = '[rules]\nrack = "soft"\nband-disk = "hard"\ncapacity-in = "soft"\n'

    config = read(tmp_path, text)

    assert not config.problems
    assert config.plan["soft"].value == ["rack", "capacity-in"]
    assert config.plan["hard"].value == ["band-disk"]
    assert config.plan["hard"].place == "rules"


@pytest.mark.parametrize(
    ("text", "place", "rule"),
    [
        ("rules = 1", "rules", "must be a table"),
        ("[rules]\nrack = true", "rules.rack", 'must be "soft" or "hard"'),
        (
            "[plan]\nsoft = ['rack']\n[rules]\nrack = 'soft'", "rules",
            "is also given as plan.soft",
        ),
    ],
)  # fmt: skip
def test_tables_of_rules_that_are_refused(text, place, rule, tmp_path):
    [problem] = read(tmp_path, text).problems

    assert (problem.place, problem.rule) == (place, rule)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("cpu = 1", "must be a table"),
        ("[plan]\ncpu_weight = 'leader_in=1'\n[cpu]\n", "is also given as plan.cpu"),
    ],
)
def test_tables_of_cpu_that_are_refused(text, rule, tmp_path):
    (problem,) = read(tmp_path, text).problems

    assert problem.place == "cpu"
    assert problem.rule.startswith(rule)


def test_an_operation_goes_before_all_of_them(tmp_path):
    config = read(
        tmp_path,
        "[plan]\nband = 0.2\nseed = 3\n[operation.add-brokers]\nband = 0.1\n"
        "rebalance = true\n",
    )

    assert config.problems == ()
    assert values(config.of("rebalance")) == {"band": ["0.2"], "seed": 3}
    assert values(config.of("add-brokers")) == {
        "band": ["0.1"],
        "seed": 3,
        "rebalance": True,
    }
    assert config.of("add-brokers")["band"].place == "operation.add-brokers.band"


@pytest.mark.parametrize(
    ("text", "place", "rule", "remedy"),
    [
        pytest.param(
            "[plan]\nbnad = 1", "plan.bnad", "no such option", "did you mean band?",
            id="misspelt-option",
        ),
        pytest.param(
            "[plna]\n", "plna", "no such table", "did you mean plan?",
            id="misspelt-table",
        ),
        pytest.param(
            "[operation.rebalence]\n", "operation.rebalence", "no such operation",
            "did you mean rebalance?", id="misspelt-operation",
        ),
        pytest.param(
            "[plan]\nbroker_list = [1]", "plan.broker_list",
            "not every operation has this option",
            "write it in [operation.NAME] of add-brokers or remove-brokers or demote",
            id="option-of-one-operation",
        ),
        pytest.param(
            "[operation.rebalance]\nbroker_list = [1]",
            "operation.rebalance.broker_list", "not every operation has this option",
            "write it in [operation.NAME] of add-brokers or remove-brokers or demote",
            id="option-of-another-operation",
        ),
        pytest.param(
            "[plan]\nmax_bytes = 1\nmax-bytes = 2", "plan.max-bytes",
            "is also given here as max_bytes", "keep one of the two", id="twice",
        ),
        pytest.param(
            "[plan]\nwaves = 1", "plan.waves", "must be true or false",
            "as --waves takes: ", id="flag-by-number",
        ),
        pytest.param(
            "[plan]\nseed = true", "plan.seed", "must be a whole number",
            "as --seed takes: ", id="number-by-flag",
        ),
        pytest.param(
            "[plan]\nprefer = 'byte'", "plan.prefer", "must be one of bytes, moves",
            "as --prefer takes: ", id="no-such-choice",
        ),
        pytest.param(
            "[plan]\ntopics = [1]", "plan.topics",
            "must be a regular expression, or an array of them",
            "as --topics takes: ", id="pattern-by-number",
        ),
        pytest.param(
            "[plan]\nband = {disk = {a = 1}}", "plan.band",
            "must be a value, an array of values, or a table of them by name",
            "as --band takes: ", id="table-in-table",
        ),
        pytest.param(
            "[plan]\nmax_bytes = [[1]]", "plan.max_bytes",
            "must be a text or a number, or an array of them",
            "as --max-bytes takes: ", id="array-in-array",
        ),
        pytest.param("plan = 1", "plan", "must be a table", "write [plan]", id="table"),
        pytest.param(
            "operation = 1", "operation", "must be a table", "write [operation.NAME]",
            id="operations",
        ),
        pytest.param(
            "[plan\n", "", "must be TOML: ", "see `kafka-planner config init`",
            id="no-toml",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(text, place, rule, remedy, tmp_path):
    (problem,) = read(tmp_path, text).problems

    assert problem.place == place
    assert problem.rule.startswith(rule)
    assert problem.remedy.startswith(remedy)


def test_a_file_that_is_not_there(tmp_path):
    (problem,) = read_config(tmp_path / "none.toml", plan_operations()).problems

    assert "No such file" in problem.rule


def test_a_byte_order_mark_is_passed_over(tmp_path):
    config = read(tmp_path, "\ufeff[plan]\nseed = 2\n")

    assert (values(config.plan), config.problems) == ({"seed": 2}, ())


def test_a_file_that_is_not_utf_8(tmp_path):
    path = tmp_path / "planner.toml"
    path.write_bytes(b"[plan]\ntopics = '\xe9'\n")

    (problem,) = read_config(path, plan_operations()).problems

    assert (problem.place, problem.rule) == ("byte 17", "must be UTF-8")


def test_everything_wrong_is_said_at_once_and_the_rest_is_read(tmp_path):
    config = read(
        tmp_path,
        "[plan]\nbnad = 1\nseed = 'x'\nmax_moves = 5\n[operation.nope]\n[other]\n",
    )

    assert [problem.place for problem in config.problems] == [
        "other", "plan.bnad", "plan.seed", "operation.nope",
    ]  # fmt: skip
    assert values(config.plan) == {"max_moves": 5}


def uncommented(text):
    lines = [line.removeprefix("# ") for line in text.splitlines()]
    return "\n".join(
        line
        for line in lines
        if line.startswith("[") or " = " in line.partition(" (")[0]
    )


def test_the_example_names_every_option_and_each_line_of_it_is_right(tmp_path):
    text = example_config(plan_operations())

    untouched = read(tmp_path, text)
    config = read(tmp_path, uncommented(text))

    assert (untouched.problems, untouched.plan) == ((), {})
    assert config.problems == ()
    for operation, options in plan_operations().items():
        assert set(config.of(operation)) == set(options)
    assert max(map(len, text.splitlines())) <= 82


def test_options_without_a_default_have_an_example():
    bare = {
        name
        for options in plan_operations().values()
        for name, option in options.items()
        if option.default is None and not option.example
    }

    assert not bare


KINDS = st.sampled_from([kind for kind in Kind if kind is not Kind.CHOICE])
TOML = st.recursive(
    st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(KINDS, TOML)
def test_a_value_is_read_as_the_line_gives_it_or_refused(kind, value):
    option = ConfigOption(name="a", option="--a", kind=kind, help="", default=None)
    wanted = {Kind.FLAG: bool, Kind.COUNT: int, Kind.LIST: list}.get(kind, str)

    try:
        found = option.read(value)
    except ValueError as error:
        assert str(error) == f"must be {kind}"  # noqa: PT017 - one of two outcomes
    else:
        assert type(found) is wanted
        if wanted is list:
            assert all(type(one) is str for one in found)
