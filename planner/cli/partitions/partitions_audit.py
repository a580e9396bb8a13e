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
from planner.io.gatherer import Gatherer

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
ProducerRate = Annotated[
    str | None,
    typer.Option(
        "--producer-rate",
        metavar="RATE",
        help="Rate of one producer into a partition; by default the most seen.",
    ),
]
ConsumerRate = Annotated[
    str | None,
    typer.Option(
        "--consumer-rate",
        metavar="RATE",
        help="Rate of one consumer from a partition; by default the most seen.",
    ),
]
Headroom = Annotated[
    float,
    typer.Option(
        "--headroom", metavar="FACTOR", help="Growth that a count should allow."
    ),
]
Many = Annotated[
    float,
    typer.Option(
        "--many",
        metavar="FACTOR",
        help="Factor above the needed count that is too many.",
    ),
]
LeadingBrokers = Annotated[
    int,
    typer.Option(
        "--leading-brokers",
        metavar="N",
        help="Brokers that should lead a partition of each topic, or all of fewer.",
    ),
]
RecoveryPerPartition = Annotated[
    str | None,
    typer.Option(
        "--recovery-per-partition",
        metavar="TIME",
        help="Recovery per partition; by default 0.0185ms.",
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
def audit(
    snapshot: OptionalSnapshot = None,
    *,
    source: ClusterSource,
    fail_on: FailOn = None,
    producer_rate: ProducerRate = None,
    consumer_rate: ConsumerRate = None,
    headroom: Headroom = 2.0,
    many: Many = 4.0,
    leading_brokers: LeadingBrokers = 12,
    recovery_per_partition: RecoveryPerPartition = None,
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
    from planner.partitions.audit_answer import (
        FIGURES,
        AuditRequest,
        audit_partitions,
    )
    from planner.score.fail_on import evaluate, parse_conditions

    inputs = Gatherer()
    texts = fail_on or []
    parsed = inputs.read(lambda: parse_conditions(texts, FIGURES, kind="an audit"))
    inputs.read(source.check)
    read = inputs.read(source.read_file)
    request = AuditRequest(
        producer_rate=producer_rate,
        consumer_rate=consumer_rate,
        headroom=headroom,
        many=many,
        leading_brokers=leading_brokers,
        recovery_per_partition=recovery_per_partition,
    )
    if read is None:
        inputs.raise_problems()
        read = source.read_live()
    cluster = read
    found = inputs.read(lambda: audit_partitions(cluster, request))
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
