"""`partitions`: how many partitions topics need, and which have a bad count."""

import typer

app = typer.Typer(
    name="partitions",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Size the partitions of topics, and find bad counts.",
)
