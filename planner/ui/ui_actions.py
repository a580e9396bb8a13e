"""Actions of the page: what a control sends, as the next state."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from planner.errors import InputProblem
from planner.io.problems import problem
from planner.text.suggest import near
from planner.ui.ui_state import (
    DEFAULTS,
    PAGE,
    UiState,
    bad_state,
    parse_parameter,
)

Form = Mapping[str, str]
LOSSES = {"lose-broker": "brokers", "lose-rack": "racks", "lose-log-dir": "log_dirs"}
"""Key of the change `lose` for each kind of button."""
TOPIC_FORMS = {
    "retention": ("keep",),
    "replication-factor": ("factor",),
    "partitions": ("count",),
}
"""Fields of each form of topics, besides the pattern; names of changes."""
MOST_DIGITS = 5
"""Number of digits that the number of a step is shorter than."""
WHOLE = ("factor", "count", "like")
"""Fields that are whole numbers."""


def forms_of(given: Form) -> Sequence[Form]:
    """
    Return the forms of a request in order: those without an answer yet, and its own.

    Raises
    ------
    BadInputError
        If the earlier ones are no list of forms.
    """
    earlier = parse_parameter("before", given.get("before", ""))
    if not _are_forms(earlier):
        rule, remedy = "must be a list of forms", "open the page anew"
        raise bad_state([problem(PAGE, "before", earlier, rule, remedy)])
    return (*earlier, given)


def _are_forms(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(form, dict) and all(isinstance(text, str) for text in form.values())
        for form in value
    )


def next_state(state: UiState, form: Form, shown: UiState | None = None) -> UiState:
    """
    Return the state after the action of a form; a form without an action changes none.

    Parameters
    ----------
    state
        State before the action.
    form
        Fields of the form.
    shown
        State that the page showed, by whose numbers a step is removed; by default the
        one before the action.

    Raises
    ------
    BadInputError
        If a field is missing or no number; names every problem.
    """
    if number := form.get("remove"):
        return _removed(state, number, shown or state)
    for name, act in _ACTIONS.items():
        if name in form:
            return act(state, form, form[name])
    return state


def _lose(key: str) -> Callable[[UiState, Form, str], UiState]:
    def act(state: UiState, _: Form, name: str) -> UiState:
        return state.with_change(
            {"change": "lose", key: name if key == "brokers" else [name]}
        )

    return act


def _add(state: UiState, form: Form, _: str) -> UiState:
    change: dict[str, Any] = {"change": "add-brokers"}
    return state.with_change(change | _fields(form, ("count",), ("like", "rack")))


def _topics(state: UiState, form: Form, kind: str) -> UiState:
    if kind not in TOPIC_FORMS:
        rule = f"must be one of {', '.join(TOPIC_FORMS)}"
        raise bad_state([problem(PAGE, "topics", kind, rule, near(kind, TOPIC_FORMS))])
    change: dict[str, Any] = {"change": kind}
    return state.with_change(change | _fields(form, TOPIC_FORMS[kind], ("topics",)))


def _fields(
    form: Form, required: tuple[str, ...], optional: tuple[str, ...]
) -> dict[str, Any]:
    """Return the fields of a form that are not empty."""
    problems: list[InputProblem] = []
    found: dict[str, Any] = {}
    for name in (*optional, *required):
        text = form.get(name, "").strip()
        if text:
            found[name] = _value(name, text, problems)
        elif name in required:
            problems.append(problem(PAGE, name, None, "must be given", "enter it"))
    if problems:
        raise bad_state(problems)
    return found


def _value(name: str, text: str, problems: list[InputProblem]) -> str | int:
    if name not in WHOLE:
        return text
    try:
        return int(text)
    except ValueError:
        rule = "must be a whole number"
        problems.append(problem(PAGE, name, text, rule, "enter such a number"))
        return 0


def _set(state: UiState, form: Form, name: str) -> UiState:
    if name not in DEFAULTS:
        rule = f"must be one of {', '.join(DEFAULTS)}"
        raise bad_state([problem(PAGE, "set", name, rule, near(name, DEFAULTS))])
    return state.with_setting(name, form.get(name, "").strip() or DEFAULTS[name])


def _removed(state: UiState, number: str, shown: UiState) -> UiState:
    steps = dict(enumerate(shown.steps, start=1))
    is_number = number.isdecimal() and len(number) < MOST_DIGITS
    return state.without(steps.get(int(number)) if is_number else None)


_ACTIONS: Mapping[str, Callable[[UiState, Form, str], UiState]] = {
    **{name: _lose(key) for name, key in LOSSES.items()},
    "add": _add,
    "topics-form": _topics,
    "undo": lambda state, _form, _value: state.undone(),
    "clear": lambda _state, _form, _value: UiState(),
    "set": _set,
}
"""Action of each control by its name, the first that a form has."""
