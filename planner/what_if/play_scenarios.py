"""Scenarios: each planned, measured, checked and turned into a document."""

import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from placement.check import Finding, is_ok
from placement.cluster_changes.variant import Variant
from placement.draft.draft import Settings
from placement.failures.controller_majority import Voter
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES
from placement.planning.outcome.result import PlannedPlacement
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
from planner.options.cluster_options import ResolvedOptions
from planner.options.cluster_options import read_options as read_plan_options
from planner.options.declared.rule_readers import SETS_OFF
from planner.options.declared.value_readers import GivenFractions
from planner.options.plan_request import read_values
from planner.plan.documents.scored_plan import Plan, make_plan
from planner.plan.run.make_plan import check_plan
from planner.progress import stage
from planner.snapshot import Snapshot
from planner.status.controller_quorum import voters_of
from planner.status.unproven_min_isr import unproven_min_isr
from planner.what_if.changes.scenario_names import NameReader
from planner.what_if.scenario_folders import write_scenario
from planner.what_if.scenarios import Scenario, build
from planner.what_if.scenarios_file import ScenariosFile
from planner.what_if.what_if_document import outcome_document

FEW = 4
"""Number of scenarios up to which no worker processes are worth starting."""
DEFAULT_BANDWIDTH = "50MB/s"


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfRequest:
    """
    Options of `what-if`, unparsed; docs/rules.md describes those of a plan.

    Parameters
    ----------
    band, capacity_threshold
        ``RESOURCE=FRACTION`` texts, or fractions by resource; a band may also be a
        fraction for all.
    resources
        Names of resources joined by commas; `None` for all.
    bandwidth
        Rate at which a broker copies: bytes/s, or a text such as ``50MB/s``.
    effort, seed
        Effort and seed of the plans.
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
    Results of scenarios, with today's figures.

    Parameters
    ----------
    snapshot
        Today's cluster.
    file
        The validated scenarios file.
    options
        The parsed options.
    today
        Document of today's figures.
    scenarios
        Document of each scenario, in the order of the file.
    """

    snapshot: Snapshot
    file: ScenariosFile
    options: "WhatIfOptions"
    today: Mapping[str, Any]
    scenarios: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WhatIfOptions:
    """
    Options of `what-if`, parsed for one cluster.

    Parameters
    ----------
    request
        The unparsed options.
    plan
        Parsed options of the plans.
    bandwidth_bytes_per_s
        Rate at which a broker copies, in bytes/s. Positive.
    """

    request: WhatIfRequest
    plan: ResolvedOptions
    bandwidth_bytes_per_s: int

    @property
    def settings(self) -> Settings:
        """Settings of the plans."""
        return self.plan.settings


def read_options(request: WhatIfRequest, state: ClusterState) -> WhatIfOptions:
    """
    Parse the options for one cluster.

    Raises
    ------
    BadInputError
        If any option is invalid; names every problem.
    """
    # Sets are of the cluster as it is; scenarios have other brokers and topics.
    given = {**asdict(request), "broker_set": SETS_OFF}
    options, problems = read_values(given)
    plan = replace(options, bandwidth=None)
    resolved = read_plan_options(plan, state, problems=problems)
    bandwidth = options.bandwidth
    assert bandwidth is not None  # noqa: S101 - given, and refused if it is wrong
    return WhatIfOptions(
        request=request, plan=resolved, bandwidth_bytes_per_s=bandwidth
    )


def what_if(
    snapshot: Snapshot,
    file: ScenariosFile,
    options: WhatIfOptions,
    *,
    jobs: int = 1,
    output: Path | None = None,
) -> WhatIf:
    """
    Plan scenarios and measure the results.

    Parameters
    ----------
    snapshot, file, options
        The cluster, the validated scenarios file, and the parsed options.
    jobs
        Number of processes. The result does not depend on this number.
    output
        Folder for a plan folder and a snapshot per scenario; `None` writes nothing.
    """
    player = Player(snapshot, snapshot.to_state(), file, options, output)
    scenarios = file.scenarios
    found = []
    stage("playing scenarios", 0, len(scenarios))
    for row in _played(player, scenarios, jobs):
        found.append(row)
        stage("playing scenarios", len(found), len(scenarios))
    return WhatIf(
        snapshot=snapshot,
        file=file,
        options=options,
        today=player.today(),
        scenarios=tuple(found),
    )


def _played(
    player: "Player", scenarios: Sequence[Scenario], jobs: int
) -> Iterator[dict[str, Any]]:
    if jobs <= 1 or len(scenarios) <= FEW:
        yield from map(player.row, scenarios)
        return
    # Spawned, not forked: a forked process could inherit locked locks of libraries.
    with ProcessPoolExecutor(
        max_workers=min(jobs, len(scenarios)),
        mp_context=get_context("spawn"),
        initializer=_start_worker,
        initargs=(player.pickled(),),
    ) as pool:
        yield from pool.map(_row, scenarios)


_worker: list["Player"] = []


def _start_worker(given: tuple[Any, ...]) -> None:
    # Ctrl-C reaches all processes of a terminal: workers end without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _worker.append(Player.unpickled(given))


def _row(scenario: Scenario) -> dict[str, Any]:
    return _worker[0].row(scenario)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Played:
    """
    Result of one scenario.

    Parameters
    ----------
    document
        Document of the scenario.
    outcome
        The cluster after the changes, and its figures after the plan.
    plan
        The plan for this cluster; `None` where nothing was planned.
    findings
        Findings of the independent checker on the plan.
    """

    document: dict[str, Any]
    outcome: Outcome
    plan: Plan | None = None
    findings: tuple[Finding, ...] = ()


