"""The tables that rules and operations fill before the core's problem is made."""

from dataclasses import dataclass, field, replace

import numpy as np

from placement.array_types import BoolArray, CodeArray, IndexArray
from placement.core.model.problem import Movability
from placement.core.model.solution import Shortfall
from placement.core.presolve.aggregation import Bundle
from placement.draft.rule_tables import Eligibility, SoftColumn
from placement.draft.settings import DEFAULT_THRESHOLDS, Note, Settings
from placement.model.cluster import BrokerState, ClusterState, LogDirState
from placement.model.load import RESOURCES, UNITS, Resource, WeightArray, Weights, weigh
from placement.model.reassignment import Reassignment

__all__ = ["DEFAULT_THRESHOLDS", "Draft", "Note", "Settings", "mean_use", "start_draft"]

LEAST_KNOWN = 0.95
"""Least known fraction of a resource that is balanced without being requested."""


@dataclass(slots=True, eq=False)
class Draft:
    """
    Allowed moves in Kafka's terms, filled by the rules one after the other.

    Parameters
    ----------
    state, weights, settings
        The cluster, the weights of its replicas, and the settings of the plan.
    leaves
        ``(B,)`` brokers to empty.
    to_empty
        ``(B,)`` brokers that must hold nothing after the plan: removed ones.
    is_new
        ``(B,)`` brokers to fill.
    holds
        ``(B,)`` brokers that stay and share the load: ``A``.
    leads
        ``(B,)`` brokers that may lead.
    may_receive
        ``(B,)`` brokers that may receive further replicas.
    must_release
        ``(B,)`` brokers that must give up leadership.
    movability
        ``(R,)`` `Movability` of each replica.
    may_lead_anew
        ``(P,)`` whether the leader of the partition may change.
    is_left_alone
        ``(P,)`` partitions that must not change.
    lacks_source
        ``(P,)`` partitions that have to change and have no source for copies.
    old_may_be_low
        Whether brokers that are not new may stay below their band.
    has_plain_counts
        Whether replicas and leaders are shared equally, independent of capacities, in
        bands with ends rounded outwards.
    may_balance
        Resources that the operation can balance, of those requested.
    is_order_only
        Whether nothing is copied, and leaders are balanced exactly.
    is_emptied_dir
        ``(D,)`` log dirs to empty, if replicas change their log dir inside their
        broker; `None` if they do not.
    orders_followers
        Whether any list may be reordered to spread the next leaders; otherwise only
        lists that change anyway.
    evens_positions
        Whether lists are reordered so that each broker occurs equally often at every
        position.
    notes
        Notes of the plan.
    shortfalls
        Shortfalls that are known before the search.
    decided
        Reassignment that the operation has decided itself, independent of the bands;
        `state` is the cluster after it. `None` if nothing is decided: `state` is the
        present cluster.
    is_unplaced
        ``(R,)`` copies of `state` on placeholder brokers, whose broker is still to be
        found.
    eligibility
        Eligible brokers of each partition, one table for each rule.
    columns
        Loads besides the six resources.
    rack_cap
        ``(P,)`` maximum number of replicas per rack, in place of the rack rule; the
        rack rule applies where it is 0, and everywhere if `None`.
    most_replicas
        ``(B,)`` maximum number of replicas of each broker, besides the caps of the
        cluster; `None` for these caps alone.
    bundles
        Partitions that belong together; all partitions of a bundle get the list of its
        first one.
    stands_for
        ``(B,)`` the broker that each broker replaces, or -1; `None` if no broker is
        replaced.
    most_of_topic
        ``(T,)`` maximum number of replicas of each topic that the search brings to a
        broker, in place of share plus slack and of any cap on leaders; `None` for
        those.
    repairs_racks, repairs_capacity
        Whether the operation is meant to repair violations of the rack rule, or of
        capacities: a violation that it cannot repair then counts even if it existed
        before.
    racks_as_before
        ``(P,)`` partitions without the rack rule, because fixed replicas break it as
        before; `None` if there are none.
    pool_of_broker, pool_of_partition
        ``(B,)`` and ``(P,)`` sets, each of which shares its load among its own brokers.
    """

    state: ClusterState
    weights: Weights
    settings: Settings
    leaves: BoolArray
    to_empty: BoolArray
    is_new: BoolArray
    holds: BoolArray
    leads: BoolArray
    may_receive: BoolArray
    must_release: BoolArray
    movability: CodeArray
    may_lead_anew: BoolArray
    is_left_alone: BoolArray
    lacks_source: BoolArray
    old_may_be_low: bool = False
    has_plain_counts: bool = False
    may_balance: tuple[Resource, ...] = RESOURCES
    is_order_only: bool = False
    is_emptied_dir: BoolArray | None = None
    orders_followers: bool = False
    evens_positions: bool = False
    notes: list[Note] = field(default_factory=list)
    shortfalls: list[Shortfall] = field(default_factory=list)
    decided: Reassignment | None = None
    is_unplaced: BoolArray | None = None
    eligibility: list[Eligibility] = field(default_factory=list)
    columns: list[SoftColumn] = field(default_factory=list)
    rack_cap: WeightArray | None = None
    most_replicas: WeightArray | None = None
    bundles: tuple[Bundle, ...] = ()
    stands_for: IndexArray | None = None
    most_of_topic: WeightArray | None = None
    repairs_racks: bool = False
    repairs_capacity: bool = False
    racks_as_before: BoolArray | None = None
    pool_of_broker: WeightArray | None = None
    pool_of_partition: WeightArray | None = None

    def decide(
        self, decided: Reassignment, is_unplaced: BoolArray | None = None
    ) -> None:
        """
        Continue from the result of a reassignment, with all replicas fixed so far.

        Parameters
        ----------
        decided
            Reassignment that is made in any case.
        is_unplaced
            ``(M,)`` places in its lists whose copies still need a broker.
        """
        state = decided.after()
        self.decided, self.state = decided, state
        self.weights = weigh(state)
        self.movability = np.full(len(state.replicas), Movability.NEVER, dtype=np.int8)
        self.may_lead_anew = np.zeros(state.num_partitions, dtype=np.bool_)
        if is_unplaced is not None:
            self.state = _with_room(decided, is_unplaced, self.weights)
            self.is_unplaced = is_unplaced
            self.movability[is_unplaced] = Movability.MUST

    @property
    def is_there(self) -> BoolArray:
        """``(M,)`` false for unplaced copies on placeholder brokers."""
        if self.is_unplaced is None:
            return np.ones(len(self.movability), dtype=np.bool_)
        return ~self.is_unplaced

    def open_to(self, p: int) -> BoolArray:
        """Return ``(B,)`` true for brokers that may receive replicas of a partition."""
        is_open: BoolArray = self.may_receive & self.holds
        for table in self.eligibility:
            is_open = is_open & table.allowed[table.partition_class[p]]
        return is_open

    def note(self, note: Note) -> None:
        """Add a note unless the draft has it already."""
        if note not in self.notes:
            self.notes.append(note)

    def freeze_partitions(self, chosen: BoolArray) -> None:
        """Freeze the chosen partitions, except for the brokers of unplaced copies."""
        stays = chosen[self.state.replicas.partition_idx] & self.is_there
        self.movability[stays] = Movability.NEVER
        self.may_lead_anew[chosen] = False
        self.is_left_alone |= chosen

    def balanced_resources(self) -> tuple[Resource, ...]:
        """Return the resources to balance, and add notes on those left out."""
        known = self.weights.is_known
        if self.settings.resources is not None:
            wanted = tuple(r for r in self.settings.resources if r in self.may_balance)
            for resource in wanted:
                if len(known) and not known[:, RESOURCES.index(resource)].any():
                    self.note(_not_balanced(resource, 0.0))
            return wanted
        chosen = []
        for r, resource in enumerate(RESOURCES):
            if resource not in self.may_balance:
                continue
            fraction = float(known[:, r].mean()) if len(known) else 1.0
            if self._is_little_used(r):
                continue
            if fraction >= LEAST_KNOWN:
                chosen.append(resource)
            else:
                self.note(_not_balanced(resource, fraction))
        return tuple(chosen)

    def _is_little_used(self, r: int) -> bool:
        """Return whether a resource has too little use to balance; add a note if so."""
        resource = RESOURCES[r]
        least = self.settings.low_utilization.get(resource)
        use = mean_use(self.state, self.weights, self.holds, resource)
        if least is None or use is None or use >= least:
            return False
        self.note(
            Note(
                what="little-used",
                message=f"{resource} is used to {use:.1%} and not balanced: that is "
                f"less than {least:.1%}",
                where={"resource": str(resource)},
                have=round(use, 6),
                need=least,
            )
        )
        return True


