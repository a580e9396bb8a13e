"""Scenarios files: reading and validation, with every problem reported at once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from placement.cluster_changes.variant import Variant
from placement.model.cluster import ClusterState
from planner.errors import BadInputError, InputProblem, raise_problems
from planner.failures.failure_request import election_rules
from planner.io.problems import place_text, problem, refuse_all
from planner.io.records import Record
from planner.io.toml_records import read_toml, shape_problem
from planner.snapshot import Snapshot
from planner.text.suggest import near
from planner.what_if.changes import scenario_records as r
from planner.what_if.changes.change_context import Context
from planner.what_if.changes.prices import read_prices
from planner.what_if.changes.scenario_names import NameReader
from planner.what_if.scenarios import Scenario, build, expand
from planner.what_if.topic_growth import Rates, read_growth

SEE_SCHEMA = "see 'kafka-planner schema scenarios'"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScenariosFile:
    """
    A validated scenarios file.

    Parameters
    ----------
    file
        Name of the file, for messages.
    scenarios
        All scenarios, with sweeps expanded to points.
    context
        Facts besides the cluster that changes use.
    starts
        Scenarios that `after` may name, by name.
    """

    file: str
    scenarios: tuple[Scenario, ...]
    context: Context
    starts: Mapping[str, Scenario] = field(default_factory=dict)


def read_scenarios(
    path: Path,
    snapshot: Snapshot,
    state: ClusterState,
    *,
    growth: Rates | Mapping[str, Rates] | None = None,
) -> ScenariosFile:
    """
    Read and validate a scenarios file for one cluster.

    Parameters
    ----------
    path
        Path of the TOML file.
    snapshot, state
        The cluster and its columns.
    growth
        Growth of all topics, or of each by name; growth in the file has precedence.

    Raises
    ------
    BadInputError
        If the file is not a scenarios file, or a scenario is impossible; names every
        problem.
    """
    document = parse_scenarios(path)
    return validate_scenarios(document, snapshot, state, file=str(path), growth=growth)


def parse_scenarios(path: Path) -> dict[str, Any]:
    """
    Parse a scenarios file, as input of `validate_scenarios`.

    Raises
    ------
    BadInputError
        If the file cannot be read, or is not TOML.
    """
    return read_toml(path, _refusal)


def list_scenarios(document: Mapping[str, Any], *, file: str) -> list[Scenario]:
    """
    Return all scenarios of a file, with sweeps expanded, without a cluster.

    Raises
    ------
    BadInputError
        If the file has problems that do not depend on a cluster: shapes, names, steps.
    """
    names = NameReader(file)
    found = expand(_record_of(document, names), names)
    if names.problems:
        raise _refusal(file, names.problems)
    return found


def validate_scenarios(
    document: Mapping[str, Any],
    snapshot: Snapshot,
    state: ClusterState,
    *,
    file: str = "scenarios",
    growth: Rates | Mapping[str, Rates] | None = None,
    wanted: str | None = None,
) -> ScenariosFile:
    """
    Validate parsed scenarios for one cluster.

    Parameters
    ----------
    document
        The parsed TOML document.
    snapshot, state, growth
        As for `read_scenarios`.
    file
        Name of the file in problems.
    wanted
        Name of the only scenario to validate, with those that it continues; changes
        of others are not validated. `None` validates all.

    Raises
    ------
    BadInputError
        If a scenario is impossible; names every problem.
    """
    refuse_no_brokers(state)
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
    starts = possible_starts(listed)
    scenarios = [each for each in listed if wanted in {None, each.name}]
    chains = [chain_of(each, starts) for each in scenarios]
    # None is left of a wanted scenario that has problems of its shape.
    tried = listed if wanted is None else [each for chain in chains for each in chain]
    _apply_all(tried, context.start(state), context, names)
    if names.problems:
        raise _refusal(file, names.problems)
    return ScenariosFile(
        file=file, scenarios=tuple(scenarios), context=context, starts=starts
    )


def refuse_no_brokers(state: ClusterState) -> None:
    """
    Refuse a cluster without brokers, to which no other broker can be likened.

    Raises
    ------
    BadInputError
        If the cluster has no brokers.
    """
    if not state.num_brokers:
        rule = "must name a broker to size by, or to change"
        remedy = "take it with snapshot live, or name brokers in snapshot import"
        found = problem("snapshot", "brokers", [], rule, remedy)
        raise_problems("no brokers", [found])


def possible_starts(scenarios: Sequence[Scenario]) -> dict[str, Scenario]:
    """Return the scenarios that `after` may name, by name: all but points of sweeps."""
    return {each.name: each for each in scenarios if each.sweep is None}


def chain_of(scenario: Scenario, starts: Mapping[str, Scenario]) -> list[Scenario]:
    """
    Return a scenario and those that it continues, in order of time.

    Parameters
    ----------
    scenario
        A scenario of the file.
    starts
        Scenarios that `after` may name, by name.
    """
    chain = [scenario]
    while chain[0].after in starts:
        chain.insert(0, starts[str(chain[0].after)])
    return chain


def _apply_all(
    scenarios: Sequence[Scenario], today: Variant, context: Context, names: NameReader
) -> None:
    """Apply every change once, without plans; collect every problem."""
    # The clusters made here are dropped: planning, maybe in other processes, makes
    # them again.
    tried = {each.place: each for each in reversed(scenarios)}
    built: dict[str | None, Variant] = {None: today}
    for each in reversed(tried.values()):
        start = built.get(each.after, today)
        built[each.name] = build(start, each, context, names)


def _record_of(document: Mapping[str, Any], names: NameReader) -> r.ScenariosRecord:
    """
    Return the records of a file; invalid scenarios are replaced, with problems.

    Raises
    ------
    BadInputError
        If no valid file is left without the invalid parts.
    """
    try:
        return r.ScenariosRecord.model_validate(document)
    except ValidationError as error:
        problems = [_shape_problem(dict(each), names.file) for each in error.errors()]
        names.problems += _one_per_place(problems)
        places = [each["loc"] for each in error.errors()]
        try:
            return r.ScenariosRecord.model_validate(
                _without_invalid_parts(document, places)
            )
        except (ValidationError, LookupError):
            raise _refusal(names.file, names.problems) from error


PLACEHOLDERS: Mapping[str, Mapping[str, Any]] = {
    "scenarios": {},
    "sweeps": {"traffic": [1.0]},
}
"""Replacements for invalid scenarios, so that the others keep their places."""
NO_GROWTH: Mapping[str, Any] = {"per_day": 0.0}
"""Replacement for invalid growth: scenarios only need that growth is given."""


def _without_invalid_parts(
    document: Mapping[str, Any], places: Sequence[Sequence[str | int]]
) -> dict[str, Any]:
    """
    Return a document without invalid growth, invalid scenarios and their successors.

    Raises
    ------
    LookupError
        If another part is invalid that scenarios may need.
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
            fields = each if isinstance(each, Mapping) else {}
            if (part, at) in broken or fields.get("after") in lost:
                lost.add(str(fields.get("name")))
                # No name in a file can begin with NUL.
                entries.append({"name": f"\0{part}{at}", **placeholder})
            else:
                entries.append(each)
        rest[part] = entries
    return rest


