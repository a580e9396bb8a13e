"""`ui`: a local page on which what-if is played in a browser."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.common.cluster_source import ClusterSource, with_cluster
from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    Quiet,
    Verbose,
)
from planner.cli.common.output import print_json, print_words
from planner.cli.status import OptionalSnapshot
from planner.io.gatherer import Gatherer

if TYPE_CHECKING:
    from collections.abc import Callable

Port = Annotated[
    int,
    typer.Option(
        "--port", min=0, max=65535, help="Port on 127.0.0.1; 0: any that is free."
    ),
]
NoBrowser = Annotated[
    bool, typer.Option("--no-browser", help="Print the address, open no browser.")
]
Folder = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        metavar="FOLDER",
        help="Folder in which the page writes plan folders.",
    ),
]


@with_cluster("SNAP")
def ui(
    snapshot: OptionalSnapshot = None,
    *,
    source: ClusterSource,
    port: Port = 0,
    no_browser: NoBrowser = False,
    output: Folder = Path(),
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Serve a page on this machine to play what-if in a browser.

    Nothing changes the cluster, which is read once. Ctrl-C ends the server. Needs pip
    install 'kafka-planner[ui]'.

    Example: kafka-planner ui prod.json
    """
    from planner.extras import UI

    UI.require()
    from planner.ui.ui_run import listen, run

    inputs = Gatherer()
    inputs.read(source.check)
    read = inputs.read(source.read_file)
    with ExitStack() as stack:
        listener = inputs.read(lambda: stack.enter_context(listen(port)))
        inputs.raise_problems()
        assert listener is not None  # noqa: S101 - else there were problems
        run(
            read or source.read_live(),
            name="snapshot.json.gz" if snapshot is None else str(snapshot),
            output=output,
            listener=listener,
            opens=not no_browser,
            started=_started(listener.getsockname()[1], output, output_format),
        )
    if not quiet:
        print_words("the page is served no more")


def _started(
    port: int, output: Path, output_format: OutputFormat
) -> "Callable[[str], None]":
    """Return the function that prints the address of the page."""

    def started(url: str) -> None:
        if output_format is OutputFormat.JSON:
            print_json({"url": url, "port": port, "folder": str(output)})
        else:
            typer.echo(f"What if, until Ctrl-C: {url}")
        typer.get_text_stream("stdout").flush()

    return started
