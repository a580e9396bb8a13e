"""What one file says of a cluster, and where in it each thing stands."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """
    What one place of a file says of one broker, log dir, topic or controller.

    Parameters
    ----------
    key
        Node id; (broker id, path) of a log dir; name of a topic.
    values
        By the names of the snapshot's records; what is not said is left out.
    place
        Where it stands, as in ``line 7``.
    """

    key: Any
    values: Mapping[str, Any]
    place: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartitionColumns:
    """
    What a file says of partitions, as columns of one length.

    Parameters
    ----------
    topics, partitions
        Name and number of each.
    values
        By the names of the snapshot's columns; `None` where nothing is said. With
        `replicas` the file says which partitions there are, without it only
        something about them.
    places
        What `place_format` takes to name the place of each: one value, or a tuple.
    place_format
        As in ``line {}``.
    """

    topics: Sequence[str]
    partitions: Sequence[int]
    values: Mapping[str, Sequence[Any]]
    places: Sequence[Any]
    place_format: str = "line {}"

    def place_of(self, row: int) -> str:
        """Return where a row stands."""
        place = self.places[row]
        return self.place_format.format(
            *(place if isinstance(place, tuple) else (place,))
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplicaColumns:
    """
    Replicas as they lie in log dirs, as columns of one length.

    Parameters
    ----------
    names
        ``topic-partition``, as brokers name the folders.
    brokers
        Broker ids.
    paths
        Log dirs.
    size_bytes
        Bytes of each.
    is_future
        Whether it is a copy on its way from another log dir of the broker.
    """

    names: Sequence[str]
    brokers: Sequence[int]
    paths: Sequence[str]
    size_bytes: Sequence[int]
    is_future: Sequence[bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """
    One measured series, not yet shared out over partitions.

    Parameters
    ----------
    measure
        What was measured: ``in`` or ``out`` (bytes/s), ``size`` (bytes of one
        replica), ``all-sizes`` (bytes of all replicas), ``weight`` (high watermark),
        ``cpu`` (cores that a broker takes).
    topic
        Name of the topic, as the label says it; empty for what a broker takes.
    partition
        Its number; `None` for all partitions of the topic.
    broker
        Broker id, or its host; `None` where no label says it.
    value
        What was measured.
    growth
        How fast it grew in the time that was looked at; `None` if that is unknown.
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
    What one file says.

    Parameters
    ----------
    file
        Its name, for messages.
    kind
        What it is, in words, as in ``kafka-topics --describe``.
    header
        What a snapshot says once.
    brokers, log_dirs, topics
        Records. The log dirs of a broker are all of its log dirs.
    controllers
        Nodes of the controllers' quorum, voters or observers.
    default_broker, default_log_dirs
        What holds for brokers that the file does not name.
    partitions
        What it says of partitions, if anything.
    replicas
        Where replicas lie, if it says so.
    series
        Measured rates and sizes that are still to be shared out over partitions.
    lists_live_brokers
        Whether it names every live broker, and no other as alive.
    lists_members
        Whether it names every broker that there should be, alive or not.
    lists_topics
        Whether it names every topic, though no partitions.
    lists_whole_topics
        Whether a partition of one of its topics that it does not name is not there.
    notes
        What the reader of the snapshot should know.
    """

    file: str
    kind: str
    header: Mapping[str, Any] = field(default_factory=dict)
    brokers: tuple[Record, ...] = ()
    default_broker: Record | None = None
    default_log_dirs: tuple[Record, ...] = ()
    log_dirs: tuple[Record, ...] = ()
    topics: tuple[Record, ...] = ()
    controllers: tuple[Record, ...] = ()
    partitions: PartitionColumns | None = None
    replicas: ReplicaColumns | None = None
    series: tuple[Series, ...] = ()
    lists_live_brokers: bool = False
    lists_members: bool = False
    lists_topics: bool = False
    lists_whole_topics: bool = False
    notes: tuple[str, ...] = ()


def with_defaults(source: Source, brokers: Iterable[int]) -> Source:
    """
    Return a source whose defaults are spelt out.

    Parameters
    ----------
    source
        Any source.
    brokers
        The brokers that there are.
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
