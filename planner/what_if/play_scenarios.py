"""Play scenarios: each planned, weighed, checked, and told in the same words."""

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from placement.check import Finding, is_ok
from placement.draft.draft import Settings
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES
from placement.planning.result import PlannedPlacement
from placement.scenarios.changes.variant import Variant
from placement.scenarios.scenario_figures import Assumptions
from placement.scenarios.scenario_outcome import (
    Afterwards,
    Outcome,
    continued,
    impossible,
    play,
    weighed,
)
from planner.errors import BadInputError
from planner.failures.controller_majority import Voter, voters_of
from planner.options.cluster_options import Wishes, read_options
from planner.options.declared.rule_readers import SETS_OFF
from planner.options.declared.value_readers import GivenFractions
from planner.options.plan_request import read_values
from planner.plan.documents.plan_document import Plan, make_plan
from planner.plan.run.make_plan import check_plan
from planner.progress import stage
from planner.snapshot import Snapshot
from planner.what_if.changes.scenario_names import NameReader
from planner.what_if.scenario_folders import write_scenario
from planner.what_if.scenarios import Scenario, build
from planner.what_if.scenarios_file import ScenariosFile
from planner.what_if.what_if_document import outcome_document

FEW = 4
"""So few scenarios are played here: starting workers takes longer."""
DEFAULT_BANDWIDTH = "50MB/s"


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfRequest:
    """
    The options of `what-if`, as given (docs/rules.md describes those of a plan).

    Parameters
    ----------
    band, capacity_threshold
        ``RESOURCE=FRACTION`` texts, or fractions by resource; a band may also be a
        fraction for all.
    resources
        Names joined by commas, or `None`.
    bandwidth
        What a broker copies: bytes/s, or a text such as ``50MB/s``.
    effort, seed
        Of the plans.
    """

    band: GivenFractions = ()
    capacity_threshold: GivenFractions = ()
    resources: str | None = None
    bandwidth: str | int = DEFAULT_BANDWIDTH
    effort: str = "normal"
    seed: int = 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WhatIf:
    """
    Scenarios beside today.

    Parameters
    ----------
    snapshot
        The cluster today.
    file
        The scenarios.
    wishes
        The options, read.
    today
        Figures of today, as they stand in the document.
    scenarios
        The same of each scenario, in the order of the file.
    """

    snapshot: Snapshot
    file: ScenariosFile
    wishes: "WhatIfWishes"
    today: Mapping[str, Any]
    scenarios: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WhatIfWishes:
    """
    Options read for one cluster.

    Parameters
    ----------
    request
        As given.
    plan
        Of the plans.
    bandwidth_bytes_per_s
        What a broker copies.
    """

    request: WhatIfRequest
    plan: Wishes
    bandwidth_bytes_per_s: int

    @property
    def settings(self) -> Settings:
        """Settings of the plans."""
        return self.plan.settings


def read_wishes(request: WhatIfRequest, state: ClusterState) -> WhatIfWishes:
    """
    Read the options for one cluster.

    Raises
    ------
    BadInputError
        With every option that is wrong.
    """
    # Sets are of the cluster as it is; scenarios have other brokers and topics.
    given = {**asdict(request), "broker_set": SETS_OFF}
    options, problems = read_values(given)
    plan = replace(options, bandwidth=None)
    wishes = read_options(plan, state, problems=problems)
    bandwidth = options.bandwidth
    assert bandwidth is not None  # noqa: S101 - given, and refused if it is wrong
    return WhatIfWishes(request=request, plan=wishes, bandwidth_bytes_per_s=bandwidth)


def what_if(
    snapshot: Snapshot,
    file: ScenariosFile,
    wishes: WhatIfWishes,
    *,
    jobs: int = 1,
    output: Path | None = None,
    told: Callable[[int, int], None] | None = None,
) -> WhatIf:
    """
    Play scenarios.

    Parameters
    ----------
    snapshot, file, wishes
        The cluster, what may happen to it, and the options.
    jobs
        Processes; the answer does not depend on it.
    output
        Folder for a plan folder and a snapshot per scenario; `None`: none.
    told
        Called with how many are done, and how many there are.
    """
    player = Player(snapshot, snapshot.to_state(), file, wishes, output)
    scenarios = file.scenarios
    found = []
    stage("playing scenarios", 0, len(scenarios))
    for row in _played(player, scenarios, jobs):
        found.append(row)
        stage("playing scenarios", len(found), len(scenarios))
        if told is not None:
            told(len(found), len(scenarios))
    return WhatIf(
        snapshot=snapshot,
        file=file,
        wishes=wishes,
        today=player.today(),
        scenarios=tuple(found),
    )


def _played(
    player: "Player", scenarios: Sequence[Scenario], jobs: int
) -> Iterator[dict[str, Any]]:
    if jobs <= 1 or len(scenarios) <= FEW:
        yield from map(player.row, scenarios)
        return
    # Fresh processes: a copy of this one might hold locks of libraries.
    with ProcessPoolExecutor(
        max_workers=min(jobs, len(scenarios)),
        mp_context=get_context("spawn"),
        initializer=_start_worker,
        initargs=(player.pickled(),),
    ) as pool:
        yield from pool.map(_row, scenarios)


_worker: list["Player"] = []


def _start_worker(given: tuple[Any, ...]) -> None:
    # Ctrl-C goes to all processes of a terminal: this one ends without a word.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _worker.append(Player.unpickled(given))


