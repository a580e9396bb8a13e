"""Costs of a cluster of a fleet, by owner, and savings with fewer brokers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from placement.array_types import RateArray
from placement.demand.broker_demand import SIZED, Wanted, demand_of, fleet_of
from placement.draft.draft import Settings
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES, Resource
from placement.scenarios.cross_rack_load import cross_rack_rate, knows_racks
from placement.score import ClusterScore
from placement.score.known_loads import known_figures
from placement.sizing.fewest_brokers import MOST_BROKERS, least_brokers
from planner.fleet.cross_rack_traffic import crossing_bytes_per_s
from planner.fleet.fleet_prices import FleetPrices
from planner.snapshot.tables.snapshot_columns import ArrowTable
from planner.topic_resources import TAGS
from planner.what_if.changes.prices import GB, SECONDS, Prices

Tags = Mapping[str, str]
OWNER = "owner"
COST_FIELDS = (
    ("cost_currency", pa.string()),
    ("cost_per", pa.string()),
    ("cost_brokers", pa.float64()),
    ("cost_cross_rack", pa.float64()),
    ("cost_remote", pa.float64()),
    ("cost_total", pa.float64()),
    ("cost_by_owner", pa.map_(pa.string(), pa.float64())),
    ("cost_by_tag", pa.map_(pa.string(), pa.float64())),
    ("brokers_if_balanced", pa.int64()),
    ("saving_if_balanced", pa.float64()),
    ("brokers_at_least", pa.int64()),
    ("saving_at_most", pa.float64()),
)
"""Columns of an overview that come from prices; null without prices."""


def cost_columns(
    score: ClusterScore,
    brokers: ArrowTable,
    topics: ArrowTable,
    settings: Settings,
    prices: FleetPrices,
    cluster: tuple[str | None, Tags],
) -> dict[str, Any]:
    """
    Return the costs of a cluster for the span of time that the prices are for.

    Parameters
    ----------
    score
        Score of the cluster.
    brokers, topics
        Tables of the snapshot, with tags.
    settings
        Capacity thresholds.
    prices
        Prices of the fleet.
    cluster
        Id of the cluster, and its tags.

    Returns
    -------
    The columns of `COST_FIELDS`. A part is null if its price or quantity is unknown;
    `cost_total` is the sum of the known parts.
    """
    own = prices.of(*cluster)
    each = _of_brokers(score.state, brokers, prices, own)
    parts = _parts(score.state, each, own)
    known = {name: part for name, part in parts.items() if part is not None}
    by_topic = _by_topic(score, known)
    return {
        "cost_currency": own.currency,
        "cost_per": own.per,
        **{f"cost_{name}": part for name, part in parts.items()},
        "cost_total": sum(known.values()) if known else None,
        **_shares(by_topic, topics, cluster[1]),
        **_savings(score, settings, each),
    }


def _of_brokers(
    state: ClusterState, brokers: ArrowTable, prices: FleetPrices, own: Prices
) -> list[float] | None:
    """Return the price of each live broker; `None` if a broker has no price."""
    ids, tags = brokers.column("id").to_pylist(), brokers.column("tags").to_pylist()
    tags_of = {name: dict(own or ()) for name, own in zip(ids, tags, strict=True)}
    live = state.brokers.ids[state.brokers.is_live].tolist()
    found = [prices.of_broker(own, tags_of.get(broker, {})) for broker in live]
    known = [price for price in found if price is not None]
    return known if len(known) == len(found) else None


def _parts(
    state: ClusterState, brokers: list[float] | None, own: Prices
) -> dict[str, float | None]:
    rate, remote = cross_rack_rate(state), state.partitions.remote_bytes
    has_rate = rate is not None and own.cross_rack_gb is not None
    return {
        "brokers": None if brokers is None else float(np.sum(brokers)),
        "cross_rack": (rate or 0.0) * SECONDS[own.per] / GB * (own.cross_rack_gb or 0.0)
        if has_rate
        else None,
        "remote": None
        if own.remote_gb is None
        else float(np.maximum(remote, 0).sum()) / GB * own.remote_gb,
    }


def _by_topic(score: ClusterScore, parts: Mapping[str, float]) -> RateArray:
    """
    Return ``(T,)`` the costs of each topic.

    The cost of brokers is distributed by bytes on disk if known, else by the number of
    replicas; cross-rack traffic and remote storage by the bytes of each topic.
    """
    state = score.state
    partitions, topics = state.partitions, len(state.topics)
    of = partitions.topic_idx
    disk = score.topics.spread[RESOURCES.index(Resource.DISK)].total
    replicas = np.bincount(of, state.replication_factor, topics)
    keys = {
        "brokers": disk if np.nansum(disk) > 0 else replicas,
        "cross_rack": np.bincount(of, crossing_bytes_per_s(state), topics),
        "remote": np.bincount(of, np.maximum(partitions.remote_bytes, 0), topics),
    }
    found = np.zeros(topics)
    for name, cost in parts.items():
        key = np.nan_to_num(keys[name].astype(np.float64))
        if key.sum() > 0:
            found += cost * key / key.sum()
    return found


def _shares(by_topic: RateArray, topics: ArrowTable, cluster: Tags) -> dict[str, Any]:
    """Return costs by owner and by other tags; topics inherit the cluster's tags."""
    by_owner: dict[str, float] = {}
    by_tag: dict[str, float] = {}
    tags = topics.column("tags").to_pylist()
    for of_topic, cost in zip(tags, by_topic.tolist(), strict=True):
        own = {**cluster, **dict(of_topic or ())}
        owner = own.pop(OWNER, "")
        by_owner[owner] = by_owner.get(owner, 0.0) + cost
        for name in (f"{k}={v}" for k, v in own.items() if k not in TAGS):
            by_tag[name] = by_tag.get(name, 0.0) + cost
    return {
        "cost_by_owner": sorted(by_owner.items()),
        "cost_by_tag": sorted(by_tag.items()),
    }


