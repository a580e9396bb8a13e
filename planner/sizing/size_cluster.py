"""Size one snapshot: the answer, checked by separate code, and how long it lasts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from placement.check import CheckSettings, check, is_ok
from placement.model.cluster import ABSENT, ClusterState
from placement.scenarios.changes.broker_changes import usual_broker
from placement.scenarios.changes.variant import Variant, variant_of
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
from placement.sizing.demand.broker_demand import Wanted
from placement.sizing.demand.topic_growth import DAYS_PER_MONTH
from planner.errors import BadInputError
from planner.failures.failure_request import election_rules
from planner.io.problems import problem
from planner.plan.kafka_files.reassignment_columns import listing
from planner.progress import stage
from planner.snapshot import Snapshot
from planner.text.suggest import near
from planner.what_if.changes.change_context import Context
from planner.what_if.changes.scenario_names import NameReader
from planner.what_if.play_scenarios import (
    Player,
    WhatIfRequest,
    WhatIfWishes,
    read_wishes,
)
from planner.what_if.scenarios_file import ScenariosFile, read_scenarios
from planner.what_if.topic_growth import Rates

SURVIVES = ("broker", "rack")
OTHER_WORDS = ("both", "nothing")


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeRequest:
    """
    The options of `size`, as given.

    Parameters
    ----------
    capacity_threshold
        ``RESOURCE=FRACTION`` texts.
    survives
        Some of ``broker`` and ``rack``, joined by commas; ``both``, or ``nothing``.
    like
        Id of the broker that more, or fewer, are had of; `None`: the usual one.
    months
        How far ahead, by growth.
    racks
        In how many racks new kinds of brokers stand; `None`: in today's.
    scenario
        Name of the scenario whose cluster is sized; `None`: today's.
    effort, seed, bandwidth
        Of the plans and their figures.
    """

    capacity_threshold: Sequence[str] = ()
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
    How many brokers a cluster needs.

    Parameters
    ----------
    snapshot
        The cluster today.
    request, wishes
        What was asked.
    task
        What was sized: the cluster of the scenario, grown.
    sizing
        The answer.
    lasting
        How long the brokers there are will do; `None` where growth is not given.
    today
        Live brokers there are, before any that leave.
    is_checked
        Whether separate code finds nothing wrong with the placement shown; `None`
        where none is.
    has_growth
        Whether growth was given.
    """

    snapshot: Snapshot
    request: SizeRequest
    wishes: WhatIfWishes
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
    Return a scenarios file, or an empty one with the growth given.

    Raises
    ------
    BadInputError
        If the file is none; names every problem.
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
        The cluster and the options.
    kinds
        What can be had; nothing: more, or fewer, of today's brokers.
    scenarios
        A scenarios file, for its growth and its scenarios.
    growth
        Growth that all topics share.

    Raises
    ------
    BadInputError
        With every option that is wrong.
    """
    state = snapshot.to_state()
    wishes = read_wishes(
        WhatIfRequest(
            capacity_threshold=request.capacity_threshold,
            bandwidth=request.bandwidth,
            effort=request.effort,
            seed=request.seed,
        ),
        state,
    )
    file = read_file(scenarios, snapshot, state, growth)
    refuse_what_cannot_be(request, state, file)
    stage("sizing")
    now = _of_scenario(snapshot, state, request, file, wishes)
    task = _task(now, request, wishes, file.context)
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
        wishes=wishes,
        task=later,
        sizing=sizing,
        lasting=None if given is None else lasting_of(task, given),
        today=int(live.sum()),
        is_checked=None if sizing.shown is None else is_sound(sizing.shown, later),
        has_growth=given is not None,
    )


def refuse_what_cannot_be(
    request: SizeRequest, state: ClusterState, file: ScenariosFile
) -> None:
    """
    Refuse options that this cluster, or the file, does not know.

    Raises
    ------
    BadInputError
        With every one of them.
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
    if names.problems:
        msg = "bad options"
        raise BadInputError(msg, names.problems)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def wished_losses(request: SizeRequest) -> frozenset[str]:
    """Return what may be lost, as it was asked for: some of broker and rack."""
    words = _words(request.survives)
    return frozenset(SURVIVES if "both" in words else words) & frozenset(SURVIVES)


def _of_scenario(
    snapshot: Snapshot,
    state: ClusterState,
    request: SizeRequest,
    file: ScenariosFile,
    wishes: WhatIfWishes,
) -> Variant:
    """Return the cluster of the scenario that was named, else today's."""
    for each in file.scenarios:
        if each.name == request.scenario:
            return Player(snapshot, state, file, wishes).variant(each)
    return variant_of(state)


def _task(
    variant: Variant, request: SizeRequest, wishes: WhatIfWishes, context: Context
) -> SizingTask:
    state = variant.state
    live = state.brokers.is_live
    stays = live & ~np.isin(state.brokers.ids, sorted(variant.leaving))
    names = [state.brokers.racks[k] for k in state.brokers.rack_idx[stays].tolist()]
    racks = tuple(sorted({name for name in names if name is not None}))
    survives = wished_losses(request)
    if None in names or len(racks) < 2:
        # Nobody can say what the loss of a rack takes, or it takes everything.
        racks = () if None in names else racks
        survives -= {"rack"}
    settings = wishes.settings
    thresholds = settings.capacity_thresholds
    return SizingTask(
        variant=variant,
        wanted=Wanted(thresholds=thresholds, survives=survives),
        settings=settings,
        assumptions=Assumptions(
            bands=settings.bands,
            thresholds=thresholds,
            bandwidth_bytes_per_s=wishes.bandwidth_bytes_per_s,
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
    """Return the task in so many racks, today's first."""
    if count is None:
        return task
    more = [f"rack-{n}" for n in range(1, count + 1)]
    names = [*task.racks, *(name for name in more if name not in task.racks)]
    survives = task.wanted.survives - ({"rack"} if count < 2 else set())
    wanted = replace(task.wanted, survives=survives)
    return replace(task, racks=tuple(names[:count]), wanted=wanted)


def shown_snapshot(answer: SizeAnswer, shown: Shown) -> Snapshot:
    """Return the placement that shows an answer, as a snapshot."""
    now = answer.task.variant
    has_lost = bool(now.lost_brokers or now.lost_racks)
    return answer.snapshot.with_state(shown.state, has_lost=has_lost)


def is_sound(shown: Shown, task: SizingTask) -> bool:
    """Tell whether the independent checker finds nothing wrong with a placement."""
    before, after = shown.variant.state, shown.state
    moved = before.brokers.rows_of(after.brokers.ids[after.replicas.broker_idx])
    everything = np.arange(before.num_partitions)
    lists = listing(before, everything, moved, start=before.replicas.start)
    settings = CheckSettings(
        capacity_thresholds={str(r): v for r, v in task.wanted.thresholds.items()},
        leaving_brokers=frozenset(shown.variant.leaving),
        # Log dirs are named by the plan that fills the brokers.
        leaves_log_dirs_to_brokers=True,
    )
    return not (moved == ABSENT).any() and is_ok(
        check(before, lists.to_target(), settings)
    )