def _with_room(
    decided: Reassignment, is_unplaced: BoolArray, weights: Weights
) -> ClusterState:
    """
    Return the cluster after a reassignment, with room for unplaced copies.

    An unplaced copy takes no free space on its placeholder broker: a log dir of this
    broker is enlarged by its size, so that the bytes unexplained by replicas are
    unchanged.
    """
    state, without = decided.after(), decided.without(is_unplaced).after()
    rows = np.nonzero(is_unplaced)[0]
    extra = np.zeros(state.num_brokers, dtype=np.int64)
    size = weights.copy_bytes[state.replicas.partition_idx[rows]]
    np.add.at(extra, state.replicas.broker_idx[rows], size)
    dirs = without.log_dirs
    is_known = (dirs.size_bytes >= 0) & (dirs.usable_bytes >= 0)
    is_known &= np.not_equal(dirs.state, LogDirState.OFFLINE)
    known = np.nonzero(is_known)[0]
    owners, first = np.unique(dirs.broker_idx[known], return_index=True)
    sizes = dirs.size_bytes.copy()
    sizes[known[first]] += extra[owners]
    return replace(state, log_dirs=replace(dirs, size_bytes=sizes))


def mean_use(
    state: ClusterState, weights: Weights, holds: BoolArray, resource: Resource
) -> float | None:
    """
    Return the used fraction of all capacities; `None` if a capacity is unknown.

    Parameters
    ----------
    state, weights
        The cluster, and the weights of its replicas.
    holds
        ``(B,)`` brokers whose capacities count.
    resource
        A resource with capacities; the result is `None` for other resources.
    """
    brokers = state.brokers
    columns = {
        Resource.DISK: brokers.disk_bytes.astype(np.float64),
        Resource.IN: brokers.in_bytes_per_s,
        Resource.OUT: brokers.out_bytes_per_s,
        Resource.CPU: brokers.cpu_cores,
    }
    if resource not in columns or not holds.any():
        return None
    capacity = columns[resource][holds]
    if not np.all(np.isfinite(capacity) & (capacity > 0)):
        return None
    r = RESOURCES.index(resource)
    load = float((weights.replica[:, r] * state.num_replicas).sum())
    load += float(weights.leader[:, r].sum())
    return load / (float(capacity.sum()) * UNITS[resource])


