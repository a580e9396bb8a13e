"""PLAN argument of commands: a plan folder, or any reassignment file."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError

from placement.check import CheckSettings, Target
from placement.check.case.check_settings import DEFAULT_CAPACITY_THRESHOLDS
from placement.model.cluster import ClusterState
from placement.operations.descriptor import describe
from placement.rules.descriptor import is_given
from placement.rules.registry import REQUESTED
from planner.errors import BadInputError, InputProblem
from planner.io.gatherer import Gatherer
from planner.io.plan_file_names import DOCUMENT_NAME
from planner.kafka_files.reassignment_file import (
    ReassignmentFile,
    parse_reassignment,
    read_json,
    read_plan_file,
    read_reassignment_file,
)
from planner.options.declared.option import Problems
from planner.options.declared.plan_options import OPTIONS
from planner.options.new_brokers import ids_to_come
from planner.plan.documents.settings_records import settings_that_may_lack
from planner.plan.input.check_settings import with_chosen_rules

ROLLBACK_NAME = "rollback.json"
FORMAT = "kafka-planner/plan"
Fraction = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class PlanSettings(settings_that_may_lack()):  # type: ignore[misc] # derived from the options
    """The fields of `settings` in plan.json, of this release or an older one."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    capacity_threshold: dict[str, Fraction] = Field(default_factory=dict)
    host_capacity_threshold: dict[str, Fraction] = Field(default_factory=dict)
    exclude_topics: str | list[str] | None = None
    broker: int | list[int] | None = None
    topic_config: dict[str, str] = Field(default_factory=dict)
    waves: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInput:
    """
    Contents of a PLAN.

    Parameters
    ----------
    path
        Path of the plan.
    reassignment
        Lists of the plan.
    rollback
        Lists before the plan; `None` for a reassignment file alone.
    goal
        Name of the operation in plan.json, or `None`.
    settings
        Settings of plan.json, or the defaults.
    document
        plan.json unchanged, or empty.
    """

    path: Path
    reassignment: ReassignmentFile
    rollback: ReassignmentFile | None = None
    goal: str | None = None
    settings: PlanSettings = field(default_factory=PlanSettings)
    document: Mapping[str, Any] = field(default_factory=dict)

    @property
    def before(self) -> ReassignmentFile | None:
        """
        Lists before the plan, including those that rollback.json omits.

        Raises
        ------
        BadInputError
            If plan.json lists the omitted ones incorrectly.
        """
        place = f"{self.path / DOCUMENT_NAME}, not_in_rollback"
        return lists_before(self.rollback, self.document, place=place)

    @property
    def target(self) -> Target:
        """The lists as columns, for `placement.check`."""
        return to_target(self.reassignment)


def lists_before(
    rollback: ReassignmentFile | None, document: Mapping[str, Any], *, place: str
) -> ReassignmentFile | None:
    """
    Return the lists before a plan, including those that rollback.json omits.

    Parameters
    ----------
    rollback
        rollback.json, if it exists.
    document
        plan.json.
    place
        Name of the place for problems.

    Raises
    ------
    BadInputError
        If plan.json lists the omitted ones incorrectly.
    """
    listed = document.get("not_in_rollback")
    if rollback is None or not listed:
        return rollback
    left_out = parse_reassignment({"version": 1, "partitions": listed}, file=place)
    return rollback.joined(left_out)


def to_target(file: ReassignmentFile) -> Target:
    """Return the lists of a reassignment file as columns."""
    return Target.from_lists(file.topics, file.partitions, file.replicas, file.log_dirs)


def read_plan(path: Path) -> PlanInput:
    """
    Read a plan folder with its rollback and settings, or a reassignment file alone.

    Raises
    ------
    BadInputError
        With every problem of every file of the folder.
    """
    inputs = Gatherer()
    reassignment = inputs.read(lambda: read_plan_file(path))
    rollback, document = path / ROLLBACK_NAME, path / DOCUMENT_NAME
    before, found, settings = None, {}, PlanSettings()
    if path.is_dir():
        if rollback.exists():
            before = inputs.read(lambda: read_reassignment_file(rollback))
        if document.exists():
            found = inputs.read(lambda: _read_document(document)) or {}
        settings = _settings_of(document, found, inputs.problems)
    inputs.raise_problems(f"{path} is not a plan")
    assert reassignment is not None  # noqa: S101 - else there were problems
    goal = found.get("goal")
    return PlanInput(
        path=path,
        reassignment=reassignment,
        rollback=before,
        goal=goal if isinstance(goal, str) else None,
        settings=settings,
        document=found,
    )


