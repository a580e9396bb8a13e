"""`fleet plan --scenarios`: every scenario for every cluster."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.cli.common.spark_options import print_columns

if TYPE_CHECKING:
    from planner.fleet.cluster_scenarios import FleetScenario

OF_SCENARIOS = (
    "band",
    "resources",
    "capacity_threshold",
    "bandwidth",
    "effort",
    "seed",
)
"""Options of plans that `what-if` also has."""
OF_FLEETS = frozenset(
    (
        "fleet",
        "output",
        "report",
        "scenarios",
        "growth",
        "history",
        "plan_all",
        "since",
        "until",
        "cluster",
        "master",
        "conf",
        "output_format",
        "quiet",
        "verbose",
    )
)


def read_scenarios(
    path: Path, growth: str | None, given: Mapping[str, Any], sources: Mapping[str, str]
) -> "list[FleetScenario]":
    """
    Read the scenarios that are planned for every cluster.

    Parameters
    ----------
    path, growth
        Values of ``--scenarios`` and ``--growth``.
    given, sources
        Options of plans, and the source of each option.

    Raises
    ------
    BadInputError
        If the file cannot be read, or an option is wrong or does not apply to
        scenarios.
    """
    from planner.cli.common.growth_option import read_growth_option
    from planner.fleet.cluster_scenarios import read_fleet_scenarios
    from planner.what_if.play_scenarios import WhatIfRequest

    _refuse_others(sources)
    read_growth_option(growth)
    options = {name: given[name] for name in OF_SCENARIOS if given[name] is not None}
    for name in ("band", "capacity_threshold"):
        options[name] = tuple(options.get(name, ()))
    options["effort"] = str(options["effort"])
    return read_fleet_scenarios(path, WhatIfRequest(**options), growth=growth)


def _refuse_others(sources: Mapping[str, str]) -> None:
    """
    Refuse options of the command line that do not apply to scenarios.

    Raises
    ------
    BadInputError
        If there is such an option; has a problem for each.
    """
    from planner.errors import BadInputError, InputProblem

    others = [
        name
        for name, source in sources.items()
        if source == "COMMANDLINE" and name not in OF_FLEETS.union(OF_SCENARIOS)
    ]
    if others:
        problems = [
            InputProblem.of_option(
                f"--{name.replace('_', '-')}",
                "",
                "must not be given together with --scenarios",
                "leave it out, or add the change to the scenarios file",
            )
            for name in others
        ]
        msg = "bad options"
        raise BadInputError(msg, problems)


def print_scenarios(rows: Sequence[Mapping[str, Any]], most: int) -> None:
    """Print a line per cluster and scenario, those that do not hold first."""
    ranked = sorted(rows, key=lambda row: bool(row["holds"]))
    head = ("Cluster", "scenario", "holds", "status", "copies", "bytes")
    shown = ranked[:most]
    reasons = [str(row["reason"] or "") for row in shown]
    print_columns(head, [_line(row) for row in shown], reasons)


def _line(row: Mapping[str, Any]) -> tuple[str, ...]:
    from planner.text.format import bytes_text

    has_plan = row["moved_bytes"] is not None
    return (
        str(row["cluster_id"])[:16],
        str(row["request"])[:20],
        {True: "yes", False: "no", None: "-"}[row["holds"]],
        str(row["status"]),
        f"{row['moved_replicas']:,}" if has_plan else "-",
        bytes_text(row["moved_bytes"]) if has_plan else "-",
    )
