"""
A reassignment cut into waves whose every intermediate state is safe.

Copies come first, in the least number of waves that the caps allow; where disks are
too full for that, wave by wave as far as there is room. A partition whose leader is
replaced is led by it until its last copy is done. Orders of lists change in waves of
their own at the end, with the elections.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from placement.model.cluster import ABSENT, BoolArray, ClusterState, sum_rows
from placement.model.copies import Copies, copies_apart, copies_of, is_internal
from placement.model.load import Resource, Weights
from placement.model.reassignment import Reassignment
from placement.waves.copy_pace import Paces, Schedule, network_of, written_to
from placement.waves.dir_claims import claims_of, may_overfill
from placement.waves.disk_growth import Growth, fills_up, growth_of, no_growth
from placement.waves.disk_space import Space, is_too_full, space_of
from placement.waves.edge_colouring import (
    colour_copies,
    colour_shared_copies,
)
from placement.waves.late_removals import is_copied_too, when_dropped
from placement.waves.leaderless_copies import led_by_copies
from placement.waves.replica_removals import (
    Removals,
    in_safe_order,
    settle_removals,
    spread_partitions,
)
from placement.waves.stage_bound import StageBound, bound_of
from placement.waves.temporary_hops import Hop, Stuck, find_hop, name_cycle
from placement.waves.wave_packing import Claims, pack
from placement.waves.wave_settings import NO_CAP, Order, WaveSettings

RowArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Cut:
    """
    Which copy runs in which wave.

    Parameters
    ----------
    reassignment
        What changes.
    settings
        How it was cut.
    copies
        The copies, temporary hops included.
    wave
        ``(E,)`` wave of each copy, from 0; below 0 where there is no safe one.
    removals
        Which replica each copy deletes when its wave is over.
    paces
        How fast each wave copies, and how long it takes.
    bounds
        Of each stage, what its copies need at least: internal topics, and in the
        order `TOPIC` each topic, are stages of their own.
    hops
        Replicas that were put aside for a while, where no safe order was left.
    stuck
        What keeps the rest from any safe order; `None` where all are in a wave.
    is_limited_by_disk
        Whether disks were too full for the least number of waves.
    """

    reassignment: Reassignment
    settings: WaveSettings
    copies: Copies
    wave: RowArray
    removals: Removals
    paces: Paces
    bounds: tuple[StageBound, ...]
    hops: tuple[Hop, ...]
    stuck: Stuck | None
    is_limited_by_disk: bool

    @property
    def num_waves(self) -> int:
        """Waves with copies, and with what is only dropped."""
        return int(self.wave.max(initial=-1)) + 1

    @property
    def num_copy_waves(self) -> int:
        """Waves with copies."""
        copied = self.wave[~self.copies.is_drop & (self.wave >= 0)]
        return len(np.unique(copied))

    @property
    def bound(self) -> int:
        """Waves that the caps need at least."""
        return sum(stage.waves for stage in self.bounds)


def cut(
    reassignment: Reassignment,
    weights: Weights,
    settings: WaveSettings | None = None,
) -> Cut:
    """
    Cut a reassignment into waves.

    Parameters
    ----------
    reassignment
        What changes.
    weights
        What the replicas weigh.
    settings
        How to cut; the defaults where `None`.
    """
    settings = settings or WaveSettings()
    state = reassignment.before
    copies = in_safe_order(reassignment, copies_of(reassignment, weights))
    # Where nothing is copied, there is no wave that replicas would have to wait for.
    stages = _stages(state, copies, ~copies.is_drop | is_copied_too(copies), settings)
    wave = np.full(len(copies), -1, dtype=np.int64)
    drops, freed = copies.drops_idx.copy(), copies.freed_bytes.copy()
    began = 0
    for stage in stages:
        coloured = _coloured(state, copies, stage, settings)
        own, removals = settle_removals(
            reassignment, copies.of(stage), coloured, settings.caps
        )
        wave[stage] = began + own
        drops[stage], freed[stage] = removals.broker_idx, removals.freed_bytes
        began += int(own.max()) + 1
    removals = Removals(broker_idx=drops, freed_bytes=freed)
    wave = when_dropped(state, copies, wave)
    written = written_to(state, np.nan_to_num(state.partitions.in_bytes_per_s))
    network = network_of(state, settings.network_thresholds, written)
    schedule = Schedule(
        reassignment=reassignment,
        copies=copies,
        wave=wave,
        removals=removals,
        bandwidth_bytes_per_s=settings.bandwidth_bytes_per_s,
    )
    result = Cut(
        reassignment=reassignment,
        settings=settings,
        copies=copies,
        wave=wave,
        removals=removals,
        paces=schedule.paces(network),
        bounds=tuple(_bound(copies, stage, settings) for stage in stages),
        hops=(),
        stuck=None,
        is_limited_by_disk=False,
    )
    threshold = settings.thresholds.get(Resource.DISK, 1.0)
    space = space_of(state, weights, copies, threshold)
    growth = growth_of(state, copies, space, written)
    paces = result.paces
    claims = claims_of(reassignment, copies)
    is_own = np.equal(drops, copies.drops_idx)
    off = np.where(is_own, copies.drops_dir, ABSENT), freed
    if (
        not is_too_full(copies, wave, drops, freed, space)
        and not may_overfill(state, copies, wave, off, claims)
        and not (
            growth is not None
            and fills_up(copies, wave, (drops, freed), space, growth, paces.seconds)
        )
    ):
        return result
    space = replace(space, dir_room=np.maximum(space.dir_room, claims.room))
    everything = np.ones(len(copies), dtype=np.bool_)
    stages = _stages(state, copies, everything, settings)
    pace = schedule.least_pace(network)
    packed = _packed(result, stages, space, growth, pace, claims.to_keep(state))
    schedule = replace(
        schedule, copies=packed.copies, wave=packed.wave, removals=packed.removals
    )
    return replace(packed, paces=schedule.paces(network))


def _stages(
    state: ClusterState, copies: Copies, chosen: BoolArray, settings: WaveSettings
) -> list[RowArray]:
    """Return those of some rows that are cut apart, one stage after the other."""
    topic = state.partitions.topic_idx[copies.partition_idx]
    group = is_internal(state)[copies.partition_idx].astype(np.int64)
    if settings.order is Order.TOPIC:
        group = group * (len(state.topics) + 1) + topic
    groups = np.nonzero(np.bincount(group[chosen]))[0]
    return [np.nonzero(chosen & (group == g))[0] for g in groups]


def _priority(state: ClusterState, copies: Copies, order: Order) -> RowArray:
    """Return the copies, first ones first; what is only dropped where it falls."""
    size = copies.size_bytes
    if order is Order.SMALL:
        return np.argsort(size, kind="stable")
    if order is Order.UNDER_REPLICATED:
        in_sync = sum_rows(state.replicas.is_in_sync, state.replicas.start)
        lacks = state.replication_factor - in_sync
        return np.lexsort((-size, -lacks[copies.partition_idx]))
    # Waves of copies of one size end together: the shortest in all.
    return np.argsort(-size, kind="stable")


def _coloured(
    state: ClusterState, copies: Copies, stage: RowArray, settings: WaveSettings
) -> RowArray:
    """Return waves from 0 for one stage; the first copies get the first waves."""
    order = _priority(state, copies, settings.order)
    order = order[np.isin(order, stage) & ~copies.is_drop[order]]
    source, target = copies.source_idx[order], copies.target_idx[order]
    previous = _previous_in(copies, order)
    most, caps = settings.max_per_partition, settings.caps

    def spread(colour: RowArray) -> RowArray:
        wave_of = np.full(len(copies), -1, dtype=np.int64)
        wave_of[order] = colour
        return spread_partitions(copies, wave_of, most, caps)

    if settings.max_shared is not None:
        wave_of = spread(_both_caps(source, target, settings, previous))
    else:
        ends, each = (source, target), (settings.max_out, settings.max_in)
        # What a partition gets in one wave comes from as many groups of its copies.
        group = copies_apart(copies, most)[order]
        wave_of = spread(colour_copies(*ends, *each, previous, group))
        if wave_of.max(initial=-1) >= _bound(copies, stage, settings).waves:
            # Groups fill waves unevenly: another way may need fewer.
            other = spread(colour_copies(*ends, *each, previous))
            wave_of = min(wave_of, other, key=lambda one: int(one.max(initial=-1)))
    return led_by_copies(copies, wave_of, settings.caps, settings.max_per_partition)[
        stage
    ]


def _previous_in(copies: Copies, order: RowArray) -> RowArray:
    """Return the copy of the same partition before each, as places in an order."""
    place = np.full(len(copies) + 1, -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    before = place[copies.previous[order]]
    # Where the order turns them round, nothing can be said.
    return np.where(before < np.arange(len(order)), before, -1)


def _both_caps(
    source: RowArray, target: RowArray, settings: WaveSettings, previous: RowArray
) -> RowArray:
    """Keep a shared cap and, where they are tighter, the caps of each direction."""
    shared = settings.max_shared or NO_CAP
    colour = colour_shared_copies(source, target, shared, previous)
    if min(settings.max_in, settings.max_out) >= shared:
        return colour
    # Each wave is cut again by the caps of one direction.
    cut_again = np.zeros(len(colour), dtype=np.int64)
    began = 0
    for c in range(int(colour.max()) + 1):
        rows = np.nonzero(colour == c)[0]
        own = colour_copies(
            source[rows], target[rows], settings.max_out, settings.max_in
        )
        cut_again[rows] = began + own
        began += int(own.max()) + 1
    return cut_again


def _bound(copies: Copies, stage: RowArray, settings: WaveSettings) -> StageBound:
    source, target = copies.source_idx[stage], copies.target_idx[stage]
    source, target = source[source >= 0], target[target >= 0]
    ends = [("in", target, settings.max_in), ("out", source, settings.max_out)]
    if settings.max_shared is not None:
        both = np.concatenate([source, target])
        ends.append(("both", both, settings.max_shared))
    passes = stage[copies.passes[stage]]
    return bound_of(ends, copies.partition_idx[passes], settings.max_per_partition)


def _lacks_of(
    growth: Growth, copies: Copies, room: RowArray, pace: float
) -> Callable[[int], RowArray]:
    """Return what tells by how many bytes a copy is too many for each broker alone."""
    every = np.arange(len(room))

    def lacks_of(row: int) -> RowArray:
        size, rate = int(copies.size_bytes[row]), float(growth.of_copy[row])
        return growth.lacks_at(every, size, rate, room, pace)

    return lacks_of


def _packed(
    found: Cut,
    stages: list[RowArray],
    space: Space,
    growth: Growth | None,
    pace: float,
    claims: Claims,
) -> Cut:
    """Fill waves as far as disks have room; put replicas aside where nothing else."""
    state, settings = found.reassignment.before, found.settings
    copies = found.copies
    room, dir_room = space.room.copy(), space.dir_room.copy()
    growth = growth or no_growth(state, copies)
    written = growth.written.copy()
    wave = np.full(len(copies), -1, dtype=np.int64)
    hops: list[Hop] = []
    stuck: Stuck | None = None
    began = 0
    todo = [stage.tolist() for stage in stages]
    while todo:
        order = _priority(state, copies, settings.order)
        order = order[np.isin(order, todo[0])]
        growth = replace(
            growth, written=written, of_copy=growth.rates[copies.partition_idx]
        )
        rooms = room, dir_room
        caps = settings.caps
        began = pack(copies, order, caps, rooms, growth, pace, claims, wave, began)
        rest = [row for row in todo[0] if wave[row] < 0]
        if not rest:
            todo.pop(0)
            continue
        fills = growth.lacks(copies, room, pace)
        cycle = name_cycle(state, copies, rest, *rooms, fills, claims)
        lacks_of = _lacks_of(growth, copies, room, pace)
        hop = find_hop(found.reassignment, copies, wave, cycle, room, lacks_of)
        if hop is None:
            stuck = cycle
            break
        copies, wave = hop.into(copies, wave)
        # The broker may put the extra copy into any of its log dirs.
        claims.most[np.equal(state.log_dirs.broker_idx, hop.via_idx)] += 1
        hops.append(hop)
        todo = [[hop.moved(row) for row in stage] for stage in todo]
        todo[0] = sorted([*todo[0], hop.row])
    wave = led_by_copies(copies, wave, settings.caps, settings.max_per_partition)
    return replace(
        found,
        copies=copies,
        wave=wave,
        removals=Removals(broker_idx=copies.drops_idx, freed_bytes=copies.freed_bytes),
        hops=tuple(hops),
        stuck=stuck,
        is_limited_by_disk=True,
    )
