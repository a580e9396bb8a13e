"""Options that `planner.toml` may set, as the commands declare them."""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from inspect import signature
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from typer.models import OptionInfo

from planner.config.config_option import ConfigOption, Kind

NOT_CONFIGURED = {
    *("output", "output_format", "quiet", "verbose", "config", "yes"),
    *("apply", "validate_only", "partitions", "replica_assignment"),
    *("in_bytes_per_s", "out_bytes_per_s", "size_bytes"),
    *("bootstrap_server", "command_config", "resolve", "timeout"),
}
"""Options of a single call: files, formats, messages, addresses, and consent."""


@cache
def plan_operations() -> Mapping[str, Mapping[str, ConfigOption]]:
    """Return the options of each command of `plan`, by command and name."""
    from planner.cli.plan.plan_commands import app

    return {
        str(command.name): options_of(command.callback)
        for command in app.registered_commands
        if command.callback is not None
    }


def options_of(command: Callable[..., Any]) -> dict[str, ConfigOption]:
    """Return the options that a command declares, as `planner.toml` accepts them."""
    hints = get_type_hints(command, include_extras=True)
    return {
        name: _option(name, hints[name], parameter.default)
        for name, parameter in signature(command).parameters.items()
        if name not in NOT_CONFIGURED and _infos(hints[name])
    }


def _infos(hint: object) -> list[OptionInfo]:
    return [info for info in get_args(hint)[1:] if isinstance(info, OptionInfo)]


def _option(name: str, hint: object, default: object) -> ConfigOption:
    info, taken = _infos(hint)[0], list(_types(get_args(hint)[0]))
    choices = [
        str(word.value)
        for one in taken
        if isinstance(one, type) and issubclass(one, Enum)
        for word in one
    ]
    # Inside `Annotated` the first name is in the place of the default.
    names = [info.default, *(info.param_decls or ())]
    long = [one for one in names if isinstance(one, str) and one.startswith("--")]
    return ConfigOption(
        name=name,
        option=long[0].partition("/")[0],
        kind=_kind(taken, info.metavar, has_choices=bool(choices)),
        help=info.help or "",
        default=default.value if isinstance(default, Enum) else default,
        choices=tuple(choices),
    )


def _types(hint: object) -> Iterator[object]:
    """Yield the types of a union except `None`."""
    if get_origin(hint) in {Union, UnionType}:
        yield from (one for one in get_args(hint) if one is not type(None))
    else:
        yield hint


def _kind(taken: list[object], metavar: str | None, *, has_choices: bool) -> Kind:
    if has_choices:
        return Kind.CHOICE
    if bool in taken:
        return Kind.FLAG
    if int in taken:
        return Kind.COUNT
    if any(get_origin(one) is list for one in taken):
        return Kind.LIST
    return Kind.PATTERN if metavar == "REGEX" else Kind.TEXT
