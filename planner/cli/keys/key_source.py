"""Source of the sample of a `keys` command: a file, or a topic of a running cluster."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.cluster_source import ClusterSource
from planner.cli.common.common_options import (
    BootstrapServer,
    CommandConfig,
    Quiet,
    Resolve,
    Timeout,
)
from planner.cli.common.shared_options import gathered
from planner.errors import BadInputError, InputProblem

if TYPE_CHECKING:
    from planner.keys.growth.topic_facts import KnownTopics
    from planner.keys.key_sample import KeySample
    from planner.keys.sample_options import SampleOptions

LIVE_OPTION = "--bootstrap-server"
SampleArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="SAMPLE",
        help="Sample of keys: text with a key per line, CSV, JSON lines, Parquet, or "
        "output of the console consumer; none with --bootstrap-server and --topic.",
        show_default=False,
    ),
]
SampleFormatOption = Annotated[
    str | None,
    typer.Option(
        "--sample-format",
        metavar="FORMAT",
        help="text, csv, json (lines), parquet or console (output of Kafka's console "
        "consumer with print.key); by default by the name of the file.",
    ),
]
KeyColumnOption = Annotated[
    str,
    typer.Option("--key-column", metavar="NAME", help="Column or field of the key."),
]
KeyType = Annotated[
    str | None,
    typer.Option(
        "--key-type",
        metavar="TYPE",
        help="Serializer of the producers: string, int, long, uuid, bytes, base64, "
        "hex, avro-string or avro-long; by default string, or bytes as they are.",
    ),
]
KeyEncoding = Annotated[
    str,
    typer.Option(
        "--key-encoding",
        metavar="NAME",
        help="Encoding of strings, key.serializer.encoding.",
    ),
]
SchemaId = Annotated[
    int | None,
    typer.Option(
        "--schema-id",
        min=0,
        max=2**31 - 1,
        help="Id in the schema registry that the serializer writes before each key.",
    ),
]
Topic = Annotated[
    str | None,
    typer.Option("--topic", metavar="NAME", help="Topic that the sample is from."),
]
MaxMessageBytes = Annotated[
    int,
    typer.Option(
        "--max-message-bytes",
        min=1,
        help="max.message.bytes of the topic; longer keys are refused.",
    ),
]
RecordBytes = Annotated[
    int,
    typer.Option(
        "--record-bytes",
        min=0,
        help="Bytes of each record where the sample has none; 0: those of its key.",
    ),
]
MaxMessages = Annotated[
    int,
    typer.Option(
        "--max-messages",
        min=1,
        help="Last records to read of each partition of a live topic.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySource:
    """
    Source of a sample.

    Parameters
    ----------
    sample
        Path of a file, if one is named.
    options
        Reading of the sample, as fields of `SampleOptions`.
    topic
        Topic of the sample.
    max_messages
        Records read of each partition of a live topic.
    cluster
        Running cluster, if one is named.
    """

    sample: str | None
    options: dict[str, Any]
    topic: str | None
    max_messages: int
    cluster: ClusterSource

    def sample_options(self) -> "SampleOptions":
        """Return the options of reading."""
        from planner.keys.sample_options import SampleOptions

        return SampleOptions(**self.options, topic=self.topic)

    def read(self) -> "KeySample":
        """
        Return the sample.

        Raises
        ------
        BadInputError
            If no sample is named or two are, or it cannot be read.
        ClusterUnavailableError
            If the cluster cannot be reached, or denies reading the topic.
        """
        return self._read(with_topics=False)[0]

    def read_with_topics(self) -> "tuple[KeySample, KnownTopics | None]":
        """
        Return the sample, and the topics of the cluster that it is from, if it runs.

        Raises
        ------
        BadInputError, ClusterUnavailableError
            As in `read`.
        """
        return self._read(with_topics=True)

    def spark_sample(self) -> tuple[str, "SampleOptions"]:
        """
        Return the path of a sample that Spark reads, and the options of reading.

        Raises
        ------
        BadInputError
            If no sample is named, or an option is wrong.
        """
        options = self.sample_options()
        # Spark itself refuses formats that it does not have.
        replace(options, sample_format=None).validate()
        if self.cluster.is_live or self.sample is None:
            problem = InputProblem.of_option(
                "--spark", "", "needs a sample that Spark reads", "name its path"
            )
            raise _no_sample(problem)
        return self.sample, options

    def stream_sample(self) -> tuple[Path, "SampleOptions"]:
        """
        Return the path of a sample to read as a stream, and the options of reading.

        Raises
        ------
        BadInputError
            If no sample is named.
        """
        self._check()
        if self.cluster.is_live:
            raise not_streamed(LIVE_OPTION)
        return Path(self.sample or ""), self.sample_options()

    def _check(self) -> None:
        is_named = self.sample is not None
        if is_named == self.cluster.is_live:
            problem = InputProblem.of_option(
                "SAMPLE, --bootstrap-server",
                "both" if is_named else "neither",
                "exactly one of the two must be given",
                "name a sample, or give --bootstrap-server H:P and --topic",
            )
            raise _no_sample(problem)
        if self.cluster.is_live and self.topic is None:
            problem = InputProblem.of_option(
                "--topic", "none", "must name the live topic", "add --topic NAME"
            )
            raise _no_sample(problem)

    def _read(self, *, with_topics: bool) -> "tuple[KeySample, KnownTopics | None]":
        self._check()
        options = self.sample_options()
        if not self.cluster.is_live:
            from planner.keys.formats.read_sample import read_sample

            return read_sample(Path(self.sample or ""), options), None
        from planner.kafka.samples.cluster_topics import read_known_topics
        from planner.kafka.samples.topic_keys import read_topic_keys

        options.validate()
        with self.cluster.open() as client:
            found = read_topic_keys(client, options, self.max_messages)
            name = options.topic or ""
            return found, read_known_topics(client, name) if with_topics else None


def not_streamed(option: str) -> BadInputError:
    """Return the error for bounded counters with another source than a file."""
    rule = f"is for samples in files, without {option}"
    problem = InputProblem.of_option("--max-keys", "", rule, "leave it out")
    msg = "keys are not counted like this"
    return BadInputError(msg, [problem])


def _no_sample(problem: InputProblem) -> BadInputError:
    msg = "no sample to read"
    return BadInputError(msg, [problem])


def _source(
    *,
    sample_format: SampleFormatOption = None,
    key_column: KeyColumnOption = "key",
    key_type: KeyType = None,
    key_encoding: KeyEncoding = "utf-8",
    schema_id: SchemaId = None,
    topic: Topic = None,
    max_message_bytes: MaxMessageBytes = 1_048_588,
    record_bytes: RecordBytes = 0,
    max_messages: MaxMessages = 10_000,
    bootstrap_server: BootstrapServer = None,
    command_config: CommandConfig = None,
    resolve: Resolve = None,
    timeout: Timeout = 30.0,
    quiet: Quiet = False,
) -> KeySource:
    """Return the source that the options describe; the signature lists them."""
    return KeySource(
        sample=None,
        options={
            "sample_format": sample_format,
            "key_column": key_column,
            "key_type": key_type,
            "encoding": key_encoding,
            "schema_id": schema_id,
            "most_bytes": max_message_bytes,
            "record_bytes": record_bytes,
        },
        topic=topic,
        max_messages=max_messages,
        cluster=ClusterSource(
            bootstrap_server=bootstrap_server,
            command_config=command_config,
            resolve=resolve,
            timeout_s=timeout,
            quiet=quiet,
        ),
    )


with_key_source = gathered(_source, instead_of="source", argument="sample")
"""Decorator of a command that takes a `KeySource` as its parameter ``source``."""
