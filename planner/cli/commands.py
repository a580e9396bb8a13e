"""Which commands there are: one module each."""

import typer


def register(app: typer.Typer) -> None:
    """
    Add every command to the application.

    Each module imports what it needs inside its functions, so that one command
    does not wait for the libraries of all.
    """
