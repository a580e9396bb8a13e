"""Scenarios file and options of `what-if` for a state of the page."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from placement.model.cluster import ClusterState
from planner.errors import InputProblem
from planner.io.gatherer import Gatherer
from planner.io.problems import problem
from planner.snapshot import Snapshot
from planner.text.suggest import near
from planner.ui.ui_state import (
    AFTERWARDS,
    CAPS,
    EFFORTS,
    PAGE,
    UiState,
    bad_state,
)
from planner.what_if.play_scenarios import WhatIfOptions, WhatIfRequest, read_options
from planner.what_if.scenarios_file import ScenariosFile, validate_scenarios

AS_IT_IS = "as it is"
PLANNED = "planned"
"""Names of the scenarios of the page: the changes without a plan, and with one."""
NUMBERS = {
    "traffic": (0.0, 1000.0, "must be a factor from 0 to 1000"),
    "growth": (-50.0, 1000.0, "must be % per month, from -50 to 1000"),
    "months": (0.0, 120.0, "must be months from 0 to 120"),
}
"""Least and greatest value of each setting that is a number."""
CHOICES = {"then": AFTERWARDS, "effort": EFFORTS}
_CHANGE = re.compile(r"scenarios\[\d+\]\.changes\[(\d+)\]\.?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """
    Input of `what-if` for one state.

    Parameters
    ----------
    document
        Scenarios file: the changes as they are, and with a plan unless none is asked.
    request
        Options of `what-if`.
    places
        Name of the step of each change of a scenario, for problems.
    """

    document: Mapping[str, Any]
    request: WhatIfRequest
    places: tuple[str, ...]

    @property
    def has_plan(self) -> bool:
        """Whether a scenario is planned."""
        return len(self.document["scenarios"]) > 1

    @property
    def is_of_today(self) -> bool:
        """Whether today's cluster is planned, without any change."""
        return not self.places and self.document["scenarios"][-1]["then"] == "rebalance"


def play_of(state: UiState) -> Play:
    """
    Return the scenarios and options of a state.

    Raises
    ------
    BadInputError
        If a setting is no number or no choice; names every problem.
    """
    settings = state.settings
    problems = [*_choice_problems(settings)]
    numbers = {name: _number(name, settings[name], problems) for name in NUMBERS}
    if problems:
        raise bad_state(problems)
    changes: list[tuple[str, Mapping[str, Any]]] = []
    if numbers["traffic"] != 1.0:
        changes.append(("traffic", {"change": "traffic", "factor": numbers["traffic"]}))
    if numbers["months"] and numbers["growth"]:
        changes.append(("months", {"change": "grow", "months": numbers["months"]}))
    changes += [(f"step {number}", step) for number, step in state.changes]
    return Play(
        document=_document(
            numbers["growth"], settings["then"], [c for _, c in changes]
        ),
        request=_request(settings),
        places=tuple(place for place, _ in changes),
    )


def _document(
    growth: float, then: str, changes: list[Mapping[str, Any]]
) -> dict[str, Any]:
    scenarios = [{"name": AS_IT_IS, "then": "nothing", "changes": changes}]
    if then != "nothing":
        scenarios.append({"name": PLANNED, "then": then, "changes": changes})
    rates = [{"per_month": round(growth / 100, 9)}] if growth else []
    return {**({"growth": rates} if rates else {}), "scenarios": scenarios}


def _request(settings: Mapping[str, str]) -> WhatIfRequest:
    return WhatIfRequest(
        band=(settings["band"],) if settings["band"] else (),
        capacity_threshold=tuple(
            f"{name}={settings[name]}" for name in CAPS if settings[name]
        ),
        bandwidth=settings["bandwidth"],
        effort=settings["effort"],
    )


def _number(name: str, text: str, problems: list[InputProblem]) -> float:
    low, high, rule = NUMBERS[name]
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        problems.append(problem(PAGE, name, text, rule, "enter such a number"))
    return value


def _choice_problems(settings: Mapping[str, str]) -> list[InputProblem]:
    return [
        problem(
            PAGE,
            name,
            settings[name],
            f"must be one of {', '.join(known)}",
            near(settings[name], known),
        )
        for name, known in CHOICES.items()
        if settings[name] not in known
    ]


def validated(
    play: Play, name: str, snapshot: Snapshot, state: ClusterState
) -> tuple[ScenariosFile, WhatIfOptions]:
    """
    Validate one scenario and the options for one cluster.

    Both scenarios of the page have the same changes, which one of them shows to be
    possible.

    Raises
    ------
    BadInputError
        If a change or an option is impossible; every problem names its step.
    """
    inputs = Gatherer()
    options = inputs.read(lambda: read_options(play.request, state))
    file = inputs.read(
        lambda: validate_scenarios(
            play.document, snapshot, state, file=PAGE, wanted=name
        )
    )
    if file is None or options is None:
        placed = [_placed(each, play.places) for each in inputs.problems]
        # Both scenarios have the same shape, and so the same problems of it.
        raise bad_state(list(dict.fromkeys(placed)))
    return file, options


def _placed(given: InputProblem, places: tuple[str, ...]) -> InputProblem:
    """Return a problem that names a step or a setting of the page as its place."""
    place, found = given.place.removeprefix("--"), _CHANGE.match(given.place)
    if found is not None and int(found[1]) < len(places):
        place = f"{places[int(found[1])]} {place[found.end() :]}".strip()
    return replace(given, file=PAGE, place=place)
