"""
The scores of snapshots, from what was added up of their partitions.

It is handed, one snapshot at a time, to the very functions that score one in memory:
rows as many as brokers, log dirs and topics, never as replicas.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from placement.cluster import ABSENT, ClusterState, IndexArray
from placement.load import (
    LEADING,
    RESOURCES,
    Resource,
    as_units,
    taken_bytes,
    unexplained_bytes,
    weigh,
)
from placement.rules.draft import DEFAULT_THRESHOLDS
from placement.score import VIOLATIONS
from placement.score.cluster import ClusterScore
from placement.score.levels import (
    level_of_log_dirs,
    rack_level,
)
from placement.score.placed import Measured, score_of, threshold_limits
from placement.targets import (
    DEFAULT_BAND,
    Members,
    Shares,
    find_targets,
    rack_limit,
    share_capacities,
)
from planner.score.tables import LEVELS, SCHEMA, level_table
from planner.snapshot.columns import BROKERS, LOG_DIRS, TOPICS, ArrowTable
from planner.spark.adding import FIRSTS, HEAVIEST, LOADS
from planner.spark.fleet import KEY, Fleet
from planner.spark.ground import part_of, union_of
from planner.spark.problems import PROBLEM, found_in_snapshot
from planner.spark.topics import BROKEN_AS, TopicSums, totals_of

BROKER_COLUMNS = tuple(
    column.name for column in BROKERS.columns if column.name not in {"configs", "tags"}
)
DIR_COLUMNS = tuple(column.name for column in LOG_DIRS.columns)
PLACE = ("broker_id", "log_dir", "future_log_dir", "factor")
PROBLEM_TYPE = pa.struct([(name, pa.string()) for name in PROBLEM])
FOUND_SCHEMA = SCHEMA.append(pa.field("problem", PROBLEM_TYPE))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """
    What a score depends on besides the fleet.

    Parameters
    ----------
    bands
        Width of the band by resource name; absent: 0.10.
    thresholds
        Fraction of its capacity that a broker may use, by resource name; absent: 0.8,
        cpu 0.7.
    """

    bands: Mapping[str, float]
    thresholds: Mapping[str, float]

    @classmethod
    def defaults(cls) -> "ScoreSettings":
        """Return the defaults."""
        return cls(bands={}, thresholds={})


def balance_rows(
    fleet: Fleet, partial: DataFrame, twice: DataFrame, settings: ScoreSettings
) -> DataFrame:
    """
    Return the scores of every level, or what is wrong.

    Parameters
    ----------
    fleet
        Canonical tables.
    partial
        What `partial_sums` gives of them.
    twice
        Partitions that stand twice: `found_twice`.
    settings
        Bands and thresholds.

    Returns
    -------
    DataFrame
        The columns of every table of scores, and `problem`: of a snapshot with which
        something is wrong there are rows of that kind alone.
    """
    parts = [
        partial,
        _tagged(fleet.clusters, "cluster", KEY[:1]),
        _tagged(fleet.brokers, "broker", BROKER_COLUMNS),
        _tagged(fleet.log_dirs, "dir", DIR_COLUMNS),
        _tagged(fleet.topics, "listed", ("topic",)),
        _tagged(twice, "found", PROBLEM),
    ]
    balance = _balancer(dict(settings.bands), dict(settings.thresholds))
    return union_of(parts).groupBy(*KEY).applyInArrow(balance, _output(FOUND_SCHEMA))


def output_schema() -> Any:  # noqa: ANN401 - a StructType
    """Return the columns of every table of scores, as Spark has them."""
    return _output(SCHEMA)


def _output(schema: Any) -> Any:  # noqa: ANN401 - an Arrow schema, a StructType
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _tagged(table: DataFrame, tag: str, columns: tuple[str, ...]) -> DataFrame:
    return table.select(*KEY, F.struct(*(F.col(f"`{c}`") for c in columns)).alias(tag))


def _balancer(
    bands: Mapping[str, float], thresholds: Mapping[str, float]
) -> Callable[[ArrowTable], ArrowTable]:
    def balance(rows: pa.Table) -> pa.Table:
        return _balance(rows, bands, thresholds)

    return balance


def _balance(
    rows: ArrowTable, bands: Mapping[str, float], thresholds: Mapping[str, float]
) -> ArrowTable:
    """Score one snapshot from what was added up, or say what is wrong with it."""
    listed = part_of(rows, "listed").column("topic")
    topics = TopicSums(part_of(rows, "topic"), listed)
    places = _together(part_of(rows, "place"))
    problems = list(found_in_snapshot(rows, topics, places))
    if problems:
        return _refused(rows, problems)
    state = _state(part_of(rows, "broker"), part_of(rows, "dir"), places, topics.names)
    sums = _Sums(state, places)
    totals = totals_of(topics)
    measured = _measured(state, sums, totals, bands, thresholds)
    score = ClusterScore(
        measured=measured,
        placed=score_of(measured),
        racks=rack_level(measured),
        log_dirs=level_of_log_dirs(state, sums.dir_loads),
        topics=topics.level(),
        hot_spots=(),
        num_hot_spots=0,
        min_bytes_to_balance=0,
        notes=(),
    )
    taken_at = rows.column("taken_at")[0].as_py()
    table = level_table(score, rows.column("cluster_id")[0].as_py(), taken_at, LEVELS)
    nothing = pa.nulls(len(table), PROBLEM_TYPE)
    return _with_totals(table, totals).append_column("problem", nothing)


def _together(parts: ArrowTable) -> ArrowTable:
    """Return each place once; parts of it were added up by several tasks."""
    figures = [(name, "sum") for name in (*LOADS, *FIRSTS)]
    figures += [(name, "max") for name in HEAVIEST]
    found = parts.group_by(list(PLACE)).aggregate(figures)
    plain = {f"{name}_{how}": name for name, how in figures}
    return found.rename_columns([plain.get(name, name) for name in found.column_names])


def _refused(rows: ArrowTable, problems: list[dict[str, str]]) -> ArrowTable:
    """Return a row per problem, and no score."""
    columns = {
        "cluster_id": pa.repeat(rows.column("cluster_id")[0], len(problems)),
        "taken_at": pa.repeat(rows.column("taken_at")[0], len(problems)),
        "problem": pa.array(problems, PROBLEM_TYPE),
    }
    arrays = [
        columns[field.name].cast(field.type)
        if field.name in columns
        else pa.nulls(len(problems), field.type)
        for field in FOUND_SCHEMA
    ]
    return pa.Table.from_arrays(arrays, schema=FOUND_SCHEMA)


def _numbers(table: ArrowTable, name: str) -> Any:  # noqa: ANN401 - an int64 array
    column = table.column(name).fill_null(0).combine_chunks()
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)


def _state(
    brokers: ArrowTable, dirs: ArrowTable, places: ArrowTable, topics: list[str]
) -> ClusterState:
    """Return a cluster of these brokers, log dirs and topics, without partitions."""
    from planner.snapshot import Snapshot

    named = _named_dirs(places)
    listed = dirs.select(list(DIR_COLUMNS)).cast(LOG_DIRS.schema)
    known = set(
        zip(
            listed.column("broker_id").to_pylist(),
            listed.column("path").to_pylist(),
            strict=True,
        )
    )
    new = sorted(named - known)
    added = pa.table(
        {"broker_id": [b for b, _ in new], "path": [p for _, p in new]},
        schema=pa.schema([LOG_DIRS.schema.field(0), LOG_DIRS.schema.field(1)]),
    )
    full = pa.concat_tables([listed, added], promote_options="default")
    arrays = [
        brokers.column(c.name).cast(c.type)
        if c.name in BROKER_COLUMNS
        else pa.nulls(len(brokers), c.type)
        for c in BROKERS.columns
    ]
    table = pa.Table.from_arrays(arrays, schema=BROKERS.schema)
    names = pa.array(topics, pa.string())
    nulls = [pa.nulls(len(names), column.type) for column in TOPICS.columns[1:]]
    return Snapshot(
        topics=pa.Table.from_arrays([names, *nulls], schema=TOPICS.schema),
        brokers=table.sort_by("id").combine_chunks(),
        log_dirs=full.sort_by(
            [("broker_id", "ascending"), ("path", "ascending")]
        ).combine_chunks(),
    ).to_state()


def _named_dirs(places: ArrowTable) -> set[tuple[int, str]]:
    """Return the log dirs that replicas name."""
    brokers = places.column("broker_id").to_pylist()
    return {
        (broker, path)
        for name in ("log_dir", "future_log_dir")
        for broker, path in zip(brokers, places.column(name).to_pylist(), strict=True)
        if path is not None
    }


class _Sums:
    """What lies on each broker and in each log dir, as arrays."""

    def __init__(self, state: ClusterState, places: ArrowTable) -> None:
        ids = places.column("broker_id").to_numpy()
        self.rows: IndexArray = state.brokers.rows_of(ids)
        self.factor = _numbers(places, "factor")
        self.firsts = {name: _numbers(places, name) for name in FIRSTS}
        self._loads = np.stack([_numbers(places, name) for name in LOADS], axis=1)
        dirs = state.log_dirs
        keys = list(zip(dirs.broker_idx.tolist(), dirs.paths, strict=True))
        self._row_of = {key: row for row, key in enumerate(keys)}
        here = self._dir_rows(places, "log_dir")
        future = self._dir_rows(places, "future_log_dir")
        located = self._added(here, len(keys))
        copied = self._added(future, len(keys))[:, 0]
        lies = located[:, 0] + copied
        elsewhere = np.zeros(len(state.brokers), dtype=np.int64)
        lost = here == ABSENT
        np.add.at(elsewhere, self.rows[lost], self._loads[lost, 0])
        self.load = np.zeros((len(state.brokers), len(RESOURCES)), dtype=np.int64)
        np.add.at(self.load, self.rows, self._loads)
        self.fixed = unexplained_bytes(dirs, lies, elsewhere)
        self.load[:, 0] += self.fixed
        self.dir_loads = located
        self.dir_loads[:, 0] = np.maximum(lies, taken_bytes(dirs))
        self.heaviest = self._heaviest(state, places)

    def _dir_rows(self, places: ArrowTable, name: str) -> Any:  # noqa: ANN401 - (N,) ints
        paths = places.column(name).to_pylist()
        return np.array(
            [
                ABSENT if path is None else self._row_of[int(broker), path]
                for broker, path in zip(self.rows, paths, strict=True)
            ],
            dtype=np.int64,
        )

    def _added(self, rows: Any, count: int) -> Any:  # noqa: ANN401 - arrays of ints
        total = np.zeros((count, len(RESOURCES)), dtype=np.int64)
        lies = rows != ABSENT
        np.add.at(total, rows[lies], self._loads[lies])
        return total

    def _heaviest(self, state: ClusterState, places: ArrowTable) -> Any:  # noqa: ANN401
        most = np.zeros((len(state.brokers), len(RESOURCES)), dtype=np.int64)
        for r, resource in enumerate(RESOURCES):
            name = f"max_{resource}"
            values = _numbers(places, name if name in HEAVIEST else str(resource))
            if name not in HEAVIEST:
                values = np.minimum(values, 1)
            np.maximum.at(most[:, r], self.rows, values)
        return most


def _measured(
    state: ClusterState,
    sums: _Sums,
    totals: Mapping[str, int],
    bands: Mapping[str, float],
    thresholds: Mapping[str, float],
) -> Measured:
    members = Members(holds=state.brokers.is_live, leads=state.brokers.may_lead)
    most = {Resource(name): value for name, value in thresholds.items()}
    limit = threshold_limits(state, {**DEFAULT_THRESHOLDS, **most})
    shares = Shares(
        members=members,
        capacity=share_capacities(state, members),
        rack_idx=state.brokers.rack_idx,
        rack_most=_rack_most(state, sums, members),
        bands=np.array([bands.get(str(r), DEFAULT_BAND) for r in RESOURCES]),
    )
    return Measured(
        state=state,
        weights=weigh(state),
        shares=shares,
        leader_idx=state.partitions.leader_idx,
        load=sums.load,
        limit=limit,
        targets=find_targets(shares, sums.load, sums.heaviest),
        is_over=members.holds[:, None] & (as_units(sums.load) > limit),
        broken={
            rule: np.array([totals[BROKEN_AS.get(rule, rule)]])
            for rule in VIOLATIONS
            if rule != "over_capacity"
        },
    )


def _rack_most(state: ClusterState, sums: _Sums, members: Members) -> Any:  # noqa: ANN401
    """Return ``(K, R)`` the most that each rack can hold, as `share_out` does."""
    in_rack = np.bincount(
        state.brokers.rack_idx[members.holds], minlength=state.num_racks
    )
    limit = rack_limit(sums.factor, in_rack)
    room = np.minimum(limit[:, None], in_rack[None, :])
    most = np.zeros((state.num_racks, len(RESOURCES)))
    most[:, LEADING] = np.inf
    for r in np.nonzero(~LEADING)[0]:
        once = sums.firsts[f"first_{RESOURCES[r]}"].astype(np.float64)
        most[:, r] = once @ room
    cpu = RESOURCES.index(Resource.CPU)
    most[:, cpu] += float(sums.firsts["lead_cpu"].sum())
    fixed = np.bincount(
        state.brokers.rack_idx,
        weights=sums.fixed * members.holds,
        minlength=state.num_racks,
    )
    most[:, 0] += fixed
    return most


def _with_totals(table: ArrowTable, totals: Mapping[str, int]) -> ArrowTable:
    """Put what only partitions tell on the rows of the cluster."""
    is_cluster = pc.equal(table.column("level"), "cluster")
    partitions = int(totals["partitions"])
    known = {
        str(resource): (
            float(totals[f"knows_{resource}"]) / partitions
            if partitions and f"knows_{resource}" in totals
            else 1.0
        )
        for resource in RESOURCES
    }
    fractions = pa.array(
        [known[name] for name in table.column("resource").to_pylist()], pa.float64()
    )
    values = {
        "partitions": pa.scalar(partitions, pa.int64()),
        "replicas": pa.scalar(int(totals["replicas"]), pa.int64()),
        "known_fraction": fractions,
    }
    for name, value in values.items():
        position = table.schema.get_field_index(name)
        column = pc.if_else(is_cluster, value, table.column(name))
        table = table.set_column(position, SCHEMA.field(name), column)
    return table
