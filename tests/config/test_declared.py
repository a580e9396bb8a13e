"""The declared options agree with the domain, the Python API and the docs."""

import json
import subprocess
import sys
from dataclasses import asdict, fields
from typing import get_args

import pytest

import planner
from placement.core.model.search_budget import EFFORTS
from placement.draft.draft import DEFAULT_THRESHOLDS, Settings
from placement.model.load import RESOURCES
from placement.waves.wave_settings import Order, WaveSettings
from planner.api.plans import RENAMED
from planner.options.declared.option import Saved
from planner.options.declared.plan_options import OPTIONS, PlanOptions
from planner.options.declared.types import CopyOrder, Effort, ResourceName
from planner.options.declared.value_readers import WITH_CAPACITY
from planner.options.plan_request import read_values
from support.rule_options import MODULE, with_fields


@pytest.mark.parametrize(
    ("declared", "known"),
    [
        pytest.param(get_args(ResourceName), RESOURCES, id="resources"),
        pytest.param(WITH_CAPACITY, DEFAULT_THRESHOLDS, id="capacities"),
        pytest.param(get_args(Effort), EFFORTS, id="efforts"),
        pytest.param(get_args(CopyOrder), Order, id="orders"),
    ],
)
def test_the_words_of_options_are_those_of_the_domain(declared, known):
    assert declared == tuple(known)


@pytest.mark.parametrize("name", OPTIONS)
def test_the_settings_that_an_option_sets_have_its_default(name):
    option, default = OPTIONS[name].option, OPTIONS[name].default
    if option.sets is None:
        return
    settings = WaveSettings if option.saved is Saved.IN_WAVES else Settings
    known = {each.name: each.default for each in fields(settings)}

    assert option.sets in known
    assert default in (known[option.sets], None)


def test_the_keywords_of_python_are_the_options_of_every_operation():
    shared = {name for name, each in OPTIONS.items() if not each.operations}
    named = {RENAMED.get(name, name) for name in planner.PlanOptions.__annotations__}

    assert named == shared


@pytest.mark.parametrize("name", OPTIONS)
def test_a_default_is_read_as_it_is(name):
    assert read_values({name: OPTIONS[name].default}) == (PlanOptions(), ())


@pytest.mark.parametrize(
    ("texts", "typed"),
    [
        pytest.param({"band": ["0.2", "disk=5%"]},
                     {"band": dict.fromkeys(RESOURCES, 0.2) | {"disk": 0.05}},
                     id="bands"),
        pytest.param({"capacity_threshold": ["disk=0.9"]},
                     {"capacity_threshold": {"disk": 0.9}}, id="fractions"),
        pytest.param({"resources": "in,disk"}, {"resources": ["disk", "in"]},
                     id="resources"),
        pytest.param({"broker_list": "5-7"}, {"broker_list": range(5, 8)},
                     id="brokers"),
        pytest.param({"max_bytes": "2kB"}, {"max_bytes": 2000}, id="bytes"),
        pytest.param({"bandwidth": "5MB/s"}, {"bandwidth": 5_000_000}, id="rate"),
        pytest.param({"rack_map": ["a=b"]}, {"rack_map": {"a": "b"}}, id="racks"),
        pytest.param({"broker_set": ["o.*=x"]}, {"broker_set": {"o.*": "x"}},
                     id="sets"),
        pytest.param({"broker_set": ["off"]}, {"broker_set": "off"}, id="sets-off"),
        pytest.param({"min_topic_leaders": ["a=1"]}, {"min_topic_leaders": {"a": 1}},
                     id="leaders-of-topics"),
        pytest.param({"spread_gap": "1-3"}, {"spread_gap": (1, 3)}, id="gap"),
        pytest.param({"cpu_weight": ["leader-in=0.5"]},
                     {"cpu_weight": {"leader_in": 0.5}}, id="weights"),
        pytest.param({"broker": ["3", "4"]}, {"broker": [3, 4]}, id="replaced"),
        pytest.param({"log_dirs": ["1-2:/d{broker}"]},
                     {"log_dirs": [(1, "/d1"), (2, "/d2")]}, id="log-dirs"),
    ],
)  # fmt: skip
def test_texts_and_typed_values_are_read_alike(texts, typed):
    assert read_values(texts) == read_values(typed)
    assert read_values(texts)[1] == ()


def test_typed_options_are_read_as_they_are():
    options, _ = read_values({
        "band": 0.2, "resources": "disk,in", "broker_list": "1-3", "order": "small",
        "rack_map": ["a=b"], "min_topic_leaders": ["t=1"], "log_dirs": ["1:/d"],
        "cpu_weight": ["leader_in=1"], "topic_config": ["a=b"], "lost": "7",
    })  # fmt: skip

    as_json = json.loads(json.dumps(asdict(options)))

    assert read_values(asdict(options)) == (options, ())
    assert read_values(as_json) == (options, ())


@pytest.mark.parametrize(
    ("given", "value", "rule"),
    [
        ({"band": {"disk": 20}}, "disk=20", "must be a fraction from 0 to 10"),
        ({"band": {"disk": None}}, "disk=None", "must be a fraction from 0 to 10"),
        ({"broker_list": [1, 1]}, "1,1", "must name each broker once"),
        ({"max_bytes": -1}, "-1", "must be bytes, such as 500GB, 2TiB or 1000000"),
        ({"bandwidth": 0}, "0", "must be above 0"),
        ({"effort": "lazy"}, "lazy", "must be one of quick, normal, thorough, exact"),
        ({"max_moves_in": 0}, "0", "must be 1 or more"),
    ],
)
def test_typed_values_are_checked_as_texts_are(given, value, rule):
    _, [problem] = read_values(given)

    assert (problem.value, problem.rule) == (value, rule)


def test_whole_numbers_are_fractions_too():
    options, _ = read_values({"band": 1, "capacity_threshold": {"disk": 1}})

    assert json.dumps(options.capacity_threshold) == '{"disk": 1.0}'
    assert {repr(band) for band in options.band.values()} == {"1.0"}


def test_an_option_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="bnad"):
        read_values({"bnad": 1})


def test_the_command_line_starts_without_large_libraries():
    code = (
        "import sys; from planner.cli.main import build_command; build_command(); "
        "print(sorted({'numpy', 'pyarrow', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )

    assert done.stdout == "[]\n"


def test_every_command_of_plan_can_be_configured():
    from placement.operations.descriptor import OPERATIONS
    from planner.cli.plan.plan_commands import app

    assert tuple(each.name for each in app.registered_commands) == tuple(OPERATIONS)


def test_the_options_of_rules_are_those_of_their_descriptors():
    code = MODULE.read_text(encoding="utf-8")

    assert code == with_fields(code), "run python -m support.rule_options"
