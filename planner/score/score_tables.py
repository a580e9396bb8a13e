"""
Scores as one long table: a row per snapshot, level and resource.

Spark writes the same columns. A column without a meaning at a level is null there.
`total` and the figures of balance are over the parts of a level: the brokers of a
cluster or a rack, the partitions of a topic. `violations` are in the rows of clusters
and topics, repeated for every resource.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from placement.array_types import IndexArray, OffsetArray, RateArray
from placement.model.load import RESOURCES, Resource
from placement.score import VIOLATIONS, ClusterScore
from placement.score.known_loads import (
    has_capacities,
    known_dir_loads,
    known_figures,
    known_loads,
    known_rack_figures,
    known_rack_loads,
    known_spread,
)
from placement.score.level_loads import TopicLevel
from planner.snapshot.tables.snapshot_columns import ArrowArray, ArrowTable

if TYPE_CHECKING:
    from planner.score.make_score import Scored

LEVELS = ("cluster", "rack", "broker", "log_dir", "topic")
LOADS = ("load", "capacity", "use", "target", "deviation")
VIOLATION_TYPE = pa.struct([(rule, pa.int64()) for rule in VIOLATIONS])
SCHEMA = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("taken_at", pa.timestamp("us", tz="UTC")),
        ("level", pa.string()),
        ("rack", pa.string()),
        ("broker", pa.int32()),
        ("log_dir", pa.string()),
        ("topic", pa.string()),
        ("resource", pa.string()),
        ("brokers", pa.int64()),
        ("partitions", pa.int64()),
        ("replicas", pa.int64()),
        *((name, pa.float64()) for name in LOADS),
        ("is_out_of_band", pa.bool_()),
        ("is_over_threshold", pa.bool_()),
        ("total", pa.float64()),
        ("mean_use", pa.float64()),
        ("max_use", pa.float64()),
        ("min_use", pa.float64()),
        ("max_deviation", pa.float64()),
        ("max_over_mean", pa.float64()),
        ("cv", pa.float64()),
        ("gini", pa.float64()),
        ("jain", pa.float64()),
        ("brokers_out_of_band", pa.int64()),
        ("brokers_over_threshold", pa.int64()),
        ("known_fraction", pa.float64()),
        ("violations", VIOLATION_TYPE),
        ("complete", pa.bool_()),
    ]
)
"""The columns of every table of scores."""
_TYPES = {field.name: field.type for field in SCHEMA}
_RESOURCES = np.array([str(resource) for resource in RESOURCES], dtype=np.object_)
_WIDTH = len(RESOURCES)
Known = Mapping[str, RateArray]
"""Loads and capacities by name, ``(N, R)`` each; NaN where unknown."""
Columns = Mapping[str, Any]
"""Columns of one level by name, all of the same length."""


def score_table(scored: "Iterable[Scored]") -> ArrowTable:
    """Return the scores of snapshots at all levels, in the columns of `SCHEMA`."""
    tables = [
        level_rows([(_named(each), each.score)], level)
        for each in scored
        for level in LEVELS
    ]
    return pa.concat_tables([SCHEMA.empty_table(), *tables], promote_options="default")


class Named(NamedTuple):
    """Snapshot of some rows: cluster id and time."""

    cluster_id: str | None
    taken_at: datetime | None


def level_rows(scores: Sequence[tuple[Named, ClusterScore]], level: str) -> ArrowTable:
    """
    Return one level of some scores, in the columns of `SCHEMA` that apply to it.

    Rows are ordered by score, resource, and part of the level.
    """
    maker = MAKERS[level]
    blocks = []
    for name, score in scores:
        known = maker.known(score)
        by_resource = [maker.of_resource(score, known, r) for r in range(_WIDTH)]
        shared = {**maker.of_all(score)}
        count = len(next(iter(shared.values())))
        shared["complete"] = np.full(count, score.is_complete)
        blocks.append(_Block(name, count, shared, by_resource))
    return _rows(blocks, level)


def topic_rows(
    names: ArrowArray,
    topics: TopicLevel,
    first: OffsetArray,
    snapshots: Sequence[Named],
) -> ArrowTable:
    """
    Return the rows of topics, in the columns of `SCHEMA` that apply to them.

    Parameters
    ----------
    names, topics
        Topics of the snapshots, one snapshot after the other.
    first
        ``(S + 1,)`` first topic of each snapshot.
    snapshots
        The snapshots.
    """
    shared = _topic_columns(names, topics)
    by_resource = [_topic_figures(topics, r) for r in range(_WIDTH)]
    return _rows(
        [
            _Block(
                snapshot,
                high - low,
                {name: values[low:high] for name, values in shared.items()},
                [
                    {name: values[low:high] for name, values in of.items()}
                    for of in by_resource
                ],
            )
            for snapshot, (low, high) in zip(
                snapshots, pairwise(first.tolist()), strict=True
            )
        ],
        "topic",
    )


class _Block(NamedTuple):
    """
    Columns of one level of one snapshot, `length` rows for each resource.

    `shared` has the columns that are alike for all resources.
    """

    snapshot: Named
    length: int
    shared: Columns
    by_resource: Sequence[Columns]


def _rows(blocks: Sequence[_Block], level: str) -> ArrowTable:
    """Return the rows of blocks, those of one resource after the other in each."""
    counts = [block.length for block in blocks]
    of = np.repeat(np.arange(len(blocks)), np.multiply(counts, _WIDTH))
    resources = np.concatenate([np.repeat(np.arange(_WIDTH), n) for n in counts])
    fixed = {
        "cluster_id": ([block.snapshot.cluster_id for block in blocks], of),
        "taken_at": ([block.snapshot.taken_at for block in blocks], of),
        "level": ([level], np.zeros_like(of)),
        "resource": (_RESOURCES, resources),
    }
    arrays = {}
    for name, kind in _TYPES.items():
        if name in fixed:
            values, rows = fixed[name]
            arrays[name] = pa.array(values, kind).take(pa.array(rows))
        elif name in blocks[0].shared:
            pieces = [pa.array(block.shared[name], kind) for block in blocks]
            arrays[name] = pa.concat_arrays([p for p in pieces for _ in range(_WIDTH)])
        elif name in blocks[0].by_resource[0]:
            each = [of[name] for block in blocks for of in block.by_resource]
            # NaN marks unknown values, which are null in the table.
            arrays[name] = pa.array(np.concatenate(each), kind, from_pandas=True)
    return pa.table(arrays)


def rack_brokers(score: ClusterScore) -> list[int | None]:
    """Return the only broker of each rack without a name; `None` for named racks."""
    brokers = score.state.brokers
    of_rack: list[int | None] = [None] * len(brokers.racks)
    for broker_id, rack in zip(brokers.ids.tolist(), brokers.rack_idx, strict=True):
        if brokers.racks[rack] is None:
            of_rack[rack] = broker_id
    return of_rack


def _named(scored: "Scored") -> Named:
    return Named(scored.cluster_id, taken_at_time(scored.taken_at))


def taken_at_time(taken_at: str | None) -> datetime | None:
    """Return the time of a snapshot in UTC; `None` where unknown."""
    return (
        None if taken_at is None else datetime.fromisoformat(taken_at).astimezone(UTC)
    )


def _cluster(score: ClusterScore) -> Columns:
    return {
        "brokers": [score.state.num_brokers],
        "partitions": [score.state.num_partitions],
        "replicas": [len(score.state.replicas)],
        "violations": [dict(score.placed.violations)],
    }


def _has_use(score: ClusterScore, r: int) -> bool:
    return has_capacities(score.state, RESOURCES[r])


def _cluster_figures(score: ClusterScore, _: Known, r: int) -> Columns:
    resource = score.placed.resources[RESOURCES[r]]
    figures = known_figures(resource, has_use=_has_use(score, r))
    return {name: [value] for name, value in figures.items()}


def _loads(known: Known, r: int) -> Columns:
    return {name: known[name][:, r] for name in LOADS}


def _racks(score: ClusterScore) -> Columns:
    return {"rack": list(score.state.brokers.racks), "broker": rack_brokers(score)}


def _rack_figures(score: ClusterScore, known: Known, r: int) -> Columns:
    return {
        "brokers": score.racks.brokers[:, r],
        **_loads(known, r),
        **known_rack_figures(score.placed, score.racks, r, has_use=_has_use(score, r)),
    }


def _brokers(score: ClusterScore) -> Columns:
    brokers = score.state.brokers
    return {"rack": _rack_names(score, brokers.rack_idx), "broker": brokers.ids}


def _broker_figures(score: ClusterScore, known: Known, r: int) -> Columns:
    return {
        **_loads(known, r),
        "is_out_of_band": score.placed.is_out[:, r],
        "is_over_threshold": score.measured.is_over[:, r],
    }


def _log_dirs(score: ClusterScore) -> Columns:
    brokers, dirs = score.state.brokers, score.state.log_dirs
    return {
        "rack": _rack_names(score, brokers.rack_idx[dirs.broker_idx]),
        "broker": brokers.ids[dirs.broker_idx],
        "log_dir": list(dirs.paths),
    }


def _log_dir_figures(score: ClusterScore, known: Known, r: int) -> Columns:
    loads = _loads(known, r)
    if RESOURCES[r] is Resource.DISK:
        return {**loads, "is_over_threshold": score.log_dirs_over_threshold}
    # A log dir has a threshold of its disk alone.
    return {**loads, "is_over_threshold": np.full(len(score.state.log_dirs), None)}


def count_full_log_dirs(
    places: Iterable[tuple[Hashable, str, int | None]],
) -> Counter[Hashable]:
    """
    Count the log dirs over the disk threshold on brokers that are not over it.

    Parameters
    ----------
    places
        Cluster or snapshot, level and broker of each row of scores that is over.

    Returns
    -------
    Number of log dirs by cluster or snapshot.
    """
    rows = [(level, (key, broker)) for key, level, broker in places]
    full = {place for level, place in rows if level == "broker"}
    return Counter(
        place[0] for level, place in rows if level == "log_dir" and place not in full
    )


def _rack_names(score: ClusterScore, rack_idx: IndexArray) -> ArrowArray:
    return pa.array(score.state.brokers.racks, pa.string()).take(pa.array(rack_idx))


def _topics(score: ClusterScore) -> Columns:
    names = pa.array(score.state.topics.names, pa.string())
    return _topic_columns(names, score.topics)


def _topic_columns(names: ArrowArray, topics: TopicLevel) -> Columns:
    nothing = pa.nulls(len(topics.partitions), pa.int64())
    broken = [
        pa.array(topics.broken[rule]) if rule in topics.broken else nothing
        for rule in VIOLATIONS
    ]
    return {
        "topic": names,
        "partitions": topics.partitions,
        "replicas": topics.replicas,
        "violations": pa.StructArray.from_arrays(broken, list(VIOLATIONS)),
    }


def _topic_figures(topics: TopicLevel, r: int) -> Columns:
    return known_spread(topics.spread[r], topics.known_fraction[:, r])


class _Maker(NamedTuple):
    """
    Builders of the columns of one level.

    `of_all` returns the columns shared by all resources, `of_resource` those of one
    resource, and `known` the loads that `of_resource` takes, computed once per level.
    """

    of_all: Callable[[ClusterScore], Columns]
    of_resource: Callable[[ClusterScore, Known, int], Columns]
    known: Callable[[ClusterScore], Known] = lambda _: {}


MAKERS = {
    "cluster": _Maker(_cluster, _cluster_figures),
    "rack": _Maker(
        _racks,
        _rack_figures,
        lambda score: known_rack_loads(score.state, score.placed, score.racks),
    ),
    "broker": _Maker(
        _brokers,
        _broker_figures,
        lambda score: known_loads(score.state, score.placed),
    ),
    "log_dir": _Maker(
        _log_dirs,
        _log_dir_figures,
        lambda score: known_dir_loads(score.state, score.placed, score.log_dirs),
    ),
    "topic": _Maker(_topics, lambda score, _, r: _topic_figures(score.topics, r)),
}
