"""Scenarios of a file, with sweeps expanded to points, and their clusters."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from placement.cluster_changes.broker_changes import with_count
from placement.cluster_changes.load_changes import TRAFFIC, grow
from placement.cluster_changes.variant import Variant
from placement.model.load import RESOURCES
from placement.scenarios.scenario_outcome import Afterwards
from planner.options.option_reader import parse_broker_list
from planner.text.suggest import near
from planner.what_if.changes.change_context import Changer, Context
from planner.what_if.changes.change_registry import make_change
from planner.what_if.changes.scenario_names import NameReader
from planner.what_if.changes.scenario_records import (
    AnyChange,
    RemoveBrokersRecord,
    ScenarioRecord,
    ScenariosRecord,
    StepsRecord,
    SweepRecord,
)

MOST_SCENARIOS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """
    One point of a sweep; parameters that do not vary are `None`.

    Parameters
    ----------
    traffic
        Factor on today's traffic.
    brokers
        Final number of live brokers.
    days
        Days of growth from now.
    like
        Id of the broker whose capacities new brokers get.
    """

    traffic: float | None = None
    brokers: int | None = None
    days: float | None = None
    like: int | None = None

    def text(self) -> str:
        """Return the point as text."""
        parts = []
        if self.traffic is not None:
            parts.append(f"traffic {self.traffic:g}")
        if self.brokers is not None:
            parts.append(f"{self.brokers} brokers")
        if self.days is not None:
            parts.append(f"day {self.days:g}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """
    One scenario.

    Parameters
    ----------
    name
        Name, unique in the file.
    then
        Kind of plan after the changes.
    changes
        Changes in order.
    place
        Place in the file, for problems.
    sweep
        Name of the sweep of this point; `None` for a scenario of its own.
    point
        Point of the sweep, or `None`.
    after
        Name of the scenario whose final cluster is the start; `None` for today's.
    """

    name: str
    then: Afterwards
    changes: tuple[AnyChange, ...]
    place: str
    sweep: str | None = None
    point: Point | None = None
    after: str | None = None


def expand(record: ScenariosRecord, names: NameReader) -> list[Scenario]:
    """Return all scenarios of a file; collect problems of their names and steps."""
    found = [
        _single_scenario(each, f"scenarios[{at}]")
        for at, each in enumerate(record.scenarios)
    ]
    for at, sweep in enumerate(record.sweeps):
        found += _sweep_points(sweep, f"sweeps[{at}]", names)
    if not found:
        rule = "some scenario or sweep must be given"
        names.refuse("", None, rule, "see 'kafka-planner schema scenarios'")
    _check(found, names)
    return found


def _single_scenario(record: ScenarioRecord, place: str) -> Scenario:
    return Scenario(
        name=record.name,
        then=Afterwards(record.then),
        changes=tuple(record.changes),
        place=place,
        after=record.after,
    )


def _check(found: Sequence[Scenario], names: NameReader) -> None:
    if len(found) > MOST_SCENARIOS:
        rule = f"there may be at most {MOST_SCENARIOS:,} scenarios"
        names.refuse("sweeps", len(found), rule, "take larger steps")
    for name, count in Counter(each.name for each in found).items():
        if count > 1:
            rule = "each scenario must have a name of its own"
            names.refuse("scenarios", name, rule, "rename one")
    _check_order(found, names)
    for each in found:
        removes = any(isinstance(c, RemoveBrokersRecord) for c in each.changes)
        if removes and each.then is Afterwards.NOTHING:
            rule = "brokers that are removed must be emptied"
            remedy = 'write then = "needed", or lose them instead'
            names.refuse(f"{each.place}.then", "nothing", rule, remedy)


def _check_order(found: Sequence[Scenario], names: NameReader) -> None:
    """Add a problem for each scenario whose `after` is no scenario above."""
    above: list[str] = []
    reported = set()
    for each in found:
        if each.after is not None and each.after not in above:
            if each.place not in reported:
                rule = "must be a scenario above this one in the file"
                remedy = near(each.after, above)
                names.refuse(f"{each.place}.after", each.after, rule, remedy)
            reported.add(each.place)
        if each.sweep is None:
            above.append(each.name)


def _sweep_points(
    record: SweepRecord, place: str, names: NameReader
) -> Iterator[Scenario]:
    """Yield the points of a sweep; the last axis varies fastest."""
    axes = {
        "brokers": _brokers(record, place, names),
        "traffic": _steps(record.traffic, f"{place}.traffic", names),
        "days": _steps(record.days, f"{place}.days", names),
    }
    given = {name: axis for name, axis in axes.items() if axis is not None}
    if not given:
        rule = "some of traffic, brokers, days must be given"
        names.refuse(place, None, rule, "add one of them")
        return
    if record.brokers is not None and record.then == "nothing":
        rule = "brokers can come and go only where something is moved"
        names.refuse(f"{place}.then", "nothing", rule, 'write then = "rebalance"')
    for values in product(*given.values()):
        chosen = dict(zip(given, values, strict=True))
        point = Point(
            traffic=chosen.get("traffic"),
            brokers=int(chosen["brokers"]) if "brokers" in chosen else None,
            days=chosen.get("days"),
            like=record.like,
        )
        yield Scenario(
            name=f"{record.name}: {point.text()}",
            then=Afterwards(record.then),
            changes=tuple(record.changes),
            place=place,
            sweep=record.name,
            point=point,
            after=record.after,
        )


def _brokers(
    record: SweepRecord, place: str, names: NameReader
) -> Sequence[float] | None:
    given = record.brokers
    if not isinstance(given, str):
        return _steps(given, f"{place}.brokers", names)
    try:
        return [float(count) for count in parse_broker_list(given.replace("..", "-"))]
    except ValueError:
        rule = "must be numbers of brokers, or ranges of numbers"
        names.refuse(f"{place}.brokers", given, rule, 'write "9-15"')
        return []


def _steps(
    given: StepsRecord | Sequence[float] | None, place: str, names: NameReader
) -> Sequence[float] | None:
    if not isinstance(given, StepsRecord):
        return given
    count = int(np.floor((given.to - given.from_) / given.step + 1e-9)) + 1
    if count < 1 or given.from_ < 0:
        rule = "must go from a number up to another one, not below 0"
        names.refuse(place, f"{given.from_:g} to {given.to:g}", rule, "correct both")
        return []
    if count > MOST_SCENARIOS:
        rule = f"there may be at most {MOST_SCENARIOS:,} steps"
        names.refuse(place, count, rule, "take larger steps")
        return []
    return [round(given.from_ + n * given.step, 12) for n in range(count)]


def build(
    start: Variant,
    scenario: Scenario,
    context: Context,
    names: NameReader,
    bases: "dict[str, Variant] | None" = None,
) -> Variant:
    """
    Return the cluster of a scenario; collect every problem of its changes.

    Parameters
    ----------
    start
        Cluster at the start: today's, or the final cluster of another scenario.
    scenario, context
        The changes, and the facts that they use.
    names
        Reader of names, which collects problems.
    bases
        Cache of the clusters after the shared changes of a sweep, by its place; this
        function fills it.
    """
    kept = {} if bases is None else bases
    if scenario.sweep is not None and scenario.place in kept:
        return _at_point(kept[scenario.place], scenario.point, context, names)
    changer, variant = Changer(names, context), start
    for at, change in enumerate(scenario.changes):
        variant = make_change(
            changer, variant, change, f"{scenario.place}.changes[{at}]"
        )
    if scenario.sweep is not None:
        kept[scenario.place] = variant
    return _at_point(variant, scenario.point, context, names, scenario.place)


def _at_point(
    variant: Variant,
    point: Point | None,
    context: Context,
    names: NameReader,
    place: str = "",
) -> Variant:
    if point is None:
        return variant
    if place and point.like is not None:
        names.brokers(f"{place}.like", [point.like], variant.state)
    if place and point.days is not None and context.growth is None:
        rule = "growth must be given where days are swept"
        names.refuse(f"{place}.days", point.days, rule, "add [[growth]]")
    if point.traffic is not None:
        factor = np.full(len(variant.state.topics), point.traffic)
        variant = grow(variant, factor, TRAFFIC)
    growth = context.growth_of(variant.state)
    if point.days is not None and growth is not None:
        variant = grow(variant, growth.traffic(point.days), TRAFFIC)
        disk = frozenset({RESOURCES[0]})
        variant = grow(variant, growth.disk(point.days), disk)
    if point.brokers is None:
        return variant
    return with_count(variant, point.brokers, like=point.like)