def _savings(
    score: ClusterScore, settings: Settings, prices: Sequence[float] | None
) -> dict[str, Any]:
    """
    Return lower bounds on the number of brokers, and the price of the brokers above.

    ``if_balanced``: equal brokers, none fuller than the fullest broker is now, and none
    over a threshold. ``at_least``: none over a threshold after the loss of any broker
    or rack, as in `size`. The numbers are lower bounds, so savings are upper bounds.
    """
    uses = {
        resource: known_figures(score.placed.resources[resource], has_use=True)[
            "max_use"
        ]
        for resource in SIZED
    }
    now = {
        resource: min(most, uses[resource]) if uses[resource] > 0 else most
        for resource in SIZED
        for most in [settings.capacity_thresholds.get(resource, 1.0)]
    }
    survives = {"broker", "rack"} if knows_racks(score.state) else {"broker"}
    cases = {
        ("brokers_if_balanced", "saving_if_balanced"): Wanted(
            thresholds=now, survives=frozenset()
        ),
        ("brokers_at_least", "saving_at_most"): Wanted(
            thresholds=settings.capacity_thresholds, survives=frozenset(survives)
        ),
    }
    found: dict[str, Any] = {}
    for (count_name, saving_name), wanted in cases.items():
        least = _least(score.state, wanted)
        found[count_name] = least
        if least is not None and prices is not None:
            spared = max(len(prices) - least, 0)
            found[saving_name] = float(np.sum(sorted(prices)[len(prices) - spared :]))
    return found


def _least(state: ClusterState, wanted: Wanted) -> int | None:
    """Return a lower bound on the number of brokers; `None` without any capacity."""
    fleet, demand = fleet_of(state), demand_of(state)
    # Each broker counts as the largest one, so the number stays a lower bound.
    capacity = fleet.capacity.max(axis=0, initial=0.0)
    if not len(fleet) or not (np.isfinite(capacity) & demand.is_known).any():
        return None
    racks = fleet.num_racks if knows_racks(state) else 0
    most = float(fleet.max_replicas.max())
    bound = least_brokers(demand, capacity, racks, wanted, most)
    return None if bound.brokers >= MOST_BROKERS else bound.brokers
