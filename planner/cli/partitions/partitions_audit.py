"""`partitions audit`: topics with far too many or too few partitions."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.cluster_source import ClusterSource, with_cluster
from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    Quiet,
    Verbose,
)
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json
from planner.cli.common.shared_options import gathered, gatherer_of
from planner.io.gatherer import Gatherer
from planner.options.declared.option import options_of
from planner.partitions.audit_options import AuditOptions

if TYPE_CHECKING:
    from planner.partitions.audit_answer import Audit

OptionalSnapshot = Annotated[
    Path | None,
    typer.Argument(
        metavar="[SNAP]",
        help="Snapshot: .json, .json.gz or a Parquet folder. Without: "
        "--bootstrap-server.",
        show_default=False,
    ),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="CONDITION",
        help="Exit 3 only where it holds: 'too_few>0 or saved_replicas>1000'. "
        "Repeatable.",
    ),
]


@with_cluster("SNAP")
@gathered(gatherer_of(options_of(AuditOptions).values()), instead_of="asked")
def audit(
    snapshot: OptionalSnapshot = None,
    *,
    source: ClusterSource,
    fail_on: FailOn = None,
    asked: dict[str, Any],
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    List topics with far too many, too few, uneven or empty partitions.

    The most valuable is first. Exits 3 if there is a finding, or with --fail-on if a
    condition holds. Where rates are unknown, so is whether there are too many.

    Example: kafka-planner partitions audit prod.json --fail-on 'too_few>0'
    """
    from planner.partitions.audit_answer import FIGURES, audit_partitions
    from planner.score.fail_on import evaluate, parse_conditions

    inputs = Gatherer()
    texts = fail_on or []
    parsed = inputs.read(lambda: parse_conditions(texts, FIGURES, kind="an audit"))
    inputs.read(source.check)
    read = inputs.read(source.read_file)
    if read is None:
        inputs.raise_problems()
        read = source.read_live()
    cluster = read
    found = inputs.read(lambda: audit_partitions(cluster, asked))
    inputs.raise_problems()
    if found is None:  # pragma: no cover - a problem has been raised
        return
    words = source.words
    answers = evaluate(parsed or {}, found.figures, file=words[-1])
    _print(found, answers, words, output_format)
    is_bad = any(one["holds"] for one in answers) if texts else bool(found.findings)
    raise typer.Exit(ExitCode.FINDINGS if is_bad else ExitCode.OK)


def _print(
    found: "Audit",
    answers: list[dict[str, Any]],
    words: list[str],
    output_format: OutputFormat,
) -> None:
    now = datetime.now(UTC)
    if output_format is OutputFormat.JSON:
        from planner.partitions.audit_document import audit_document

        print_json(audit_document(found, answers, now=now))
        return
    from planner.partitions.audit_screen import audit_screen

    typer.echo("\n".join(audit_screen(found, answers, words, now=now)))