class Player:
    """
    Planner of scenarios on one cluster.

    Parameters
    ----------
    snapshot, state
        Today's cluster and its columns.
    file
        The validated scenarios file.
    options
        The parsed options.
    output
        Folder for the plan and the snapshot of each scenario, or `None`.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        state: ClusterState,
        file: ScenariosFile,
        options: WhatIfOptions,
        output: Path | None = None,
    ) -> None:
        self._snapshot = snapshot
        self._state = state
        self._file = file
        self._context = file.context
        self._options = options
        self._output = output
        self._voters = voters_of(snapshot, state)
        self._bases: dict[str, Variant] = {}
        self._ends: dict[str, Variant] = {}

    def scenario(self, at: int) -> Scenario:
        """Return the scenario at a place of the file, from 0."""
        return self._file.scenarios[at]

    def pickled(self) -> tuple[Any, ...]:
        """Return the arguments by which a worker process makes an equal player."""
        return (
            self._snapshot,
            replace(self._file, scenarios=()),
            self._options.request,
            self._output,
        )

    @classmethod
    def unpickled(cls, given: tuple[Any, ...]) -> "Player":
        """Make a player from the result of `pickled`."""
        snapshot, file, request, output = given
        state = snapshot.to_state()
        return cls(snapshot, state, file, read_options(request, state), output)

    @property
    def voters(self) -> list[Voter]:
        """Voters of the controllers' quorum."""
        return self._voters

    def assumptions(self, state: ClusterState) -> Assumptions:
        """Return the assumptions of the figures of a cluster."""
        settings = self._options.settings
        return Assumptions(
            bands={resource: settings.band(resource) for resource in RESOURCES},
            thresholds=settings.capacity_thresholds,
            bandwidth_bytes_per_s=self._options.bandwidth_bytes_per_s,
            growth=self._context.growth_of(state),
        )

    def today(self) -> dict[str, Any]:
        """Return the document of today's figures."""
        return self.played_today().document

    def played_today(self) -> Played:
        """Return today's figures."""
        start = self._context.start(self._state)
        outcome = weighed(start, None, self.assumptions(self._state))
        return Played(document=self._document(None, outcome), outcome=outcome)

    def _document(self, scenario: Scenario | None, outcome: Outcome) -> dict[str, Any]:
        prices = self._context.prices
        notes = unproven_min_isr(self._snapshot, outcome.figures.state)
        return outcome_document(scenario, outcome, self._voters, prices, notes=notes)

    def start(self, scenario: Scenario) -> Variant:
        """Return the cluster with which a scenario begins."""
        before = scenario.after
        if before is None:
            return self._context.start(self._state)
        if before not in self._ends:
            self._ends[before] = continued(self.outcome(self._file.starts[before]))
        return self._ends[before]

    def variant(self, scenario: Scenario) -> Variant:
        """Return the cluster after the changes of a scenario, before any plan."""
        names = NameReader(scenario.place)
        start = self.start(scenario)
        variant = build(start, scenario, self._context, names, self._bases)
        if names.problems:  # pragma: no cover - the file was tried when it was read
            msg = f"{scenario.name} cannot be played"
            raise BadInputError(msg, names.problems)
        return variant

    def outcome(self, scenario: Scenario) -> Outcome:
        """
        Apply the changes of one scenario, and plan it.

        A point of a sweep that is proven infeasible is not planned, to save time.
        """
        variant = self.variant(scenario)
        assumptions = self.assumptions(variant.state)
        if scenario.sweep is not None and scenario.then is not Afterwards.NOTHING:
            proof = impossible(variant, assumptions)
            if proof is not None:
                return replace(weighed(variant, None, assumptions), proof=proof)
        return play(variant, scenario.then, self._options.settings, assumptions)

    def plan(self, scenario: Scenario, placed: PlannedPlacement) -> Plan:
        """Return the plan of a scenario, as it is written to a plan folder."""
        goal = "remove-brokers" if placed.draft.to_empty.any() else "rebalance"
        document = self._options.plan.document | {"scenario": scenario.name}
        return make_plan(
            goal, placed, taken_at=self._snapshot.taken_at, settings=document
        )

    def cluster(self, variant: Variant, state: ClusterState) -> Snapshot:
        """Return the snapshot of a scenario's cluster."""
        has_lost = bool(variant.lost_brokers or variant.lost_racks)
        return self._snapshot.with_state(state, has_lost=has_lost)

    def played(self, scenario: Scenario) -> Played:
        """Plan one scenario, and check the plan."""
        outcome = self.outcome(scenario)
        document = self._document(scenario, outcome)
        if outcome.placed is None:
            return Played(document=document, outcome=outcome)
        plan = self.plan(scenario, outcome.placed)
        findings = check_plan(plan, self._options.plan)
        return Played(
            document=document | {"is_checked": is_ok(findings)},
            outcome=outcome,
            plan=plan,
            findings=findings,
        )

    def row(self, scenario: Scenario) -> dict[str, Any]:
        """Plan and check one scenario, write its folder, and return its document."""
        played = self.played(scenario)
        if self._output is not None:
            self.write(scenario, played, self._output)
        return played.document

    def write(self, scenario: Scenario, played: Played, output: Path) -> None:
        """Write the folder of one scenario, if it has a plan."""
        if played.plan is not None:
            cluster = self.cluster(played.outcome.variant, played.plan.state)
            write_scenario(output, scenario, played.plan, cluster)
