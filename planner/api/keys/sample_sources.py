"""Source of a sample from Python: keys, a file, a running cluster, or Spark."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from planner.errors import BadInputError, InputProblem
from planner.keys.formats.read_sample import SampleBuilder, read_sample
from planner.keys.growth.topic_facts import KnownTopics
from planner.keys.key_sample import KeySample
from planner.keys.key_types import is_key_type
from planner.keys.sample_options import SampleOptions
from planner.keys.sample_rows import SampleRows, no_column, untyped_numbers

if TYPE_CHECKING:
    from planner.kafka.client.admin_client import ClusterClient

_SAMPLE = "sample"
_SERVERS = "--bootstrap-server"
AnySample = str | PathLike[str] | Iterable[str | int | bytes | None]
"""
Path of a sample, or keys themselves, one per record; `None` for no key.

A DataFrame of pandas or polars, or an Arrow table, is read at its key column.
"""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SampleSource:
    """
    Source of a sample: given keys or a path, or else a topic of a running cluster.

    Parameters
    ----------
    sample
        Path of a sample, or keys; `None` for a live topic.
    options
        Reading of the sample, and the topic.
    bootstrap_servers, command_config, timeout_s
        As of `planner.take_snapshot`.
    max_messages
        Last records to read of each partition of a live topic.
    """

    sample: AnySample | None
    options: SampleOptions
    bootstrap_servers: str | None = None
    command_config: str | PathLike[str] | None = None
    timeout_s: float = 30.0
    max_messages: int = 10_000

    @property
    def is_live(self) -> bool:
        """Whether a running cluster is named."""
        return self.bootstrap_servers is not None or self.command_config is not None

    def check(self) -> None:
        """
        Refuse a sample and a live topic at once, neither, or a topic without a name.

        Raises
        ------
        BadInputError
            With the problem.
        """
        if self.is_live == (self.sample is not None):
            rule = "exactly one of a sample and a running cluster must be given"
            value = "both" if self.is_live else "neither"
            remedy = "give keys or a path, or bootstrap_servers and topic"
            raise _no_sample(InputProblem.of_option(_SERVERS, value, rule, remedy))
        if self.is_live and self.options.topic is None:
            rule = "must name the live topic"
            raise _no_sample(InputProblem.of_option("--topic", "none", rule, ""))

    def read(self) -> KeySample:
        """
        Return the sample.

        Raises
        ------
        BadInputError
            If the sample or an option is wrong; has every problem.
        ClusterUnavailableError
            If the cluster does not answer, or denies reading the topic.
        """
        return self._read(with_topics=False)[0]

    def read_with_topics(self) -> tuple[KeySample, KnownTopics | None]:
        """
        Return the sample, and the topics of the cluster that it is from, if it runs.

        Raises
        ------
        BadInputError, ClusterUnavailableError
            As in `read`.
        """
        return self._read(with_topics=True)

    def path(self, option: str) -> str:
        """
        Return the path of a sample in a file.

        Raises
        ------
        BadInputError
            If the sample is keys, or a live topic, which an option is not for.
        """
        if isinstance(self.sample, str | PathLike) and not self.is_live:
            return str(self.sample)
        rule = "is for samples in files"
        found = InputProblem.of_option(option, "", rule, "leave it out")
        msg = "keys are not counted like this"
        raise BadInputError(msg, [found])

    def _read(self, *, with_topics: bool) -> tuple[KeySample, KnownTopics | None]:
        self.check()
        if self.sample is not None:
            return _read_given(self.sample, self.options), None
        from planner.kafka.samples.cluster_topics import read_known_topics
        from planner.kafka.samples.topic_keys import read_topic_keys

        self.options.validate()
        with self._client() as client:
            found = read_topic_keys(client, self.options, max(self.max_messages, 1))
            name = self.options.topic or ""
            return found, read_known_topics(client, name) if with_topics else None

    def _client(self) -> "ClusterClient":
        from planner.kafka.client.client_session import open_cluster

        config = None if self.command_config is None else Path(self.command_config)
        return open_cluster(
            self.bootstrap_servers,
            config,
            timeout_s=self.timeout_s,
            note=lambda _: None,
        )


def _no_sample(problem: InputProblem) -> BadInputError:
    msg = "no sample to read"
    return BadInputError(msg, [problem])


def _read_given(sample: AnySample, options: SampleOptions) -> KeySample:
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
