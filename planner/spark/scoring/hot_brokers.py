"""Loads of single brokers, and the causes of hot spots."""

import pickle
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from placement.model.load import RESOURCES, Resource, weigh
from placement.score.hot_spots import Heat, spots_at
from planner.score.score_document import hot_spot_document
from planner.score.score_tables import LOADS
from planner.snapshot import Snapshot
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.spark.common.snapshot_headers import header_of
from planner.spark.io.fleet_files import KEY
from planner.spark.io.fleet_tables import Fleet
from planner.spark.io.snapshot_keys import Key
from planner.spark.scoring.fleet_scores import FleetScores
from planner.text.document_numbers import rounded

MOST_BROKERS = 10_000
"""Largest number of brokers, of all snapshots together, that are listed."""
MOST_REPLICAS = 2_000_000
"""Largest number of replicas on the hot brokers of a snapshot that are examined."""
_REPLICAS = RESOURCES.index(Resource.REPLICAS)


def heats_of(found: FleetScores) -> dict[Key, Heat]:
    """Return the heat of the brokers of each snapshot."""
    timed = found.heats.withColumn("micros", F.unix_micros("taken_at"))
    return {
        (row["cluster_id"], row["micros"]): pickle.loads(row["heat"])  # noqa: S301 - our own
        for row in timed.collect()
    }


def broker_documents(
    scores: DataFrame, heats: Iterable[Heat]
) -> dict[Key, list[dict[str, Any]]] | None:
    """
    Return the loads of each broker by snapshot, in the format of a score.

    Parameters
    ----------
    scores
        Scores of all levels.
    heats
        Heats of all snapshots.

    Returns
    -------
    Brokers by id; `None` if there are more than `MOST_BROKERS`.
    """
    if sum(len(heat.load) for heat in heats) > MOST_BROKERS:
        return None
    rows = scores.where("level = 'broker'").withColumn(
        "micros", F.unix_micros("taken_at")
    )
    columns = ("cluster_id", "micros", "broker", "rack", "resource", *LOADS)
    documents: dict[Key, dict[int, dict[str, Any]]] = {}
    for row in rows.select(*columns).toArrow().to_pylist():
        brokers = documents.setdefault((row["cluster_id"], row["micros"]), {})
        place = {"broker": row["broker"], "rack": row["rack"]}
        of_broker = brokers.setdefault(row["broker"], place)
        of_broker[row["resource"]] = {
            name: None if row[name] is None else rounded(row[name]) for name in LOADS
        }
    return {key: [of[b] for b in sorted(of)] for key, of in documents.items()}


def hot_spot_documents(
    fleet: Fleet, key: Key, heat: Heat
) -> list[dict[str, Any]] | None:
    """
    Return the hot spots of a snapshot, the worst first, in the format of a score.

    Parameters
    ----------
    fleet
        The tables; the partitions of hot brokers are collected.
    key
        Key of the snapshot.
    heat
        Heat of its brokers.

    Returns
    -------
    `None` if hot brokers hold more than `MOST_REPLICAS`.
    """
    places, _ = heat.worst()
    if not places:
        return []
    rows = sorted({b for b, _ in places})
    if heat.load[rows, _REPLICAS].sum() > MOST_REPLICAS:
        return None
    state = _with_partitions_of(fleet, key, rows).to_state()
    leader_idx = state.partitions.leader_idx
    spots = spots_at(places, heat, state, weigh(state), leader_idx)
    return [hot_spot_document(state, spot) for spot in spots]


def _with_partitions_of(fleet: Fleet, key: Key, rows: list[int]) -> Snapshot:
    """Return a snapshot with only the partitions that some brokers hold."""
    brokers = _collected(fleet.brokers.where(_is(key)))
    ids = brokers.column("id").combine_chunks().sort().take(pa.array(rows)).to_pylist()
    hot = F.array(*map(F.lit, ids)).cast("array<int>")
    held = fleet.partitions.where(_is(key) & F.arrays_overlap("replicas", hot))
    partitions = _collected(held)
    named = held.select("topic").distinct()
    topics = fleet.topics.where(_is(key)).join(named, on="topic", how="left_semi")
    tables = {
        "brokers": brokers,
        "log_dirs": _collected(fleet.log_dirs.where(_is(key))),
        "topics": _collected(topics),
        "partitions": partitions,
    }
    return Snapshot.from_tables(tables, header_of({}, key[0] or "", key[1]))


def _is(key: Key) -> Column:
    cluster_id, micros = key
    is_cluster = F.col("cluster_id").eqNullSafe(F.lit(cluster_id))
    return is_cluster & (F.unix_micros("taken_at") == F.lit(micros))


def _collected(rows: DataFrame) -> ArrowTable:
    return rows.drop(*KEY).toArrow()


def with_brokers(
    documents: Iterable[tuple[Key, dict[str, Any]]],
    found: FleetScores,
    fleet: Fleet,
    heats: dict[Key, Heat],
) -> Iterator[dict[str, Any]]:
    """Yield documents of snapshots with their brokers and hot spots."""
    brokers = broker_documents(found.of_levels(["broker"]), heats.values())
    for key, document in documents:
        spots = hot_spot_documents(fleet, key, heats[key])
        by_broker = None if brokers is None else brokers.get(key, [])
        yield document | {"by_broker": by_broker, "hot_spots": spots}
