"""`partitions`: how many partitions topics need, and which have a bad count."""

import typer

app = typer.Typer(
    name="partitions",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="How many partitions topics need, and which have far too many or few.",
)