def _row(scenario: Scenario) -> dict[str, Any]:
    return _worker[0].row(scenario)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Played:
    """
    A scenario that was played.

    Parameters
    ----------
    document
        What is told of it.
    variant
        The cluster that it makes.
    plan
        The plan for that cluster; `None` where nothing was planned.
    findings
        What the independent checker says of the plan.
    """

    document: dict[str, Any]
    variant: Variant
    plan: Plan | None = None
    findings: tuple[Finding, ...] = ()


class Player:
    """
    Plays one scenario after the other on the same cluster.

    Parameters
    ----------
    snapshot, state
        The cluster today.
    file
        What changes need to know, and the scenarios that others go on from.
    wishes
        The options.
    output
        Folder for what each scenario leads to, or `None`.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        state: ClusterState,
        file: ScenariosFile,
        wishes: WhatIfWishes,
        output: Path | None = None,
    ) -> None:
        self._snapshot = snapshot
        self._state = state
        self._file = file
        self._context = file.context
        self._wishes = wishes
        self._output = output
        self._voters = voters_of(snapshot, state)
        self._bases: dict[str, Variant] = {}
        self._ends: dict[str, Variant] = {}

    def pickled(self) -> tuple[Any, ...]:
        """Return what another process needs to play the same."""
        return (
            self._snapshot,
            replace(self._file, scenarios=()),
            self._wishes.request,
            self._output,
        )

    @classmethod
    def unpickled(cls, given: tuple[Any, ...]) -> "Player":
        """Return the player that another process described."""
        snapshot, file, request, output = given
        state = snapshot.to_state()
        return cls(snapshot, state, file, read_wishes(request, state), output)

    @property
    def voters(self) -> list[Voter]:
        """The controllers' quorum."""
        return self._voters

    def assumptions(self, state: ClusterState) -> Assumptions:
        """Return what the figures of a cluster rest on."""
        settings = self._wishes.settings
        return Assumptions(
            bands={resource: settings.band(resource) for resource in RESOURCES},
            thresholds=settings.capacity_thresholds,
            bandwidth_bytes_per_s=self._wishes.bandwidth_bytes_per_s,
            growth=self._context.growth_of(state),
        )

    def today(self) -> dict[str, Any]:
        """Return the figures of today."""
        start = self._context.start(self._state)
        outcome = weighed(start, None, self.assumptions(self._state))
        return self._told(None, outcome)

    def _told(self, scenario: Scenario | None, outcome: Outcome) -> dict[str, Any]:
        prices = self._context.prices
        return outcome_document(scenario, outcome, self._voters, prices)

    def start(self, scenario: Scenario) -> Variant:
        """Return the cluster that a scenario begins with."""
        before = scenario.after
        if before is None:
            return self._context.start(self._state)
        if before not in self._ends:
            self._ends[before] = continued(self.outcome(self._file.above[before]))
        return self._ends[before]

    def variant(self, scenario: Scenario) -> Variant:
        """Return the cluster that a scenario makes, before any plan."""
        names = NameReader(scenario.place)
        start = self.start(scenario)
        variant = build(start, scenario, self._context, names, self._bases)
        if names.problems:  # pragma: no cover - the file was tried when it was read
            msg = f"{scenario.name} cannot be played"
            raise BadInputError(msg, names.problems)
        return variant

    def outcome(self, scenario: Scenario) -> Outcome:
        """
        Play one scenario.

        A point of a sweep that no placement can hold is not planned: there are many.
        """
        variant = self.variant(scenario)
        assumptions = self.assumptions(variant.state)
        if scenario.sweep is not None and scenario.then is not Afterwards.NOTHING:
            proof = impossible(variant, assumptions)
            if proof is not None:
                return replace(weighed(variant, None, assumptions), proof=proof)
        return play(variant, scenario.then, self._wishes.settings, assumptions)

    def plan(self, scenario: Scenario, placed: PlannedPlacement) -> Plan:
        """Return the plan of a scenario, as a plan folder has it."""
        goal = "remove-brokers" if placed.draft.to_empty.any() else "rebalance"
        document = self._wishes.plan.document | {"scenario": scenario.name}
        return make_plan(
            goal, placed, taken_at=self._snapshot.taken_at, settings=document
        )

    def cluster(self, variant: Variant, state: ClusterState) -> Snapshot:
        """Return what a scenario makes of the snapshot."""
        has_lost = bool(variant.lost_brokers or variant.lost_racks)
        return self._snapshot.with_state(state, has_lost=has_lost)

    def played(self, scenario: Scenario) -> "Played":
        """Play one scenario, and have its plan checked."""
        outcome = self.outcome(scenario)
        document = self._told(scenario, outcome)
        if outcome.placed is None:
            return Played(document=document, variant=outcome.variant)
        plan = self.plan(scenario, outcome.placed)
        findings = check_plan(plan, self._wishes.plan)
        return Played(
            document=document | {"is_checked": is_ok(findings)},
            variant=outcome.variant,
            plan=plan,
            findings=findings,
        )

    def row(self, scenario: Scenario) -> dict[str, Any]:
        """Play one scenario, have its plan checked, and write it if asked."""
        played = self.played(scenario)
        if self._output is not None and played.plan is not None:
            cluster = self.cluster(played.variant, played.plan.state)
            write_scenario(self._output, scenario, played.plan, cluster)
        return played.document
