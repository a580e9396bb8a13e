"""
Division of a reassignment into waves whose every intermediate state is safe.

Copies come first, in the minimum number of waves that the caps allow. Where disks are
too full for that, waves are filled one by one as far as there is room. A leader that is
replaced leads its partition until the last copy is done. Changes of list order follow
in waves of their own at the end, with the elections.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray, RowArray
from placement.model.cluster import ABSENT, ClusterState, sum_rows
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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Cut:
    """
    Assignment of copies to waves.

    Parameters
    ----------
    reassignment
        Change of the placement.
    settings
        Caps, bandwidth, thresholds and order of the waves.
    copies
        Copies of the reassignment, temporary hops included.
    wave
        ``(E,)`` wave of each copy, from 0; below 0 where no wave is safe.
    removals
        Replica that each copy deletes at the end of its wave.
    paces
        Copy rate and duration of each wave.
    bounds
        Lower bound on the waves of each stage. Internal topics are a stage of their
        own, and so is each topic in the order `TOPIC`.
    hops
        Temporary hops, where no safe order was left.
    stuck
        Reason why the other copies have no safe order; `None` where all have a wave.
    is_limited_by_disk
        Whether disks were too full for the minimum number of waves.
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
        """Number of waves with copies or removals."""
        return int(self.wave.max(initial=-1)) + 1

    @property
    def num_copy_waves(self) -> int:
        """Number of waves with copies."""
        copied = self.wave[~self.copies.is_drop & (self.wave >= 0)]
        return len(np.unique(copied))

    @property
    def bound(self) -> int:
        """Lower bound on the number of waves by the caps."""
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
        Change of the placement.
    weights
        Loads of the replicas.
    settings
        Caps, bandwidth, thresholds and order of the waves; `None`: the defaults.
    """
    settings = settings or WaveSettings()
    state = reassignment.before
    copies = in_safe_order(reassignment, copies_of(reassignment, weights))
    # Removals of partitions without copies need not wait for a wave.
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
    """Return the chosen rows of each stage; stages run one after the other."""
    topic = state.partitions.topic_idx[copies.partition_idx]
    group = is_internal(state)[copies.partition_idx].astype(np.int64)
    if settings.order is Order.TOPIC:
        group = group * (len(state.topics) + 1) + topic
    groups = np.nonzero(np.bincount(group[chosen]))[0]
    return [np.nonzero(chosen & (group == g))[0] for g in groups]


def _priority(state: ClusterState, copies: Copies, order: Order) -> RowArray:
    """Return the rows by descending priority; removals have no special place."""
    size = copies.size_bytes
    if order is Order.SMALL:
        return np.argsort(size, kind="stable")
    if order is Order.UNDER_REPLICATED:
        in_sync = sum_rows(state.replicas.is_in_sync, state.replicas.start)
        lacks = state.replication_factor - in_sync
        return np.lexsort((-size, -lacks[copies.partition_idx]))
    # Copies of similar size in one wave end together, which gives the shortest waves.
    return np.argsort(-size, kind="stable")


def _coloured(
    state: ClusterState, copies: Copies, stage: RowArray, settings: WaveSettings
) -> RowArray:
    """Return the waves of one stage, from 0; early copies get early waves."""
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
        # A partition gets at most one copy of each of its `most` groups in a wave.
        group = copies_apart(copies, most)[order]
        wave_of = spread(colour_copies(*ends, *each, previous, group))
        if wave_of.max(initial=-1) >= _bound(copies, stage, settings).waves:
            # Groups fill waves unevenly: a colouring without groups may need fewer.
            other = spread(colour_copies(*ends, *each, previous))
            wave_of = min(wave_of, other, key=lambda one: int(one.max(initial=-1)))
    return led_by_copies(copies, wave_of, settings.caps, settings.max_per_partition)[
        stage
    ]


def _previous_in(copies: Copies, order: RowArray) -> RowArray:
    """Return the position in `order` of each copy's previous copy, or -1."""
    place = np.full(len(copies) + 1, -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    before = place[copies.previous[order]]
    # Where the order reverses the two copies, the previous one is ignored.
    return np.where(before < np.arange(len(order)), before, -1)


def _both_caps(
    source: RowArray, target: RowArray, settings: WaveSettings, previous: RowArray
) -> RowArray:
    """Return waves within the shared cap and tighter caps of each direction."""
    shared = settings.max_shared or NO_CAP
    colour = colour_shared_copies(source, target, shared, previous)
    if min(settings.max_in, settings.max_out) >= shared:
        return colour
    # Each wave is cut again by the caps of each direction.
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
    """Return the function of the bytes by which a copy overfills each broker."""
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
    """Fill waves as far as disks have room, with temporary hops where necessary."""
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
