"""The commands of `kafka-planner`, one module each, and their panels in the help."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import typer

from planner.cli.common.help_panels import (
    FLEETS,
    GROUPS,
    KEYS,
    LOOK,
    PLAN,
    RUN,
    START,
    STORE,
    TAKE,
)


class Command(NamedTuple):
    """A command, the panel that lists it, and its ``module:function`` below here."""

    name: str
    panel: str | None
    function: str


class Group(NamedTuple):
    """
    A group of commands, the panel that lists it, and the module of its application.

    `others` are its commands that have modules of their own.
    """

    name: str
    panel: str
    module: str
    others: Sequence[Command] = ()


COMMANDS = (
    Command("demo", START, "demo:demo"),
    Command("status", START, "status:status"),
    Command("generate", PLAN, "generate:generate"),
    Command("check", RUN, "check:check"),
    Command("apply", RUN, "run.apply:apply"),
    Command("cancel", RUN, "run.cancel:cancel"),
    Command("rollback", RUN, "run.rollback:rollback"),
    Command("verify", RUN, "verify:verify"),
    Command("explain", PLAN, "explain:explain"),
    Command("elect", RUN, "elect:elect"),
    Command("score", LOOK, "score:score"),
    Command("report", LOOK, "report.report_command:report"),
    Command("failures", LOOK, "failures:failures"),
    Command("size", LOOK, "size:size"),
    Command("what-if", LOOK, "what_if:what_if"),
    Command("ui", LOOK, "ui:ui"),
    Command("schema", LOOK, "schema:schema"),
)
"""Commands outside groups, in the order of the help."""

GROUPS_OF_COMMANDS = (
    Group(
        "snapshot",
        LOOK,
        "snapshot.snapshot_commands",
        (
            Command("live", TAKE, "snapshot.snapshot_live:live"),
            Command("import", TAKE, "snapshot.snapshot_import:import_files"),
            Command("synth", TAKE, "snapshot.snapshot_synth:synth"),
        ),
    ),
    Group("plan", PLAN, "plan.plan_commands"),
    Group(
        "fleet",
        FLEETS,
        "fleet.fleet_commands",
        (
            Command("ingest", STORE, "fleet.fleet_ingest:ingest"),
            Command("plan", "Score and plan", "fleet.fleet_plan:plan"),
            Command("changes", "Report", "fleet.fleet_changes:changes"),
            Command("overview", "Report", "fleet.fleet_overview:overview"),
            Command("trends", "Report", "fleet.fleet_trends:trends"),
        ),
    ),
    Group(
        "partitions",
        LOOK,
        "partitions.partition_commands",
        (
            Command("size", None, "partitions.partitions_size:size"),
            Command("audit", None, "partitions.partitions_audit:audit"),
        ),
    ),
    Group(
        "group",
        GROUPS,
        "group.group_commands",
        (
            Command("show", None, "group.group_show:show"),
            Command("offsets", None, "group.group_offsets:offsets"),
            Command("what-if", None, "group.group_what_if:what_if"),
        ),
    ),
    Group("keys", KEYS, "keys.keys_commands"),
    Group("config", PLAN, "plan.config_commands"),
)
"""Groups of commands, in the order of the help."""

NAMES = frozenset(each.name for each in (*COMMANDS, *GROUPS_OF_COMMANDS))


def register(app: typer.Typer, only: str | None = None) -> None:
    """
    Add every command to an application, or the only command or group that is run.

    To import all of them and to build their options takes a quarter of a second.
    Each module imports its libraries inside its functions, so that a command loads
    only the libraries that it uses.
    """
    for command in COMMANDS:
        if only in {None, command.name}:
            _add(app, command)
    for group in GROUPS_OF_COMMANDS:
        if only in {None, group.name}:
            app.add_typer(_application_of(group), rich_help_panel=group.panel)


def _add(app: typer.Typer, command: Command) -> None:
    module, function = command.function.split(":")
    add = app.command(command.name, rich_help_panel=command.panel)
    add(getattr(_imported(module), function))


def _imported(module: str) -> Any:  # noqa: ANN401 - a module
    return import_module(f"planner.cli.{module}")


@cache
def _application_of(group: Group) -> typer.Typer:
    """Return the application of a group; made once, since Typer registers for good."""
    app: typer.Typer = _imported(group.module).app
    for command in group.others:
        _add(app, command)
    return app
