"""Sizing of clusters and topics from Python, with results as tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Unpack

from planner.api.errors import named_as_arguments, required
from planner.api.growth import AnyGrowth, growth_rates
from planner.api.result import without_command
from planner.api.table import Screen, Table
from planner.partitions.audit_answer import Audit, audit_partitions
from planner.partitions.audit_document import audit_document
from planner.partitions.audit_screen import audit_screen
from planner.partitions.size_answer import SizedPartitions, reasons, size_partitions
from planner.partitions.size_document import size_document as partitions_document
from planner.partitions.size_options import PartitionsSizeOptions
from planner.partitions.size_screen import size_screen as partitions_screen
from planner.sizing.broker_types import read_types, validate_types
from planner.sizing.size_cluster import SizeAnswer, SizeRequest, shown_snapshot
from planner.sizing.size_cluster import size as answer_to
from planner.sizing.sizing_document import status_of
from planner.sizing.sizing_document import to_document as size_document
from planner.sizing.sizing_screen import size_screen
from planner.snapshot import Snapshot


@dataclass(frozen=True, eq=False, repr=False)
class SizeResult(Screen):
    """
    Number of brokers that a cluster needs.

    Parameters
    ----------
    answer
        The answer, its proof, and a placement that attains it.
    """

    answer: SizeAnswer

    @property
    def status(self) -> str:
        """One of ``exact`` (proven), ``bounded`` and ``none``."""
        return status_of(self.answer.sizing)

    @property
    def brokers(self) -> int:
        """Number of brokers; 0 if none was found."""
        return self.answer.sizing.brokers

    @property
    def lower_bound(self) -> float | None:
        """Proven lower bound on the number of brokers, or on the price."""
        bound: float | None = self.document["lower_bound"]
        return bound

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The document that `size --format json` prints."""
        return size_document(self.answer, now=datetime.now(UTC))

    @property
    def remove(self) -> tuple[int, ...]:
        """Ids of today's brokers that can be removed."""
        return tuple(self.document["remove"])

    @cached_property
    def fleet(self) -> Table:
        """A row per type and rack. Columns: `type`, `rack`, `brokers`, `price`."""
        import pyarrow as pa

        rows = [
            {
                "type": each["type"],
                "rack": rack or None,
                "brokers": count,
                "price": each["price"] * count / max(each["brokers"], 1),
            }
            for each in self.document["fleet"]
            for rack, count in (each["racks"] or {"": each["brokers"]}).items()
        ]
        return Table(pa.Table.from_pylist(rows))

    @property
    def placement(self) -> Snapshot | None:
        """Placement that attains the answer."""
        shown = self.answer.sizing.shown
        return None if shown is None else shown_snapshot(self.answer, shown)

    def __repr__(self) -> str:
        now = datetime.now(UTC)
        lines = size_screen(self.answer, ["snapshot"], None, now=now)
        return without_command(lines)


def size_cluster(
    snapshot: Snapshot,
    *,
    types: Sequence[Mapping[str, Any]] | str | PathLike[str] = (),
    survives: Literal["broker", "rack", "both", "nothing"]
    | Iterable[Literal["broker", "rack"]] = ("broker", "rack"),
    growth: AnyGrowth | None = None,
    months: float = 0.0,
    like: int | None = None,
    racks: int | None = None,
    capacity_threshold: Mapping[str, float] | None = None,
    effort: Literal["quick", "normal", "thorough", "exact"] = "quick",
    seed: int = 1,
) -> SizeResult:
    """
    Find the number of brokers that a cluster needs, with a proof.

    Parameters
    ----------
    snapshot
        The cluster.
    types
        Kinds of brokers with prices, or a file of them. By default today's kinds.
    survives
        Losses to survive.
    growth, months
        Growth of topics, and months ahead to size for.
    like
        Id of the broker whose kind is added or removed.
    racks
        Number of racks of the types. By default today's.
    capacity_threshold, effort, seed
        Options of the plans, as in `PlanOptions`.

    Raises
    ------
    BadInputError
        If options are wrong; has every problem.

    Examples
    --------
    >>> import planner
    >>> from planner.demo import SNAPSHOT_FILE
    >>> snapshot = planner.read_snapshot(SNAPSHOT_FILE)
    >>> sized = planner.size_cluster(snapshot, survives=())
    >>> sized.brokers, sized.status, sized.remove
    (9, 'exact', (10, 11, 12))
    """
    request = SizeRequest(
        capacity_threshold=capacity_threshold or {},
        survives=survives
        if isinstance(survives, str)
        else ",".join(survives) or "nothing",
        like=like,
        months=months,
        racks=racks,
        effort=effort,
        seed=seed,
    )
    kinds = (
        read_types(Path(types))
        if isinstance(types, str | PathLike)
        else (validate_types({"types": list(types)}) if types else ())
    )
    with named_as_arguments():
        answer = answer_to(
            required(snapshot),
            request,
            kinds=kinds,
            growth=growth_rates(growth, snapshot),
        )
    return SizeResult(answer)


ARGUMENTS = {
    "max_replicas_per_broker": "max_replicas",
    "lag, __catch_up": "lag, catch_up",
}
"""Arguments of `partitions_size` by names that differ from those of the options."""


