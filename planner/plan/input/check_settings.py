"""Optional rules that a plan is checked against, from its settings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from placement.check import CheckSettings, HardGoals
from placement.check.rules.chosen_rules import requested_rules
from placement.model.cluster import ClusterState
from placement.operations.descriptor import describe
from planner.errors import BadInputError
from planner.options.declared.plan_options import OPTIONS
from planner.options.declared.rule_readers import gap_of
from planner.options.log_dir_names import read_dirs
from planner.options.new_brokers import ids_to_come

NOT_ORDERED = frozenset({"disk", "in", "cpu", "replicas"})
"""Resources that the order of lists alone cannot balance."""
EVERY = frozenset({"disk", "in", "out", "cpu", "replicas", "leaders"})
COUNTS = ("replicas", "leaders")


def with_chosen_rules(
    settings: CheckSettings,
    document: Mapping[str, Any],
    state: ClusterState,
    goal: str | None = None,
) -> CheckSettings:
    """
    Return check settings with the rules that a plan's settings name.

    Parameters
    ----------
    settings
        Check settings without these rules.
    document
        `settings` of plan.json.
    state
        The cluster before, with the racks that the plan used.
    goal
        Name of the operation.
    """
    is_off = document.get("rack_rule") == "off"
    is_local = bool(document.get("locality_scoped"))
    may_change = "locality-scoped" in (document.get("soft") or ())
    is_off |= is_local and not may_change
    skipped = {"rack"} if is_off else set()
    if (named := describe(goal).demotes) is not None:
        demoted = frozenset(document.get(named) or ())
        barred = settings.excluded_for_leaders | demoted
        settings = replace(settings, excluded_for_leaders=barred)
    is_demotion = describe(goal).demotes is not None
    requested = requested_rules(settings, document, state, is_demotion=is_demotion)
    return replace(
        settings,
        custom=(*settings.custom, *requested),
        skipped=settings.skipped | frozenset(skipped),
        asks_racks_of_changed=is_local and may_change,
        soft=frozenset(document.get("soft") or ()),
        hard_goals=_hard_goals(document, state, goal),
        host_thresholds=document.get("host_capacity_threshold") or {},
        leaves_log_dirs_to_brokers=document.get("with_log_dirs") is False,
    )


def _hard_goals(
    document: Mapping[str, Any], state: ClusterState, goal: str | None
) -> HardGoals | None:
    """Return the hard goals, with their parameters from the settings."""
    names = frozenset(document.get("hard") or ())
    described = describe(goal)
    if not described.holds_bands:
        names = frozenset(name for name in names if not name.startswith("band-"))
    if not names:
        return None
    widths, resources = dict(document.get("band") or {}), document.get("resources")
    is_cruise_control = document.get("rules") == "cruise-control"
    if "even-positions" in names:
        widths |= dict.fromkeys(COUNTS, 0.0)
    if document.get("even_positions") and resources is not None:
        resources = [*resources, *COUNTS]
    return HardGoals(
        names=names,
        bands=widths,
        resources=None if resources is None else tuple(resources),
        not_balanced=_not_balanced(document, goal),
        low_utilization=document.get("low_utilization") or {},
        spreads_racks=document.get("rack_rule") != "off",
        old_may_be_low=described.fills_new
        and not document.get("rebalance")
        and not is_cruise_control,
        is_cruise_control=is_cruise_control,
        filled=_filled(document),
        is_order_only=described.is_order_only,
        set_of_topic=document.get("broker_sets"),
        spread_topics=_matching(state, document.get("spread_topics")),
        spread_topic_leaders=_matching(state, document.get("spread_topic_leaders")),
        spread_band=document.get("spread_band") or OPTIONS["spread_band"].default,
        spread_gap=gap_of(document.get("spread_gap") or "")
        or OPTIONS["spread_gap"].default,
        topic_leaders=_topic_leaders(state, document.get("min_topic_leaders") or ()),
        is_inside=described.is_inside,
        emptied=frozenset(_emptied(document, state)),
    )


def _emptied(
    document: Mapping[str, Any], state: ClusterState
) -> Iterator[tuple[int, str]]:
    """Yield broker and path of the log dirs to be emptied that still exist."""
    dirs = state.log_dirs
    for text in document.get("empty") or ():
        try:
            rows = read_dirs("--empty", (text,), state)
        except BadInputError:
            continue
        yield from (
            (int(state.brokers.ids[dirs.broker_idx[d]]), dirs.paths[d]) for d in rows
        )


def _filled(document: Mapping[str, Any]) -> frozenset[int]:
    """Return the named brokers to be filled, and the new brokers."""
    named = frozenset(document.get("broker_list") or ())
    return named and named | ids_to_come(document.get("new_broker") or ())


def _not_balanced(document: Mapping[str, Any], goal: str | None) -> frozenset[str]:
    if document.get("only_over_threshold"):
        return EVERY
    traded = frozenset({"replicas"} if document.get("only_trades") else ())
    return traded | (NOT_ORDERED if describe(goal).is_order_only else frozenset())


def _matching(state: ClusterState, pattern: str | None) -> frozenset[str]:
    if pattern is None:
        return frozenset()
    names = state.topics.names
    return frozenset(name for name in names if re.fullmatch(pattern, name))


def _topic_leaders(state: ClusterState, texts: Sequence[str]) -> dict[str, int]:
    """Return the least number of leaders per broker, by topic."""
    found: dict[str, int] = {}
    for text in texts:
        pattern, _, number = text.rpartition("=")
        for name in _matching(state, pattern):
            found.setdefault(name, int(number))
    return found
