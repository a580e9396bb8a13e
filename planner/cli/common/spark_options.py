"""Options and screens of the commands on Spark."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from planner.fleet.fleet_places import FolderCheck

MOST_NAMED = 5
INDENT = "  "
MOST_CLUSTERS = 50
FOR_STATUS = (
    "offline_partitions",
    "under_min_isr",
    "offline_replicas",
    "under_replicated",
)
"""Violations that call for `status`, the worst first."""

Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Spark's master, or a Spark Connect server, sc://HOST:PORT; by default "
        "that of spark-submit or of SPARK_REMOTE, else this machine.",
    ),
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark. Repeatable."),
]


def session_of(
    master: str | None,
    conf: Sequence[str] | None,
    *,
    in_python: bool = False,
    reads: Sequence["FolderCheck"] = (),
    writes: str = "",
) -> "SparkSession":
    """
    Return the Spark session that the options ask for.

    Parameters
    ----------
    master, conf
        Values of the options.
    in_python
        Whether nearly all of the work is done in Python.
    reads
        Folders that the command reads; those on this machine must exist.
    writes
        Destination: a path, or ``table:CATALOG.SCHEMA``.

    Raises
    ------
    BadInputError
        If a setting is invalid, a folder is missing, a schema has no name, or Spark or
        Java is not installed.
    """
    from planner.fleet.fleet_places import is_local, require_folders, require_schema
    from planner.spark.session import parse_conf, start_session

    asked = parse_conf(conf or [])
    require_schema(writes)
    if is_local(master, asked):
        require_folders(reads)
    return start_session(master=master, conf=asked, in_python=in_python)


def print_clusters(documents: Sequence[dict[str, Any]], paths: Sequence[Path]) -> None:
    """
    Print the figures of each snapshot in a line, the least balanced first.

    Parameters
    ----------
    documents, paths
        Scores of the snapshots, and their paths, in the same order.
    """
    pairs = zip(documents, paths, strict=True)
    ranked = sorted(pairs, key=lambda pair: _severity(pair[0]), reverse=True)
    shown = ranked[:MOST_CLUSTERS]
    head = ("Cluster", "taken", "replicas", "disk max", "cv", "out of band", "wrong")
    print_columns(
        head,
        [_line(document) for document, _ in shown],
        [wrong_now(document["violations"], path) for document, path in shown],
    )
    if len(documents) > len(shown):
        rest = len(documents) - len(shown)
        typer.echo(f"… and {rest} more; --format json has all")
    print_incomplete(documents)


def print_incomplete(documents: Sequence[dict[str, Any]]) -> None:
    """Print a note on incomplete snapshots, the first few by name."""
    incomplete = [str(each["cluster_id"]) for each in documents if not each["complete"]]
    if incomplete:
        rest = len(incomplete) - MOST_NAMED
        more = f" and {rest} more" if rest > 0 else ""
        typer.echo(
            "Note: topics or partitions are missing, their rows may arrive later: "
            f"{', '.join(incomplete[:MOST_NAMED])}{more}"
        )


def print_columns(
    head: Sequence[str], lines: Sequence[Sequence[str]], notes: Sequence[str] = ()
) -> None:
    """
    Print a table no wider than the screen, with notes below its lines.

    Parameters
    ----------
    head, lines
        Cells by column.
    notes
        Note on each line, printed below it and wrapped; an empty one is not printed.
    """
    from planner.text.format import SCREEN_WIDTH, wrapped
    from planner.text.printable import shorten
    from planner.text.table import Column, table_lines

    name, *rest = head
    columns = [Column(name, cut="middle", is_flexible=True), *map(Column, rest)]
    shown = table_lines(columns, lines)
    for row, note in zip(shown, ("", *(notes or [""] * len(lines))), strict=True):
        typer.echo(shorten(row, SCREEN_WIDTH))
        for line in wrapped(note, SCREEN_WIDTH - len(INDENT)):
            typer.echo(f"{INDENT}{line}")


def wrong_now(violations: Mapping[str, int], path: Path) -> str:
    """
    Return what is wrong now, as scores without Spark begin; empty if nothing is.

    Examples
    --------
    >>> counts = {"offline_partitions": 0, "under_min_isr": 2, "offline_replicas": 0}
    >>> wrong_now(counts | {"under_replicated": 0}, Path("prod"))
    'Wrong now: 2 partitions under min ISR; see kafka-planner status prod'
    """
    from planner.score.score_verdict import WRONG
    from planner.text.format import plural

    found = [(violations[rule], *WRONG[rule]) for rule in FOR_STATUS]
    texts = [f"{plural(n, noun)} {words}" for n, noun, words in found if n]
    if not texts:
        return ""
    see = shlex.join(["kafka-planner", "status", str(path)])
    return f"Wrong now: {'; '.join(texts)}; see {see}"


def _severity(document: dict[str, Any]) -> tuple[int, float]:
    disk = document["resources"]["disk"]
    return document["violations"]["offline_partitions"], disk["max_deviation"] or 0.0


def _figure(value: float | None, unit: str = "") -> str:
    return "?" if value is None else f"{value:.2f}{unit}"


def _line(document: dict[str, Any]) -> tuple[str, ...]:
    resources, violations = document["resources"], document["violations"]
    # A resource that was not measured has no figure.
    out = sum(figures["brokers_out_of_band"] or 0 for figures in resources.values())
    wrong = sum(violations[rule] for rule in ("rack", "offline_partitions"))
    return (
        str(document["cluster_id"])[:20],
        (document["taken_at"] or "unknown")[:10],
        f"{document['replicas']:,}",
        _figure(resources["disk"]["max_over_mean"], " x"),
        _figure(resources["disk"]["cv"]),
        str(out),
        str(wrong + violations["under_min_isr"]),
    )