@dataclass(frozen=True, eq=False, repr=False)
class PartitionsSizeResult(Screen):
    """
    Number of partitions that a topic should have.

    Parameters
    ----------
    sized
        The answer, its question and its assumptions.
    """

    sized: SizedPartitions

    @property
    def recommended(self) -> int | None:
        """Recommended number of partitions; `None` if no count meets every limit."""
        return self.sized.answer.recommended

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons for the answer, one sentence each."""
        return tuple(reasons(self.sized))

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The document that `partitions size --format json` prints."""
        return partitions_document(self.sized, now=datetime.now(UTC))

    @cached_property
    def candidates(self) -> Table:
        """
        A row per candidate.

        Columns: `partitions`, `binds`, `margin`, `producer`, `consumer`, `brokers`,
        `fits`, `replicas_per_broker`.
        """
        import pyarrow as pa

        rates = ("margin", "producer", "consumer", "brokers")
        kinds = {"partitions": pa.int64(), "binds": pa.string()}
        kinds |= dict.fromkeys(rates, pa.float64())
        kinds |= {"fits": pa.bool_(), "replicas_per_broker": pa.int64()}
        rows = self.document["candidates"]
        picked = [{name: row[name] for name in kinds} for row in rows]
        return Table(pa.Table.from_pylist(picked, schema=pa.schema(kinds)))

    def __repr__(self) -> str:
        return "\n".join(partitions_screen(self.sized, None, now=datetime.now(UTC)))


@dataclass(frozen=True, eq=False, repr=False)
class PartitionsAuditResult(Screen):
    """
    Topics whose number of partitions is bad.

    Parameters
    ----------
    audit
        The findings, and what is assumed and unknown.
    """

    audit: Audit

    @property
    def figures(self) -> Mapping[str, float]:
        """Numbers of findings by kind, and everything that is saved."""
        return self.audit.figures

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The document that `partitions audit --format json` prints."""
        return audit_document(self.audit, now=datetime.now(UTC))

    @cached_property
    def findings(self) -> Table:
        """
        A row per finding, most valuable first.

        Columns: `kind`, `topic`, `partitions`, `needed`, `message`, and what is saved:
        `saved_partitions`, `saved_replicas`, `saved_files`.
        """
        import pyarrow as pa

        kinds = {"kind": pa.string(), "topic": pa.string(), "partitions": pa.int64()}
        kinds |= {"needed": pa.int64(), "message": pa.string()}
        saved = ("partitions", "replicas", "files")
        rows = [
            {name: row[name] for name in kinds}
            | {f"saved_{name}": row["saved"][name] for name in saved}
            for row in self.document["findings"]
        ]
        kinds |= {f"saved_{name}": pa.int64() for name in saved}
        return Table(pa.Table.from_pylist(rows, schema=pa.schema(kinds)))

    def __repr__(self) -> str:
        now = datetime.now(UTC)
        return without_command(audit_screen(self.audit, (), ["snapshot"], now=now))


def partitions_size(
    snapshot: Snapshot | None = None, **options: Unpack[PartitionsSizeOptions]
) -> PartitionsSizeResult:
    """
    Find how many partitions a topic should have.

    Parameters
    ----------
    snapshot
        The cluster; without it, `brokers` must be given.
    options
        As of `PartitionsSizeOptions`.

    Raises
    ------
    BadInputError
        If options are wrong; has every problem.

    Examples
    --------
    >>> import planner
    >>> planner.partitions_size(brokers=3).recommended
    3
    >>> rates = {"producer_rate": "10MB/s", "consumer_rate": "5MB/s"}
    >>> planner.partitions_size(brokers=6, throughput="90MB/s", **rates).recommended
    36
    """
    with named_as_arguments(ARGUMENTS):
        return PartitionsSizeResult(size_partitions(options, snapshot))


def partitions_audit(
    snapshot: Snapshot,
    *,
    producer_rate: str | float | None = None,
    consumer_rate: str | float | None = None,
    headroom: float = 2.0,
    many: float = 4.0,
    leading_brokers: int = 12,
    recovery_per_partition: str | float | None = None,
) -> PartitionsAuditResult:
    """
    Find the topics with far too many, too few, uneven or empty partitions.

    Parameters
    ----------
    snapshot
        The cluster.
    producer_rate, consumer_rate
        Bytes/s of one producer into, and of one consumer from, one partition. By
        default the highest of the snapshot.
    headroom, many
        Growth that a count should allow, and factor above it that is too many.
    leading_brokers
        Brokers that should lead a partition of each topic, if there are as many.
    recovery_per_partition
        Recovery time per partition of the cluster.

    Raises
    ------
    BadInputError
        If options are wrong; has every problem.

    Examples
    --------
    >>> import planner
    >>> from planner.demo import SNAPSHOT_FILE
    >>> audit = planner.partitions_audit(planner.read_snapshot(SNAPSHOT_FILE))
    >>> audit.figures["findings"]
    0
    """
    asked = {
        "producer_rate": producer_rate,
        "consumer_rate": consumer_rate,
        "headroom": headroom,
        "many": many,
        "leading_brokers": leading_brokers,
        "recovery_per_partition": recovery_per_partition,
    }
    with named_as_arguments():
        return PartitionsAuditResult(audit_partitions(required(snapshot), asked))
