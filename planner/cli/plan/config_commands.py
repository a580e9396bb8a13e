"""`config`: options of plans with their sources, and a file to start from."""

import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from planner.cli.common.common_options import Format, OutputFormat, Quiet
from planner.cli.common.output import print_json, print_words
from planner.cli.plan.plan_options import CommandOptions, with_plan_options
from planner.io.problems import refusal
from planner.options.declared.plan_options import OPTIONS, RULE_NAMES
from planner.text.format import labelled
from planner.text.table import Column, table_lines

SOURCES = {
    "COMMANDLINE": "command line",
    "ENVIRONMENT": "environment",
    "DEFAULT_MAP": "file",
    "DEFAULT": "default",
}
NAME_WIDTH, VALUE_WIDTH = 29, 20
COLUMNS = (
    Column("OPTION", least=NAME_WIDTH, gap=1),
    Column("VALUE", least=VALUE_WIDTH, gap=1),
    Column("SOURCE"),
)

app = typer.Typer(
    name="config",
    no_args_is_help=True,
    help="Show the options of plans, and write a file to keep them in.",
)


@app.command("show")
@with_plan_options(None)
def show(
    *,
    operation: Annotated[
        str, typer.Option("--operation", metavar="NAME", help="Operation of `plan`.")
    ] = "rebalance",
    options: CommandOptions,
) -> None:
    """
    Show the options of a plan, and where each came from.

    Exits 2 with every problem of the file or the options.

    Example: kafka-planner config show --config planner.toml --operation fix
    """
    from planner.cli.plan.config_options import plan_operations

    known = plan_operations()
    if operation not in known:
        msg = f"unknown operation {operation!r}; known: {', '.join(known)}"
        raise typer.BadParameter(msg)
    rows = _effective(operation, options)
    _check(operation, rows, options)
    if options.output_format is OutputFormat.JSON:
        path = options.config and str(options.config.path)
        settings = {row.pop("name"): row for row in rows}
        print_json({"operation": operation, "config": path, "settings": settings})
    else:
        typer.echo("\n".join(_table(rows)))


def _effective(operation: str, options: CommandOptions) -> list[dict[str, Any]]:
    """Return each option with its value, its source, and the place in the source."""
    from planner.cli.plan.config_options import plan_operations

    in_file = {} if options.config is None else options.config.of(operation)
    rows = []
    for name, option in plan_operations()[operation].items():
        source = options.sources.get(name, "DEFAULT")
        value, place = options.given.get(name, option.default), ""
        if source == "COMMANDLINE":
            place = option.option
        elif source == "ENVIRONMENT":
            place = f"PLANNER_{option.option[2:].replace('-', '_').upper()}"
        elif name in in_file and options.config is not None:
            source, value = "DEFAULT_MAP", in_file[name].value
            place = f"{options.config.path}: {in_file[name].place}"
        else:
            source, value = "DEFAULT", _default(name, option.default)
        value = str(value) if isinstance(value, StrEnum) else value
        row = {"value": value, "source": SOURCES[source], "place": place}
        rows.append({"name": name, **row})
    return _with_preset(rows)


def _with_preset(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with the rules of a preset where nothing else is given."""
    from planner.options.chosen_rules import preset_band, with_preset
    from planner.options.plan_request import read_values

    (chosen,) = (row["value"] for row in rows if row["name"] == "rules")
    if chosen is None:
        return rows
    preset = with_preset(read_values({"rules": chosen})[0])
    for row in rows:
        value = [str(preset_band(preset))] if row["name"] == "band" else None
        if row["name"] in RULE_NAMES:
            given = getattr(preset, row["name"])
            value = None if given == OPTIONS[row["name"]].default else given
        if row["source"] == "default" and value is not None:
            row |= {"value": value, "place": f"--rules {chosen}"}
    return rows


def _default(name: str, declared: object) -> object:
    """Return the default of an option, declared or not."""
    from placement.draft.draft import DEFAULT_THRESHOLDS
    from placement.model.targets import DEFAULT_BAND

    if name == "rack_rule":
        return "distribution"
    if name == "band":
        return [str(DEFAULT_BAND)]
    if name == "capacity_threshold":
        return [f"{resource}={value}" for resource, value in DEFAULT_THRESHOLDS.items()]
    return declared


def _check(operation: str, rows: list[dict[str, Any]], options: CommandOptions) -> None:
    """Refuse options that are wrong for every cluster."""
    from dataclasses import replace

    from planner.cli.plan.run_plan import check_options
    from planner.io.gatherer import Gatherer
    from planner.options.plan_request import PlanRequest

    values = {row["name"]: row["value"] for row in rows if row["name"] in OPTIONS}
    by_word = {word: name for name, word in SOURCES.items()}
    sources = {row["name"]: by_word[row["source"]] for row in rows}
    request = PlanRequest(operation, **values)
    named = replace(options, sources=sources, operation=operation)
    inputs = Gatherer()
    inputs.read(options.raise_problems)
    inputs.read(lambda: check_options(named, request, None))
    inputs.raise_problems()


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    head, *lines = table_lines(COLUMNS, map(_cells, rows))
    yield head
    for row, line in zip(rows, lines, strict=True):
        if _is_long(row):
            yield from labelled(row["name"], _shown(row["value"]), NAME_WIDTH + 1)
        yield line


def _cells(row: dict[str, Any]) -> tuple[str, str, str]:
    place = f": {row['place']}" if row["place"] else ""
    source = row["place"] if row["source"] == "file" else f"{row['source']}{place}"
    if _is_long(row):
        return "", "", source
    return row["name"], _shown(row["value"]), source


def _is_long(row: dict[str, Any]) -> bool:
    """Return whether a value needs a line of its own above that of its source."""
    return len(_shown(row["value"])) > VALUE_WIDTH


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)


@app.command("init")
def init(
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="File to write; by default stdout."
        ),
    ] = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Write a planner.toml that has every option as a comment.

    Exits 2 if the file exists.

    Example: kafka-planner config init -o planner.toml
    """
    from planner.cli.plan.config_options import plan_operations
    from planner.config.config_example import example_config

    text = example_config(plan_operations())
    if output is not None:
        _write_new(output, text)
    if output_format is OutputFormat.JSON:
        print_json({"path": None if output is None else str(output), "text": text})
    elif output is None:
        typer.echo(text, nl=False)
    elif not quiet:
        print_words(f"wrote {output}; uncomment the options that should hold")


def _write_new(path: Path, text: str) -> None:
    """Write a file that does not exist yet, as a whole or not at all."""
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        os.link(draft, path)
    except OSError as error:
        rule = f"the file cannot be written: {error.strerror or error}"
        msg = f"{path} was not written"
        raise refusal(msg, str(path), rule, "name another file with -o") from error
    finally:
        draft.unlink(missing_ok=True)
