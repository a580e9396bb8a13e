"""`elect`: leaders elected on a running cluster, previewed unless `--yes` is given."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
from planner.cli.common.exit_codes import ExitCode
from planner.cli.common.output import print_json, print_words
from planner.errors import BadInputError, InputProblem, raise_problems
from planner.io.gatherer import Gatherer
from planner.progress import stage

if TYPE_CHECKING:
    from planner.kafka.actions.elections import (
        ElectedPartitionRecord,
        ElectionType,
        ElectRecord,
    )
    from planner.kafka.client.admin_client import ClusterClient
    from planner.kafka.read.log_dirs import Partition

MAX_LINES = 50
_WHICH = "--all-topic-partitions, --path-to-json-file, --topic"

ElectionTypeOption = Annotated[
    str,
    typer.Option(
        "--election-type",
        metavar="preferred|unclean",
        help="preferred: the first replica, in sync; unclean: any, and records are "
        "lost.",
    ),
]
AllPartitions = Annotated[
    bool, typer.Option("--all-topic-partitions", help="All partitions of all topics.")
]
ElectionFile = Annotated[
    Path | None,
    typer.Option(
        "--path-to-json-file",
        metavar="FILE",
        help="Partitions as Kafka's tool takes them, or a plan folder.",
    ),
]
Topic = Annotated[
    str | None,
    typer.Option("--topic", metavar="T", help="Topic of one partition."),
]
PartitionNumber = Annotated[
    int | None,
    typer.Option("--partition", metavar="N", min=0, help="Number of that partition."),
]
JournalFile = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        metavar="FILE",
        help="Journal of the requests. Default: journal.jsonl in a plan folder, else "
        "none.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Elect; without it, a preview.")]


@with_cluster(has_partial=False)
def elect(
    *,
    election_type: ElectionTypeOption,
    all_topic_partitions: AllPartitions = False,
    path_to_json_file: ElectionFile = None,
    topic: Topic = None,
    partition: PartitionNumber = None,
    source: ClusterSource,
    yes: Yes = False,
    journal: JournalFile = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """
    Elect leaders on a running cluster; without --yes, a preview.

    Exits 0 if every partition has the requested leader, or would have; 3 if not. An
    unclean election loses records: each loss is listed.

    \b
    Example: kafka-planner elect --election-type preferred \\
        --all-topic-partitions --bootstrap-server k1:9092
    """  # noqa: D301 - the first is Click's mark to leave these lines as they are
    from planner.kafka.actions.elect_leaders import preview

    inputs = Gatherer()
    kind = inputs.read(lambda: _read_type(election_type))
    chosen = inputs.read(
        lambda: _choose(all_topic_partitions, path_to_json_file, topic, partition)
    )
    client = inputs.read(source.open)
    inputs.raise_problems()
    if kind is None or chosen is None or client is None:  # pragma: no cover - raised
        return
    is_json = output_format is OutputFormat.JSON
    with client:
        outcome = preview(client, chosen.names, kind)
        if yes:
            report = _no_progress if quiet else _progress(is_json)
            path = journal or _journal_of(path_to_json_file)
            outcome = _hold(client, outcome, report, path)
    for text in () if quiet else outcome.notes:
        _note(text)
    if is_json:
        print_json(outcome.model_dump(mode="json"))
    else:
        typer.echo("\n".join(_lines(outcome, sys.maxsize if verbose else MAX_LINES)))
        if not yes and not quiet:
            print_words("nothing was changed; run it again with --yes to elect")
    raise typer.Exit(ExitCode.OK if outcome.is_fine else ExitCode.FINDINGS)


def _journal_of(file: Path | None) -> Path | None:
    """Return the journal of the runs of a plan folder; `None` for other files."""
    from planner.execution.run.journal import journal_path

    return journal_path(file) if file is not None and file.is_dir() else None


def _hold(
    client: "ClusterClient",
    predicted: "ElectRecord",
    done: Callable[[int, int], None],
    path: Path | None,
) -> "ElectRecord":
    """Hold elections; each request is in the journal, if there is one, before it."""
    from planner.execution.run.journal import Journal
    from planner.execution.run.run_lock import run_lock
    from planner.kafka.actions.elect_leaders import hold

    if path is None:
        return hold(client, predicted, done=done)
    kind = predicted.election_type.value
    with run_lock(path), Journal(path) as lines:

        def asked(some: "Sequence[ElectedPartitionRecord]") -> None:
            keys = [[one.topic, one.partition] for one in some]
            lines.write("request", kind="election", election=kind, partitions=keys)

        def answered(some: "Sequence[ElectedPartitionRecord]") -> None:
            failed = [one for one in some if not one.outcome.is_fine]
            refused = [f"{x.name}: {x.outcome.value} {x.message}" for x in failed]
            lines.write("answer", refused=refused)

        return hold(client, predicted, done=done, asked=asked, answered=answered)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Partitions to elect leaders of; `None`: all."""

    names: "Sequence[Partition] | None"


