"""Contents of one file about a cluster, with their places in the file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """
    Values of one broker, log dir, topic or controller at one place of a file.

    Parameters
    ----------
    key
        Node id; (broker id, path) of a log dir; name of a topic.
    values
        Values by the names of the snapshot's records; unknown ones are left out.
    place
        Place in the file, as ``line 7``.
    """

    key: Any
    values: Mapping[str, Any]
    place: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartitionColumns:
    """
    Values of partitions in a file, as columns of one length.

    Parameters
    ----------
    topics, partitions
        Topic name and partition number of each.
    values
        Values by the names of the snapshot's columns; `None` if unknown. A file with
        `replicas` lists the partitions that exist; one without only describes some.
    places
        Arguments of `place_format` for each partition: one value, or a tuple.
    place_format
        Format of places, as ``line {}``.
    """

    topics: Sequence[str]
    partitions: Sequence[int]
    values: Mapping[str, Sequence[Any]]
    places: Sequence[Any]
    place_format: str = "line {}"

    def place_of(self, row: int) -> str:
        """Return the place of a row in the file."""
        place = self.places[row]
        return self.place_format.format(
            *(place if isinstance(place, tuple) else (place,))
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplicaColumns:
    """
    Replicas in log dirs, as columns of one length.

    Parameters
    ----------
    names
        ``topic-partition``, as brokers name the folders.
    brokers
        Broker ids.
    paths
        Paths of log dirs.
    size_bytes
        Bytes of each replica.
    is_future
        Whether it is a copy in progress from another log dir of the broker.
    """

    names: Sequence[str]
    brokers: Sequence[int]
    paths: Sequence[str]
    size_bytes: Sequence[int]
    is_future: Sequence[bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """
    One measured series, not yet distributed over partitions.

    Parameters
    ----------
    measure
        Measured quantity: ``in`` or ``out`` (bytes/s), ``size`` (bytes of one replica),
        ``all-sizes`` (bytes of all replicas), ``weight`` (high watermark), ``cpu``
        (cores used by a broker).
    topic
        Name of the topic, from the label; empty for a quantity of a broker.
    partition
        Number of the partition; `None` for all partitions of the topic.
    broker
        Broker id, or its host; `None` if no label has it.
    value
        Measured value.
    growth
        Growth of the value within the time range; `None` if unknown.
    """

    measure: str
    topic: str
    partition: int | None
    broker: int | str | None
    value: float
    growth: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """
    Contents of one file.

    Parameters
    ----------
    file
        Name of the file, for messages.
    kind
        Kind of the file in words, as ``kafka-topics --describe``.
    header
        Header values of a snapshot.
    brokers, log_dirs, topics
        Records. The log dirs of a listed broker are complete.
    desired_topics
        Records of topics as an operator wants them, which the cluster need not have
        yet: numbers of `partitions` and `replicas`, and `configs`.
    controllers
        Nodes of the controllers' quorum, voters or observers.
    default_broker, default_log_dirs
        Defaults for brokers that the file does not name.
    partitions
        Values of partitions, if any.
    replicas
        Replicas in log dirs, if any.
    series
        Measured rates and sizes, not yet distributed over partitions.
    lists_live_brokers
        Whether the file names every live broker, and no other one as alive.
    lists_members
        Whether the file names every broker of the cluster, alive or not.
    is_configuration
        Whether the file was written for brokers that need not exist any more, or yet.
    lists_voters
        Whether the file names every voter of the controllers' quorum.
    lists_topics
        Whether the file names every topic, though no partitions.
    lists_complete_topics
        Whether a topic in the file is listed with all its partitions.
    notes
        Notes for readers of the snapshot.
    """

    file: str
    kind: str
    header: Mapping[str, Any] = field(default_factory=dict)
    brokers: tuple[Record, ...] = ()
    default_broker: Record | None = None
    default_log_dirs: tuple[Record, ...] = ()
    log_dirs: tuple[Record, ...] = ()
    topics: tuple[Record, ...] = ()
    desired_topics: tuple[Record, ...] = ()
    controllers: tuple[Record, ...] = ()
    partitions: PartitionColumns | None = None
    replicas: ReplicaColumns | None = None
    series: tuple[Series, ...] = ()
    lists_live_brokers: bool = False
    lists_members: bool = False
    is_configuration: bool = False
    lists_voters: bool = False
    lists_topics: bool = False
    lists_complete_topics: bool = False
    notes: tuple[str, ...] = ()


def with_defaults(source: Source, brokers: Iterable[int]) -> Source:
    """
    Return a source with its defaults applied to each broker.

    Parameters
    ----------
    source
        Any source.
    brokers
        Ids of the brokers that exist.
    """
    if source.default_broker is None:
        return source
    named = {record.key for record in source.brokers}
    rest = [broker for broker in brokers if broker not in named]
    default, dirs = source.default_broker, source.default_log_dirs
    return replace(
        source,
        brokers=(*source.brokers, *(replace(default, key=b) for b in rest)),
        log_dirs=(
            *source.log_dirs,
            *(replace(d, key=(b, d.key[1])) for b in rest for d in dirs),
        ),
    )
