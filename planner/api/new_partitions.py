"""New topics and additional partitions from Python."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from types import MappingProxyType
from typing import Any, Unpack

from planner.api.errors import named_as_arguments, required
from planner.api.plans import PlanOptions, request_of
from planner.api.result import PlanResult
from planner.kafka_files.creation import Creation
from planner.plan.folder.plan_folder import replica_assignment
from planner.plan.run.make_plan import make
from planner.snapshot import Snapshot

Lists = Iterable[Sequence[int]]


@dataclass(frozen=True, eq=False, repr=False)
class NewPartitionsResult(PlanResult):
    """Placement of new partitions, checked by separate code; moves nothing."""

    @property
    def lists(self) -> dict[int, tuple[int, ...]]:
        """Broker ids of each new partition by its number, the leader first."""
        return {number: row for (_, number), row in self._creation.by_key.items()}

    @property
    def replica_assignment(self) -> str:
        """The value of ``--replica-assignment`` for Kafka's own tool."""
        return replica_assignment(self.planned.plan, self._creation)

    @property
    def _creation(self) -> Creation:
        found = self.planned.plan.creation
        assert found is not None  # noqa: S101 - as the operation creates partitions
        return found

    def __repr__(self) -> str:
        lists = ", ".join(f"{number}: {row}" for number, row in self.lists.items())
        return f"{self._creation.topic} ({self.status}): {lists}"


def new_topic(
    snapshot: Snapshot,
    name: str,
    partitions: int | None = None,
    replication_factor: int | None = None,
    *,
    in_bytes_per_s: float | None = None,
    out_bytes_per_s: float | None = None,
    size_bytes: int | None = None,
    replica_assignment: str | Lists | None = None,
    topic_config: Mapping[str, str] = MappingProxyType({}),
    **options: Unpack[PlanOptions],
) -> NewPartitionsResult:
    """
    Place a new topic by load, capacity and racks, or check a given placement.

    Parameters
    ----------
    snapshot
        The cluster.
    name
        Name of the topic.
    partitions, replication_factor
        Number of partitions, and replicas of each; not with `replica_assignment`.
    in_bytes_per_s, out_bytes_per_s, size_bytes
        Expected load of the whole topic, if known.
    replica_assignment
        Broker ids per partition, as lists or as ``0:1,1:0``.
    topic_config
        Topic configs by name: ``{"min.insync.replicas": "2"}``.
    options
        See `PlanOptions`.

    Raises
    ------
    BadInputError
        If arguments are wrong; has Kafka's message where Kafka would refuse.

    Examples
    --------
    >>> import planner
    >>> from planner.demo import SNAPSHOT_FILE
    >>> snapshot = planner.read_snapshot(SNAPSHOT_FILE)
    >>> planner.new_topic(snapshot, "news", 2, 3).is_ok
    True
    """
    return _make(
        snapshot,
        "new-topic",
        options,
        name,
        partitions=partitions,
        replication_factor=replication_factor,
        in_bytes_per_s=in_bytes_per_s,
        out_bytes_per_s=out_bytes_per_s,
        size_bytes=size_bytes,
        replica_assignment=_assignment(replica_assignment),
        topic_config=topic_config,
    )


def add_partitions(
    snapshot: Snapshot,
    name: str,
    partitions: int,
    *,
    in_bytes_per_s: float | None = None,
    out_bytes_per_s: float | None = None,
    size_bytes: int | None = None,
    replica_assignment: str | Lists | None = None,
    keys: str | PathLike[str] | None = None,
    partitioner: str | None = None,
    sample_format: str | None = None,
    key_column: str | None = None,
    key_type: str | None = None,
    schema_id: int | None = None,
    **options: Unpack[PlanOptions],
) -> NewPartitionsResult:
    """
    Place additional partitions of a topic; existing ones stay.

    Parameters
    ----------
    snapshot
        The cluster.
    name
        Name of the topic.
    partitions
        Number of its partitions afterwards, more than now.
    in_bytes_per_s, out_bytes_per_s, size_bytes
        Expected load of the whole topic afterwards. By default each new partition has
        the mean of the existing ones.
    replica_assignment
        Broker ids of all its partitions, existing ones included.
    keys
        Path of a sample of its keys, for the note on keys that move.
    partitioner, sample_format, key_column, key_type, schema_id
        Reading of the sample, as in `keys_grow`.
    options
        See `PlanOptions`.

    Raises
    ------
    BadInputError
        If arguments are wrong; has Kafka's message where Kafka would refuse.
    """
    return _make(
        snapshot,
        "add-partitions",
        options,
        name,
        partitions=partitions,
        in_bytes_per_s=in_bytes_per_s,
        out_bytes_per_s=out_bytes_per_s,
        size_bytes=size_bytes,
        replica_assignment=_assignment(replica_assignment),
        keys=None if keys is None else str(keys),
        partitioner=partitioner,
        sample_format=sample_format,
        key_column=key_column,
        key_type=key_type,
        schema_id=schema_id,
    )


def _make(
    snapshot: Snapshot,
    goal: str,
    options: PlanOptions,
    topic: str,
    **own: Any,  # noqa: ANN401 - of any type
) -> NewPartitionsResult:
    request = request_of(goal, {**options, **own, "topic": [topic]})
    with named_as_arguments():
        planned = make(
            required(snapshot).to_state(),
            request,
            cluster_configs=snapshot.configs,
            taken_at=snapshot.taken_at,
            resources=snapshot.topic_resources(),
        )
    return NewPartitionsResult(planned)


def _assignment(given: str | Lists | None) -> str | None:
    if given is None or isinstance(given, str):
        return given
    return ",".join(":".join(map(str, row)) for row in given)
