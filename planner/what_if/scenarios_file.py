"""Read a scenarios file: every problem at once, before anything is planned."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from placement.model.cluster import ClusterState
from placement.scenarios.changes.variant import Variant
from planner.errors import BadInputError, InputProblem
from planner.failures.failure_request import election_rules
from planner.group.group_problems import place_text
from planner.io.problems import problem
from planner.snapshot import Snapshot
from planner.text.suggest import near
from planner.what_if.changes import scenario_records as r
from planner.what_if.changes.change_context import Context
from planner.what_if.changes.scenario_names import NameReader
from planner.what_if.prices import read_prices
from planner.what_if.scenarios import Scenario, build, expand
from planner.what_if.topic_growth import Rates, read_growth

SEE_SCHEMA = "see 'kafka-planner schema scenarios'"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScenariosFile:
    """
    A scenarios file that has been understood.

    Parameters
    ----------
    file
        Its name, for messages.
    scenarios
        All of them, sweeps taken apart.
    context
        What their changes need to know.
    above
        By name, every scenario that another one may go on from.
    """

    file: str
    scenarios: tuple[Scenario, ...]
    context: Context
    above: Mapping[str, Scenario] = field(default_factory=dict)


def read_scenarios(
    path: Path,
    snapshot: Snapshot,
    state: ClusterState,
    *,
    growth: Rates | Mapping[str, Rates] | None = None,
) -> ScenariosFile:
    """
    Read a scenarios file for one cluster.

    Parameters
    ----------
    path
        The file, TOML.
    snapshot, state
        The cluster.
    growth
        Growth that all topics share, or of each by name, for those of which the file
        says nothing.

    Raises
    ------
    BadInputError
        If it is none, or tells what cannot be; names every problem.
    """
    document = parse_scenarios(path)
    return understand(document, snapshot, state, file=str(path), growth=growth)


def parse_scenarios(path: Path) -> dict[str, Any]:
    """
    Return what a scenarios file holds, for `understand`.

    Raises
    ------
    BadInputError
        If it cannot be read, or is no TOML.
    """
    file = str(path)
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        rule = f"must be readable: {error.strerror or error}"
        found = problem(file, "", None, rule, "check the path")
        raise _refusal(file, [found]) from error
    except UnicodeDecodeError as error:
        found = problem(file, f"byte {error.start}", None, "must be UTF-8", "mend it")
        raise _refusal(file, [found]) from error
    except tomllib.TOMLDecodeError as error:
        found = problem(file, "", None, f"must be TOML: {error}", "mend it")
        raise _refusal(file, [found]) from error


def list_scenarios(document: Mapping[str, Any], *, file: str) -> list[Scenario]:
    """
    Return all scenarios of a file, sweeps taken apart, whatever the cluster.

    Raises
    ------
    BadInputError
        With everything that no cluster can mend: shapes, names, steps.
    """
    names = NameReader(file)
    found = expand(_record_of(document, names), names)
    if names.problems:
        raise _refusal(file, names.problems)
    return found


def understand(
    document: Mapping[str, Any],
    snapshot: Snapshot,
    state: ClusterState,
    *,
    file: str = "scenarios",
    growth: Rates | Mapping[str, Rates] | None = None,
    wanted: str | None = None,
) -> ScenariosFile:
    """
    Understand scenarios that were parsed.

    Parameters
    ----------
    document
        What the file holds.
    snapshot, state, growth
        As of `read_scenarios`.
    file
        What problems name as their file.
    wanted
        The only scenario that counts, by name, with those that it goes on from: what
        is wrong with others is none of its business. `None`: all of them.

    Raises
    ------
    BadInputError
        If they tell what cannot be; names every problem.
    """
    names = NameReader(file)
    record = _record_of(document, names)
    rates = read_growth(record.growth, state, names)
    if growth is not None:
        shared = (
            growth
            if isinstance(growth, Mapping)
            else dict.fromkeys(state.topics.names, growth)
        )
        rates = {**shared, **rates}
    prices, of_broker = read_prices(record.prices, record.types, state, names)
    context = Context(
        configs=snapshot.configs,
        rules=election_rules(snapshot, state),
        growth=rates or None,
        types={each.name: each for each in record.types},
        of_broker=of_broker,
        prices=prices,
    )
    listed = expand(record, names)
    above = above_of(listed)
    scenarios = [each for each in listed if wanted in {None, each.name}]
    tried = listed if wanted is None else chain_of(scenarios[0], above)
    _try(tried, context.start(state), context, names)
    if names.problems:
        raise _refusal(file, names.problems)
    return ScenariosFile(
        file=file, scenarios=tuple(scenarios), context=context, above=above
    )


def above_of(scenarios: Sequence[Scenario]) -> dict[str, Scenario]:
    """Return by name the scenarios that others may go on from: no points of sweeps."""
    return {each.name: each for each in scenarios if each.sweep is None}


def chain_of(scenario: Scenario, above: Mapping[str, Scenario]) -> list[Scenario]:
    """
    Return a scenario after those that it goes on from, the first of all first.

    Parameters
    ----------
    scenario
        One of a file.
    above
        By name, those of the file that others may go on from.
    """
    chain = [scenario]
    while chain[0].after in above:
        chain.insert(0, above[str(chain[0].after)])
    return chain


def _try(
    scenarios: Sequence[Scenario], today: Variant, context: Context, names: NameReader
) -> None:
    """Make every change once, without plans; each problem is kept."""
    # What is tried here is made again where it is planned, maybe elsewhere.
    tried = {each.place: each for each in reversed(scenarios)}
    built: dict[str | None, Variant] = {None: today}
    for each in reversed(tried.values()):
        start = built.get(each.after, today)
        built[each.name] = build(start, each, context, names)


def _record_of(document: Mapping[str, Any], names: NameReader) -> r.ScenariosRecord:
    """
    Return what a file tells; where some of it has no shape, what the rest tells.

    Raises
    ------
    BadInputError
        If nothing is left that can be understood.
    """
    try:
        return r.ScenariosRecord.model_validate(document)
    except ValidationError as error:
        problems = [_shape_problem(dict(each), names.file) for each in error.errors()]
        names.problems += _once(problems)
        places = [each["loc"] for each in error.errors()]
        try:
            return r.ScenariosRecord.model_validate(_sound_rest(document, places))
        except (ValidationError, LookupError):
            raise _refusal(names.file, names.problems) from error


PLACEHOLDERS: Mapping[str, Mapping[str, Any]] = {
    "scenarios": {},
    "sweeps": {"traffic": [1.0]},
}
"""What stands in for a broken scenario, so that the others keep their places."""
NO_GROWTH: Mapping[str, Any] = {"per_day": 0.0}
"""What stands in for broken growth: that some is given is all that others need."""


def _sound_rest(
    document: Mapping[str, Any], places: Sequence[Sequence[str | int]]
) -> dict[str, Any]:
    """
    Return a file without its broken scenarios, those that go on from them, and growth.

    Raises
    ------
    LookupError
        If something else is broken, that others may need.
    """
    broken = {tuple(place[:2]) for place in places}
    known = {*PLACEHOLDERS, "growth"}
    if any(len(each) < 2 or each[0] not in known for each in broken):
        raise LookupError
    rest, lost = dict(document), set()
    rest["growth"] = [
        NO_GROWTH if ("growth", at) in broken else each
        for at, each in enumerate(document.get("growth", []))
    ]
    for part, placeholder in PLACEHOLDERS.items():
        entries = []
        for at, each in enumerate(document.get(part, [])):
            told = each if isinstance(each, Mapping) else {}
            if (part, at) in broken or told.get("after") in lost:
                lost.add(str(told.get("name")))
                # No name of a file can begin so.
                entries.append({"name": f"\0{part}{at}", **placeholder})
            else:
                entries.append(each)
        rest[part] = entries
    return rest


def only(file: ScenariosFile, names: Sequence[str]) -> ScenariosFile:
    """
    Return a file with some of its scenarios, or whole sweeps, by name.

    Raises
    ------
    BadInputError
        With every name that is none.
    """
    if not names:
        return file
    known = dict.fromkeys(each.sweep or each.name for each in file.scenarios)
    known |= dict.fromkeys(each.name for each in file.scenarios)
    unknown = [name for name in names if name not in known]
    if unknown:
        rule = f"must be a scenario or a sweep of {file.file}"
        problems = [
            problem("command line", "--scenario", name, rule, near(name, known))
            for name in unknown
        ]
        msg = "bad options"
        raise BadInputError(msg, problems)
    chosen = [each for each in file.scenarios if {each.name, each.sweep} & set(names)]
    return replace(file, scenarios=tuple(chosen))


def _refusal(file: str, problems: Sequence[InputProblem]) -> BadInputError:
    plural = "" if len(problems) == 1 else "s"
    message = f"{file} cannot be played: {len(problems)} problem{plural}"
    return BadInputError(message, problems)


_CHANGES: dict[str, type[r.Record]] = {
    model.model_fields["change"].annotation.__args__[0]: model
    for model in r.AnyChange.__args__
}
_PARTS: dict[str, type[r.Record]] = {
    "scenarios": r.ScenarioRecord,
    "sweeps": r.SweepRecord,
    "growth": r.GrowthRecord,
    "types": r.ScenarioTypeRecord,
    "prices": r.PricesRecord,
}


def _shape_problem(error: Mapping[str, Any], file: str) -> InputProblem:
    at = list(error["loc"])
    model: type[r.Record] = (
        _PARTS.get(str(at[0]), r.ScenariosRecord) if at else (r.ScenariosRecord)
    )
    if "changes" in at and len(at) > at.index("changes") + 2:
        model = _CHANGES[str(at.pop(at.index("changes") + 2))]
    value: Any = error["input"]
    rule, remedy = str(error["msg"]), SEE_SCHEMA
    if error["type"] == "extra_forbidden":
        rule, value = "unknown key", at[-1]
        remedy = near(value, _keys_of(model))
    elif error["type"] == "missing":
        rule, remedy, value = "the key is required", "add it", None
    elif error["type"].startswith("union_tag"):
        value = value.get("change") if isinstance(value, dict) else value
        at.append("change")
        rule = f"must be one of {', '.join(_CHANGES)}"
        remedy = near(value, _CHANGES) if value else "say what changes"
    elif error["type"] == "literal_error" and model is not r.ScenariosRecord:
        expected = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        rule = f"must be one of {', '.join(expected)}"
        remedy = near(value, expected)
    elif error["type"] == "value_error":
        rule, remedy = rule.removeprefix("Value error, "), "mend it"
    at, is_either = _plain(at)
    if is_either:
        rule, remedy = _EITHER.get(str(at[-1]), _IDS), "mend it"
        value = None
    return problem(file, place_text(at), value, rule, remedy)


def _keys_of(model: type[r.Record]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


_TYPE = re.compile(r"str$|constrained-|list\[|[A-Z]")
"""How pydantic names the types that it tried, in the place of a problem."""


def _plain(at: Sequence[str | int]) -> tuple[list[str | int], bool]:
    """Return a place up to where types were tried, and whether they were."""
    for depth, part in enumerate(at):
        if isinstance(part, str) and _TYPE.match(part):
            return list(at[:depth]), True
    return list(at), False


_NUMBERS = "must be numbers: a list, or {from = 1, to = 3, step = 0.5}"
_EITHER = {
    "topic": "must be a name, or a list of names",
    "traffic": _NUMBERS,
    "days": _NUMBERS,
}
_IDS = 'must be numbers and ranges as a text, "1-3,7", or a list of whole numbers'


def _once(problems: Sequence[InputProblem]) -> list[InputProblem]:
    """Return one problem per place: pydantic tells each type that it tried."""
    return list({(each.place, each.rule): each for each in problems}.values())
