"""Skew and growth of keys from Python, with results as tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from planner.api.errors import named_as_arguments
from planner.api.keys.sample_sources import AnySample, SampleSource
from planner.api.table import Screen, Table
from planner.errors import BadInputError, InputProblem
from planner.keys.broker_paces import PacesRequest
from planner.keys.growth.growth_document import growth_document
from planner.keys.growth.growth_request import answer_growth
from planner.keys.growth.topic_facts import known_topics, topic_facts
from planner.keys.key_skew import KeySkew
from planner.keys.keys_request import MOST_PARTITIONS, SkewRequest, answer_skew
from planner.keys.keys_screen import growth_screen, skew_screen
from planner.keys.sample_options import MOST_MESSAGE_BYTES, SampleOptions
from planner.keys.skew_document import skew_document
from planner.keys.streamed.stream_skew import stream_skew
from planner.report.charts.key_pictures import key_pictures
from planner.report.notebook_charts import chart_of, svg_charts
from planner.snapshot import Snapshot

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTITIONS, _FROM = "--partitions", "--from"
_ARGUMENTS = {
    "no_adaptive": "adaptive",
    "bootstrap_server": "bootstrap_servers",
    "from": "old",
    "to": "new",
}
"""Arguments by the names of their options, where the two differ."""


@dataclass(frozen=True, eq=False, repr=False)
class KeysResult(Screen):
    """
    Answer of `keys skew` or `keys grow`.

    Parameters
    ----------
    document
        The document that ``--format json`` prints.
    """

    document: Mapping[str, Any]

    def table(self, name: str) -> Table:
        """
        Return a list of the document, such as ``partitions``, as a table.

        Raises
        ------
        KeyError
            If the document has no list of this name.
        """
        lists = [key for key, value in self.document.items() if isinstance(value, list)]
        if name not in lists:
            msg = f"there is no {name!r}, only {', '.join(lists)}"
            raise KeyError(msg)
        return Table(pa.Table.from_pylist(list(self.document[name])))

    def plot(self) -> Any:  # noqa: ANN401 - of Altair
        """
        Return an Altair chart of the shares of partitions, and of the sweep.

        Raises
        ------
        BadInputError
            If the extra ``[report]`` is not installed.
        ValueError
            If the answer is of `keys grow`.
        """
        if self._is_growth:
            msg = "there are no shares of partitions to plot."
            raise ValueError(msg)
        return chart_of(key_pictures(self.document))

    @property
    def _is_growth(self) -> bool:
        return "moved_share" in self.document

    def __repr__(self) -> str:
        screen = growth_screen if self._is_growth else skew_screen
        return "\n".join(screen(self.document))

    def _repr_html_(self) -> str:
        text = super()._repr_html_()
        if self._is_growth:
            return text
        return text + svg_charts(key_pictures(self.document))


def keys_skew(
    sample: AnySample | None = None,
    *,
    partitions: int | None = None,
    partitioner: str | Sequence[str] = "default",
    key_type: str | None = None,
    key_column: str = "key",
    key_encoding: str = "utf-8",
    schema_id: int | None = None,
    sample_format: str | None = None,
    topic: str | None = None,
    record_bytes: int = 0,
    max_message_bytes: int = MOST_MESSAGE_BYTES,
    sweep: Iterable[int] = (),
    top: int = 10,
    max_keys: int | None = None,
    batch_bytes: int = 16_384,
    slow: Mapping[int, float] | None = None,
    away: Iterable[int] = (),
    adaptive: bool = True,
    availability_timeout: int = 0,
    seed: int = 1,
    bootstrap_servers: str | None = None,
    command_config: str | PathLike[str] | None = None,
    max_messages: int = 10_000,
    timeout_s: float = 30.0,
    spark: "SparkSession | None" = None,
) -> KeysResult:
    """
    Find the share of each partition, the hottest keys, and the causes of skew.

    Parameters
    ----------
    sample
        Path of a sample, or the keys of records; `None` for a live topic.
    partitions
        Partitions of the topic; `None` for those of a live topic.
    partitioner
        Name, or names, the first of which the others are compared with.
    key_type, key_column, key_encoding, schema_id
        Serializer of the keys, the column of the key in a file, the encoding of texts,
        and the id of the schema before each key.
    sample_format
        Format of a file; by default that of its name.
    topic
        Topic of the sample: records of others are refused. Live, the topic to read.
    record_bytes
        Bytes of each record where the sample has none; 0 for those of its key.
    max_message_bytes
        ``max.message.bytes`` of the topic: longer keys are refused.
    sweep
        Numbers of partitions to compare.
    top
        Hottest keys listed, and keys that another partitioner places elsewhere.
    max_keys
        Counters of keys, at least 1, for a file with more distinct keys than fit into
        memory: counts of hot keys get an error then. `None` to count every key.
    batch_bytes, seed
        ``batch.size``, and the seed, of records without keys.
    slow
        Part of an even share, from 0 to 1, that the broker of a partition takes, by
        partition.
    away
        Partitions without a leader.
    adaptive
        ``partitioner.adaptive.partitioning.enable``.
    availability_timeout
        Batches that the producer fills in ``partitioner.availability.timeout.ms``; 0
        for no timeout.
    bootstrap_servers, command_config, timeout_s
        Running cluster with the topic, as in `take_snapshot`.
    max_messages
        Last records to read of each partition of a live topic.
    spark
        Session that reads `sample`, a path or ``table:NAME``, in any format of its own.

    Raises
    ------
    BadInputError
        If the sample or an option is wrong; has every problem.
    ClusterUnavailableError
        If the cluster does not answer, or denies reading the topic.

    Examples
    --------
    >>> import planner
    >>> skew = planner.keys_skew(["a", "a", "b", "c"], partitions=3)
    >>> skew.document["max_over_mean"], skew.document["hot_keys"][0]["key"]
    (2.25, 'a')
    """
    counts = ",".join(str(count) for count in sweep) or None
    names = [partitioner] if isinstance(partitioner, str) else list(partitioner)
    request = SkewRequest(
        partitions=MOST_PARTITIONS if partitions is None else partitions,
        partitioners=names,
        sweep=counts,
        num_hot=top,
        batch_bytes=batch_bytes,
        seed=seed,
        paces=PacesRequest(
            slow=[
                f"{partition}={factor}" for partition, factor in (slow or {}).items()
            ],
            away=list(away),
            is_adaptive=adaptive,
            timeout_batches=availability_timeout,
        ),
    )
    source = SampleSource(
        sample=sample,
        options=SampleOptions(
            sample_format=sample_format,
            key_column=key_column,
            key_type=key_type,
            encoding=key_encoding,
            schema_id=schema_id,
            topic=topic,
            most_bytes=max_message_bytes,
            record_bytes=record_bytes,
        ),
        bootstrap_servers=bootstrap_servers,
        command_config=command_config,
        timeout_s=timeout_s,
        max_messages=max_messages,
    )
    with named_as_arguments(_ARGUMENTS):
        if partitions is None and not source.is_live:
            raise _no_count(_PARTITIONS)
        found = _skew(
            source, request, max_keys, spark, has_count=partitions is not None
        )
    return KeysResult(skew_document(found))


def _skew(
    source: SampleSource,
    request: SkewRequest,
    max_keys: int | None,
    spark: "SparkSession | None",
    *,
    has_count: bool,
) -> KeySkew:
    options = request.options()
    if spark is not None:
        from planner.spark.keys.key_skew import skew_on_spark

        request.paces.refuse_beside("spark")
        if max_keys is not None:
            raise _not_together()
        replace(source.options, sample_format=None).validate()
        return skew_on_spark(spark, source.path("spark"), source.options, request)
    if max_keys is not None:
        request.paces.refuse_beside("max_keys")
        path = Path(source.path("--max-keys"))
        return stream_skew(path, source.options, options, max(max_keys, 1))
    read = source.read()
    if not has_count:
        options = replace(request, partitions=read.num_partitions or 1).options()
    return answer_skew(read, options)


def keys_grow(
    sample: AnySample | None = None,
    *,
    new: int,
    old: int | None = None,
    partitioner: str = "default",
    key_type: str | None = None,
    key_column: str = "key",
    key_encoding: str = "utf-8",
    schema_id: int | None = None,
    sample_format: str | None = None,
    snapshot: Snapshot | None = None,
    topic: str | None = None,
    joined_with: Sequence[str] = (),
    max_message_bytes: int = MOST_MESSAGE_BYTES,
    top: int = 10,
    seed: int = 1,
    bootstrap_servers: str | None = None,
    command_config: str | PathLike[str] | None = None,
    max_messages: int = 10_000,
    timeout_s: float = 30.0,
) -> KeysResult:
    """
    Find the keys that change partition when a topic grows.

    Parameters
    ----------
    sample, partitioner, key_type, key_column, key_encoding, schema_id, sample_format
        As in `keys_skew`.
    new
        Partitions after.
    old
        Partitions before; `None` for those of the topic, in the snapshot or live.
    snapshot, topic
        Cluster and topic, for what compaction and Kafka Streams make of it.
    joined_with
        Topics that are joined with it by key.
    max_message_bytes, seed
        As in `keys_skew`.
    top
        Moved keys listed, the hottest first.
    bootstrap_servers, command_config, max_messages, timeout_s
        As in `keys_skew`. Without a snapshot, compaction and other topics are those of
        the running cluster.

    Raises
    ------
    BadInputError
        If the sample or an option is wrong; has every problem.
    ClusterUnavailableError
        If the cluster does not answer, or denies reading the topic.

    Examples
    --------
    >>> import planner
    >>> growth = planner.keys_grow(map(str, range(10_000)), old=6, new=12)
    >>> round(growth.document["moved_share"], 2), growth.document["smallest_multiple"]
    (0.5, 12)
    """
    source = SampleSource(
        sample=sample,
        options=SampleOptions(
            sample_format=sample_format,
            key_column=key_column,
            key_type=key_type,
            encoding=key_encoding,
            schema_id=schema_id,
            topic=topic,
            most_bytes=max_message_bytes,
        ),
        bootstrap_servers=bootstrap_servers,
        command_config=command_config,
        timeout_s=timeout_s,
        max_messages=max_messages,
    )
    with named_as_arguments(_ARGUMENTS):
        known = None
        if snapshot is not None and topic is not None:
            known = known_topics(snapshot, topic)
        facts, counted = topic_facts(known, topic, joined_with)
        if old is None and counted is None and not source.is_live:
            raise _no_count(_FROM)
        read, live = source.read_with_topics()
        if known is None:
            facts, counted = topic_facts(live, topic, joined_with)
        before = (counted or 1) if old is None else old
        found = answer_growth(
            read, before, new, partitioner, seed=seed, num_examples=max(top, 0)
        )
    return KeysResult(growth_document(found, facts))


def _no_count(option: str) -> BadInputError:
    rule = "must be given unless the topic is a live one"
    problem = InputProblem.of_option(option, "none", rule, "")
    msg = "the number of partitions is unknown"
    return BadInputError(msg, [problem])


def _not_together() -> BadInputError:
    rule = "is for one process, without spark"
    problem = InputProblem.of_option("--max-keys", "", rule, "leave it out")
    msg = "keys are not counted like this"
    return BadInputError(msg, [problem])
