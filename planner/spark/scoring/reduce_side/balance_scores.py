"""
Scores of snapshots, from the sums of their partitions.

The sums of one snapshot at a time are passed to the same functions that score a
snapshot in memory; their rows grow with brokers, log dirs and topics, not with
replicas.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from placement.array_types import IndexArray
from placement.draft.draft import DEFAULT_THRESHOLDS
from placement.model.cluster import ABSENT, ClusterState
from placement.model.disk_bytes import taken_bytes, unexplained_bytes
from placement.model.load import LEADING, RESOURCES, Resource, as_units, weigh
from placement.model.targets import (
    DEFAULT_BAND,
    Members,
    Shares,
    find_targets,
    rack_limit,
    share_capacities,
)
from placement.score import VIOLATIONS
from placement.score.cluster_score import ClusterScore
from placement.score.hot_spots import Heat, heat_of
from placement.score.level_loads import (
    TopicLevel,
    level_of_log_dirs,
    rack_level,
)
from placement.score.placement_score import Measured, Score, score_of, threshold_limits
from planner.fleet.arrow_tables import EPOCH
from planner.score.score_tables import LEVELS, SCHEMA, Named, level_rows, topic_rows
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.io.snapshot_keys import Key
from planner.spark.scoring.kernels.tally import COUNTED, FIRSTS
from planner.spark.scoring.shuffle.shuffle_rows import Unpacked
from planner.spark.scoring.sums.partial_sums import WRONG
from planner.spark.scoring.sums.place_sums import places_once
from planner.spark.scoring.sums.replica_lists import place_keys
from planner.spark.scoring.sums.snapshot_grounds import Ground, bare_state
from planner.spark.scoring.sums.sum_arrays import HEAVIEST, LOADS
from planner.spark.scoring.sums.topic_sums import BROKEN_AS, TopicSums

PLACED = tuple(level for level in LEVELS if level != "topic")
"""Levels other than topics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """
    Settings of a score.

    Parameters
    ----------
    bands
        Width of the band by resource name, as a fraction of the target; absent: 0.10.
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


class Placed(NamedTuple):
    """
    Score of a snapshot at all levels except topics.

    Parameters
    ----------
    score
        The score, without the figures that only partitions provide.
    totals
        Counts of the partitions, over all topics.
    heat
        Heat of the brokers.
    """

    score: ClusterScore
    totals: Mapping[str, int]
    heat: Heat


def score_of_places(
    parcels: Unpacked, ground: Ground, settings: ScoreSettings
) -> Placed | None:
    """
    Score a snapshot at all levels except topics.

    Parameters
    ----------
    parcels
        Shuffle rows of the snapshot.
    ground
        Brokers and log dirs of the snapshot.
    settings
        Bands and thresholds.

    Returns
    -------
    The score; `None` if another task has the sums by place.
    """
    totals = _totals(parcels.table("count"))
    # The task that has the topic of a problem reports it.
    if not parcels.has_first or any(totals[name] for name in WRONG):
        return None
    score, heat = _placed(parcels, ground, totals, settings)
    return Placed(score, totals, heat)


def placed_rows(scores: Sequence[tuple[Key, Placed]]) -> dict[str, ArrowTable]:
    """
    Return the rows of scores by level, except those of topics.

    They are in the columns of `planner.score.score_tables.SCHEMA` that apply to each
    level.
    """
    named = [(_named(key), placed.score) for key, placed in scores]
    rows = {name: level_rows(named, name) for name in PLACED}
    totals = [placed.totals for _, placed in scores]
    return rows | {"cluster": _with_totals(rows["cluster"], totals)}


def scores_of_topics(each: Sequence[Unpacked]) -> ArrowTable:
    """Return the rows of the topics of snapshots that are in this task."""
    topics = TopicSums(
        [parcels.table("topic") for parcels in each],
        [parcels.table("listed") for parcels in each],
    )
    names = [_named(parcels.key) for parcels in each]
    return topic_rows(topics.names, topics.level(), topics.first, names)


def _named(key: Key) -> Named:
    return Named(key[0], EPOCH + timedelta(microseconds=key[1]))


def _placed(
    parcels: Unpacked,
    ground: Ground,
    totals: Mapping[str, int],
    settings: ScoreSettings,
) -> tuple[ClusterScore, Heat]:
    """Score a snapshot at all levels except topics; return also its heat."""
    places = places_once([parcels.table("place")])
    state = _state(ground, places)
    sums = _Sums(state, places, parcels.table("factor"))
    measured = _measured(state, sums, totals, settings)
    score = ClusterScore(
        measured=measured,
        placed=_as_known(score_of(measured), totals),
        racks=rack_level(measured),
        log_dirs=level_of_log_dirs(state, sums.dir_loads),
        topics=_NO_TOPICS,
        hot_spots=(),
        num_hot_spots=0,
        min_bytes_to_balance=0,
        notes=(),
    )
    return score, heat_of(measured, sums.fixed)


def _as_known(score: Score, totals: Mapping[str, int]) -> Score:
    """Return a score with the fraction of partitions whose loads are known."""
    known = _known_fractions(totals)
    resources = {
        resource: replace(figures, known_fraction=known[r])
        for r, (resource, figures) in enumerate(score.resources.items())
    }
    return replace(score, resources=resources)


def _known_fractions(totals: Mapping[str, int]) -> list[float]:
    """Return the fraction of partitions with a known load, by resource."""
    partitions = int(totals["partitions"])
    return [
        float(totals[f"knows_{name}"]) / partitions
        if partitions and f"knows_{name}" in totals
        else 1.0
        for name in LOADS
    ]


_NOTHING = np.zeros(0, dtype=np.int64)
_NO_TOPICS = TopicLevel(
    partitions=_NOTHING,
    replicas=_NOTHING,
    spread=(),
    known_fraction=np.ones((0, len(RESOURCES))),
    broken={},
)


def _totals(counts: ArrowTable) -> dict[str, int]:
    """Return the counts summed over all topics."""
    return {name: int(counts.column(name).to_numpy().sum()) for name in COUNTED}


def _numbers(table: ArrowTable, name: str) -> Any:  # noqa: ANN401 - an int64 array
    column = table.column(name)
    # Nulls are rare, and a call of Arrow costs as much as the conversion.
    filled = column.fill_null(0) if column.null_count else column
    return np.asarray(filled.to_numpy(), dtype=np.int64)


def _state(ground: Ground, places: ArrowTable) -> ClusterState:
    """Return a cluster of these brokers and log dirs, without partitions."""
    columns, listed = ["broker_id", "path"], ground.log_dirs
    named = places.select(["broker_id", "log_dir"]).rename_columns(columns)
    named = named.filter(pc.is_valid(named.column("path")))
    known, wanted = place_keys(*(t.select(columns) for t in (listed, named)))
    is_new = ~np.isin(wanted, known)
    if not is_new.any():
        return ground.state
    new = named.filter(pa.array(is_new))
    dirs = pa.concat_tables([listed, new], promote_options="permissive")
    return bare_state(ground.brokers, dirs)


class _Sums:
    """Arrays of the loads of each broker and each log dir."""

    def __init__(
        self, state: ClusterState, places: ArrowTable, factors: ArrowTable
    ) -> None:
        self.rows: IndexArray = state.brokers.rows_of(
            places.column("broker_id").to_numpy()
        )
        self.factor = _numbers(factors, "factor")
        self.firsts = {name: _numbers(factors, name) for name in FIRSTS}
        self._loads = np.stack([_numbers(places, name) for name in LOADS], axis=1)
        dirs = state.log_dirs
        here = self._dir_rows(places, state)
        located = np.zeros((len(dirs), len(RESOURCES)), dtype=np.int64)
        lies = here != ABSENT
        located[here[lies]] = self._loads[lies]
        copied = np.zeros(len(dirs), dtype=np.int64)
        copied[here[lies]] = _numbers(places, "copied")[lies]
        taken = located[:, 0] + copied
        elsewhere = np.zeros(len(state.brokers), dtype=np.int64)
        np.add.at(elsewhere, self.rows[~lies], self._loads[~lies, 0])
        self.load = np.zeros((len(state.brokers), len(RESOURCES)), dtype=np.int64)
        for r in range(len(RESOURCES)):
            np.add.at(self.load[:, r], self.rows, self._loads[:, r])
        self.fixed = unexplained_bytes(dirs, taken, elsewhere)
        self.load[:, 0] += self.fixed
        self.dir_loads = located
        self.dir_loads[:, 0] = np.maximum(taken, taken_bytes(dirs))
        self.heaviest = self._heaviest(state, places)

    def _dir_rows(self, places: ArrowTable, state: ClusterState) -> Any:  # noqa: ANN401 - (N,) ints
        """Return the row of each place's log dir, or `ABSENT`."""
        dirs = state.log_dirs
        own = pa.table(
            {
                "broker_id": state.brokers.ids[dirs.broker_idx],
                "path": pa.array(dirs.paths, pa.string()),
            }
        )
        wanted = places.select(["broker_id", "log_dir"])
        known, keys = place_keys(own, wanted)
        order = np.argsort(known, kind="stable")
        at = np.searchsorted(known, keys, sorter=order)
        rows = np.append(order, ABSENT)[at]
        is_there = wanted.column("log_dir").is_valid().to_numpy()
        return np.where(is_there, rows, ABSENT)

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
    settings: ScoreSettings,
) -> Measured:
    members = Members(holds=state.brokers.is_live, leads=state.brokers.may_lead)
    most = {Resource(name): value for name, value in settings.thresholds.items()}
    limit = threshold_limits(state, {**DEFAULT_THRESHOLDS, **most})
    shares = Shares(
        members=members,
        capacity=share_capacities(state, members),
        rack_idx=state.brokers.rack_idx,
        rack_most=_rack_most(state, sums, members),
        bands=np.array([settings.bands.get(str(r), DEFAULT_BAND) for r in RESOURCES]),
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
    """Return ``(K, R)`` the most load that each rack can hold, as `share_out` does."""
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


def _with_totals(table: ArrowTable, totals: Sequence[Mapping[str, int]]) -> ArrowTable:
    """Set the figures that only partitions provide on the rows of clusters."""
    width = len(LOADS)
    values = {
        "partitions": [int(of["partitions"]) for of in totals for _ in range(width)],
        "replicas": [int(of["replicas"]) for of in totals for _ in range(width)],
        "known_fraction": [known for of in totals for known in _known_fractions(of)],
    }
    for name, value in values.items():
        at = table.schema.get_field_index(name)
        field = SCHEMA.field(name)
        table = table.set_column(at, field, pa.array(value, field.type))
    return table
