"""Entries of plan.json under `settings`, from the declared options."""

from collections.abc import Mapping
from typing import Any

from placement.draft.draft import Settings
from placement.waves.wave_settings import WaveSettings
from planner.options.chosen_rules import ChosenRules
from planner.options.declared.option import DeclaredOption, Saved
from planner.options.declared.plan_options import OPTIONS, PlanOptions
from planner.options.wave_options import wave_document


def options_document(
    options: PlanOptions,
    operation: str | None,
    settings: Settings,
    waves: WaveSettings | None,
    rules: ChosenRules,
) -> dict[str, Any]:
    """
    Return the settings that affect a plan: no paths, no threads.

    Parameters
    ----------
    options, operation
        Options, and the name of the operation, if any.
    settings, waves, rules
        Values that hold where options are not given, or depend on the cluster.
    """
    effective = {
        "band": _named(settings.bands),
        "capacity_threshold": _named(settings.capacity_thresholds),
        "broker_set": rules.set_of_topic,
        "soft": settings.soft,
        "hard": rules.hard,
        "waves": wave_document(waves),
    }
    return {
        declared.option.saved_as or name: _saved(declared, value)
        for name, declared in OPTIONS.items()
        for value in [effective.get(name, getattr(options, name))]
        if _is_saved(declared, operation, value)
    }


def _named(values: Mapping[Any, float]) -> dict[str, float]:
    return {str(resource): value for resource, value in values.items()}


def _is_saved(declared: DeclaredOption, operation: str | None, value: object) -> bool:
    return {
        Saved.ALWAYS: True,
        Saved.OWN: declared.is_of(operation or ""),
        Saved.GIVEN: bool(value != declared.default),
        Saved.IN_WAVES: False,
        Saved.NEVER: False,
    }[declared.option.saved]


def _saved(declared: DeclaredOption, value: Any) -> Any:  # noqa: ANN401 - as JSON
    if declared.option.save is not None:
        return declared.option.save(value)
    return list(value) if isinstance(value, tuple) else value