def _read_document(path: Path) -> dict[str, Any]:
    document = read_json(path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        place, rule = "format", f'must be an object with "format": "{FORMAT}"'
    elif document.get("version") != 1:
        place, rule = "version", "must be 1, the only version that this release reads"
    else:
        return document
    msg = f"{path} is not a plan"
    raise BadInputError(msg, [_problem(path, place, rule, "write the plan again")])


def _settings_of(
    path: Path, document: Mapping[str, Any], problems: list[InputProblem]
) -> PlanSettings:
    try:
        settings: PlanSettings = PlanSettings.model_validate(
            document.get("settings") or {}
        )
    except ValidationError as error:
        for one in error.errors(include_url=False):
            place = ".".join(map(str, ("settings", *one["loc"])))
            problems.append(_problem(path, place, one["msg"], "write the plan again"))
        return PlanSettings()
    for name, patterns in _patterns(settings).items():
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                rule = f"must be a regular expression: {error}"
                problems.append(_problem(path, f"settings.{name}", rule, "correct it"))
    for name, rule in _wrong_rules(settings):
        problems.append(_problem(path, f"settings.{name}", rule, "correct it"))
    return settings


def _wrong_rules(settings: PlanSettings) -> Iterator[tuple[str, str]]:
    """Yield the name of each rule with a wrong value, and what the value must be."""
    for rule in REQUESTED:
        value = getattr(settings, rule.option_name, None)
        if rule.option is not None and is_given(value):
            declared = OPTIONS[rule.option_name]
            found = Problems(declared.flag)
            declared.read(value, found)
            yield from ((declared.name, one.rule) for one in found.found)


def _problem(path: Path, place: str, rule: str, remedy: str) -> InputProblem:
    return InputProblem(file=str(path), place=place, value="", rule=rule, remedy=remedy)


def _patterns(settings: PlanSettings) -> dict[str, list[str]]:
    """Return the regular expressions by the setting that has them."""
    excluded = settings.exclude_topics
    return {
        "topics": [] if settings.topics is None else [settings.topics],
        "exclude_topics": [excluded] if isinstance(excluded, str) else excluded or [],
    }


def check_settings(
    plan: PlanInput,
    state: ClusterState,
    *,
    capacity_thresholds: Mapping[str, float],
    allow_replication_factor_change: bool,
) -> CheckSettings:
    """
    Return the rules for checking a plan: its own, overridden by the caller's.

    Parameters
    ----------
    plan
        The plan, with its settings.
    state
        The cluster, whose topics the patterns exclude.
    capacity_thresholds
        Fractions by resource that override those of the plan.
    allow_replication_factor_change
        Whether lists may grow and shrink whatever the plan's goal is.
    """
    own = plan.settings
    thresholds = {
        resource: fraction
        for resource, fraction in own.capacity_threshold.items()
        if resource in DEFAULT_CAPACITY_THRESHOLDS
    }
    settings = CheckSettings(
        capacity_thresholds={**thresholds, **capacity_thresholds},
        allow_replication_factor_change=allow_replication_factor_change
        or describe(plan.goal).changes_factors,
        excluded_for_replicas=_excluded_for_replicas(own, state),
        excluded_for_leaders=frozenset(own.exclude_brokers_for_leaders or ()),
        excluded_topics=_excluded_topics(own, state),
        leaving_brokers=_leaving(plan),
        brokers_to_come=ids_to_come(own.new_broker or ()),
        rollback=None if plan.rollback is None else to_target(plan.rollback),
        topic_ids=planned_topic_ids(plan),
    )
    return with_chosen_rules(settings, own.model_dump(), state, plan.goal)


def _excluded_for_replicas(own: PlanSettings, state: ClusterState) -> frozenset[int]:
    excluded = frozenset(own.exclude_brokers_for_replicas or ())
    if own.destination_broker_list is None:
        return excluded
    others = set(state.brokers.ids.tolist()) - set(own.destination_broker_list)
    return excluded | others


def _excluded_topics(own: PlanSettings, state: ClusterState) -> frozenset[str]:
    """Return the topics that are excluded, or not among the selected ones."""
    names, patterns = frozenset(state.topics.names), _patterns(own)
    excluded = _matching(patterns["exclude_topics"], names)
    if not own.topic and own.topics is None:
        return excluded
    chosen = _matching(patterns["topics"], names) | set(own.topic)
    return excluded | (names - chosen)


def _matching(patterns: list[str], names: frozenset[str]) -> frozenset[str]:
    compiled = [re.compile(pattern) for pattern in patterns]
    return frozenset(
        name for name in names if any(one.fullmatch(name) for one in compiled)
    )


def _leaving(plan: PlanInput) -> frozenset[int]:
    emptied = describe(plan.goal).empties
    named = getattr(plan.settings, emptied) if emptied else None
    return frozenset([named] if isinstance(named, int) else named or ())


def planned_topic_ids(plan: PlanInput) -> dict[str, str]:
    """Return the ids by topic that plan.json records."""
    ids = plan.document.get("topic_ids")
    found = ids.items() if isinstance(ids, dict) else ()
    return {topic: topic_id for topic, topic_id in found if isinstance(topic_id, str)}
