"""`keys`: where keys are, how skewed, and what more partitions move."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.common_options import Format, OutputFormat, Verbose
from planner.cli.common.output import print_json
from planner.cli.common.spark_options import Conf, Master, session_of
from planner.cli.keys.key_source import (
    KeySource,
    SampleArgument,
    not_streamed,
    with_key_source,
)
from planner.errors import BadInputError, InputProblem

if TYPE_CHECKING:
    from planner.keys.growth.topic_facts import KnownTopics
    from planner.keys.key_sample import KeySample
    from planner.keys.keys_request import SkewRequest

app = typer.Typer(
    name="keys",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Skew of keys over partitions, and keys that more partitions move.",
)

PARTITIONS_OPTION, FROM_OPTION = "--partitions", "--from"
SPARK_OPTION, MAX_KEYS_OPTION = "--spark", "--max-keys"
Partitions = Annotated[
    int | None,
    typer.Option(
        "--partitions",
        min=1,
        help="Partitions of the topic; by default those of a live topic.",
    ),
]
Partitioners = Annotated[
    list[str] | None,
    typer.Option(
        "--partitioner",
        metavar="NAME",
        help="default, default-sticky, uniform-sticky, builtin, roundrobin, "
        "roundrobin-skips, consistent, consistent-random, murmur2, murmur2-random, "
        "fnv1a, fnv1a-random, random, sarama, sarama-reference, kafka-python, or "
        "package.module:Class. Repeatable: the others are compared with the first.",
    ),
]
OnePartitioner = Annotated[
    str,
    typer.Option(
        "--partitioner",
        metavar="NAME",
        help="Partitioner of the producers; see keys skew --help.",
    ),
]
Sweep = Annotated[
    str | None,
    typer.Option(
        "--sweep",
        metavar="COUNTS",
        help="Numbers of partitions to compare, such as 3-48 or 6,12,24.",
    ),
]
Top = Annotated[
    int,
    typer.Option(
        "--top",
        min=0,
        max=10_000,
        help="Keys listed: the hottest ones, and those that clients place apart.",
    ),
]
MovedTop = Annotated[
    int,
    typer.Option(
        "--top", min=0, max=100_000_000, help="Moved keys listed, the hottest first."
    ),
]
MaxKeys = Annotated[
    int | None,
    typer.Option(
        MAX_KEYS_OPTION,
        min=1,
        max=100_000_000,
        metavar="N",
        help="Counters of keys, for a file with more distinct keys than fit into "
        "memory: hot keys get an error, shares stay exact.",
    ),
]
BatchBytes = Annotated[
    int,
    typer.Option(
        "--batch-bytes",
        min=1,
        help="batch.size of the producers, for records without keys.",
    ),
]
Slow = Annotated[
    list[str] | None,
    typer.Option(
        "--slow",
        metavar="PARTITION=FACTOR",
        help="Partition whose broker takes only this part of an even share, 0 to 1; "
        "of default and builtin, for records without keys. Repeatable.",
    ),
]
Away = Annotated[
    list[int] | None,
    typer.Option(
        "--away",
        metavar="PARTITION",
        min=0,
        help="Partition without a leader: it gets no records without keys. Repeatable.",
    ),
]
Adaptive = Annotated[
    bool,
    typer.Option(
        "--adaptive/--no-adaptive",
        help="partitioner.adaptive.partitioning.enable of the producers.",
    ),
]
AvailabilityTimeout = Annotated[
    int,
    typer.Option(
        "--availability-timeout",
        metavar="BATCHES",
        min=0,
        help="partitioner.availability.timeout.ms, as batches that the producer fills "
        "in that time; 0 for none.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of simulated random choices.")
]
From = Annotated[
    int | None,
    typer.Option(
        "--from",
        min=1,
        help="Partitions now; by default those of the topic.",
    ),
]
To = Annotated[int, typer.Option("--to", min=1, help="Partitions after the growth.")]
SnapshotOption = Annotated[
    Path | None,
    typer.Option(
        "--snapshot",
        metavar="SNAP",
        help="Snapshot with the topic of --topic: its partitions and configs.",
    ),
]
JoinedWith = Annotated[
    list[str] | None,
    typer.Option(
        "--joined-with",
        metavar="TOPIC",
        help="Topic that is joined with it by key, and must grow too. Repeatable.",
    ),
]


Plot = Annotated[
    bool,
    typer.Option("--plot", help="Also draw the shares and the sweep as bars of text."),
]
Spark = Annotated[
    bool,
    typer.Option("--spark", help="Use Spark, for samples too large for one process."),
]


@app.command("skew")
@with_key_source
def skew(
    sample: SampleArgument = None,
    *,
    partitions: Partitions = None,
    partitioner: Partitioners = None,
    sweep: Sweep = None,
    top: Top = 10,
    max_keys: MaxKeys = None,
    batch_bytes: BatchBytes = 16_384,
    slow: Slow = None,
    away: Away = None,
    adaptive: Adaptive = True,
    availability_timeout: AvailabilityTimeout = 0,
    seed: Seed = 1,
    spark: Spark = False,
    master: Master = None,
    conf: Conf = None,
    plot: Plot = False,
    output_format: Format = OutputFormat.TEXT,
    verbose: Verbose = False,
    source: KeySource,
) -> None:
    """
    Show the share of each partition, and the hottest keys.

    With --spark the sample is a path that Spark reads, in any format that it has, or
    table:NAME, and may have billions of rows.

    Example: kafka-planner keys skew keys.txt --partitions 12 --sweep 3-48
    """
    from planner.keys.broker_paces import PacesRequest
    from planner.keys.keys_request import MOST_PARTITIONS, SkewRequest, answer_skew
    from planner.keys.skew_document import skew_document
    from planner.keys.streamed.stream_skew import stream_skew

    names = partitioner or ["default"]
    paces = PacesRequest(
        slow=slow or (),
        away=away or (),
        is_adaptive=adaptive,
        timeout_batches=availability_timeout,
    )

    def request(count: int) -> SkewRequest:
        return SkewRequest(
            partitions=count,
            partitioners=names,
            sweep=sweep,
            num_hot=top,
            batch_bytes=batch_bytes,
            seed=seed,
            paces=paces,
        )

    if partitions is None and not source.cluster.is_live:
        raise no_count(PARTITIONS_OPTION)
    request(partitions or MOST_PARTITIONS).options()
    if spark or max_keys is not None:
        paces.refuse_beside(SPARK_OPTION if spark else MAX_KEYS_OPTION)
    if max_keys is not None:
        if spark:
            raise not_streamed(SPARK_OPTION)
        path, reading = source.stream_sample()
        options = request(partitions or 1).options()
        document = skew_document(stream_skew(path, reading, options, max_keys))
    elif spark:
        document = _on_spark(source, request(partitions or 1), master, conf)
    else:
        found = source.read()
        options = request(partitions or _num_partitions(found)).options()
        document = skew_document(answer_skew(found, options))
    _print(document, output_format)
    if plot and output_format is OutputFormat.TEXT:
        _print_plot(document)


@app.command("grow")
@with_key_source
def grow(
    sample: SampleArgument = None,
    *,
    old: From = None,
    new: To,
    partitioner: OnePartitioner = "default",
    snapshot: SnapshotOption = None,
    joined_with: JoinedWith = None,
    top: MovedTop = 10,
    seed: Seed = 1,
    output_format: Format = OutputFormat.TEXT,
    verbose: Verbose = False,
    source: KeySource,
) -> None:
    """
    Show the keys that change partition when a topic grows.

    Example: kafka-planner keys grow keys.txt --from 6 --to 8
    """
    from planner.keys.growth.growth_document import growth_document
    from planner.keys.growth.growth_request import answer_growth
    from planner.keys.growth.topic_facts import topic_facts

    topic, joined = source.topic, joined_with or []
    known = _snapshot_topics(snapshot, topic)
    facts, counted = topic_facts(known, topic, joined)
    if old is None and counted is None and not source.cluster.is_live:
        raise no_count(FROM_OPTION)
    found, live = source.read_with_topics()
    if known is None:
        facts, counted = topic_facts(live, topic, joined)
    before = old or counted or _num_partitions(found)
    growth = answer_growth(found, before, new, partitioner, seed=seed, num_examples=top)
    document = growth_document(growth, facts)
    _print(document, output_format, is_growth=True)


def _snapshot_topics(snapshot: Path | None, topic: str | None) -> "KnownTopics | None":
    from planner.cli.common.snapshot_reading import read_snapshot
    from planner.keys.growth.topic_facts import known_topics

    known = None if snapshot is None else read_snapshot(snapshot)
    return None if known is None or topic is None else known_topics(known, topic)


def _on_spark(
    source: KeySource,
    request: "SkewRequest",
    master: str | None,
    conf: list[str] | None,
) -> dict[str, Any]:
    """Return the document of a sample that Spark reads."""
    from planner.keys.skew_document import skew_document

    path, options = source.spark_sample()
    session = session_of(master, conf)
    from planner.spark.keys.key_skew import skew_on_spark

    return skew_document(skew_on_spark(session, path, options, request))


def _print_plot(document: dict[str, Any]) -> None:
    from planner.cli.common.plots import MOST_PLACES, drawn
    from planner.report.charts.key_pictures import key_pictures

    pictures = list(key_pictures(document, most=MOST_PLACES))
    typer.echo("\n".join(["", *drawn(pictures)]))


def _num_partitions(sample: "KeySample") -> int:
    """Return the partitions of the live topic that a sample is from."""
    return sample.num_partitions or 1


def no_count(option: str) -> BadInputError:
    """Return the error for a sample in a file without a number of partitions."""
    problem = InputProblem.of_option(
        option, "none", "must be given for a sample in a file", f"add {option} N"
    )
    msg = "the number of partitions is unknown"
    return BadInputError(msg, [problem])


def _print(
    document: dict[str, Any], output_format: OutputFormat, *, is_growth: bool = False
) -> None:
    if output_format is OutputFormat.JSON:
        print_json(document)
        return
    from planner.keys.keys_screen import growth_screen, skew_screen

    lines = growth_screen(document) if is_growth else skew_screen(document)
    typer.echo("\n".join(lines))
