"""
Scenarios of many clusters: each is played on every one, as `what-if` plays it.

Nothing here needs Spark. Where a scenario does not fit a cluster, its row says why; the
others are played all the same.
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
"""Parts of a file that every scenario in it may rest on."""
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
The columns of a table of scenarios: those of plans, whether the cluster holds, and all
that `what-if --format json` tells of the scenario.
"""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FleetScenario:
    """
    A scenario that is played on every cluster.

    Parameters
    ----------
    steps
        The scenario, after those that it goes on from, before any cluster is known.
    document, file
        What the file holds, and its name.
    request
        The options.
    growth
        How all topics grow of which the file says nothing, such as ``5%/month``;
        `None`: not told.
    text
        All that the answer depends on, as JSON.
    """

    steps: tuple["Scenario", ...]
    document: Mapping[str, Any]
    file: str
    request: WhatIfRequest
    growth: str | None = None
    text: str = field(init=False)

    def __post_init__(self) -> None:
        told = {
            "steps": [_step_document(step) for step in self.steps],
            "shared": {part: self.document.get(part) for part in SHARED},
            "request": asdict(self.request),
            "growth": self.growth,
        }
        object.__setattr__(self, "text", json.dumps(told, sort_keys=True))

    @property
    def name(self) -> str:
        """Tells its rows from those of other scenarios."""
        return self.steps[-1].name

    @property
    def hash(self) -> str:
        """Changes with the scenario, those that it goes on from, and every option."""
        return hash_of(self.text)

    @property
    def goal(self) -> str:
        """Tells these rows from those of plans."""
        return GOAL

    def answer(self, snapshot: "Snapshot") -> dict[str, Any]:
        """
        Play the scenario on one cluster.

        Raises
        ------
        BadInputError
            If it does not fit the cluster.
        """
        state = snapshot.to_state()
        wishes = read_options(self.request, state)
        file = validate_scenarios(
            self.document,
            snapshot,
            state,
            file=self.file,
            growth=None if self.growth is None else parse_growth(self.growth),
            wanted=self.name,
        )
        player = Player(snapshot, state, file, wishes)
        return _columns(player.played(*file.scenarios))


def _step_document(step: "Scenario") -> dict[str, Any]:
    return {
        "name": step.name,
        "then": step.then,
        "point": None if step.point is None else asdict(step.point),
        "changes": [change.model_dump(mode="json") for change in step.changes],
    }


def _columns(played: Played) -> dict[str, Any]:
    told, plan = played.document, played.plan
    lacks = [] if told["holds"] else list(reasons_of(told))
    return {
        "status": told["status"],
        "reason": reason_of(lacks, played.findings),
        "sweep": told["sweep"],
        "then": told["then"],
        "holds": told["holds"],
        "answer": json.dumps(told),
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
        The file, TOML.
    request, growth
        As of `FleetScenario`.

    Raises
    ------
    BadInputError
        With everything that is wrong with the file, or the options, whatever the
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
