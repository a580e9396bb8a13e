"""Plans of new topics and more partitions: placed by load, or in given lists."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from placement.array_types import BoolArray, IndexArray, IntArray
from placement.cluster_changes.partition_changes import (
    MEASURED,
    NewPartition,
    with_partitions,
)
from placement.cluster_changes.topic_changes import NewTopic, add_topics
from placement.cluster_changes.variant import Variant, variant_of
from placement.core.model.solution import Bounded
from placement.draft.draft import Draft, Settings
from placement.draft.rule import Rule
from placement.model.cluster import UNKNOWN, ClusterState
from placement.model.load import broker_loads, heaviest_replicas, loads_of
from placement.model.targets import find_targets
from placement.operations.new_partitions import NewPartitions, PlacesForNew
from placement.placers.balanced_placer import Placer
from placement.planning.band_fixpoint import have_same_bands
from placement.planning.infeasibility.infeasible_rules import (
    InfeasibleSet,
    explain_impossible,
)
from placement.planning.new_partitions.nearest_places import (
    SpreadAsPlaced,
    distances_of,
    may_come_nearer,
    spread_as_placed,
)
from placement.planning.new_partitions.new_shortfalls import with_missing
from placement.planning.outcome.column_shortfalls import overfull_columns
from placement.planning.outcome.result import PlannedPlacement
from placement.planning.plan import draft_shares, make_draft, plan
from placement.rules.hard_levels import hard_capacities
from placement.rules.hosts import hard_host_capacities, host_loads
from placement.rules.list_positions import EvenPositions
from placement.rules.pinning import KeepLeaders, KeepTopics


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """
    Expected load of a topic in use, sum of all its partitions.

    Parameters
    ----------
    in_bytes_per_s, out_bytes_per_s
        Bytes/s; NaN if unknown.
    size_bytes
        Bytes of one copy of all partitions, or `UNKNOWN`.
    configs
        Topic configs of a new topic by name.
    min_insync_replicas
        ``min.insync.replicas`` of a new topic, its own or the cluster's; at least 1.
    """

    in_bytes_per_s: float = np.nan
    out_bytes_per_s: float = np.nan
    size_bytes: int = UNKNOWN
    configs: Mapping[str, str] = field(default_factory=dict)
    min_insync_replicas: int = 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Grown:
    """
    A cluster with partitions that do not exist yet, on placeholder brokers.

    Parameters
    ----------
    variant
        The cluster.
    is_new
        ``(P,)`` true for the new partitions.
    """

    variant: Variant
    is_new: BoolArray

    @property
    def state(self) -> ClusterState:
        """Columns of the cluster."""
        return self.variant.state


def with_new_topic(
    state: ClusterState,
    name: str,
    num_partitions: int,
    replication_factor: int,
    expected: Expected,
) -> Grown:
    """Return the cluster with one more topic."""
    topic = NewTopic(
        name=name,
        partitions=num_partitions,
        replication_factor=replication_factor,
        in_bytes_per_s=expected.in_bytes_per_s,
        out_bytes_per_s=expected.out_bytes_per_s,
        size_bytes=expected.size_bytes,
        min_insync_replicas=expected.min_insync_replicas,
        configs=expected.configs,
    )
    return _grown(add_topics(variant_of(state), [topic]), name, 0)


def with_more_partitions(
    state: ClusterState, name: str, num_partitions: int, expected: Expected
) -> Grown:
    """
    Return the cluster with more partitions of a topic.

    Parameters
    ----------
    state
        The cluster.
    name
        Name of an existing topic.
    num_partitions
        New number of partitions of the topic, larger than the present number.
    expected
        Expected load of the whole topic with all partitions. Unknown values are taken
        from the mean of its present partitions.
    """
    topic = state.topics.names.index(name)
    rows = np.nonzero(np.equal(state.partitions.topic_idx, topic))[0]
    first = int(state.partitions.partition[rows].max()) + 1
    columns = _columns(state, rows, expected, num_partitions)
    added = [
        NewPartition(
            topic_idx=topic,
            partition=number,
            factor=int(state.replication_factor[rows[0]]),
            columns=columns,
        )
        for number in range(first, num_partitions)
    ]
    return _grown(with_partitions(variant_of(state), added), name, first)


def _columns(
    state: ClusterState, rows: IntArray, expected: Expected, count: int
) -> dict[str, float]:
    """Return the load columns of each new partition."""
    partitions = state.partitions
    columns: dict[str, float] = {}
    for name in MEASURED:
        now = getattr(partitions, name)[rows]
        is_unknown = bool((now == UNKNOWN).any()) if now.dtype.kind == "i" else False
        columns[name] = float(UNKNOWN) if is_unknown else float(np.mean(now))
    columns["remote_bytes"] = float(UNKNOWN)
    for name in ("in_bytes_per_s", "out_bytes_per_s"):
        value = getattr(expected, name)
        if np.isfinite(value):
            columns[name] = value / count
    if expected.size_bytes != UNKNOWN:
        columns["size_bytes"] = expected.size_bytes / count
    return columns


def _grown(variant: Variant, topic: str, first: int) -> Grown:
    state = variant.state
    row = state.topics.names.index(topic)
    is_new = np.equal(state.partitions.topic_idx, row)
    is_new &= state.partitions.partition >= first
    return Grown(variant=variant, is_new=is_new)


def place_new(grown: Grown, settings: Settings) -> PlannedPlacement:
    """
    Place the new partitions by load, capacity and racks.

    Parameters
    ----------
    grown
        The cluster with the new partitions on placeholder brokers.
    settings
        Settings of the plan.
    """
    settings = _for_new(grown, settings)
    operation = NewPartitions(grown.is_new)
    grown, is_free = _with_partners(make_draft(grown.state, operation, settings), grown)
    draft = make_draft(grown.state, operation, settings)
    state, weights = draft.state, draft.weights
    leader = state.partitions.leader_idx
    targets = find_targets(
        draft_shares(draft),
        broker_loads(state, weights, leader),
        heaviest_replicas(state, weights, leader),
    )
    balanced = draft.balanced_resources()
    placer = Placer(draft, targets, balanced, is_free)
    placed = _lying_at(grown, placer.place()).state
    # From this placement the search would concentrate a topic on the emptiest brokers.
    # It provides the bound, and replaces the placement only if hard rules require that.
    searched = plan(placed, operation, settings)
    chosen = plan(placed, replace(operation, is_fixed=True), settings)
    if _is_over(chosen, grown.is_new) and searched.has_met_rules:
        # The search counted disk use of new replicas on brokers that they then leave.
        found = searched.reassignment.after().replicas.broker_idx
        placed = _lying_at(grown, found).state
        chosen = plan(placed, replace(operation, is_fixed=True), settings)
    if may_come_nearer(chosen, grown.is_new, settings):
        spread = spread_as_placed(placer, placed, grown.is_new)
        chosen = _nearest(_lying_at(grown, placed.replicas.broker_idx), chosen, spread)
    return with_missing(_bounded_by(chosen, searched), draft, grown.is_new)


def _nearest(
    placed: Grown, chosen: PlannedPlacement, spread: SpreadAsPlaced
) -> PlannedPlacement:
    """Return the placement nearest to the bands, with topics as well spread."""
    settings = chosen.draft.settings
    operation = NewPartitions(placed.is_new)
    rules = (*settings.rules, spread)
    nearer = plan(placed.state, operation, replace(settings, rules=rules))
    if not nearer.has_met_rules:
        return chosen
    found = nearer.reassignment.after().replicas.broker_idx
    fixed = replace(operation, is_fixed=True)
    other = plan(_lying_at(placed, found).state, fixed, settings)
    return min(chosen, other, key=distances_of)


def _for_new(grown: Grown, settings: Settings) -> Settings:
    """Return settings that place new partitions without caps on copies."""
    return replace(
        settings,
        # Caps on copies do not apply to new partitions, nor does pinning of the rest.
        max_moves=None,
        max_bytes=None,
        max_cross_rack_bytes=None,
        frees_the_rest=True,
        rules=(*_placing(settings.rules), PlacesForNew(grown.is_new)),
    )


def _placing(rules: Sequence[Rule[Draft]]) -> Iterator[Rule[Draft]]:
    """Yield the rules without those that pin replicas or leaders."""
    for rule in rules:
        if not isinstance(rule, KeepTopics | KeepLeaders):
            yield rule


def explain_new(
    grown: Grown, settings: Settings, found: PlannedPlacement
) -> InfeasibleSet | None:
    """
    Find the reason why new partitions have no place that keeps every hard rule.

    Parameters
    ----------
    grown, settings
        Arguments of `place_new`.
    found
        Result of `place_new`.

    Returns
    -------
    The reason, or `None` if all rules are kept.
    """
    operation = NewPartitions(grown.is_new)

    def placed(settings: Settings) -> PlannedPlacement:
        return place_new(grown, settings)

    return explain_impossible(operation, _for_new(grown, settings), found, placed)


def _with_partners(draft: Draft, grown: Grown) -> tuple[Grown, BoolArray]:
    """
    Place new partitions on the brokers of the existing partitions of their bundles.

    Returns
    -------
    The cluster, and ``(P,)`` true for the new partitions that are still unplaced.
    """
    replicas, is_free = grown.state.replicas, grown.is_new.copy()
    broker_idx, start = replicas.broker_idx.copy(), replicas.start
    for bundle in draft.bundles:
        there = next((p for p in bundle if not grown.is_new[p]), None)
        if there is None:
            continue
        home = broker_idx[slice(*start[there : there + 2])]
        for p in (p for p in bundle if grown.is_new[p]):
            if draft.open_to(p)[home].all():
                broker_idx[slice(*start[p : p + 2])] = home
                is_free[p] = False
    return (_lying_at(grown, broker_idx) if draft.bundles else grown), is_free


def _is_over(placed: PlannedPlacement, is_new: BoolArray) -> bool:
    """
    Return whether a broker that gets a new replica exceeds a capacity.

    The capacity is its own, or that of its host.
    """
    after, draft = placed.reassignment.after(), placed.draft
    load, _ = loads_of(after)
    over: BoolArray = np.any(load > hard_capacities(draft), axis=1)
    full = np.greater(host_loads(draft, load), hard_host_capacities(draft))
    of_hosts: BoolArray = np.any(full, axis=1)
    over |= of_hosts[after.brokers.host_idx]
    gets_new = after.replicas.broker_idx[is_new[after.replicas.partition_idx]]
    full_columns = overfull_columns(draft, placed.reassignment, is_new)
    return bool(over[gets_new].any()) or any(full_columns)


def _bounded_by(
    chosen: PlannedPlacement, searched: PlannedPlacement
) -> PlannedPlacement:
    """
    Return a placement with the lower bound of an unrestricted search.

    The bound holds for the bands of the search, which the heaviest replicas decide. If
    the placement has other bands, nothing is proven for it.
    """
    solution, free = chosen.solution, searched.solution
    value = solution.certificate.deviation.value
    deviation = Bounded(value=value, lower_bound=0.0)
    if have_same_bands(chosen.targets, searched.targets):
        bound = free.certificate.deviation
        least = min(value, bound.lower_bound)
        deviation = replace(bound, value=value, lower_bound=least)
        deviation = deviation.with_solver(bound.solver_bound, bound.solver)
    certificate = replace(solution.certificate, deviation=deviation)
    # In the fixed placement, new replicas exist already and cause no shortfall.
    status = solution.status if searched.has_met_rules else free.status
    return replace(
        chosen,
        solution=replace(
            solution,
            status=status,
            certificate=certificate,
            shortfalls=free.shortfalls or solution.shortfalls,
        ),
    )


def lying_by_hand(grown: Grown, lists: Sequence[Sequence[int]]) -> ClusterState:
    """Return the cluster with its new partitions in the given lists."""
    state = grown.state
    broker_idx = state.replicas.broker_idx.copy()
    rows = np.nonzero(grown.is_new[state.replicas.partition_idx])[0]
    broker_idx[rows] = state.brokers.rows_of([b for row in lists for b in row])
    return _lying_at(grown, broker_idx).state


def place_by_hand(
    grown: Grown, lists: Sequence[Sequence[int]], settings: Settings
) -> PlannedPlacement:
    """
    Place the new partitions in the given lists.

    Parameters
    ----------
    grown
        The cluster with the new partitions on placeholder brokers.
    lists
        Ids of known brokers for each new partition, in the order of the partitions.
    settings
        Settings of the plan.
    """
    operation = NewPartitions(grown.is_new, is_fixed=True)
    # The given lists keep their order.
    rules = tuple(one for one in settings.rules if not isinstance(one, EvenPositions))
    settings = replace(settings, rules=rules)
    return plan(lying_by_hand(grown, lists), operation, settings)


def _lying_at(grown: Grown, broker_idx: IndexArray) -> Grown:
    """Return the cluster with replicas on these brokers; the first replica leads."""
    state = grown.state
    is_new = grown.is_new
    leader = state.partitions.leader_idx.copy()
    leader[is_new] = broker_idx[state.replicas.start[:-1][is_new]]
    rows = is_new[state.replicas.partition_idx]
    is_live = state.brokers.is_live[broker_idx]
    moved = replace(
        state,
        partitions=replace(state.partitions, leader_idx=leader),
        replicas=replace(
            state.replicas,
            broker_idx=broker_idx,
            is_in_sync=np.where(rows, is_live, state.replicas.is_in_sync),
        ),
    )
    return replace(grown, variant=grown.variant.weighing(moved))
