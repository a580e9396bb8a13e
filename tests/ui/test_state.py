"""Steps of the page: in its address, undone, and turned into a scenarios file."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.io.toml_values import toml_value
from planner.ui.ui_actions import next_state
from planner.ui.ui_play import play_of
from planner.ui.ui_scenarios import scenarios_text
from planner.ui.ui_state import MOST_STEPS, UiState, parse_state
from planner.what_if.changes.scenario_records import ScenariosRecord
from support.browser import HOSTILE

LOSS = {"change": "lose", "brokers": "3"}


def after(*forms):
    """Return the state after these forms, one after the other."""
    state = UiState()
    for form in forms:
        state = next_state(state, form)
    return state


def problems_of(act):
    with pytest.raises(BadInputError) as refused:
        act()
    return [str(each) for each in refused.value.problems]


def test_the_address_restores_the_steps():
    state = after(
        {"lose-rack": HOSTILE[1]},
        {"set": "traffic", "traffic": "2.5"},
        {"topics-form": "retention", "topics": "clicks-.*", "keep": "14d"},
        {"add": "1", "count": "3", "like": "2", "rack": "räck"},
    )

    assert parse_state(state.text()) == state
    assert [*state.steps] == [
        {"change": "lose", "racks": [HOSTILE[1]]},
        {"set": "traffic", "to": "2.5"},
        {"change": "retention", "topics": "clicks-.*", "keep": "14d"},
        {"change": "add-brokers", "like": 2, "rack": "räck", "count": 3},
    ]


def test_undo_takes_the_steps_back_one_by_one():
    state = after({"lose-broker": "3"}, {"set": "band", "band": "0.05"})

    assert state.settings["band"] == "0.05"
    once = next_state(state, {"undo": "1"})
    assert (once.steps, once.settings["band"]) == ((LOSS,), "")
    assert next_state(once, {"undo": "1"}).steps == ()
    assert next_state(UiState(), {"undo": "1"}).steps == ()


def test_a_slider_that_is_turned_is_one_step():
    state = after(*({"set": "traffic", "traffic": str(x)} for x in (1.5, 2, 3)))

    assert state.steps == ({"set": "traffic", "to": "3"},)
    assert next_state(state, {"set": "traffic", "traffic": "1"}).steps == ()


def test_a_setting_that_is_set_again_later_can_be_undone():
    state = after(
        {"set": "traffic", "traffic": "2"},
        {"lose-broker": "3"},
        {"set": "traffic", "traffic": "1"},
    )

    assert state.settings["traffic"] == "1"
    assert next_state(state, {"undo": "1"}).settings["traffic"] == "2"


@pytest.mark.parametrize(
    "form",
    [{"lose-broker": "3"}, {"lose-rack": "a"}, {"lose-log-dir": "4:/data/d1"}],
    ids=["broker", "rack", "log dir"],
)
def test_what_is_lost_is_restored_by_the_same_button(form):
    assert len(after(form).steps) == 1
    assert after(form, form).steps == ()


def test_a_step_is_removed_by_its_number():
    state = after({"lose-broker": "3"}, {"lose-broker": "4"}, {"lose-rack": "a"})

    assert next_state(state, {"remove": "2"}).steps == (
        LOSS,
        {"change": "lose", "racks": ["a"]},
    )
    assert next_state(state, {"remove": "9"}) == state
    assert next_state(state, {"clear": "1"}).steps == ()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        pytest.param("{", "must be JSON", id="no JSON"),
        pytest.param("[NaN]", "must be JSON", id="no number"),
        pytest.param("3", "must be a list of steps", id="no list"),
        pytest.param('[{"set":"x","to":"1"}]', "must be one of traffic", id="setting"),
        pytest.param('[{"set":"band","to":1}]', 'must be {"set"', id="no text"),
        pytest.param('[{"set":["a"],"to":"1"}]', "must be", id="a list for a name"),
        pytest.param('[{"change":["lose"]}]', 'must be {"set"', id="a list of names"),
        pytest.param('[{"x":1}]', "must have one of", id="neither"),
        pytest.param('[{"set":"band","change":"lose"}]', "must have one", id="both"),
        pytest.param("[" * 5000, "must be JSON", id="deep"),
        pytest.param(f"[{'{},' * 300}{{}}]", f"at most {MOST_STEPS}", id="many"),
        pytest.param(f'"{"x" * 40_000}"', "characters", id="long"),
    ],
)
def test_addresses_that_are_wrong_are_refused(text, rule):
    (first, *_) = problems_of(lambda: parse_state(text))

    assert rule in first
    assert first.startswith("this page: ")


@pytest.mark.parametrize(
    ("form", "rule"),
    [
        pytest.param({"add": "1", "count": "x"}, "whole number", id="count"),
        pytest.param({"add": "1"}, "count: must be given", id="nothing"),
        pytest.param({"topics-form": "x"}, "must be one of retention", id="form"),
        pytest.param({"topics-form": "retention"}, "keep: must be given", id="keep"),
        pytest.param({"set": "colour"}, "must be one of traffic", id="setting"),
    ],
)
def test_forms_that_are_wrong_are_refused(form, rule):
    (problem,) = problems_of(lambda: next_state(UiState(), form))

    assert rule in problem
    assert ";" in problem


@pytest.mark.parametrize("name", ["traffic", "growth", "months", "then", "effort"])
@pytest.mark.parametrize("value", ["x", "nan", "-inf", "1e9"])
def test_settings_out_of_range_are_refused(name, value):
    state = UiState().with_setting(name, value)

    (problem,) = problems_of(lambda: play_of(state))

    assert problem.startswith(f"this page: {name}: must be ")


def test_steps_become_the_scenarios_of_what_if():
    state = after(
        {"set": "traffic", "traffic": "1.5"},
        {"set": "growth", "growth": "5"},
        {"set": "months", "months": "6"},
        {"lose-broker": "3"},
        {"set": "disk", "disk": "0.9"},
    )
    play = play_of(state)

    changes = [
        {"change": "traffic", "factor": 1.5},
        {"change": "grow", "months": 6.0},
        LOSS,
    ]
    assert play.document == {
        "growth": [{"per_month": 0.05}],
        "scenarios": [
            {"name": "as it is", "then": "nothing", "changes": changes},
            {"name": "planned", "then": "rebalance", "changes": changes},
        ],
    }
    assert play.request.capacity_threshold == ("disk=0.9",)
    assert play.request.effort == "quick"


def test_without_a_plan_one_scenario_is_left():
    play = play_of(UiState().with_setting("then", "nothing"))

    assert [each["name"] for each in play.document["scenarios"]] == ["as it is"]
    assert not play.has_plan


def test_the_saved_file_is_a_scenarios_file_whatever_the_names():
    state = UiState()
    for name in (*HOSTILE, "del\x7f", "tab\t", "\\"):
        state = state.with_change({"change": "lose", "racks": [name]})
    play = play_of(state)

    text = scenarios_text(play, "a\nb = 1.json")

    document = tomllib.loads(text)
    assert document == play.document
    assert len(ScenariosRecord.model_validate(document).scenarios) == 2


texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values)
def test_values_are_read_back_from_toml(value):
    assert tomllib.loads(f"x = {toml_value(value)}")["x"] == value
