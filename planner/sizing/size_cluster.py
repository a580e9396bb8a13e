"""Sizing of one snapshot: the number of brokers, its check, and growth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from placement.check import CheckSettings, check, is_ok
from placement.cluster_changes.broker_changes import usual_broker
from placement.cluster_changes.variant import Variant, variant_of
from placement.demand.broker_demand import Wanted
from placement.demand.topic_growth import DAYS_PER_MONTH
from placement.model.cluster import ABSENT, ClusterState
from placement.scenarios.scenario_figures import Assumptions
from placement.sizing.broker_kinds import BrokerKind
from placement.sizing.capacity_horizon import Lasting, lasting_of, on_day
from placement.sizing.cheapest_mix import cheapest_of
from placement.sizing.cluster_size import (
    Shown,
    Sizing,
    SizingTask,
    fewest_like,
)
from placement.sizing.repaired_cluster import repaired
from planner.errors import raise_problems
from planner.failures.failure_request import election_rules
from planner.io.problems import problem
from planner.kafka_files.reassignment_columns import listing
from planner.options.declared.value_readers import GivenFractions
from planner.progress import stage
from planner.snapshot import Snapshot
from planner.text.suggest import near
from planner.what_if.changes.change_context import Context
from planner.what_if.changes.scenario_names import NameReader
from planner.what_if.play_scenarios import (
    Player,
    WhatIfOptions,
    WhatIfRequest,
    read_options,
)
from planner.what_if.scenarios_file import (
    ScenariosFile,
    read_scenarios,
    refuse_no_brokers,
)
from planner.what_if.topic_growth import Rates

SURVIVES = ("broker", "rack")
OTHER_WORDS = ("both", "nothing")


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeRequest:
    """
    Options of `size`, unparsed.

    Parameters
    ----------
    capacity_threshold
        ``RESOURCE=FRACTION`` texts, or fractions by resource.
    survives
        Losses to survive: ``broker`` and ``rack``, joined by commas; ``both``, or
        ``nothing``.
    like
        Id of the broker whose capacities added brokers get; `None` for the most common
        ones.
    months
        Months of growth before the sizing. Not negative.
    racks
        Number of racks for new broker types; `None` for today's racks.
    scenario
        Name of the scenario whose cluster is sized; `None` for today's cluster.
    effort, seed, bandwidth
        Effort and seed of the plans, and the rate at which a broker copies.
    """

    capacity_threshold: GivenFractions = ()
    survives: str = "broker,rack"
    like: int | None = None
    months: float = 0.0
    racks: int | None = None
    scenario: str | None = None
    effort: str = "quick"
    seed: int = 1
    bandwidth: str = "50MB/s"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SizeAnswer:
    """
    Result of a sizing.

    Parameters
    ----------
    snapshot
        Today's cluster.
    request, options
        Unparsed and parsed options.
    task
        The cluster that is sized: that of the scenario, after the growth.
    sizing
        Number of brokers, with its bound.
    lasting
        Time until today's brokers are full; `None` without growth.
    today
        Number of today's live brokers, those that leave included.
    is_checked
        Whether the independent checker accepts the placement that proves the number
        sufficient; `None` without a placement.
    has_growth
        Whether growth was given.
    """

    snapshot: Snapshot
    request: SizeRequest
    options: WhatIfOptions
    task: SizingTask
    sizing: Sizing
    lasting: Lasting | None
    today: int
    is_checked: bool | None
    has_growth: bool


def read_file(
    path: Path | None,
    snapshot: Snapshot,
    state: ClusterState,
    growth: Rates | Mapping[str, Rates] | None,
) -> ScenariosFile:
    """
    Read a scenarios file; without a path, make an empty one with the given growth.

    Raises
    ------
    BadInputError
        If the file is not a scenarios file; names every problem.
    """
    if path is not None:
        return read_scenarios(path, snapshot, state, growth=growth)
    shared: Mapping[str, Rates] | None = (
        growth
        if growth is None or isinstance(growth, Mapping)
        else dict.fromkeys(state.topics.names, growth)
    )
    context = Context(
        configs=snapshot.configs,
        rules=election_rules(snapshot, state),
        growth=shared,
    )
    return ScenariosFile(file="", scenarios=(), context=context)


def size(
    snapshot: Snapshot,
    request: SizeRequest,
    *,
    kinds: Sequence[BrokerKind] = (),
    scenarios: Path | None = None,
    growth: Rates | Mapping[str, Rates] | None = None,
) -> SizeAnswer:
    """
    Size a snapshot.

    Parameters
    ----------
    snapshot, request
        The cluster and the unparsed options.
    kinds
        Types of brokers to choose from; without any, today's brokers are added or
        removed.
    scenarios
        A scenarios file, for its growth and its scenarios.
    growth
        Growth of all topics, or of each by name.

    Raises
    ------
    BadInputError
        If any option is invalid; names every problem.
    """
    state = snapshot.to_state()
    refuse_no_brokers(state)
    options = read_options(
        WhatIfRequest(
            capacity_threshold=request.capacity_threshold,
            bandwidth=request.bandwidth,
            effort=request.effort,
            seed=request.seed,
        ),
        state,
    )
    file = read_file(scenarios, snapshot, state, growth)
    refuse_invalid_options(request, state, file)
    stage("sizing")
    now = _of_scenario(snapshot, state, request, file, options)
    task = _task(now, request, options, file.context)
    later = _grown(task, request, file.context)
    like = usual_broker(later.variant.state) if request.like is None else request.like
    if kinds:
        sizing = cheapest_of(_in_racks(later, request.racks), kinds)
    else:
        sizing = fewest_like(later, like)
    given = file.context.growth_of(now.state)
    live = now.state.brokers.is_live
    return SizeAnswer(
        snapshot=snapshot,
        request=request,
        options=options,
        task=later,
        sizing=sizing,
        lasting=None if given is None else lasting_of(task, given),
        today=int(live.sum()),
        is_checked=None if sizing.shown is None else is_sound(sizing.shown, later),
        has_growth=given is not None,
    )


def refuse_invalid_options(
    request: SizeRequest, state: ClusterState, file: ScenariosFile
) -> None:
    """
    Refuse options that name unknown brokers, losses or scenarios.

    Raises
    ------
    BadInputError
        If any option is invalid; names every problem.
    """
    names = NameReader("command line")
    if request.like is not None and request.like not in state.brokers.ids:
        rule = "there must be such a broker"
        names.refuse(
            "--like", request.like, rule, near(request.like, state.brokers.ids)
        )
    for word in _words(request.survives):
        if word not in {*SURVIVES, *OTHER_WORDS}:
            rule = "must be broker, rack, both or nothing"
            names.refuse("--survive", word, rule, near(word, [*SURVIVES, *OTHER_WORDS]))
    if request.months and file.context.growth is None:
        rule = "growth must be given to look ahead"
        names.refuse("--months", request.months, rule, "add --growth 5%/month")
    known = [each.name for each in file.scenarios]
    if request.scenario is not None and request.scenario not in known:
        rule = "must be a scenario of --scenarios"
        found = near(request.scenario, known)
        names.problems.append(
            problem("command line", "--scenario", request.scenario, rule, found)
        )
    raise_problems("bad options", names.problems)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def requested_losses(request: SizeRequest) -> frozenset[str]:
    """Return the losses to survive that the options ask for: of `SURVIVES`."""
    words = _words(request.survives)
    return frozenset(SURVIVES if "both" in words else words) & frozenset(SURVIVES)


def _of_scenario(
    snapshot: Snapshot,
    state: ClusterState,
    request: SizeRequest,
    file: ScenariosFile,
    options: WhatIfOptions,
) -> Variant:
    """Return the cluster of the requested scenario, or else today's."""
    for each in file.scenarios:
        if each.name == request.scenario:
            return Player(snapshot, state, file, options).variant(each)
    return variant_of(state)


