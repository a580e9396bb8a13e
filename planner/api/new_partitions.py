"""New topics and more partitions, from Python."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Unpack

from placement.check import Finding
from planner.api.errors import named_as_arguments
from planner.api.plans import PlanOptions, request_of
from planner.plan.run.plan_new_partitions import (
    PlannedNew,
    make_new,
    new_document,
    write_new,
)
from planner.snapshot import Snapshot

Lists = Iterable[Sequence[int]]


@dataclass(frozen=True, eq=False, repr=False)
class NewPartitionsResult:
    """
    Where new partitions go, checked by separate code.

    Parameters
    ----------
    planned
        The plan and what the independent checker says of it.
    """

    planned: PlannedNew

    @property
    def status(self) -> str:
        """One of optimal, feasible, partial, infeasible."""
        return self.planned.status

    @property
    def lists(self) -> dict[int, tuple[int, ...]]:
        """Broker ids of each new partition by its number, the leader first."""
        lists = self.planned.lists
        return dict(zip(lists.partitions, lists.replicas, strict=True))

    @property
    def replica_assignment(self) -> str:
        """The text that Kafka's own tool takes as ``--replica-assignment``."""
        return self.planned.assignment

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The whole of plan.json."""
        return new_document(self.planned)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the independent checker says; `existing` ones were there before."""
        return self.planned.findings

    @property
    def is_ok(self) -> bool:
        """Whether all hard rules hold, and the checker finds nothing."""
        return self.status not in {"partial", "infeasible"} and self.planned.is_ok

    def write(self, folder: str | PathLike[str]) -> list[Path]:
        """
        Write the plan folder, all of it or nothing; a plan that stands there goes.

        Raises
        ------
        BadInputError
            If something else stands there, or nothing can be written there.
        """
        path = Path(folder)
        return [path / name for name in write_new(self.planned, path)]

    def __repr__(self) -> str:
        lists = ", ".join(f"{number}: {row}" for number, row in self.lists.items())
        return f"{self.planned.topic} ({self.status}): {lists}"


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
    Place a new topic by load, capacity and racks, or check where it is to lie.

    Parameters
    ----------
    snapshot
        The cluster.
    name
        The topic.
    partitions, replication_factor
        How many; neither with `replica_assignment`.
    in_bytes_per_s, out_bytes_per_s, size_bytes
        What the whole topic will carry, where that is known.
    replica_assignment
        Broker ids per partition, as lists or as ``0:1,1:0``.
    topic_config
        Topic configs by name: ``{"min.insync.replicas": "2"}``.
    options
        See `PlanOptions`.

    Raises
    ------
    BadInputError
        With everything that is wrong, in Kafka's words where Kafka would refuse it.

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
    **options: Unpack[PlanOptions],
) -> NewPartitionsResult:
    """
    Place more partitions of a topic; those that exist stay.

    Parameters
    ----------
    snapshot
        The cluster.
    name
        The topic.
    partitions
        How many it shall have, more than now.
    in_bytes_per_s, out_bytes_per_s, size_bytes
        What the whole topic will carry then; where left out, each new partition is
        taken to carry the mean of those that exist.
    replica_assignment
        Broker ids of all its partitions, those that exist included.
    options
        See `PlanOptions`.

    Raises
    ------
    BadInputError
        With everything that is wrong, in Kafka's words where Kafka would refuse it.
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
    )


def _make(
    snapshot: Snapshot,
    goal: str,
    options: PlanOptions,
    topic: str,
    **own: Any,  # noqa: ANN401 - of any type
) -> NewPartitionsResult:
    request = request_of(goal, {**options, "topic": [topic]}, **own)
    with named_as_arguments():
        planned = make_new(
            snapshot.to_state(),
            request,
            cluster_configs=snapshot.configs,
            taken_at=snapshot.taken_at,
        )
    return NewPartitionsResult(planned)


def _assignment(given: str | Lists | None) -> str | None:
    if given is None or isinstance(given, str):
        return given
    return ",".join(":".join(map(str, row)) for row in given)
