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
Band = Annotated[
    list[str] | None,
    typer.Option(
        "--band",
        metavar="[RESOURCE=]FRACTION",
        help="Width of the bands; by default 0.10. Repeatable.",
    ),
]
CapacityThreshold = Annotated[
    list[str] | None,
    typer.Option(
        "--capacity-threshold",
        metavar="RESOURCE=FRACTION",
        help="Fraction of a capacity that a broker may use; by default 0.8, cpu 0.7. "
        "Repeatable.",
    ),
]
