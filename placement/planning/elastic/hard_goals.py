"""
Hard goals: goals that every plan has to meet.

A plan is made with all goals. If it misses a hard one, a second plan is made with the
hard goals alone, because soft goals may be in their way. Goals missed by the second
plan too are reported as shortfalls. They are proven to be out of reach if the lower
bound on the distance is positive and no band depends on where heavy replicas end.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray
from placement.core.model.solution import Shortfall, Status
from placement.draft.draft import Draft, Note, Settings
from placement.draft.evacuated_load import is_total_fixed
from placement.draft.leading_replicas import leading_replicas
from placement.draft.rule_tables import SoftColumn
from placement.leadership.list_positions import uneven_positions
from placement.model.cluster import ClusterState
from placement.model.load import (
    LEADING,
    RESOURCES,
    Resource,
    loads_of,
)
from placement.model.targets import COUNTS, Targets, find_targets
from placement.planning.elastic.hard_dir_band import dirs_are_out_of_reach, missed_dirs
from placement.planning.outcome.result import PlannedPlacement
from placement.rules.hard_levels import BAND
from placement.rules.list_positions import EVEN_POSITIONS, with_counts
from placement.rules.registry import HARD

MOST_LISTED = 20
"""Maximum number of brokers listed for each missed goal."""
NEAR = 1e-9
GOALS_LEFT = (
    "goals that are not hard do not count: with them no plan met those that are"
)


def harden(
    planned: Callable[[Settings], PlannedPlacement],
    settings: Settings,
    found: PlannedPlacement,
) -> PlannedPlacement:
    """
    Return a plan that meets its hard goals, or one with shortfalls for missed goals.

    Parameters
    ----------
    planned
        Function that makes a plan under given settings.
    settings
        Settings of the plan with the hard goals.
    found
        The plan with all goals, which keeps every hard rule.
    """
    missed = all_missed(found, settings)
    if not missed:
        return found
    if found.draft.is_emptied_dir is not None:
        return _with_missed(found, missed, is_proven=dirs_are_out_of_reach(found))
    wanted = hard_alone(settings, found.draft)
    has_others = wanted.rules != settings.rules or (
        {*(wanted.resources or ())} != {*found.balanced}
    )
    alone = planned(wanted) if has_others else found
    if alone.has_met_rules and not all_missed(alone, settings):
        note = Note(what="goals-left", message=GOALS_LEFT)
        return replace(alone, notes=(*alone.notes, note))
    is_proven = alone.has_met_rules and _is_out_of_reach(alone)
    return _with_missed(found, missed, is_proven=is_proven)


def _with_missed(
    found: PlannedPlacement, missed: list[Shortfall], *, is_proven: bool
) -> PlannedPlacement:
    """Return a plan with shortfalls for the hard goals that it misses."""
    missed = [replace(one, is_proven=is_proven) for one in missed]
    solution = replace(
        found.solution,
        status=Status.INFEASIBLE if is_proven else Status.PARTIAL,
        shortfalls=(*found.solution.shortfalls, *missed),
    )
    return replace(found, solution=solution)


def hard_alone(settings: Settings, draft: Draft) -> Settings:
    """
    Return settings without the goals that are not hard.

    Parameters
    ----------
    settings
        Settings of the plan with the hard goals.
    draft
        Any draft that was made for these settings.
    """
    hard = settings.hard
    return replace(
        settings,
        resources=tuple(r for r in _balanced(draft, settings) if f"{BAND}{r}" in hard),
        rules=tuple(
            rule
            for rule in settings.rules
            if rule.name not in HARD or rule.name in hard
        ),
    )


def _balanced(draft: Draft, settings: Settings) -> tuple[Resource, ...]:
    """Return the resources that settings balance, whether or not a plan did so."""
    named = settings.resources
    if named is not None and any(one.name == EVEN_POSITIONS for one in settings.rules):
        settings = replace(settings, resources=with_counts(named))
    return replace(draft, settings=settings, notes=[]).balanced_resources()


def all_missed(found: PlannedPlacement, settings: Settings) -> list[Shortfall]:
    """
    Return the shortfalls of hard goals, including goals that the plan left out.

    Parameters
    ----------
    found
        The plan.
    settings
        Settings of the plan with the hard goals.
    """
    return [*missed_goals(found, settings), *_goals_left_out(found, settings)]


def _goals_left_out(found: PlannedPlacement, settings: Settings) -> Iterator[Shortfall]:
    """Yield a shortfall for each hard goal that a plan was made without."""
    had = {rule.name for rule in found.draft.settings.rules}
    for rule in settings.rules:
        if rule.name in HARD and rule.name in settings.hard and rule.name not in had:
            message = f"no plan that minds {rule.name} keeps the rules: it is hard"
            yield Shortfall(
                what="goal", have=0, need=1, level=rule.name, message=message
            )


def missed_goals(found: PlannedPlacement, settings: Settings) -> Iterator[Shortfall]:
    """
    Yield the shortfalls of hard goals that a plan misses.

    Parameters
    ----------
    found
        The plan.
    settings
        Settings of the plan with the hard goals.
    """
    after, hard = found.reassignment.after(), settings.hard
    yield from missed_dirs(found, settings)
    yield from _missed_bands(
        replace(found, balanced=_balanced(found.draft, settings)),
        _hard_targets(found, settings, after),
        hard,
    )
    for column in found.draft.columns:
        goal = column.name.partition(":")[0]
        if goal in hard:
            yield from _missed_column(found, after, goal, column)
    if "even-positions" in hard and found.draft.evens_positions:
        off = uneven_positions(found.draft, found.reassignment)
        for broker in np.nonzero(off)[0][:MOST_LISTED].tolist():
            text = f"{int(off[broker])} places too many or too few at a position of "
            yield _shortfall(
                found, "even-positions", broker, (int(off[broker]), 0), f"{text}lists"
            )


def _hard_targets(
    found: PlannedPlacement, settings: Settings, after: ClusterState
) -> Targets:
    """Return targets with the bands of the settings, not narrowed by soft goals."""
    if not found.draft.evens_positions or "even-positions" in settings.hard:
        return found.targets
    bands = np.array([settings.band(resource) for resource in RESOURCES])
    return find_targets(replace(found.shares, bands=bands), *loads_of(after))


def _missed_bands(
    found: PlannedPlacement, targets: Targets, hard: frozenset[str]
) -> Iterator[Shortfall]:
    draft, after = found.draft, found.reassignment.after()
    load, _ = loads_of(after)
    outside = targets.outside(load)
    if draft.old_may_be_low:
        outside[(load < targets.lower) & ~draft.is_new[:, None]] = 0.0
    for r, resource in enumerate(RESOURCES):
        goal = f"{BAND}{resource}"
        if resource not in found.balanced or goal not in hard:
            continue
        for broker in np.nonzero(outside[:, r] > 0)[0][:MOST_LISTED].tolist():
            have = int(load[broker, r])
            is_over = have > targets.upper[broker, r]
            end = targets.upper if is_over else targets.lower
            text = f"{outside[broker, r]:.1%} of its share outside its band of "
            amounts = have, int(end[broker, r])
            found_one = _shortfall(found, goal, broker, amounts, f"{text}{resource}")
            yield replace(found_one, resource=str(resource))


def _missed_column(
    found: PlannedPlacement, after: ClusterState, goal: str, column: SoftColumn
) -> Iterator[Shortfall]:
    load = column.loads(after)
    off = np.maximum(load - column.upper, column.lower - load)
    has_goal = column.unit > 0
    for broker in np.nonzero((off > 0) & has_goal)[0][:MOST_LISTED].tolist():
        far = off[broker] / column.unit[broker]
        _, has_topic, topic = column.name.partition(":")
        of_topic = f" of topic {topic}" if has_topic else ""
        end = column.upper if load[broker] > column.upper[broker] else column.lower
        amounts = int(load[broker]), int(end[broker])
        text = f"{far:.1%} of its share outside this goal{of_topic}"
        yield _shortfall(found, goal, broker, amounts, text)


def _shortfall(
    found: PlannedPlacement,
    goal: str,
    broker: int,
    amounts: tuple[int, int],
    text: str,
) -> Shortfall:
    have, need = amounts
    broker_id = int(found.draft.state.brokers.ids[broker])
    return Shortfall(
        what="goal",
        have=have,
        need=need,
        bin=broker,
        level=goal,
        message=f"broker {broker_id} is {text}: {goal} is hard",
    )


def _is_out_of_reach(alone: PlannedPlacement) -> bool:
    """Return whether a bound proves that no reassignment meets the hard goals."""
    if alone.solution.certificate.deviation.lower_bound <= NEAR:
        return False
    is_fixed = fixed_bands(alone.draft, alone.targets)
    return all(is_fixed[RESOURCES.index(resource)] for resource in alone.balanced)


def fixed_bands(draft: Draft, targets: Targets) -> BoolArray:
    """
    Return ``(R,)`` whether a band is the same wherever the heaviest replicas end.

    A broker with a replica heavier than its target is set aside, and others share the
    rest: both depend on where that replica ends. So does the load that is shared, if a
    replica outside the brokers that stay may move to them.

    Parameters
    ----------
    draft, targets
        A draft and its targets.
    """
    leader = draft.state.replicas.broker_idx_at(leading_replicas(draft))
    found = is_total_fixed(draft, leader)
    for r in np.flatnonzero(found):
        found[r] = _is_shared_alike(draft, targets, int(r))
    return found


def _is_shared_alike(draft: Draft, targets: Targets, r: int) -> bool:
    """Return whether the same load gives the same bands wherever replicas end."""
    weights, resource = draft.weights, RESOURCES[r]
    if resource in COUNTS:
        # Below one replica, a band wider than its target depends on there being one.
        return draft.settings.band(resource) <= 1
    if len(weights.own) and resource == Resource.DISK:
        return False
    heaviest = int((weights.replica[:, r] + weights.leader[:, r]).max(initial=0))
    members = draft.leads if LEADING[r] else draft.holds
    is_shared = bool((targets.target[members, r] >= heaviest).all())
    return is_shared and not targets.is_aside[:, r].any()
