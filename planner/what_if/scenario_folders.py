"""A folder per scenario: its plan, and the cluster that the plan is for."""

import re
from pathlib import Path

from planner.plan.documents.plan_document import Plan
from planner.plan.folder.plan_folder import check_plan_output, write_plan
from planner.snapshot import Snapshot, write_snapshot
from planner.what_if.scenarios import Scenario

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def folder_name(scenario: Scenario) -> str:
    """
    Return the name of a scenario's folder.

    Examples
    --------
    >>> from placement.scenarios.scenario_outcome import Afterwards
    >>> after = Afterwards.REBALANCE
    >>> folder_name(Scenario(name="lose b, 2.5 x", then=after, changes=(), place=""))
    'lose-b-2.5-x'
    """
    return _UNSAFE.sub("-", scenario.name).strip("-.") or "scenario"


def check_output(output: Path, scenarios: tuple[Scenario, ...]) -> None:
    """
    Make sure that the folders can be written, before work is spent on them.

    Raises
    ------
    BadInputError
        If something stands in their place that is no plan folder.
    """
    for scenario in scenarios:
        check_plan_output(output / folder_name(scenario) / "plan")


def write_scenario(
    output: Path, scenario: Scenario, plan: Plan, cluster: Snapshot
) -> None:
    """Write the plan of a scenario, and the snapshot that it is for, side by side."""
    folder = output / folder_name(scenario)
    folder.mkdir(parents=True, exist_ok=True)
    write_plan(plan, folder / "plan")
    write_snapshot(cluster, folder / "cluster.json.gz")