def select_scenarios(file: ScenariosFile, names: Sequence[str]) -> ScenariosFile:
    """
    Return a file with only the named scenarios and sweeps.

    Raises
    ------
    BadInputError
        If names are unknown; names them all.
    """
    if not names:
        return file
    known = dict.fromkeys(each.sweep or each.name for each in file.scenarios)
    known |= dict.fromkeys(each.name for each in file.scenarios)
    rule = f"must be a scenario or a sweep of {file.file}"
    unknown = [
        problem("command line", "--scenario", name, rule, near(name, known))
        for name in names
        if name not in known
    ]
    raise_problems("bad options", unknown)
    chosen = [each for each in file.scenarios if {each.name, each.sweep} & set(names)]
    return replace(file, scenarios=tuple(chosen))


def _refusal(file: str, problems: Sequence[InputProblem]) -> BadInputError:
    return refuse_all(f"{file} is not a valid scenarios file", problems)


_CHANGES: dict[str, type[Record]] = {
    model.model_fields["change"].annotation.__args__[0]: model
    for model in r.AnyChange.__args__
}
_PARTS: dict[str, type[Record]] = {
    "scenarios": r.ScenarioRecord,
    "sweeps": r.SweepRecord,
    "growth": r.GrowthRecord,
    "types": r.ScenarioTypeRecord,
    "prices": r.PricesRecord,
}


def _shape_problem(error: Mapping[str, Any], file: str) -> InputProblem:
    at = list(error["loc"])
    model: type[Record] = (
        _PARTS.get(str(at[0]), r.ScenariosRecord) if at else (r.ScenariosRecord)
    )
    if "changes" in at and len(at) > at.index("changes") + 2:
        model = _CHANGES[str(at.pop(at.index("changes") + 2))]
    value: Any = error["input"]
    rule, remedy = "", ""
    if error["type"].startswith("union_tag"):
        value = value.get("change") if isinstance(value, dict) else value
        at.append("change")
        rule = f"must be one of {', '.join(_CHANGES)}"
        remedy = near(value, _CHANGES) if value else "name a change"
    elif error["type"] == "literal_error" and model is not r.ScenariosRecord:
        expected = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        rule = f"must be one of {', '.join(expected)}"
        remedy = near(value, expected)
    plain, is_either = _plain(at)
    if is_either:
        rule, remedy = _EITHER.get(str(plain[-1]), _IDS), "correct it"
        value = None
    if not rule:
        return shape_problem(error, file, plain, _keys_of(model), SEE_SCHEMA)
    return problem(file, place_text(plain), value, rule, remedy)


def _keys_of(model: type[Record]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


_TYPE = re.compile(r"str$|constrained-|list\[|[A-Z]")
"""Names of the types of a union, as Pydantic adds them to the place of a problem."""


def _plain(at: Sequence[str | int]) -> tuple[list[str | int], bool]:
    """Return a place without the types of a union, and whether it had any."""
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


def _one_per_place(problems: Sequence[InputProblem]) -> list[InputProblem]:
    """Return one problem per place; Pydantic reports one for each type of a union."""
    return list({(each.place, each.rule): each for each in problems}.values())
