"""Options of a plan for one cluster, and the settings of `placement` they make."""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from placement.array_types import BoolArray
from placement.draft.draft import DEFAULT_THRESHOLDS, Settings
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES, Resource
from placement.model.targets import DEFAULT_BAND
from placement.rules.registry import SOFT
from placement.waves.wave_settings import WaveSettings
from planner.errors import InputProblem
from planner.options.chosen_rules import ChosenRules, chosen_rules, preset_band
from planner.options.declared.option import Saved
from planner.options.declared.plan_options import OPTIONS, PlanOptions
from planner.options.declared.value_readers import read_brokers
from planner.options.new_brokers import NewBroker, read_new_brokers, with_new_brokers
from planner.options.operations import check_operation
from planner.options.option_reader import OptionReader
from planner.options.plan_request import PlanRequest
from planner.options.settings_document import options_document
from planner.options.wave_options import wave_settings


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ResolvedOptions:
    """
    Options of a plan for one cluster.

    Parameters
    ----------
    options
        Options with those of a preset.
    settings
        Settings for `placement.planning.plan`.
    document
        Entries of plan.json under `settings`.
    waves
        Settings of the waves; `None`: no waves.
    state
        The cluster, including new brokers.
    arrivals
        The new brokers.
    """

    options: PlanOptions
    settings: Settings
    document: dict[str, Any]
    state: ClusterState
    arrivals: tuple[NewBroker, ...] = ()
    waves: WaveSettings | None = None


def check_request(request: PlanRequest, state: ClusterState | None) -> None:
    """
    Check the options of a plan without using them.

    Parameters
    ----------
    request
        The options.
    state
        The cluster; `None`: brokers and topics are not looked up.

    Raises
    ------
    BadInputError
        With every option that is wrong.
    """
    reader = OptionReader(state, request.problems)
    _checked(reader, request.options, request.goal)
    reader.raise_problems()


def read_request(request: PlanRequest, state: ClusterState) -> ResolvedOptions:
    """
    Return the options of a request for one cluster.

    Raises
    ------
    BadInputError
        With every option that is wrong.
    """
    return read_options(request.options, state, request.goal, request.problems)


def read_options(
    options: PlanOptions,
    state: ClusterState,
    operation: str | None = None,
    problems: Iterable[InputProblem] = (),
) -> ResolvedOptions:
    """
    Return options for one cluster.

    Parameters
    ----------
    options
        The options.
    state
        The cluster.
    operation
        Name of the operation; `None`: no plan is made, as of a score.
    problems
        Problems of the options found before.

    Raises
    ------
    BadInputError
        With every option that is wrong, and the other problems.
    """
    reader = OptionReader(state, problems)
    arrivals, rules = _checked(reader, options, operation)
    reader.raise_problems()
    assert reader.state is not None  # noqa: S101 - as it was given
    options = rules.options
    settings = _settings(reader.state, rules)
    waves = wave_settings(options, _thresholds(options))
    return ResolvedOptions(
        options=options,
        settings=settings,
        document=options_document(options, operation, settings, waves, rules),
        state=reader.state,
        arrivals=tuple(arrivals),
        waves=waves,
    )


def _checked(
    reader: OptionReader, options: PlanOptions, operation: str | None
) -> tuple[list[NewBroker], ChosenRules]:
    """Look up what options name; the cluster of the reader gets the new brokers."""
    arrivals = read_new_brokers(reader, options.new_broker)
    if reader.state is not None:
        reader.state = with_new_brokers(reader.state, arrivals)
    for name, declared in OPTIONS.items():
        if declared.option.read is read_brokers:
            reader.look_up_brokers(declared.flag, getattr(options, name))
    check_operation(reader, operation, options)
    rules = chosen_rules(reader, options)
    reader.look_up_topics(options.topic)
    return arrivals, rules


def _settings(state: ClusterState, rules: ChosenRules) -> Settings:
    """Return the settings of a plan: values as they are, and those of the rules."""
    options = rules.options
    band = preset_band(options) or DEFAULT_BAND
    destination = options.destination_broker_list
    return Settings(
        bands={r: options.band.get(r.value, band) for r in RESOURCES},
        resources=None
        if options.resources is None
        else tuple(map(Resource, options.resources)),
        capacity_thresholds=_thresholds(options),
        host_thresholds=_by_resource(options.host_capacity_threshold),
        low_utilization=_by_resource(options.low_utilization),
        destination_brokers=None if destination is None else frozenset(destination),
        excluded_for_replicas=frozenset(options.exclude_brokers_for_replicas or ()),
        excluded_for_leaders=frozenset(options.exclude_brokers_for_leaders or ()),
        excluded_topics=_excluded_topics(state, options),
        unmatched_topics=_unmatched_topics(state, options),
        prefers_moves=options.prefer == "moves",
        price_per_move_bytes=options.move_cost_bytes or 0,
        rules=rules.rules,
        soft=tuple(name for name in options.soft if name in SOFT),
        hard=rules.hard,
        is_rack_strict=options.rack_rule == "strict",
        lifted=frozenset({"rack"} if options.rack_rule == "off" else ()),
        **{
            declared.option.sets: getattr(options, name)
            for name, declared in OPTIONS.items()
            if declared.option.sets and declared.option.saved is not Saved.IN_WAVES
        },
    )


def _by_resource(fractions: dict[Any, float]) -> dict[Resource, float]:
    return {Resource(name): value for name, value in fractions.items()}


def _thresholds(options: PlanOptions) -> dict[Resource, float]:
    return {**DEFAULT_THRESHOLDS, **_by_resource(options.capacity_threshold)}


def _excluded_topics(state: ClusterState, options: PlanOptions) -> BoolArray | None:
    """Return ``(T,)`` true for excluded topics; `None` if there is none."""
    if not options.topic and options.topics is None and options.exclude_topics is None:
        return None
    chosen = re.compile(options.topics) if options.topics is not None else None
    unwanted = re.compile(options.exclude_topics or r"(?!)")
    has_choice = bool(options.topic) or chosen is not None
    return np.array(
        [
            (
                has_choice
                and name not in options.topic
                and not (chosen and chosen.fullmatch(name))
            )
            or unwanted.fullmatch(name) is not None
            for name in state.topics.names
        ],
        dtype=np.bool_,
    )


def _unmatched_topics(state: ClusterState, options: PlanOptions) -> tuple[str, ...]:
    """Return the options whose regular expression matches no topic, as written."""
    given = {"--topics": options.topics, "--exclude-topics": options.exclude_topics}
    return tuple(
        f"{flag} {shlex.quote(pattern)}"
        for flag, pattern in given.items()
        if pattern is not None
        and not any(map(re.compile(pattern).fullmatch, state.topics.names))
    )
