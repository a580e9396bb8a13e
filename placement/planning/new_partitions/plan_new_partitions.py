"""New topics and more partitions: placed by load, or where somebody says."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from placement.core.model.problem import IntArray
from placement.draft.draft import Draft, Settings
from placement.draft.rule import Rule
from placement.model.cluster import UNKNOWN, BoolArray, ClusterState, IndexArray
from placement.model.load import broker_loads, heaviest_replicas, loads_of
from placement.model.targets import find_targets
from placement.operations.new_partitions import NewPartitions, PlacesForNew
from placement.placers.balanced_placer import Placer
from placement.planning.infeasibility.infeasible_rules import (
    Because,
    explain_impossible,
)
from placement.planning.new_partitions.new_shortfalls import with_missing
from placement.planning.plan import draft_shares, make_draft, plan
from placement.planning.result import PlannedPlacement
from placement.rules.hard_levels import hard_capacities
from placement.rules.hosts import hard_host_capacities, host_loads
from placement.rules.list_positions import EvenPositions
from placement.rules.pinning import KeepLeaders, KeepTopics
from placement.scenarios.changes.partition_changes import (
    MEASURED,
    NewPartition,
    with_partitions,
)
from placement.scenarios.changes.topic_changes import NewTopic, add_topics
from placement.scenarios.changes.variant import Variant, variant_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """
    What a topic is expected to carry once it is in use, all partitions together.

    Parameters
    ----------
    in_bytes_per_s, out_bytes_per_s
        Bytes/s, NaN where nobody knows.
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
    A cluster with partitions that do not exist yet, lying anywhere.

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
        """The cluster's columns."""
        return self.variant.state


def with_new_topic(
    state: ClusterState,
    name: str,
    num_partitions: int,
    replication_factor: int,
    expected: Expected,
) -> Grown:
    """Return the cluster with a topic more."""
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
        A topic that it has.
    num_partitions
        How many the topic shall have; more than now.
    expected
        Of the whole topic then; what is not known is taken from the mean of its
        partitions now.
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
    """Return what each new partition is to carry."""
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


def place_new(goal: str, grown: Grown, settings: Settings) -> PlannedPlacement:
    """
    Place the new partitions by load, capacity and racks.

    Parameters
    ----------
    goal
        ``new-topic`` or ``add-partitions``.
    grown
        The cluster with the new partitions lying anywhere.
    settings
        Wishes.
    """
    settings = _for_new(grown, settings)
    operation = NewPartitions(grown.is_new, goal=goal)
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
    # From there the search would pile a topic onto the emptiest brokers: it is asked
    # what could be reached, and followed only where hard rules cannot do without.
    searched = plan(placed, operation, settings)
    chosen = plan(placed, replace(operation, is_fixed=True), settings)
    if _is_over(chosen, grown.is_new) and searched.has_met_rules:
        # To the search they lay on disks that they do not fill once they move on.
        found = searched.reassignment.after().replicas.broker_idx
        placed = _lying_at(grown, found).state
        chosen = plan(placed, replace(operation, is_fixed=True), settings)
    return with_missing(_bounded_by(chosen, searched), draft, grown.is_new)


def _for_new(grown: Grown, settings: Settings) -> Settings:
    """Return settings in which what is new needs places, and nothing is copied."""
    return replace(
        settings,
        # Caps on what is copied say nothing here, nor does what else might move.
        max_moves=None,
        max_bytes=None,
        max_cross_rack_bytes=None,
        frees_the_rest=True,
        rules=(*_placing(settings.rules), PlacesForNew(grown.is_new)),
    )


def _placing(rules: Sequence[Rule]) -> Iterator[Rule]:
    """Yield rules but for those that let something stay: what is new has no place."""
    for rule in rules:
        if not isinstance(rule, KeepTopics | KeepLeaders):
            yield rule


def explain_new(
    goal: str, grown: Grown, settings: Settings, found: PlannedPlacement
) -> Because | None:
    """
    Find the reason why new partitions have no place that keeps every hard rule.

    Parameters
    ----------
    goal, grown, settings
        As for `place_new`.
    found
        What that returned.

    Returns
    -------
    The reason, or `None` where all rules are kept.
    """
    operation = NewPartitions(grown.is_new, goal=goal)

    def placed(settings: Settings) -> PlannedPlacement:
        return place_new(goal, grown, settings)

    return explain_impossible(operation, _for_new(grown, settings), found, placed)


def _with_partners(draft: Draft, grown: Grown) -> tuple[Grown, BoolArray]:
    """
    Put new partitions where those lie that they belong together with.

    Returns
    -------
    The cluster, and ``(P,)`` true for the new partitions whose place is still open.
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
    Return whether a broker that gets a new replica carries more than it may.

    Alone, or together with the others of its host.
    """
    after, draft = placed.reassignment.after(), placed.draft
    load, _ = loads_of(after)
    over: BoolArray = np.any(load > hard_capacities(draft), axis=1)
    full = np.greater(host_loads(draft, load), hard_host_capacities(draft))
    of_hosts: BoolArray = np.any(full, axis=1)
    over |= of_hosts[after.brokers.host_idx]
    return bool(
        over[after.replicas.broker_idx[is_new[after.replicas.partition_idx]]].any()
    )


def _bounded_by(
    chosen: PlannedPlacement, searched: PlannedPlacement
) -> PlannedPlacement:
    """Return a placement with what is proven of all that may be."""
    solution, free = chosen.solution, searched.solution
    bound = free.certificate.deviation
    value = solution.certificate.deviation.value
    deviation = replace(bound, value=value, lower_bound=min(value, bound.lower_bound))
    certificate = replace(solution.certificate, deviation=deviation)
    # To the fixed placement what is new is there already, and nobody's fault.
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
    """Return the cluster with its new partitions where somebody says."""
    state = grown.state
    broker_idx = state.replicas.broker_idx.copy()
    rows = np.nonzero(grown.is_new[state.replicas.partition_idx])[0]
    broker_idx[rows] = state.brokers.rows_of([b for row in lists for b in row])
    return _lying_at(grown, broker_idx).state


def place_by_hand(
    goal: str, grown: Grown, lists: Sequence[Sequence[int]], settings: Settings
) -> PlannedPlacement:
    """
    Put the new partitions where somebody says.

    Parameters
    ----------
    goal
        ``new-topic`` or ``add-partitions``.
    grown
        The cluster with the new partitions lying anywhere.
    lists
        Ids of known brokers, per new partition in order.
    settings
        Wishes.
    """
    operation = NewPartitions(grown.is_new, is_fixed=True, goal=goal)
    # No list is put in another order than it was said in.
    rules = tuple(one for one in settings.rules if not isinstance(one, EvenPositions))
    settings = replace(settings, rules=rules)
    return plan(lying_by_hand(grown, lists), operation, settings)


def _lying_at(grown: Grown, broker_idx: IndexArray) -> Grown:
    """Return the cluster with its replicas on these brokers, the first one leading."""
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
