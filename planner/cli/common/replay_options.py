"""Options of a command, repeated in the command that follows it."""

from collections.abc import Collection
from enum import Enum

import typer

NOT_REPLAYED = frozenset({"output", "output_format", "quiet", "verbose", "jobs"})


def replay_options(
    context: typer.Context, *, but: Collection[str] = NOT_REPLAYED
) -> list[str]:
    """
    Return the words of the options that were given on the command line.

    Parameters
    ----------
    context
        Context of the running command.
    but
        Names of parameters to leave out.
    """
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in but:
            continue
        if parameter.param_type_name == "argument":
            continue
        option = max(parameter.opts, key=len)
        value = context.params[name]
        if isinstance(value, bool):
            words.append(option if value else max(parameter.secondary_opts, key=len))
            continue
        for each in value if isinstance(value, list | tuple) else [value]:
            words += [option, _text(each)]
    return words


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return str(value.value if isinstance(value, Enum) else value)
