"""A folder per scenario, with its plan and the snapshot of its cluster."""

import re
from pathlib import Path

from planner.plan.documents.scored_plan import Plan
from planner.plan.folder.plan_folder import check_plan_output, write_plan
from planner.snapshot import Snapshot, write_snapshot
from planner.what_if.scenarios import Scenario

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def folder_name(scenario: Scenario) -> str:
    """
    Return the name of the folder of a scenario.

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
    Refuse output paths that hold other files, before any work is done.

    Raises
    ------
    BadInputError
        If a path exists and is no plan folder.
    """
    for scenario in scenarios:
        check_plan_output(output / folder_name(scenario) / "plan")


def write_scenario(
    output: Path, scenario: Scenario, plan: Plan, cluster: Snapshot
) -> None:
    """Write the plan of a scenario and the snapshot to which the plan applies."""
    folder = output / folder_name(scenario)
    folder.mkdir(parents=True, exist_ok=True)
    write_plan(plan, folder / "plan")
    write_snapshot(cluster, folder / "cluster.json.gz")