def start_draft(state: ClusterState, settings: Settings) -> Draft:
    """Return a draft in which every replica may move to any live broker."""
    brokers = state.brokers
    excluded = np.isin(brokers.ids, sorted(settings.excluded_for_replicas))
    wanted = np.ones(len(brokers), dtype=np.bool_)
    if settings.destination_brokers is not None:
        wanted = np.isin(brokers.ids, sorted(settings.destination_brokers))
    no_leaders = np.isin(brokers.ids, sorted(settings.excluded_for_leaders))
    live = brokers.is_live
    return Draft(
        state=state,
        weights=weigh(state),
        settings=settings,
        leaves=np.zeros(len(brokers), dtype=np.bool_),
        to_empty=np.zeros(len(brokers), dtype=np.bool_),
        is_new=np.equal(brokers.state, BrokerState.NEW),
        holds=live.copy(),
        leads=brokers.may_lead & ~no_leaders,
        may_receive=live & ~excluded & wanted,
        must_release=np.equal(brokers.state, BrokerState.DEMOTED),
        movability=np.full(len(state.replicas), Movability.MAY, dtype=np.int8),
        may_lead_anew=np.ones(state.num_partitions, dtype=np.bool_),
        is_left_alone=np.zeros(state.num_partitions, dtype=np.bool_),
        lacks_source=np.zeros(state.num_partitions, dtype=np.bool_),
        repairs_racks=settings.frees_the_rest,
        repairs_capacity=settings.frees_the_rest,
    )


def _not_balanced(resource: Resource, fraction: float) -> Note:
    """Return the note on a resource known for too small a fraction of partitions."""
    remedy = "; name it in --resources to balance what is known" if fraction else ""
    known = f"{fraction:.0%}" if fraction else "none"
    return Note(
        what="not-balanced",
        message=f"{resource} is known for {known} of the partitions and is not "
        f"balanced{remedy}",
        where={"resource": str(resource)},
        have=round(fraction, 6),
        need=LEAST_KNOWN,
    )