def _no_progress(_: int, __: int) -> None:
    """Report no progress."""


def _note(text: str) -> None:
    print_words(f"note: {text}")


def _progress(is_json: bool) -> Callable[[int, int], None]:
    def report(num_done: int, num_all: int) -> None:
        if is_json:
            print_words(json.dumps({"asked_for": num_done, "of": num_all}))
        else:
            stage("requesting elections", num_done, num_all)

    return report


def _read_type(text: str) -> "ElectionType":
    from planner.kafka.actions.elections import ElectionType

    kinds = [kind.value for kind in ElectionType]
    if text.lower() in kinds:
        return ElectionType(text.lower())
    rule = f"must be {' or '.join(kinds)}"
    found = InputProblem.of_option("--election-type", text, rule, "write one of them")
    msg = "unknown type of election"
    raise BadInputError(msg, [found])


def _choose(
    is_all: bool, file: Path | None, topic: str | None, partition: int | None
) -> _Chosen:
    """Return the partitions that the options name."""
    from planner.kafka.read.log_dirs import Partition
    from planner.kafka_files.election_file import read_election_file

    is_given = (is_all, file is not None, topic is not None)
    problems = []
    if sum(is_given) != 1:
        value = "several" if any(is_given) else "none"
        rule = "exactly one of these options must be given"
        problems.append(InputProblem.of_option(_WHICH, value, rule, "give one of them"))
    if (topic is None) != (partition is None):
        rule = "must be given together"
        given = topic if partition is None else partition
        remedy = "name the topic and the partition"
        problems.append(
            InputProblem.of_option("--topic, --partition", given, rule, remedy)
        )
    raise_problems("no partitions chosen", problems)
    if topic is not None and partition is not None:
        return _Chosen([Partition(topic, partition)])
    if file is not None:
        return _Chosen([Partition(*pair) for pair in read_election_file(file)])
    return _Chosen(None)


def _lines(outcome: "ElectRecord", most: int) -> Iterator[str]:
    counts = [f"{n} {what.value}" for what, n in outcome.counts.items()]
    yield (
        f"{outcome.election_type.value} election, "
        f"{'done' if outcome.done else 'preview'}: "
        f"{', '.join(counts) or 'no partition'}"
    )
    # Failed elections come first; unchanged leaders are only counted.
    failed = [one for one in outcome.partitions if not one.outcome.is_fine]
    changed = [one for one in outcome.partitions if one.outcome.is_change]
    listed = [
        *map(_line, failed),
        *(loss.message for loss in outcome.losses),
        *map(_line, changed),
    ]
    yield from (f"  {line}" for line in listed[:most])
    if (rest := len(listed) - most) > 0:
        yield f"  … and {rest} more; --verbose or --format json lists all"


def _line(one: "ElectedPartitionRecord") -> str:
    if not one.outcome.is_fine:
        return f"{one.name}: {one.outcome.value}: {one.message}"
    before = "none" if one.leader is None else one.leader
    words = " (unclean)" if one.unclean else ""
    words += f"; {one.message}" if one.message else ""
    return f"{one.name}: leader {before} -> {one.new_leader}{words}"
