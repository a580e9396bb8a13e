"""A snapshot in memory: header and four tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from planner.errors import InputProblem
from planner.kafka_releases import caps_min_isr
from planner.snapshot.checks.record_checks import findings
from planner.snapshot.formats.foreign_tables import cast_tables
from planner.snapshot.tables.snapshot_columns import (
    BROKERS,
    LOG_DIRS,
    PARTITIONS,
    ROW_KEYS,
    TOPICS,
    ArrowArray,
    ArrowTable,
)
from planner.snapshot.tables.snapshot_problems import (
    Places,
    TablePlaces,
    as_problems,
    refuse,
)
from planner.snapshot.tables.table_facts import Facts
from planner.snapshot.tables.table_rows import as_array
from planner.topic_resources import RESOURCE_TAG, TopicResource, resource_of

if TYPE_CHECKING:
    from placement.model.cluster import ClusterState


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Snapshot:
    """
    A cluster at one moment, with all values of a snapshot file.

    The tables have the columns and types of `planner.snapshot.tables.snapshot_columns`;
    null stands for values that a file leaves out. Rows are in canonical order: brokers
    by id, log dirs by broker and path, topics by name, partitions by topic and number.
    Create snapshots with `from_document`, `from_tables` or `from_state`, which check
    them; the constructor does not.

    Parameters
    ----------
    cluster_id, kafka_version
        Id and Kafka version of the cluster; `None` if unknown.
    taken_at
        Time in ISO 8601 with a time zone; `None` if unknown.
    configs
        Configs of the cluster that differ from the default.
    features
        Finalised feature levels.
    rates
        Source of the byte rates: `source`, `window_s`, `quantile`, `split`.
    controllers
        Members of the quorum by id: `id`, `rack`, `voter`, `combined`.
    brokers, log_dirs, topics, partitions
        Arrow tables in canonical columns.
    unused
        Columns of the input tables that no snapshot has.
    """

    cluster_id: str | None = None
    taken_at: str | None = None
    kafka_version: str | None = None
    configs: Mapping[str, str] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)
    rates: Mapping[str, Any] | None = None
    controllers: tuple[Mapping[str, Any], ...] = ()
    brokers: ArrowTable = field(default_factory=BROKERS.empty)
    log_dirs: ArrowTable = field(default_factory=LOG_DIRS.empty)
    topics: ArrowTable = field(default_factory=TOPICS.empty)
    partitions: ArrowTable = field(default_factory=PARTITIONS.empty)
    unused: tuple[str, ...] = ()

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{table.num_rows} {name}"
            for name, table in self.tables().items()
            if table.num_rows
        ).replace("_", " ")
        taken = f", taken {self.taken_at}" if self.taken_at else ""
        return f'<Snapshot "{self.cluster_id or ""}": {counts or "empty"}{taken}>'

    @classmethod
    def from_document(cls, document: object, *, file: str = "snapshot") -> Self:
        """
        Create a snapshot from its parsed JSON document.

        Parameters
        ----------
        document
            Result of `json.load`, which is left unchanged.
        file
            Name of the file in problems.

        Raises
        ------
        BadInputError
            If the input is not a snapshot, with every problem.
        """
        from planner.snapshot.formats.json_columns import parse_document

        parsed = parse_document(document, file=file)
        return cls._checked(
            parsed.header,
            parsed.tables,
            parsed.places,
            problems=parsed.problems,
            is_complete=parsed.is_complete,
            file=file,
        )

    @classmethod
    def from_tables(
        cls,
        tables: Mapping[str, ArrowTable],
        header: Mapping[str, object] | None = None,
        *,
        file: str = "snapshot",
    ) -> Self:
        """
        Create a snapshot from Arrow tables, with rows and columns in any order.

        Parameters
        ----------
        tables
            Tables by name: `brokers`, `partitions`, and optionally `log_dirs` and
            `topics`. Columns may have any type that the format allows.
        header
            Header values: `cluster_id`, `taken_at` and so on.
        file
            Name of the file in problems.

        Raises
        ------
        BadInputError
            If the input is not a snapshot, with every problem.
        """
        from planner.snapshot.formats.json_columns import parse_header

        known, problems = parse_header(header or {}, file=file)
        casting = cast_tables(tables, file=file)
        return cls._checked(
            known,
            casting.tables,
            TablePlaces(casting.tables),
            problems=[*problems, *casting.problems],
            is_complete=casting.is_complete,
            unused=casting.unused,
            file=file,
        )

    @classmethod
    def from_state(
        cls,
        state: "ClusterState",
        header: Mapping[str, object] | None = None,
        *,
        file: str = "cluster",
    ) -> Self:
        """
        Create a snapshot of a cluster; `to_state` returns the same cluster.

        Whether its brokers cap min.insync.replicas follows from the version of Kafka,
        or from the features, in `header`.

        Tags, and the configs of brokers, are not part of a cluster and are left out.

        Parameters
        ----------
        state
            The cluster, with topics in the order of their names.
        header
            Header values besides `cluster_id`: `taken_at`, `rates` …
        file
            Name of the file in problems.

        Raises
        ------
        BadInputError
            If the cluster has values that no snapshot may have, such as a disk whose
            size is not the sum of its log dirs, with every problem.
        """
        from planner.snapshot.from_state import header_of, min_isr_in, tables_of

        full = header_of(state, header)
        return cls.from_tables(tables_of(state, min_isr_in(full)), full, file=file)

    def with_state(self, state: "ClusterState", *, has_lost: bool = False) -> Self:
        """
        Return a snapshot of a changed cluster with the header of this one.

        Parameters
        ----------
        state
            The changed cluster.
        has_lost
            Whether brokers or racks are lost. The remaining controllers are then
            unknown, and the quorum is left out, as for a broker missing from `state`.
        """
        header, ids = self.header(), self.brokers.column("id").to_pylist()
        if has_lost or set(ids) - set(state.brokers.ids.tolist()):
            header.pop("controllers", None)
        return self.from_state(state, header)

    @classmethod
    def _checked(
        cls,
        header: Mapping[str, Any],
        tables: Mapping[str, ArrowTable],
        places: Places,
        *,
        problems: list[InputProblem],
        is_complete: bool,
        file: str,
        unused: tuple[str, ...] = (),
    ) -> Self:
        known = _known(header)
        if is_complete:
            facts = Facts(known["configs"], known["controllers"], tables)
            problems = [*problems, *as_problems(findings(facts), places, file=file)]
        if problems:
            raise refuse(file, problems)
        ordered = {name: _sorted(name, tables[name]) for name in ROW_KEYS}
        return cls(**known, **ordered, unused=unused)

    def header(self) -> dict[str, Any]:
        """Return the header, as in the files."""
        values = {
            "cluster_id": self.cluster_id,
            "taken_at": self.taken_at,
            "kafka_version": self.kafka_version,
            "configs": dict(self.configs),
            "features": dict(self.features),
            "rates": None if self.rates is None else dict(self.rates),
            "controllers": [dict(controller) for controller in self.controllers],
        }
        lists = {"configs", "features", "controllers"}
        return {
            key: value
            for key, value in values.items()
            if value is not None and (value or key not in lists)
        }

    def tables(self) -> dict[str, ArrowTable]:
        """Return the four tables by name."""
        return {name: getattr(self, name) for name in ROW_KEYS}

    def to_document(self) -> dict[str, Any]:
        """Return the JSON document, without nulls."""
        from planner.snapshot.formats.json_file import document_of

        return document_of(self.header(), self.tables())

    def to_state(self) -> "ClusterState":
        """Return the cluster as the columns that planning uses."""
        from planner.snapshot.to_state import state_of

        facts = Facts(self.configs, self.controllers, self.tables())
        capped = caps_min_isr(self.kafka_version, self.features)
        return state_of(facts, self.cluster_id, caps_min_isr=capped)

    def topic_resources(self) -> dict[str, TopicResource]:
        """Return the KafkaTopic resources that topics have by their tags, by topic."""
        tags = self.topics.column("tags")
        has_resource = pc.is_valid(pc.map_lookup(tags, RESOURCE_TAG, "first"))
        rows = self.topics.select(["topic", "tags"]).filter(has_resource).to_pylist()
        found = {row["topic"]: resource_of(dict(row["tags"])) for row in rows}
        return {name: one for name, one in found.items() if one is not None}

    def equals(self, other: "Snapshot") -> bool:
        """Return whether two snapshots have equal contents."""
        return self.header() == other.header() and all(
            table.equals(other.tables()[name]) for name, table in self.tables().items()
        )


def _known(header: Mapping[str, Any]) -> dict[str, Any]:
    controllers = sorted(header.get("controllers") or (), key=lambda c: int(c["id"]))
    return {
        "cluster_id": header.get("cluster_id"),
        "taken_at": header.get("taken_at"),
        "kafka_version": header.get("kafka_version"),
        "configs": header.get("configs") or {},
        "features": header.get("features") or {},
        "rates": header.get("rates"),
        "controllers": tuple(controllers),
    }


def _sorted(name: str, table: ArrowTable) -> ArrowTable:
    keys = ROW_KEYS[name]
    if not _is_ascending([as_array(table.column(key)) for key in keys]):
        order = [(key, "ascending") for key in keys]
        table = table.take(pc.sort_indices(table.select(list(keys)), order))
    return table.combine_chunks()


def _is_ascending(keys: list[ArrowArray]) -> bool:
    """Return whether rows ascend; most do, and the check is cheaper than sorting."""
    is_less, is_equal = pa.scalar(value=False), pa.scalar(value=True)
    for key in keys:
        before, after = key[:-1], key[1:]
        is_less = pc.or_(is_less, pc.and_(is_equal, pc.less(before, after)))
        is_equal = pc.and_(is_equal, pc.equal(before, after))
    return pc.all(is_less).as_py() is not False
