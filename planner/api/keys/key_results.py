"""Skew and growth of keys from Python, with results as tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from planner.api.errors import named_as_arguments
from planner.api.table import Screen, Table
from planner.errors import BadInputError, InputProblem
from planner.keys.broker_paces import PacesRequest
from planner.keys.formats.read_sample import SampleBuilder, read_sample
from planner.keys.growth_document import growth_document
from planner.keys.key_types import is_key_type
from planner.keys.keys_request import (
    SkewRequest,
    answer_growth,
    answer_skew,
    topic_facts,
)
from planner.keys.keys_screen import growth_screen, skew_screen
from planner.keys.sample_options import MOST_MESSAGE_BYTES, SampleOptions
from planner.keys.sample_rows import SampleRows, no_column, untyped_numbers
from planner.keys.skew_document import skew_document
from planner.keys.streamed.stream_skew import stream_skew
from planner.report.charts.key_pictures import key_pictures
from planner.report.notebook_charts import chart_of, svg_charts
from planner.snapshot import Snapshot

_SAMPLE = "sample"
AnySample = str | PathLike[str] | Iterable[str | int | bytes | None]
"""
Path of a sample, or keys themselves, one per record; `None` for no key.

A DataFrame of pandas or polars, or an Arrow table, is read at its key column.
"""


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
    sample: AnySample,
    *,
    partitions: int,
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
) -> KeysResult:
    """
    Find the share of each partition, the hottest keys, and the causes of skew.

    Parameters
    ----------
    sample
        Path of a sample, or the keys of records.
    partitions
        Partitions of the topic.
    partitioner
        Name, or names, the first of which the others are compared with.
    key_type, key_column, key_encoding, schema_id
        Serializer of the keys, the column of the key in a file, the encoding of texts,
        and the id of the schema before each key.
    sample_format
        Format of a file; by default that of its name.
    topic
        Topic of the sample: records of others are refused.
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

    Raises
    ------
    BadInputError
        If the sample or an option is wrong; has every problem.

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
        partitions=partitions,
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
    reading = SampleOptions(
        sample_format=sample_format,
        key_column=key_column,
        key_type=key_type,
        encoding=key_encoding,
        schema_id=schema_id,
        topic=topic,
        most_bytes=max_message_bytes,
        record_bytes=record_bytes,
    )
    with named_as_arguments({"no_adaptive": "adaptive"}):
        options = request.options()
        if max_keys is None:
            found = answer_skew(_read(sample, reading), options)
        else:
            request.paces.refuse_beside("max_keys")
            path = Path(_file_of(sample))
            found = stream_skew(path, reading, options, max(max_keys, 1))
    return KeysResult(skew_document(found))


def keys_grow(
    sample: AnySample,
    *,
    old: int,
    new: int,
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
) -> KeysResult:
    """
    Find the keys that change partition when a topic grows.

    Parameters
    ----------
    sample, partitioner, key_type, key_column, key_encoding, schema_id, sample_format
        As in `keys_skew`.
    old, new
        Partitions before and after.
    snapshot, topic
        Cluster and topic, for what compaction and Kafka Streams make of it.
    joined_with
        Topics that are joined with it by key.
    max_message_bytes, seed
        As in `keys_skew`.
    top
        Moved keys listed, the hottest first.

    Raises
    ------
    BadInputError
        If the sample or an option is wrong; has every problem.

    Examples
    --------
    >>> import planner
    >>> growth = planner.keys_grow(map(str, range(10_000)), old=6, new=12)
    >>> round(growth.document["moved_share"], 2), growth.document["smallest_multiple"]
    (0.5, 12)
    """
    reading = SampleOptions(
        sample_format=sample_format,
        key_column=key_column,
        key_type=key_type,
        encoding=key_encoding,
        schema_id=schema_id,
        topic=topic,
        most_bytes=max_message_bytes,
    )
    with named_as_arguments():
        facts, _ = topic_facts(snapshot, topic, joined_with)
        read = _read(sample, reading)
        found = answer_growth(
            read, old, new, partitioner, seed=seed, num_examples=max(top, 0)
        )
    return KeysResult(growth_document(found, facts))


def _file_of(sample: AnySample) -> str | PathLike[str]:
    if isinstance(sample, str | PathLike):
        return sample
    found = InputProblem.of_option(
        "--max-keys", "", "is for samples in files", "leave it out"
    )
    msg = "keys are not counted like this"
    raise BadInputError(msg, [found])


def _read(sample: AnySample, options: SampleOptions) -> Any:  # noqa: ANN401 - a sample
    if isinstance(sample, str | PathLike):
        return read_sample(Path(sample), options)
    options.validate()
    builder = SampleBuilder(_SAMPLE, options)
    keys = _column(sample, options.key_column)
    if keys is not None and pa.types.is_integer(keys.type) and not options.key_type:
        raise untyped_numbers(_SAMPLE)
    if keys is None or not (keys.type == pa.null() or is_key_type(keys.type)):
        rule = "must be keys of one type: text, whole numbers or bytes"
        builder.problems.add("", None, rule, "give a key per record, or a path")
        builder.problems.raise_all()
    builder.add(SampleRows(keys=keys, first=0, unit="key"))
    return builder.build()


def _column(sample: Any, name: str) -> Any:  # noqa: ANN401 - a column of any library
    """
    Return keys as an Arrow array; `None` if they are none.

    DataFrames and tables are read at their key column. Iterating a pandas DataFrame
    would yield its column names.
    """
    columns = getattr(sample, "column_names", getattr(sample, "columns", None))
    if columns is not None:
        names = [str(each) for each in columns]
        if name not in names:
            raise no_column(_SAMPLE, name, names)
        sample = sample[name]
    if isinstance(sample, Mapping | bytes) or not isinstance(sample, Iterable):
        return None
    try:
        keys = pa.array(list(sample), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return None
    return keys
