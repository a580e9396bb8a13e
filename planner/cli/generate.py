"""`generate`: a new assignment of topics to brokers, as Kafka's own tool prints it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.cluster_source import ClusterSource, with_cluster
from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    Quiet,
    SnapshotNow,
)
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.input_problems import refuse_option
from planner.cli.common.output import print_json, print_words
from planner.io.gatherer import Gatherer

if TYPE_CHECKING:
    from planner.generate import Proposal

MAX_FINDINGS_SHOWN = 50

TopicsFile = Annotated[
    Path,
    typer.Option(
        "--topics-to-move-json-file",
        metavar="FILE",
        help='Topics to move: {"topics":[{"topic":"orders"}],"version":1}.',
    ),
]
BrokerList = Annotated[
    str,
    typer.Option(
        "--broker-list",
        metavar="IDS",
        help="Brokers of all replicas: 0,1,2 or 0-2.",
    ),
]
DisableRackAware = Annotated[
    bool,
    typer.Option("--disable-rack-aware", help="Ignore racks."),
]
FromScratch = Annotated[
    bool,
    typer.Option(
        "--from-scratch",
        help="Kafka's own proposal, drawn from --seed, with as many moves as it takes.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        help="Seed of Java's random numbers, with --from-scratch.",
    ),
]


@with_cluster()
def generate(
    *,
    topics_to_move_json_file: TopicsFile,
    broker_list: BrokerList,
    snapshot: SnapshotNow = None,
    source: ClusterSource,
    disable_rack_aware: DisableRackAware = False,
    from_scratch: FromScratch = False,
    seed: Seed = 1,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Propose a new assignment of topics, by the fewest moves.

    Counts of replicas become as even as racks allow. Prints the current and the
    proposed assignment like kafka-reassign-partitions --generate; changes nothing.
    Exits 3 if the proposal breaks a rule.

    Example: kafka-planner generate --topics-to-move-json-file topics.json
    --broker-list 0,1,2 --bootstrap-server kafka-1:9092
    """
    from planner.generate import GenerateRequest, read_topics_to_move
    from planner.generate import generate as propose

    inputs = Gatherer()
    inputs.read(source.check)
    topics = inputs.read(lambda: read_topics_to_move(topics_to_move_json_file))
    broker_ids = inputs.read(lambda: _read_brokers(broker_list))
    now = inputs.read(source.read_file)
    inputs.raise_problems()
    if topics is None or broker_ids is None:  # pragma: no cover - raised just above
        return
    if now is None:
        now = source.read_live()
    request = GenerateRequest(
        topics=topics,
        broker_ids=broker_ids,
        is_rack_aware=not disable_rack_aware,
        is_from_scratch=from_scratch,
        seed=seed,
        file=str(topics_to_move_json_file),
    )
    proposal = propose(now.to_state(), request)
    _print(proposal, output_format, quiet=quiet)
    raise typer.Exit(ExitCode.FINDINGS if proposal.findings else ExitCode.OK)


def _read_brokers(text: str) -> tuple[int, ...]:
    from planner.options.declared.broker_lists import read_broker_ids

    try:
        return read_broker_ids(text)
    except ValueError as error:
        remedy = "write ids and ranges: 0,1,2 or 0-2"
        refuse_option("--broker-list", text, str(error), remedy)


def _print(proposal: "Proposal", output_format: OutputFormat, *, quiet: bool) -> None:
    from planner.kafka_files.reassignment_file import format_reassignment
    from planner.text.format import wrapped

    if output_format is OutputFormat.JSON:
        print_json(_document(proposal))
        return
    typer.echo("Current partition replica assignment")
    typer.echo(format_reassignment(proposal.current) + "\n")
    typer.echo("Proposed partition reassignment configuration")
    typer.echo(format_reassignment(proposal.proposed))
    for sentence in () if quiet else _words(proposal):
        print_words("\n".join(wrapped(sentence)))


def _document(proposal: "Proposal") -> dict[str, Any]:
    import json

    from planner.kafka_files.reassignment_file import format_reassignment

    return {
        "current": json.loads(format_reassignment(proposal.current)),
        "proposed": json.loads(format_reassignment(proposal.proposed)),
        "moves": proposal.moves.model_dump(),
        "is_least": proposal.is_least,
        "ignored_brokers": list(proposal.ignored_brokers),
        "notes": list(proposal.notes),
        "findings": [finding.to_dict() for finding in proposal.findings],
    }


def _words(proposal: "Proposal") -> Iterator[str]:
    from planner.text.format import bytes_text, plural

    moves = proposal.moves
    for text in proposal.notes:
        yield f"note: {text}"
    for finding in proposal.findings[:MAX_FINDINGS_SHOWN]:
        yield f"finding: {finding.rule}: {finding.message}"
    if (rest := len(proposal.findings) - MAX_FINDINGS_SHOWN) > 0:
        yield f"  … and {rest} more; --format json lists all"
    least = ", the fewest for counts this even" if proposal.is_least else ""
    size = f" ({bytes_text(moves.bytes)})" if moves.bytes else ""
    yield (
        f"{plural(moves.replicas, 'replica')} copied{size}{least}; {moves.partitions} "
        f"of {plural(len(proposal.proposed), 'list')} change, and "
        f"{plural(moves.leaders, 'preferred leader')}"
    )
