"""An example `planner.toml` with every option as a comment."""

import textwrap
from collections.abc import Iterator, Mapping

from planner.config.config_file import OPERATION, PLAN, Options
from planner.config.config_option import ConfigOption, Kind
from planner.io.toml_values import toml_value

WIDTH = 80
HEAD = """\
# Options of plans for kafka-planner. Read where it is asked for: with
# `--config planner.toml`, or with PLANNER_CONFIG=planner.toml in the environment.
# The command line goes before the environment (PLANNER_MAX_BYTES=2TB), which goes
# before this file. `kafka-planner config show --config planner.toml` says what
# holds, and where it came from.
"""


def example_config(operations: Mapping[str, Options]) -> str:
    """
    Return the text of the example: each option and its help, as comments.

    Parameters
    ----------
    operations
        The options of each operation, by name.
    """
    return "\n".join([HEAD, *_lines(operations)]) + "\n"


def _lines(operations: Mapping[str, Options]) -> Iterator[str]:
    common = {
        name
        for options in operations.values()
        for name in options
        if all(name in others for others in operations.values())
    }
    first = next(iter(operations.values()))
    yield f"[{PLAN}]"
    yield from _settings({name: first[name] for name in first if name in common})
    for operation, options in operations.items():
        own = {name: options[name] for name in options if name not in common}
        words = " Its own options:" if own else ""
        yield f"# What only `plan {operation}` does, before [{PLAN}].{words}"
        yield f"[{OPERATION}.{operation}]"
        yield from _settings(own)


def _settings(options: Options) -> Iterator[str]:
    for name, option in options.items():
        words = option.help
        if option.choices:
            words += f" One of {', '.join(option.choices)}."
        yield from textwrap.wrap(
            words, WIDTH, initial_indent="# ", subsequent_indent="# "
        )
        value = option.example or _toml(option)
        yield f"# {name} = {value}"
        yield ""
    if not options:
        yield ""


def _toml(option: ConfigOption) -> str:
    """Return the default of an option as TOML, or a value of its kind."""
    if option.default is None:
        return "1" if option.kind is Kind.COUNT else '"…"'
    return toml_value(option.default)
