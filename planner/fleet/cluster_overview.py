"""
Overview of a cluster as one row: problems, headroom, policy figures and costs.

The module works without Spark. A cluster that cannot be scored becomes a row with the
reason.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
import pyarrow as pa

from placement.array_types import IndexArray, IntArray, RateArray
from placement.draft.draft import Settings
from placement.failures.controller_decision import is_usable
from placement.model.cluster import ClusterState, sum_rows
from placement.model.load import RESOURCES, UNIT_ROW, Resource
from placement.score import ClusterScore, score_cluster
from placement.score.known_loads import has_capacities, known_figures, known_loads
from planner.errors import BadInputError
from planner.fleet.cluster_costs import COST_FIELDS, OWNER, cost_columns
from planner.fleet.cross_rack_traffic import crossing_bytes_per_s
from planner.fleet.fleet_prices import FleetPrices
from planner.snapshot.tables.snapshot_columns import ArrowTable

REFUSED = "refused"
FAILED = "failed"
MEASURED = (Resource.DISK, Resource.IN, Resource.OUT, Resource.CPU)
UNTIL_FULL = tuple(f"days_until_full{end}" for end in ("", "_low", "_high"))
FORECAST = ("growth_bytes_per_day", *UNTIL_FULL)
"""Columns that come from trends."""
MOVED = ("moved_bytes_since", "moved_since")
"""Columns that come from changes."""
_SAMPLED = "live-sample"
"""Source of the rates that `snapshot live` sampled."""
_UNCLEAN = "unclean.leader.election.enable"
_COUNTS = ("brokers", "topics", "partitions", "replicas")
_FIX = (
    "offline_partitions",
    "under_min_isr",
    "offline_replicas",
    "under_replicated",
    "rack",
    "over_capacity",
    "num_hot_spots",
    "brokers_out_of_band",
    "brokers_over_threshold",
    "log_dirs_over_threshold",
    "min_bytes_to_balance",
)
_POLICY = (
    "rf1_partitions",
    "rf_equals_min_isr",
    "unclean_enabled",
    "infinite_retention",
    "no_rack",
    "rf_mixed_in_topic",
)
SCHEMA = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("taken_at", pa.timestamp("us", tz="UTC")),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("kafka_version", pa.string()),
        ("features", pa.map_(pa.string(), pa.int64())),
        *((name, pa.int64()) for name in (*_COUNTS, *_FIX)),
        ("worst_broker", pa.int32()),
        ("worst_resource", pa.string()),
        ("worst_deviation", pa.float64()),
        ("max_disk_use", pa.float64()),
        ("fullest_broker", pa.int32()),
        ("headroom_n1_broker", pa.float64()),
        ("headroom_n1_rack", pa.float64()),
        *((name, pa.int64()) for name in _POLICY),
        ("tags", pa.map_(pa.string(), pa.string())),
        ("owner", pa.string()),
        ("bytes_all_replicas", pa.int64()),
        ("remote_bytes", pa.int64()),
        ("bytes_by_owner", pa.map_(pa.string(), pa.int64())),
        ("cross_rack_bytes_per_s", pa.float64()),
        ("skew_in", pa.float64()),
        ("data_age_s", pa.float64()),
        ("rates_source", pa.string()),
        ("unknown_fraction", pa.float64()),
        ("estimated_fraction", pa.float64()),
        ("plan_fingerprint", pa.string()),
        *COST_FIELDS,
    ]
)
"""The columns of a table of overviews."""


def overview_row(
    tables: Mapping[str, ArrowTable],
    header: Mapping[str, Any],
    settings: Settings,
    prices: FleetPrices | None = None,
) -> dict[str, Any]:
    """
    Return the overview of one cluster; any error becomes the reason of the row.

    Parameters
    ----------
    tables
        Tables of the snapshot by name.
    header
        Header of the snapshot.
    settings
        Bands and capacity thresholds.
    prices
        Prices of the fleet; `None`: columns of costs are null.

    Returns
    -------
    Values of the columns of `SCHEMA` except `cluster_id`, `taken_at` and `data_age_s`.
    They depend on the parameters alone, not on the time of the call.
    """
    from planner.snapshot import Snapshot

    try:
        snapshot = Snapshot.from_tables(tables, header)
        score = score_cluster(snapshot.to_state(), settings)
        tags = _tags(snapshot.brokers)
        costs: dict[str, Any] = {}
        if prices is not None:
            cluster = (header.get("cluster_id"), dict(tags["tags"]))
            tables_of = (snapshot.brokers, snapshot.topics)
            costs = cost_columns(score, *tables_of, settings, prices, cluster)
        return {
            "status": "ok",
            "kafka_version": snapshot.kafka_version,
            "features": sorted(snapshot.features.items()),
            **_figures(score, settings),
            **_policy(score, snapshot.configs),
            **tags,
            **costs,
            **_costs(score, snapshot.topics),
            **_certainty(score, snapshot.rates or {}),
        }
    except BadInputError as error:
        reason = "; ".join([error.message, *map(str, error.problems[:20])])
        return {"status": REFUSED, "reason": reason}
    except Exception as error:  # one cluster must not stop the others
        return {"status": FAILED, "reason": f"{type(error).__name__}: {error}"}


def _figures(score: ClusterScore, settings: Settings) -> dict[str, Any]:
    from planner.plan.documents.cluster_fingerprint import fingerprint

    state, placed, violations = score.state, score.placed, score.placed.violations
    headroom = headroom_n1(score, settings)
    return {
        "brokers": state.num_brokers,
        "topics": len(state.topics),
        "partitions": state.num_partitions,
        "replicas": len(state.replicas),
        **{name: violations[name] for name in _FIX if name in violations},
        "num_hot_spots": score.num_hot_spots,
        "brokers_out_of_band": int(placed.is_out.any(axis=1).sum()),
        "brokers_over_threshold": int(score.measured.is_over.any(axis=1).sum()),
        "log_dirs_over_threshold": int(score.full_log_dirs.sum()),
        "min_bytes_to_balance": score.min_bytes_to_balance,
        **_worst(score),
        "max_disk_use": _if_known(score, Resource.DISK, "max_use"),
        "fullest_broker": _fullest(score),
        "headroom_n1_broker": headroom.broker,
        "headroom_n1_rack": headroom.rack,
        "plan_fingerprint": fingerprint(state),
    }


def _worst(score: ClusterScore) -> dict[str, Any]:
    """Return the broker with the largest deviation from a target, and its resource."""
    deviation = score.placed.deviation
    if not deviation.size:
        return {}
    row, r = divmod(int(np.abs(deviation).argmax()), deviation.shape[1])
    return {
        "worst_broker": int(score.state.brokers.ids[row]),
        "worst_resource": str(RESOURCES[r]),
        "worst_deviation": float(deviation[row, r]),
    }


def _fullest(score: ClusterScore) -> int | None:
    """Return the live broker with the highest disk use; `None` if none is known."""
    if _if_known(score, Resource.DISK, "max_use") is None:
        return None
    use = known_loads(score.state, score.placed)["use"][:, RESOURCES.index("disk")]
    counts = score.state.brokers.is_live & np.isfinite(use)
    if not counts.any():
        return None
    row = int(np.where(counts, use, -np.inf).argmax())
    return int(score.state.brokers.ids[row])


@dataclass(frozen=True, slots=True)
class Headroom:
    """Free fraction after the loss of one broker, or one rack; `None` if unknown."""

    broker: float | None
    rack: float | None


def headroom_n1(score: ClusterScore, settings: Settings) -> Headroom:
    """
    Return the free fraction of the scarcest resource after a loss.

    Any one broker, or any one rack, is lost. The load is spread evenly over the brokers
    left, up to the capacity thresholds: 1 − load / (threshold × capacity left), the
    least over resources and losses. Below 0 the load does not fit. Replicas that no
    broker is left to hold are no load: three on three brokers stay two. Resources
    without any known capacity, and brokers that are not live, are ignored.
    """
    state = score.state
    racks = state.brokers.rack_idx
    each = np.arange(len(racks), dtype=racks.dtype)
    serving = sum_rows(is_usable(state), state.replicas.start)
    by_broker, by_rack = (
        _least([*_free_after(score, settings, domain, serving)])
        for domain in (each, racks)
    )
    return Headroom(by_broker, by_rack)


def _free_after(
    score: ClusterScore, settings: Settings, domain: IndexArray, serving: IntArray
) -> Iterator[float]:
    """
    Yield the free fraction of each resource after the loss of its largest domain.

    Parameters
    ----------
    score, settings
        Loads and capacities, and thresholds.
    domain
        ``(B,)`` domain of each broker.
    serving
        ``(P,)`` number of replicas of each partition that serve.
    """
    live = score.state.brokers.is_live
    domain = domain[live]
    for r, resource in enumerate(RESOURCES):
        capacity = score.placed.capacity[live, r]
        # An unknown capacity is stored as 1 per broker.
        if resource not in MEASURED or capacity.max(initial=0) <= 1:
            continue
        lost = int(np.bincount(domain, weights=capacity).argmax())
        left = domain != lost
        load = float(score.placed.load[live, r].sum())
        load -= _unplaced_load(score, resource, serving - int(left.sum()))
        most = settings.capacity_thresholds.get(resource, 1.0) * capacity[left].sum()
        yield 1 - load / most if most > 0 else -np.inf


def _unplaced_load(score: ClusterScore, resource: Resource, excess: IntArray) -> float:
    """Return the load of the replicas by which partitions exceed the brokers left."""
    rows = np.nonzero(excess > 0)[0]
    # A follower less is one less that fetches from its leader.
    r = RESOURCES.index(Resource.IN if resource is Resource.OUT else resource)
    load = int((excess[rows] * score.measured.weights.replica[rows, r]).sum())
    return load / float(UNIT_ROW[r])


def _least(found: list[float]) -> float | None:
    least = min(found, default=None)
    return None if least is None or not np.isfinite(least) else least


def _policy(score: ClusterScore, cluster: Mapping[str, str]) -> dict[str, int]:
    """Count partitions, topics and brokers that break common policies."""
    state, violations = score.state, score.placed.violations
    configs = [{**cluster, **own} for own in state.topics.configs]
    of, factor = state.partitions.topic_idx, state.replication_factor
    most = np.zeros(len(state.topics), dtype=np.int64)
    least = np.full(len(state.topics), np.iinfo(np.int64).max)
    np.maximum.at(most, of, factor)
    np.minimum.at(least, of, factor)
    racks = state.brokers.racks
    return {
        "rf1_partitions": violations["rf1"],
        "rf_equals_min_isr": violations["rf_equals_min_isr"],
        "unclean_enabled": sum(each.get(_UNCLEAN) == "true" for each in configs),
        "infinite_retention": sum(map(_is_infinite, configs)),
        "no_rack": sum(racks[k] is None for k in state.brokers.rack_idx.tolist()),
        "rf_mixed_in_topic": int((least < most).sum()),
    }


def _is_infinite(configs: Mapping[str, str]) -> bool:
    """Return whether a topic that is not compacted keeps all its records."""
    policy = configs.get("cleanup.policy", "delete")
    if policy == "compact":
        return False
    kept = [configs.get("retention.ms"), configs.get("retention.bytes", "-1")]
    # An empty policy, of Kafka 4.2, deletes nothing.
    return not policy or kept == ["-1", "-1"]


def _costs(score: ClusterScore, topics: ArrowTable) -> dict[str, Any]:
    """Return the bytes of a cluster by owner, and its traffic between racks."""
    state = score.state
    is_sized, is_rated = (
        score.placed.resources[resource].known_fraction > 0
        for resource in (Resource.DISK, Resource.IN)
    )
    remote = state.partitions.remote_bytes
    by_topic = score.topics.spread[RESOURCES.index(Resource.DISK)].total
    crossing = crossing_bytes_per_s(state)
    return {
        "bytes_all_replicas": int(by_topic.sum()) if is_sized else None,
        "remote_bytes": int(remote[remote > 0].sum()),
        "bytes_by_owner": _by_owner(topics, by_topic),
        "cross_rack_bytes_per_s": float(crossing.sum()) if is_rated else None,
        "skew_in": _if_known(score, Resource.IN, "max_over_mean"),
    }


def _if_known(score: ClusterScore, resource: Resource, name: str) -> float | None:
    """Return a figure of a resource; `None` without a known load or a live broker."""
    if not score.state.brokers.is_live.any():
        return None
    has_use = has_capacities(score.state, resource)
    value = known_figures(score.placed.resources[resource], has_use=has_use)[name]
    return None if isnan(value) else value


def _tags(brokers: ArrowTable) -> dict[str, Any]:
    """Return the tags that all brokers of a cluster have with the same value."""
    each = [set(dict(own or ()).items()) for own in brokers.column("tags").to_pylist()]
    shared = sorted(set.intersection(*each)) if each else []
    return {"tags": shared, "owner": dict(shared).get(OWNER)}


def _certainty(score: ClusterScore, rates: Mapping[str, Any]) -> dict[str, Any]:
    """Return the source of the rates, and their unknown and estimated fractions."""
    return {
        "rates_source": rates.get("source"),
        "unknown_fraction": 1 - score.placed.resources[Resource.IN].known_fraction,
        "estimated_fraction": estimated_fraction(score.state, rates),
    }


def estimated_fraction(state: ClusterState, rates: Mapping[str, Any]) -> float | None:
    """
    Return the fraction of the known bytes in that was not measured by partition.

    Parameters
    ----------
    state
        The cluster.
    rates
        Header value `rates` of the snapshot. All rates of a live sample are estimates.
        If rates of topics were distributed (``split``), rates are estimates where a
        leader has several partitions of a topic.

    Returns
    -------
    From 0 to 1; `None` if no rate is known.
    """
    partitions = state.partitions
    known = np.isfinite(partitions.in_bytes_per_s)
    if not known.any():
        return None
    if _SAMPLED in (rates.get("source") or "").split("+"):
        return 1.0
    if rates.get("split") is None:
        return 0.0
    led = np.stack([partitions.topic_idx, partitions.leader_idx])
    _, of, counts = np.unique(led, axis=1, return_inverse=True, return_counts=True)
    has_to_share = counts[of.ravel()] > 1
    total = float(partitions.in_bytes_per_s[known].sum())
    shared = float(partitions.in_bytes_per_s[known & has_to_share].sum())
    return shared / total if total else 0.0


def _by_owner(topics: ArrowTable, size: RateArray) -> list[tuple[str, int]]:
    """Return the bytes of all replicas by the tag `owner` of their topics."""
    total: dict[str, int] = {}
    tags = topics.column("tags").to_pylist()
    for owned, held in zip(tags, size.tolist(), strict=True):
        owner = dict(owned or ()).get(OWNER)
        if owner is not None:
            total[owner] = total.get(owner, 0) + int(held)
    return sorted(total.items())
