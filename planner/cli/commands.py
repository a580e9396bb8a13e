"""The commands of `kafka-planner`, one module each, and their panels in the help."""

import typer

from planner.cli.common.help_panels import FLEETS, GROUPS, KEYS, LOOK, PLAN, RUN, START


def register(app: typer.Typer) -> None:
    """
    Add every command to the application.

    Each module imports its libraries inside its functions, so that a command loads
    only the libraries that it uses.
    """
    from planner.cli import (
        check,
        demo,
        elect,
        explain,
        failures,
        generate,
        schema,
        score,
        size,
        status,
        ui,
        verify,
        what_if,
    )
    from planner.cli.fleet import (
        fleet_changes,
        fleet_commands,
        fleet_ingest,
        fleet_overview,
        fleet_plan,
        fleet_trends,
    )
    from planner.cli.group import (
        group_commands,
        group_offsets,
        group_show,
        group_what_if,
    )
    from planner.cli.keys import keys_commands
    from planner.cli.partitions import (
        partition_commands,
        partitions_audit,
        partitions_size,
    )
    from planner.cli.plan import config_commands, plan_commands
    from planner.cli.report import report_command
    from planner.cli.run import apply, cancel, rollback
    from planner.cli.snapshot import (
        snapshot_commands,
        snapshot_import,
        snapshot_live,
        snapshot_synth,
    )

    app.command("demo", rich_help_panel=START)(demo.demo)
    app.command("status", rich_help_panel=START)(status.status)
    app.add_typer(snapshot_commands.app, rich_help_panel=LOOK)
    app.add_typer(plan_commands.app, rich_help_panel=PLAN)
    app.command("generate", rich_help_panel=PLAN)(generate.generate)
    app.command("check", rich_help_panel=RUN)(check.check)
    app.command("apply", rich_help_panel=RUN)(apply.apply)
    app.command("cancel", rich_help_panel=RUN)(cancel.cancel)
    app.command("rollback", rich_help_panel=RUN)(rollback.rollback)
    app.command("verify", rich_help_panel=RUN)(verify.verify)
    app.command("explain", rich_help_panel=PLAN)(explain.explain)
    app.command("elect", rich_help_panel=RUN)(elect.elect)
    app.add_typer(fleet_commands.app, rich_help_panel=FLEETS)
    app.command("score", rich_help_panel=LOOK)(score.score)
    app.command("report", rich_help_panel=LOOK)(report_command.report)
    app.command("failures", rich_help_panel=LOOK)(failures.failures)
    app.command("size", rich_help_panel=LOOK)(size.size)
    app.add_typer(partition_commands.app, rich_help_panel=LOOK)
    app.command("what-if", rich_help_panel=LOOK)(what_if.what_if)
    app.command("ui", rich_help_panel=LOOK)(ui.ui)
    app.add_typer(group_commands.app, rich_help_panel=GROUPS)
    app.add_typer(keys_commands.app, rich_help_panel=KEYS)
    app.add_typer(config_commands.app, rich_help_panel=PLAN)
    app.command("schema", rich_help_panel=LOOK)(schema.schema)
    for module in (snapshot_live, snapshot_import, snapshot_synth):
        module.add_to(snapshot_commands.app)
    for module in (
        fleet_ingest,
        fleet_plan,
        fleet_changes,
        fleet_overview,
        fleet_trends,
    ):
        module.add_to(fleet_commands.app)
    in_group, of_partitions = group_commands.app, partition_commands.app
    for group, name, function in (
        (in_group, "show", group_show.show),
        (in_group, "offsets", group_offsets.offsets),
        (in_group, "what-if", group_what_if.what_if),
        (of_partitions, "size", partitions_size.size),
        (of_partitions, "audit", partitions_audit.audit),
    ):
        group.command(name)(function)
