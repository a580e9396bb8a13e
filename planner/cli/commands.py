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
        config,
        demo,
        elect,
        explain,
        failures,
        fleet,
        fleet_changes,
        fleet_ingest,
        fleet_overview,
        fleet_plan,
        fleet_trends,
        generate,
        group,
        group_offsets,
        group_show,
        group_what_if,
        importing,
        live,
        plan,
        schema,
        score,
        size,
        snapshot,
        status,
        synth,
        verify,
        what_if,
    )

    app.command("demo")(demo.demo)
    app.command("status")(status.status)
    live.add_to(snapshot.app)
    importing.add_to(snapshot.app)
    synth.add_to(snapshot.app)
    app.add_typer(snapshot.app)
    app.add_typer(plan.app)
    app.command("generate")(generate.generate)
    app.command("check")(check.check)
    app.command("verify")(verify.verify)
    app.command("explain")(explain.explain)
    app.command("elect")(elect.elect)
    fleet_ingest.add_to(fleet.app)
    fleet_plan.add_to(fleet.app)
    fleet_changes.add_to(fleet.app)
    fleet_overview.add_to(fleet.app)
    fleet_trends.add_to(fleet.app)
    app.add_typer(fleet.app)
    app.command("score")(score.score)
    app.command("failures")(failures.failures)
    app.command("size")(size.size)
    app.command("what-if")(what_if.what_if)
    group.app.command("show")(group_show.show)
    group.app.command("offsets")(group_offsets.offsets)
    group.app.command("what-if")(group_what_if.what_if)
    app.add_typer(group.app)
    app.add_typer(config.app)
    app.command("schema")(schema.schema)
