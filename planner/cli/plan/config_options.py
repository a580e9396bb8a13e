"""Options that `planner.toml` may give, from the declared options of plans."""

from collections.abc import Mapping
from functools import cache

from placement.operations.descriptor import OPERATIONS
from planner.cli.plan.declared_options import (
    RULES,
    SHARED,
    TRADE_OFF,
    own_names,
)
from planner.config.config_option import ConfigOption, Kind
from planner.options.declared.option import DeclaredOption
from planner.options.declared.plan_options import OPTIONS

NOT_CONFIGURED = {
    *("partitions", "replica_assignment"),
    *("in_bytes_per_s", "out_bytes_per_s", "size_bytes"),
    *("keys", "partitioner", "sample_format"),
    *("key_column", "key_type", "schema_id"),
}
"""Options of one topic, which are given anew each time."""
_TRADE_OFF = ConfigOption(
    name="trade_off",
    option="--trade-off",
    kind=Kind.FLAG,
    help=TRADE_OFF,
    default=False,
)


@cache
def plan_operations() -> Mapping[str, Mapping[str, ConfigOption]]:
    """Return the options of each operation by the names of both."""
    return {name: _options_of(name) for name in OPERATIONS}


def _options_of(operation: str) -> dict[str, ConfigOption]:
    own = [name for name in own_names(operation) if name not in NOT_CONFIGURED]
    listed = [_option(OPTIONS[name]) for name in (*own, *SHARED)]
    rules = [_option(OPTIONS[name]) for name in RULES]
    return {each.name: each for each in (*listed, _TRADE_OFF, *rules)}


def _option(declared: DeclaredOption) -> ConfigOption:
    option = declared.option
    return ConfigOption(
        name=declared.name,
        option=declared.flag,
        kind=_kind(declared),
        help=option.help,
        default=None if option.takes else declared.default,
        choices=declared.words,
        example=option.example,
    )


def _kind(declared: DeclaredOption) -> Kind:
    takes = declared.option.takes or declared.type
    if declared.words:
        return Kind.CHOICE
    kinds = {bool: Kind.FLAG, int: Kind.COUNT, list: Kind.LIST}
    is_pattern = declared.option.metavar == "REGEX"
    return kinds.get(takes, Kind.PATTERN if is_pattern else Kind.TEXT)
