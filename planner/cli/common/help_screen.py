"""
Help of commands: Rich panels on a terminal, plain sections elsewhere.

Typer's own panels have six columns: at 80 columns they cut the names of long options
and leave a quarter of the line for the text. Here the name and the value of an option
share one column, as in Click's own help, and nothing is cut.
"""

import inspect
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TextIO

from planner.cli.common.help_panels import COMMAND_PANELS, options_by_panel
from planner.cli.common.output import has_colours

NARROWEST = 60
WIDEST = 120
"""Bounds of the width: below it options do not fit, above it lines are hard to read."""
LONGEST_NAME = 28
"""Characters of a name that still has its text on the same line."""
GAP = 2
AS_IT_IS = "\b"
"""Click's mark of a paragraph whose lines are kept."""
ENVIRONMENT_NOTE = (
    "Every option but --yes can also be set in the environment: PLANNER_FORMAT=json "
    "for --format json."
)

Row = tuple[str, str]


def use_help_screen(command: Any) -> None:  # noqa: ANN401 - a Click command
    """Print the help of a command, and of all below it, in panels."""
    command.format_help = partial(_format_help, command)
    for child in getattr(command, "commands", {}).values():
        use_help_screen(child)


def _format_help(command: Any, context: Any, formatter: Any) -> None:  # noqa: ANN401
    """Write the help to Click's formatter; stands in for a method of the command."""
    width = help_width()
    head = [*_usage(command, context, width), *_description(command, width)]
    if _is_single(command):
        head += ["", *_indented(_wrapped(ENVIRONMENT_NOTE, width - 2))]
    write = _framed if has_frames(sys.stdout) else _plain
    formatter.write(write(head, _panels(command, context), width))


def help_width() -> int:
    """Return the width of the terminal within its bounds; 80 without one."""
    return min(max(shutil.get_terminal_size((80, 24)).columns, NARROWEST), WIDEST)


def has_frames(stream: TextIO) -> bool:
    """Return whether frames and colours are shown: a terminal, and no NO_COLOR."""
    encoding = (getattr(stream, "encoding", None) or "").lower()
    return has_colours(stream) and encoding.startswith("utf")


def _usage(command: Any, context: Any, width: int) -> Iterator[str]:  # noqa: ANN401
    """Yield the usage: arguments first, as examples have them, then options."""
    words = [_usage_of(one) for one in command.params if _is_argument(one)]
    if not _is_single(command):
        words = ["COMMAND"]
    text = " ".join(["Usage:", context.command_path, *words, "[OPTIONS]"])
    yield from textwrap.wrap(text, width, subsequent_indent=" " * 7)


def _usage_of(argument: Any) -> str:  # noqa: ANN401 - a Click argument
    name = _name_of(argument)
    return name if argument.required else f"[{name}]"


def _name_of(argument: Any) -> str:  # noqa: ANN401 - a Click argument
    """Return the name of an argument as the help shows it, as ``SNAP...``."""
    name = (argument.metavar or argument.name.upper()).strip("[].")
    return name if argument.nargs == 1 else f"{name}..."


def _is_argument(parameter: Any) -> bool:  # noqa: ANN401 - a Click parameter
    return bool(parameter.param_type_name == "argument")


def _description(command: Any, width: int) -> Iterator[str]:  # noqa: ANN401
    """Yield the paragraphs of a command's help, indented, a blank line before each."""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        yield ""
        if paragraph.startswith(AS_IT_IS):
            kept = paragraph.removeprefix(AS_IT_IS).strip("\n").splitlines()
            yield from _indented(kept)
        else:
            yield from _indented(_wrapped(paragraph, width - 2))


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _panels(command: Any, context: Any) -> Iterator[tuple[str, list[Row]]]:  # noqa: ANN401
    """Yield the panels of a command: arguments, subcommands, and options."""
    parameters = command.get_params(context)
    arguments = [one for one in parameters if _is_argument(one)]
    options = [one for one in parameters if not _is_argument(one)]
    texts = _parameter_rows(arguments, context)
    names = map(_name_of, arguments)
    rows = [(name, text) for name, (_, text) in zip(names, texts, strict=True)]
    yield "Arguments", rows
    yield from _command_panels(getattr(command, "commands", {}))
    for panel, members in options_by_panel(options, "Options").items():
        yield panel, _parameter_rows(members, context)


def _command_panels(commands: Mapping[str, Any]) -> Iterator[tuple[str, list[Row]]]:
    """Yield the panels of subcommands; in each of them groups come first."""
    panels: dict[str, list[Row]] = {}
    longest = max(map(len, commands), default=0)
    for child in sorted(
        commands.values(), key=lambda one: not hasattr(one, "commands")
    ):
        row = (f"{child.name:<{longest}}", _summary(child))
        panels.setdefault(child.rich_help_panel or "Commands", []).append(row)
    ranks = {name: rank for rank, name in enumerate(COMMAND_PANELS)}
    for panel in sorted(panels, key=lambda name: ranks.get(name, len(ranks))):
        yield panel, panels[panel]


def _is_single(command: Any) -> bool:  # noqa: ANN401 - a Click command
    return not hasattr(command, "commands")


def _summary(command: Any) -> str:  # noqa: ANN401 - a Click command
    """Return the first paragraph of a command's help, on one line."""
    first = inspect.cleandoc(command.help or "").partition("\n\n")[0]
    return " ".join(first.split()).removesuffix(".")


def _parameter_rows(parameters: Iterable[Any], context: Any) -> list[Row]:  # noqa: ANN401
    records = (parameter.get_help_record(context) for parameter in parameters)
    return [record for record in records if record is not None]


def _lines(rows: Sequence[Row], width: int) -> Iterator[str]:
    """Yield names and texts in two columns; a text is below a name that is long."""
    lengths = [len(name) for name, _ in rows if len(name) <= LONGEST_NAME]
    indent = max(lengths, default=0) + GAP
    for name, text in rows:
        lines = _wrapped(text, width - indent) or [""]
        if len(name) > LONGEST_NAME:
            yield from textwrap.wrap(name, width, break_on_hyphens=False)
        else:
            yield f"{name:<{indent}}{lines.pop(0)}".rstrip()
        yield from (" " * indent + line for line in lines)


def _wrapped(text: str, width: int) -> list[str]:
    # An option is not broken at its hyphens: it could not be copied.
    return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


def _plain(
    head: Sequence[str], panels: Iterable[tuple[str, list[Row]]], width: int
) -> str:
    lines = list(head)
    for name, rows in panels:
        if rows:
            lines += ["", f"{name}:"]
            lines += _indented(_lines(rows, width - 2))
    return "".join(f"{line}\n" for line in lines)


def _framed(
    head: Sequence[str], panels: Iterable[tuple[str, list[Row]]], width: int
) -> str:
    from rich.console import Console, Group
    from rich.panel import Panel
    from rich.text import Text

    def coloured(lines: Iterable[str]) -> Text:
        text = Text("\n".join(lines), no_wrap=True, overflow="ignore")
        text.highlight_regex(r"(?<![\w-])--?[a-z][\w-]*", "cyan")
        text.highlight_regex(r"\[[^\]]*: [^\]]*\]|\[required\]", "dim")
        return text

    parts = [
        Panel(
            coloured(_lines(rows, width - 4)),
            title=f"[bold]{name}[/bold]",
            title_align="left",
            border_style="dim",
        )
        for name, rows in panels
        if rows
    ]
    console = Console(width=width, force_terminal=True, legacy_windows=False)
    with console.capture() as captured:
        console.print(Group(coloured(head), "", *parts))
    return captured.get()
