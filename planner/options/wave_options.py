"""Options of waves as their settings, and in plan.json."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from placement.model.load import Resource
from placement.waves.wave_settings import Order, WaveSettings
from planner.options.declared.option import Saved
from planner.options.declared.plan_options import OPTIONS, PlanOptions

_DECLARED = {
    name: declared.option
    for name, declared in OPTIONS.items()
    if declared.option.saved is Saved.IN_WAVES
}


def wave_settings(
    options: PlanOptions, thresholds: Mapping[Resource, float]
) -> WaveSettings | None:
    """Return the settings of waves; `None` if no option asks for waves."""
    values = {
        option.sets or name: getattr(options, name)
        for name, option in _DECLARED.items()
    }
    given = {name: value for name, value in values.items() if value is not None}
    if not given and not options.waves:
        return None
    if options.order is not None:
        given["order"] = Order(options.order)
    return WaveSettings(**given, thresholds=thresholds)


def wave_document(waves: WaveSettings | None) -> dict[str, Any] | None:
    """Return the settings of waves for plan.json; `None` if there are no waves."""
    if waves is None:
        return None
    return {
        option.saved_as or name: _plain(getattr(waves, option.sets or name))
        for name, option in _DECLARED.items()
    }


def _plain(value: object) -> object:
    return str(value) if isinstance(value, StrEnum) else value
