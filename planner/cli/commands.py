"""Which commands there are: one module each."""

import typer


def register(app: typer.Typer) -> None:
    """
    Add every command to the application.

    Each module imports what it needs inside its functions, so that one command
    does not wait for the libraries of all.
    """
    from planner.cli import check, plan, verify

    app.add_typer(plan.app)
    app.command("check")(check.check)
    app.command("verify")(verify.verify)
    from planner.cli import live, schema, snapshot

    live.add_to(snapshot.app)
    app.add_typer(snapshot.app)
    app.command("schema")(schema.schema)
