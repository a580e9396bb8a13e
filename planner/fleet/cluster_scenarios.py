"""
Scenarios of many clusters, each evaluated on every cluster as `what-if` does.

The module works without Spark. If a scenario does not fit a cluster, its row has the
reason, and the other scenarios are still evaluated.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from planner.fleet.cluster_plans import SCHEMA as PLANS
from planner.fleet.cluster_plans import hash_of, plan_columns, reason_of
from planner.what_if.play_scenarios import Played, Player, WhatIfRequest, read_options
from planner.what_if.scenarios_file import (
    chain_of,
    list_scenarios,
    parse_scenarios,
    possible_starts,
    validate_scenarios,
)
from planner.what_if.topic_growth import parse_growth
from planner.what_if.what_if_screen import reasons_of

if TYPE_CHECKING:
    from planner.snapshot import Snapshot
    from planner.what_if.scenarios import Scenario

GOAL = "what-if"
SHARED = ("growth", "types", "prices")
"""Tables of a scenarios file that all its scenarios may use."""
SCHEMA = pa.schema(
    [
        *PLANS,
        ("sweep", pa.string()),
        ("then", pa.string()),
        ("holds", pa.bool_()),
        ("answer", pa.string()),
    ]
)
"""
Columns of a table of scenarios: those of plans, whether the cluster holds, and the
document of the scenario in `what-if --format json`.
"""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FleetScenario:
    """
    A scenario that is evaluated on every cluster.

    Parameters
    ----------
    steps
        The scenarios that this one continues, in order, and last the scenario itself.
    document, file
        Contents of the scenarios file, and its name.
    request
        Options of `what-if`.
    growth
        Growth of all topics that the file does not list, such as ``5%/month``; `None`:
        unknown.
    text
        All that the answer depends on except the snapshot, as JSON.
    """

    steps: tuple["Scenario", ...]
    document: Mapping[str, Any]
    file: str
    request: WhatIfRequest
    growth: str | None = None
    text: str = field(init=False)

    def __post_init__(self) -> None:
        content = {
            "steps": [_step_document(step) for step in self.steps],
            "shared": {part: self.document.get(part) for part in SHARED},
            "request": asdict(self.request),
            "growth": self.growth,
        }
        object.__setattr__(self, "text", json.dumps(content, sort_keys=True))

    @property
    def name(self) -> str:
        """Name of the scenario in its rows."""
        return self.steps[-1].name

    @property
    def hash(self) -> str:
        """Hash of the scenario, of those that it continues, and of all options."""
        return hash_of(self.text)

    @property
    def goal(self) -> str:
        """Name of the operation, which distinguishes scenarios from plans."""
        return GOAL

    def answer(self, snapshot: "Snapshot") -> dict[str, Any]:
        """
        Evaluate the scenario on one cluster.

        Raises
        ------
        BadInputError
            If the scenario does not fit the cluster.
        """
        state = snapshot.to_state()
        options = read_options(self.request, state)
        file = validate_scenarios(
            self.document,
            snapshot,
            state,
            file=self.file,
            growth=None if self.growth is None else parse_growth(self.growth),
            wanted=self.name,
        )
        player = Player(snapshot, state, file, options)
        return _columns(player.played(*file.scenarios))


def _step_document(step: "Scenario") -> dict[str, Any]:
    return {
        "name": step.name,
        "then": step.then,
        "point": None if step.point is None else asdict(step.point),
        "changes": [change.model_dump(mode="json") for change in step.changes],
    }


def _columns(played: Played) -> dict[str, Any]:
    outcome, plan = played.document, played.plan
    missing = [] if outcome["holds"] else list(reasons_of(outcome))
    return {
        "status": outcome["status"],
        "reason": reason_of(missing, played.findings),
        "sweep": outcome["sweep"],
        "then": outcome["then"],
        "holds": outcome["holds"],
        "answer": json.dumps(outcome),
        **({} if plan is None else plan_columns(plan, played.findings)),
    }


def read_fleet_scenarios(
    path: Path, request: WhatIfRequest, *, growth: str | None = None
) -> list[FleetScenario]:
    """
    Read a scenarios file for many clusters.

    Parameters
    ----------
    path
        Path of the TOML file.
    request, growth
        As in `FleetScenario`.

    Raises
    ------
    BadInputError
        With every problem of the file and of the options that does not depend on a
        cluster.
    """
    from planner.snapshot import Snapshot

    read_options(request, Snapshot().to_state())
    document = parse_scenarios(path)
    listed = list_scenarios(document, file=str(path))
    above = possible_starts(listed)
    return [
        FleetScenario(
            steps=tuple(chain_of(scenario, above)),
            document=document,
            file=str(path),
            request=request,
            growth=growth,
        )
        for scenario in listed
    ]