def _task(
    variant: Variant, request: SizeRequest, options: WhatIfOptions, context: Context
) -> SizingTask:
    variant = repaired(variant)
    state = variant.state
    live = state.brokers.is_live
    stays = live & ~np.isin(state.brokers.ids, sorted(variant.leaving))
    names = [state.brokers.racks[k] for k in state.brokers.rack_idx[stays].tolist()]
    racks = tuple(sorted({name for name in names if name is not None}))
    survives = requested_losses(request)
    if None in names or len(racks) < 2:
        # The loss of a rack is undefined where racks are unknown, and fatal with one.
        racks = () if None in names else racks
        survives -= {"rack"}
    settings = options.settings
    thresholds = settings.capacity_thresholds
    return SizingTask(
        variant=variant,
        wanted=Wanted(thresholds=thresholds, survives=survives),
        settings=settings,
        assumptions=Assumptions(
            bands=settings.bands,
            thresholds=thresholds,
            bandwidth_bytes_per_s=options.bandwidth_bytes_per_s,
        ),
        racks=racks,
    )


def _grown(task: SizingTask, request: SizeRequest, context: Context) -> SizingTask:
    growth = context.growth_of(task.variant.state)
    if growth is None or not request.months:
        return task
    days = request.months * DAYS_PER_MONTH
    return replace(task, variant=on_day(task.variant, growth, days))


def _in_racks(task: SizingTask, count: int | None) -> SizingTask:
    """Return the task with a given number of racks, today's racks first."""
    if count is None:
        return task
    more = [f"rack-{n}" for n in range(1, count + 1)]
    names = [*task.racks, *(name for name in more if name not in task.racks)]
    survives = task.wanted.survives - ({"rack"} if count < 2 else set())
    wanted = replace(task.wanted, survives=survives)
    return replace(task, racks=tuple(names[:count]), wanted=wanted)


def shown_snapshot(answer: SizeAnswer, shown: Shown) -> Snapshot:
    """Return a snapshot of the placement that proves the number sufficient."""
    now = answer.task.variant
    has_lost = bool(now.lost_brokers or now.lost_racks)
    return answer.snapshot.with_state(shown.state, has_lost=has_lost)


def is_sound(shown: Shown, task: SizingTask) -> bool:
    """Return whether the independent checker accepts a placement."""
    before, after = shown.variant.state, shown.state
    moved = before.brokers.rows_of(after.brokers.ids[after.replicas.broker_idx])
    everything = np.arange(before.num_partitions)
    lists = listing(before, everything, moved, start=before.replicas.start)
    settings = CheckSettings(
        capacity_thresholds={str(r): v for r, v in task.wanted.thresholds.items()},
        leaving_brokers=frozenset(shown.variant.leaving),
        # The plan for the real brokers chooses log dirs, so they are not checked here.
        leaves_log_dirs_to_brokers=True,
    )
    return not (moved == ABSENT).any() and is_ok(
        check(before, lists.to_target(), settings)
    )
