"""Options of scores that several commands share."""

from typing import Annotated

import typer

FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="CONDITION",
        help="Exit 3 where it holds: 'disk.max_use>0.85 or rack>0'. Repeatable.",
    ),
]
