"""
Some partitions of one snapshot, added up by place and by topic.

A chunk is looked at as a small cluster of all the brokers: what replicas weigh and
which rules partitions break is told by the very functions that score a whole cluster
in memory. Nothing here needs Spark.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from placement.cluster import ClusterState
from placement.errors import InvalidClusterError
from placement.load import weigh
from planner.snapshot.columns import (
    BROKERS,
    LOG_DIRS,
    PARTITIONS,
    TOPICS,
    ArrowTable,
    TableColumns,
)
from planner.snapshot.facts import MIN_ISR
from planner.snapshot.rows import Rows
from planner.spark.adding import FIRSTS, HEAVIEST, LOADS, place_sums, topic_figures

Ints = npt.NDArray[np.int64]
READ = (
    "topic",
    "partition",
    "replicas",
    "leader",
    "isr",
    "adding_replicas",
    "log_dirs",
    "future_log_dirs",
    "size_bytes",
    "replica_bytes",
    "in_bytes_per_s",
    "out_bytes_per_s",
    "leader_cpu_cores",
    "follower_cpu_cores",
)
"""The columns of partitions that scores rest on."""
KNOWN = ("knows_disk", "knows_in", "knows_out", "knows_cpu")
BROKEN = (
    "rack_broken",
    "offline_replicas",
    "offline_partitions",
    "under_replicated",
    "under_min_isr",
    "at_min_isr",
    "leader_not_preferred",
    "rf1",
    "rf_equals_min_isr",
)
WRONG = ("lacks_replicas", "is_twice", "unnumbered")
COUNTED = ("partitions", "replicas", *KNOWN, *BROKEN, *WRONG)
NUMBERS = ("sum_number", "sum_square")
ENDS = ("first_number", "last_number")
_INT, _FLOAT, _TEXT = pa.int64(), pa.float64(), pa.string()
PLACE_TYPE = pa.struct(
    [
        ("broker_id", pa.int32()),
        ("log_dir", _TEXT),
        ("future_log_dir", _TEXT),
        ("factor", pa.int32()),
        *((name, _INT) for name in (*LOADS, *HEAVIEST, *FIRSTS)),
    ]
)
TOPIC_TYPE = pa.struct(
    [
        ("topic", _TEXT),
        *((name, _INT) for name in COUNTED),
        *((name, _FLOAT) for name in (*ENDS, *NUMBERS)),
        *((f"{end}_{name}", _INT) for name in LOADS for end in ("sum", "max", "min")),
        *((f"{end}_{name}", _FLOAT) for name in LOADS for end in ("whole", "square")),
    ]
)
"""`square_…`: sum of squared distances from the mean of these partitions."""
FOUND_TYPE = pa.struct([(name, _TEXT) for name in ("table", "place", "value", "rule")])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Ground:
    """
    What the partitions of a snapshot must know of the rest of it.

    Parameters
    ----------
    min_isr
        Of the cluster.
    brokers, log_dirs
        Its tables; columns may be absent.
    topics
        Topics that say something: `topic`, `is_shared`, `min_isr`.
    """

    min_isr: int
    brokers: ArrowTable
    log_dirs: ArrowTable
    topics: ArrowTable


def sums_of(rows: ArrowTable, ground: Ground) -> ArrowTable:
    """
    Add up some partitions of one snapshot.

    Parameters
    ----------
    rows
        The columns `READ`, in the types of snapshots.
    ground
        The rest of the snapshot.

    Returns
    -------
    Columns `place`, `topic` and `found`, of which each row has one: sums per broker,
    log dirs and factor; per topic; and what is wrong. Partitions that cannot be looked
    at count in `WRONG`, or by their unknown broker, and nowhere else.
    """
    wrong, strangers = _wrong(rows, ground)
    is_sound = ~np.logical_or.reduce(list(wrong.values())) & ~strangers.is_there
    names, topic_idx = _topics_of(rows)
    parts = [_strange_places(strangers.ids)]
    figures = _number_figures(rows, topic_idx, len(names))
    for name, flags in wrong.items():
        figures[name] = np.bincount(topic_idx[flags], minlength=len(names))
    try:
        state = _state(rows, np.nonzero(is_sound)[0], topic_idx, names, ground)
        weights = weigh(state)
        places = _structs(PLACE_TYPE, place_sums(state, weights))
        parts.append(_wrapped("place", places))
        figures |= topic_figures(state, weights)
    except InvalidClusterError as error:
        parts.append(_found(error.problems))
    parts.append(_topic_rows(names, figures))
    return pa.concat_tables(parts)


def _wrapped(kind: str, values: ArrowTable) -> ArrowTable:
    """Return rows of one kind; the other kinds are null."""
    types = {"place": PLACE_TYPE, "topic": TOPIC_TYPE, "found": FOUND_TYPE}
    return pa.table(
        {
            name: values if name == kind else pa.nulls(len(values), each)
            for name, each in types.items()
        }
    )


def _structs(kind: Any, columns: Mapping[str, Any]) -> ArrowTable:  # noqa: ANN401 - a type
    """Return columns as structs; those that are not there are 0, texts null."""
    count = len(next(iter(columns.values())))
    arrays = []
    for field in kind:
        if field.name in columns:
            arrays.append(pa.array(columns[field.name], field.type))
        elif field.type == _TEXT:
            arrays.append(pa.nulls(count, _TEXT))
        else:
            arrays.append(pa.array(np.zeros(count), field.type))
    return pa.StructArray.from_arrays(arrays, fields=list(kind))


def _found(problems: tuple[str, ...]) -> ArrowTable:
    said = [
        {"table": "partitions", "place": each.split()[0], "value": "", "rule": each}
        for each in problems
    ]
    return _wrapped("found", pa.array(said, FOUND_TYPE))


@dataclass(frozen=True, slots=True, eq=False)
class _Strangers:
    """Partitions with replicas on brokers that nobody lists, and these brokers."""

    is_there: npt.NDArray[np.bool_]
    ids: Ints


def _wrong(
    rows: ArrowTable, ground: Ground
) -> tuple[dict[str, npt.NDArray[np.bool_]], _Strangers]:
    """Return what is wrong with each partition."""
    listed = Rows.of_ids(rows.column("replicas"))
    known = ground.brokers.column("id").to_numpy()
    strange = ~np.isin(listed.values, known)
    has_strangers = np.zeros(len(rows), dtype=np.bool_)
    has_strangers[listed.row_idx[strange]] = True
    flags = {
        "lacks_replicas": listed.lengths == 0,
        "is_twice": _has_twice(listed),
        "unnumbered": pc.or_(
            rows.column("partition").is_null(), rows.column("topic").is_null()
        ).to_numpy(),
    }
    return flags, _Strangers(has_strangers, np.unique(listed.values[strange]))


def _has_twice(rows: Rows) -> npt.NDArray[np.bool_]:
    """Return true for rows in which a value stands twice."""
    found = np.zeros(len(rows.lengths), dtype=np.bool_)
    start, lengths = rows.start[:-1], rows.lengths
    most = int(lengths.max(initial=0))
    if most > _LONG_ROW:
        key = rows.row_idx << 32 | rows.values.astype(np.int64)
        key.sort()
        found[key[1:][key[1:] == key[:-1]] >> 32] = True
        return found
    for second in range(1, most):
        has = np.nonzero(lengths > second)[0]
        at = rows.values[start[has] + second]
        for first in range(second):
            found[has[rows.values[start[has] + first] == at]] = True
    return found


_LONG_ROW = 8


def _strange_places(ids: Ints) -> ArrowTable:
    """Return a place per broker that nobody lists, so that it is found later."""
    return _wrapped("place", _structs(PLACE_TYPE, {"broker_id": ids.astype(np.int32)}))


def _topics_of(rows: ArrowTable) -> tuple[ArrowTable, Ints]:
    """Return the topics, sorted, and the topic of each partition."""
    column = rows.column("topic").combine_chunks()
    if column.null_count:
        column = column.cast(_TEXT).fill_null("")
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    texts = column.dictionary.cast(_TEXT)
    used = pc.unique(column.indices.drop_null())
    names = texts.take(used).take(pc.array_sort_indices(texts.take(used)))
    rank = pc.index_in(texts, value_set=names).fill_null(0).to_numpy().astype(np.int64)
    codes = column.indices.fill_null(0).to_numpy().astype(np.int64)
    idx: Ints = rank[codes] if len(rank) else codes
    return names, idx


def _number_figures(rows: ArrowTable, topic_idx: Ints, count: int) -> dict[str, Any]:
    """Return what tells of rows that stand twice, or lack: sums of numbers."""
    number = rows.column("partition").fill_null(0).to_numpy().astype(np.float64)
    is_number = rows.column("partition").is_valid().to_numpy()
    first = np.full(count, np.inf)
    last = np.full(count, -np.inf)
    np.minimum.at(first, topic_idx[is_number], number[is_number])
    np.maximum.at(last, topic_idx[is_number], number[is_number])
    listed = Rows.from_arrow(rows.column("replicas")).lengths
    return {
        "partitions": np.bincount(topic_idx, minlength=count),
        "replicas": np.bincount(topic_idx, weights=listed, minlength=count).astype(int),
        "first_number": np.where(np.isfinite(first), first, 0.0),
        "last_number": np.where(np.isfinite(last), last, 0.0),
        "sum_number": np.bincount(topic_idx, weights=number, minlength=count),
        "sum_square": np.bincount(topic_idx, weights=number**2, minlength=count),
    }


def _state(
    rows: ArrowTable,
    sound: Ints,
    topic_idx: Ints,
    names: ArrowTable,
    ground: Ground,
) -> ClusterState:
    """Return a cluster of these partitions, each once, in order."""
    from planner.snapshot.document import Snapshot
    from planner.snapshot.model import state_of

    number = rows.column("partition").fill_null(0).to_numpy()
    order = _ordered(sound, topic_idx, number)
    table = rows if len(order) == len(rows) and _is_range(order) else rows.take(order)
    columns = {
        "topic": names.take(pa.array(topic_idx[order]))
        if len(names)
        else pa.array([], _TEXT)
    }
    snapshot = Snapshot(
        configs={MIN_ISR: str(ground.min_isr)},
        brokers=_filled(ground.brokers, BROKERS),
        log_dirs=_filled(ground.log_dirs, LOG_DIRS),
        topics=_topic_table(names, ground.topics),
        partitions=_filled(table, PARTITIONS, columns),
    )
    return state_of(snapshot)


def _is_range(order: Ints) -> bool:
    return bool(np.all(np.diff(order) == 1))


def _ordered(sound: Ints, topic_idx: Ints, number: Ints) -> Ints:
    """Return sound partitions by topic and number, each once."""
    key = topic_idx[sound] << 32 | number[sound].astype(np.int64)
    if len(key) and np.all(key[1:] > key[:-1]):
        return sound
    _, first = np.unique(key, return_index=True)
    ordered: Ints = sound[first]
    return ordered


def _filled(
    table: ArrowTable,
    columns: TableColumns,
    given: Mapping[str, Any] | None = None,
) -> ArrowTable:
    """Return a table in all the columns of snapshots; those not there are null."""
    given = given or {}
    arrays = [
        given[column.name]
        if column.name in given
        else table.column(column.name).cast(column.type)
        if column.name in table.column_names
        else pa.nulls(len(table), column.type)
        for column in columns.columns
    ]
    return pa.Table.from_arrays(arrays, schema=columns.schema)


def _topic_table(names: ArrowTable, said: ArrowTable) -> ArrowTable:
    """Return the topics with what they say of storage and least in sync."""
    at = pc.index_in(names, value_set=said.column("topic").combine_chunks())
    is_shared = said.column("is_shared").take(at).to_pylist()
    min_isr = said.column("min_isr").take(at).to_pylist()
    configs = [[] if each is None else [(MIN_ISR, str(each))] for each in min_isr]
    columns = {
        "topic": names,
        "storage": pa.array(["shared" if each else None for each in is_shared], _TEXT),
        "configs": pa.array(configs, TOPICS.schema.field("configs").type),
    }
    return _filled(pa.table({"topic": names}), TOPICS, columns)


def _topic_rows(names: ArrowTable, figures: Mapping[str, Any]) -> ArrowTable:
    return _wrapped("topic", _structs(TOPIC_TYPE, {"topic": names, **figures}))
