"""Which commands there are: one module each."""

import typer


def register(app: typer.Typer) -> None:
    """
    Add every command to the application.

    Each module imports what it needs inside its functions, so that one command
    does not wait for the libraries of all.
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
    from planner.cli.plan import config_commands, plan_commands
    from planner.cli.snapshot import (
        snapshot_commands,
        snapshot_import,
        snapshot_live,
        snapshot_synth,
    )

    app.command("demo")(demo.demo)
    app.command("status")(status.status)
    snapshot_live.add_to(snapshot_commands.app)
    snapshot_import.add_to(snapshot_commands.app)
    snapshot_synth.add_to(snapshot_commands.app)
    app.add_typer(snapshot_commands.app)
    app.add_typer(plan_commands.app)
    app.command("generate")(generate.generate)
    app.command("check")(check.check)
    app.command("verify")(verify.verify)
    app.command("explain")(explain.explain)
    app.command("elect")(elect.elect)
    fleet_ingest.add_to(fleet_commands.app)
    fleet_plan.add_to(fleet_commands.app)
    fleet_changes.add_to(fleet_commands.app)
    fleet_overview.add_to(fleet_commands.app)
    fleet_trends.add_to(fleet_commands.app)
    app.add_typer(fleet_commands.app)
    app.command("score")(score.score)
    app.command("failures")(failures.failures)
    app.command("size")(size.size)
    app.command("what-if")(what_if.what_if)
    group_commands.app.command("show")(group_show.show)
    group_commands.app.command("offsets")(group_offsets.offsets)
    group_commands.app.command("what-if")(group_what_if.what_if)
    app.add_typer(group_commands.app)
    app.add_typer(config_commands.app)
    app.command("schema")(schema.schema)
