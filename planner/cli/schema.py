"""`schema NAME`: the JSON Schema of a document."""

from typing import Annotated

import typer

from planner.cli.common.common_options import Format, OutputFormat
from planner.cli.common.output import print_json


def schema(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Name of the document; 'list' prints all names.",
        ),
    ],
    *,
    output_format: Format = OutputFormat.TEXT,
) -> None:
    """
    Print the JSON Schema of a document that is read or written.

    Example: kafka-planner schema snapshot
    """
    from planner.schema import SCHEMAS, json_schema

    if name == "list" and output_format is OutputFormat.TEXT:
        typer.echo("\n".join(sorted(SCHEMAS)))
    elif name == "list":
        print_json(sorted(SCHEMAS))
    elif name in SCHEMAS:
        print_json(json_schema(name))
    else:
        msg = f"unknown schema {name!r}; known: {', '.join(sorted(SCHEMAS))}"
        raise typer.BadParameter(msg)
