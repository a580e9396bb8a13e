"""
State of the page: the steps that an operator took, as the address of the page has them.

A step is a change, as in a scenarios file, or a setting with its value. The last value
of a setting counts; changes are made in order. Undo drops the last step.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.errors import BadInputError, InputProblem
from planner.io.json_reader import parse_json
from planner.io.problems import problem
from planner.text.suggest import near
from planner.what_if.play_scenarios import DEFAULT_BANDWIDTH

Step = Mapping[str, Any]
"""A change, ``{"change": …}``, or a setting, ``{"set": NAME, "to": TEXT}``."""
PAGE = "this page"
"""Name of the page in problems."""
MOST_STEPS = 200
MOST_CHARACTERS = 30_000
"""Largest length of the steps in an address."""
CAPS = ("disk", "in", "out", "cpu")
"""Resources whose capacity threshold is a setting."""
AFTERWARDS = ("rebalance", "needed", "nothing")
EFFORTS = ("quick", "normal")
DEFAULTS: Mapping[str, str] = {
    "traffic": "1",
    "growth": "0",
    "months": "0",
    "band": "",
    **dict.fromkeys(CAPS, ""),
    "bandwidth": DEFAULT_BANDWIDTH,
    "then": "rebalance",
    "effort": "quick",
}
"""Settings and their values before any step; empty for the default of the command."""


@dataclass(frozen=True, slots=True)
class UiState:
    """
    Steps of an operator, oldest first.

    Parameters
    ----------
    steps
        The steps.
    """

    steps: tuple[Step, ...] = ()

    @property
    def settings(self) -> dict[str, str]:
        """Value of every setting."""
        given = {step["set"]: step["to"] for step in self.steps if "set" in step}
        return {**DEFAULTS, **given}

    @property
    def changes(self) -> list[tuple[int, Step]]:
        """Changes in order, each with the number of its step, from 1."""
        numbered = enumerate(self.steps, start=1)
        return [(number, step) for number, step in numbered if "change" in step]

    def text(self) -> str:
        """Return the steps as the address of the page has them."""
        return json.dumps(self.steps, ensure_ascii=False, separators=(",", ":"))

    def with_setting(self, name: str, value: str) -> "UiState":
        """Return the state after a setting; one step for a setting that is turned."""
        steps = self.steps
        if steps and steps[-1].get("set") == name:
            steps = steps[:-1]
        before = UiState(steps)
        if before.settings[name] == value:
            return before
        return UiState((*steps, {"set": name, "to": value}))

    def with_change(self, change: Step) -> "UiState":
        """Return the state after a change; a loss that is there is taken back."""
        if change["change"] == "lose" and change in self.steps:
            return UiState(tuple(step for step in self.steps if step != change))
        return UiState((*self.steps, change))

    def without(self, step: Step | None) -> "UiState":
        """Return the state without one of its steps, the very object."""
        return UiState(tuple(each for each in self.steps if each is not step))

    def undone(self) -> "UiState":
        """Return the state without its last step."""
        return UiState(self.steps[:-1])


def parse_state(text: str) -> UiState:
    """
    Parse the steps of an address.

    Raises
    ------
    BadInputError
        If the text is no list of steps; names every problem. Names of brokers, racks
        and topics are validated later, against the cluster.
    """
    steps = parse_parameter("steps", text)
    problems = _shape_problems(steps)
    if problems:
        raise bad_state(problems)
    return UiState(tuple(steps))


def parse_parameter(name: str, text: str) -> Any:  # noqa: ANN401 - any JSON value
    """
    Parse a parameter of an address that is a list, as JSON; empty text is no list.

    Raises
    ------
    BadInputError
        If it is too long, or no JSON.
    """
    if len(text) > MOST_CHARACTERS:
        rule = f"may have at most {MOST_CHARACTERS:,} characters"
        raise bad_state([_problem(name, len(text), rule, "open the page anew")])
    try:
        return parse_json(text) if text else []
    except ValueError as error:
        rule = f"must be JSON: {str(error).removeprefix('must be JSON: ')}"
        problem = _problem(name, text, rule, "open the page anew")
        raise bad_state([problem]) from error


def bad_state(problems: Sequence[InputProblem]) -> BadInputError:
    """Return the error of an input of the page."""
    return BadInputError("the page was given what it cannot use", problems)


def _problem(place: str, value: object, rule: str, remedy: str) -> InputProblem:
    return problem(PAGE, place, value, rule, remedy)


def _shape_problems(steps: object) -> list[InputProblem]:
    if not isinstance(steps, list):
        rule = "must be a list of steps"
        return [_problem("steps", steps, rule, "open the page anew")]
    if len(steps) > MOST_STEPS:
        rule = f"there may be at most {MOST_STEPS} steps"
        return [_problem("steps", len(steps), rule, "save them, and start anew")]
    found = (
        _step_problem(f"step {at}", step) for at, step in enumerate(steps, start=1)
    )
    return [each for each in found if each is not None]


def _step_problem(place: str, step: object) -> InputProblem | None:
    remove = "remove the step"
    if not isinstance(step, dict) or ("set" in step) == ("change" in step):
        return _problem(place, step, 'must have one of "set" and "change"', remove)
    if isinstance(step.get("change"), str):
        # Its keys and values are validated as those of a scenarios file.
        return None
    is_text = all(isinstance(each, str) for each in step.values())
    if step.keys() != {"set", "to"} or not is_text:
        return _problem(place, step, 'must be {"set": NAME, "to": TEXT}', remove)
    if step["set"] not in DEFAULTS:
        rule = f"must be one of {', '.join(DEFAULTS)}"
        return _problem(place, step["set"], rule, near(step["set"], DEFAULTS))
    return None
