"""Records of the settings of a plan, derived from the declared options."""

from collections.abc import Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field, create_model

from placement.waves.wave_settings import WaveSettings
from planner.io.records import Int32, Record
from planner.options.declared.option import UNCHANGED, DeclaredOption, Saved
from planner.options.declared.plan_options import OPTIONS
from planner.options.declared.types import BrokerId

REQUIRED = frozenset(
    (
        *("band", "resources", "capacity_threshold", "broker_list"),
        *("destination_broker_list", "exclude_brokers_for_replicas"),
        *("exclude_brokers_for_leaders", "topic", "topics", "exclude_topics"),
        *("rebalance", "effort", "seed", "rules", "rack_rule", "rack_map"),
        *("broker_set", "keep_topics", "locality_scoped", "only_over_threshold"),
        *("low_utilization", "max_replicas_per_broker", "potential_out", "leader_in"),
        *("spread_topics", "min_topic_leaders", "cpu_weight", "waves"),
        *("max_moves_in", "max_moves_out", "max_moves_per_broker", "bandwidth"),
        "order",
    )
)
"""Options that the first plan.json had; options added later may be absent."""


def option_fields() -> type[BaseModel]:
    """Return a record of the options that plan.json has under `settings`."""
    fields: dict[str, Any] = {name: _field(one) for name, one in _saved_options()}
    return create_model("OptionFields", __base__=Record, **fields)


def settings_that_may_lack() -> type[BaseModel]:
    """Return a record of the same options, each of which may be absent."""
    fields: dict[str, Any] = {}
    for name, declared in _saved_options():
        kind, default = _field(declared)
        fields[name] = kind, _absent(declared) if default is ... else default
    return create_model("SettingFields", **fields)


def wave_fields() -> type[BaseModel]:
    """Return a record of the options that plan.json has under `settings.waves`."""
    return create_model("WaveFields", __base__=Record, **dict(_wave_options()))


def _saved_options() -> Iterator[tuple[str, DeclaredOption]]:
    """Yield the options by their keys."""
    for name, declared in OPTIONS.items():
        if declared.option.saved not in {Saved.IN_WAVES, Saved.NEVER}:
            yield declared.option.saved_as or name, declared


def _field(declared: DeclaredOption) -> tuple[Any, Any]:
    """Return the type of a key, and its default; an ellipsis if it is required."""
    option, kind = declared.option, _saved_type(declared)
    if declared.name in REQUIRED:
        return kind, ...
    if option.saved is not Saved.ALWAYS and get_origin(kind) in {list, dict}:
        return kind | None, None
    default = _absent(declared)
    if isinstance(default, list | tuple | dict) and not default:
        return kind, Field(default_factory=get_origin(kind))
    return kind, default


def _absent(declared: DeclaredOption) -> Any:  # noqa: ANN401 - as JSON
    """Return the value where plan.json lacks the key."""
    option = declared.option
    if option.absent is not UNCHANGED:
        return option.absent
    return option.save(declared.default) if option.save else declared.default


def _saved_type(declared: DeclaredOption) -> Any:  # noqa: ANN401 - a type
    """Return the type of a key: that of the field as JSON, or of what saves it."""
    save = declared.option.save
    if save is not None:
        return _as_json(get_type_hints(save, include_extras=True)["return"])
    kind = _as_json(declared.type)
    return kind | None if declared.is_optional else kind


def _as_json(kind: Any) -> Any:  # noqa: ANN401 - a type
    """Return a type with lists in place of tuples, and brokers ids of 32 bits."""
    if kind == BrokerId:
        return Int32
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        return Union[tuple(map(_as_json, inner))]  # noqa: UP007 - known now alone
    return list[_as_json(inner[0])] if origin in {tuple, list} else kind  # type: ignore[misc] # as above


def _wave_options() -> Iterator[tuple[str, Any]]:
    kinds = get_type_hints(WaveSettings)
    for name, declared in OPTIONS.items():
        option = declared.option
        if option.saved is Saved.IN_WAVES:
            kind = declared.type if declared.words else kinds[option.sets or name]
            field = (kind, ...) if name in REQUIRED else (kind | None, None)
            yield option.saved_as or name, field
