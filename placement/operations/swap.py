"""Exchange the roles of two brokers."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from placement.array_types import BoolArray, IndexArray
from placement.core.model.solution import Shortfall
from placement.draft.draft import Draft
from placement.model.cluster import ABSENT, ClusterState
from placement.model.cross_rack import crossing_copies
from placement.model.load import RESOURCES, Resource, WeightArray, first_true, loads_of
from placement.model.reassignment import Reassignment
from placement.operations.steps.broker_successors import Replacing
from placement.rules.fetch_sources import report_no_source
from placement.rules.frozen_partitions import UsableLogDirs, is_excluded, is_untouchable
from placement.rules.hosts import host_loads
from placement.rules.pinning import kept_leaders, topics_kept


@dataclass(frozen=True, slots=True)
class Swap:
    """
    Exchange two brokers: each gets the replicas and list positions of the other.

    *Goals*: every list names each of the two where it named the other one.
    *Constraints*: racks, capacities, caps and chosen rules; excluded and kept topics
    stay. *Algorithm*: the exchange is decided as a whole. If anything stands in its
    way, nothing changes, and every obstacle is a shortfall.

    Parameters
    ----------
    brokers
        Ids of the two brokers.
    """

    brokers: tuple[int, ...]

    def fill(self, draft: Draft) -> None:
        """Decide every list that names one of the two brokers."""
        UsableLogDirs().fill(draft)
        state, untouchable = draft.state, is_untouchable(draft)
        pair = state.brokers.rows_of(self.brokers)
        stays = is_excluded(draft) | topics_kept(draft)[state.partitions.topic_idx]
        is_on = np.isin(state.replicas.broker_idx, pair)
        is_on &= ~stays[state.replicas.partition_idx]
        whole = _exchanged(state, pair, is_on)
        report_no_source(draft, whole.is_changed & ~state.has_source)
        placing = Replacing(draft, untouchable, [tuple(pair), tuple(pair[::-1])])
        found = chain(
            _of_copies(placing, whole, pair),
            _of_orders(draft, whole, untouchable),
            _of_loads(placing, whole),
            _of_caps(draft, whole),
        )
        draft.shortfalls += [
            one for one in found if one.group < 0 or not draft.lacks_source[one.group]
        ]
        if draft.shortfalls:
            whole = _exchanged(state, pair, np.zeros_like(is_on))
        draft.decide(whole)
        draft.is_left_alone |= ~whole.is_changed & ~untouchable


def _exchanged(
    state: ClusterState, pair: IndexArray, chosen: BoolArray
) -> Reassignment:
    """
    Return the lists in which the chosen replicas of two brokers are exchanged.

    A list with both keeps both replicas, in each other's places.
    """
    replicas = state.replicas
    partner = np.arange(state.num_brokers, dtype=np.int32)
    partner[pair] = pair[::-1]
    origin = np.arange(len(replicas), dtype=np.int64)
    one, other = (np.nonzero(chosen & (replicas.broker_idx == b))[0] for b in pair)
    of_one, of_other = replicas.partition_idx[one], replicas.partition_idx[other]
    one, other = one[np.isin(of_one, of_other)], other[np.isin(of_other, of_one)]
    origin[one], origin[other] = other, one
    return Reassignment(
        before=state,
        broker_idx=np.where(chosen, partner[replicas.broker_idx], replicas.broker_idx),
        origin=origin,
    )


def _of_copies(
    placing: Replacing, whole: Reassignment, pair: IndexArray
) -> Iterator[Shortfall]:
    """Yield the replicas that may not go to the other broker."""
    was_on = whole.before.replicas.broker_idx
    for old, new in (pair, pair[::-1]):
        rows = np.nonzero(whole.is_copied & np.equal(was_on, old))[0]
        yield from filter(None, placing.obstacles(rows, int(new)))


def _of_orders(
    draft: Draft, whole: Reassignment, untouchable: BoolArray
) -> Iterator[Shortfall]:
    """Yield the partitions whose order must stay, or whose new leader may not lead."""
    state = draft.state
    replicas = state.replicas
    is_renamed = np.not_equal(whole.broker_idx, replicas.broker_idx)
    first = first_true(state.brokers.is_live[whole.broker_idx], replicas.start)
    is_barred = (first != ABSENT) & is_renamed[first]
    is_barred &= ~draft.leads[whole.broker_idx[first]]
    is_pinned = first_true(kept_leaders(draft) & is_renamed, replicas.start) != ABSENT
    is_copied = first_true(whole.is_copied, replicas.start) != ABSENT
    reasons = (
        (whole.is_changed & ~is_copied & untouchable, "is left alone, see the notes"),
        (is_barred, "would be led by a broker that may not lead"),
        (is_pinned, "keeps its leader, by a rule"),
    )
    for chosen, why in reasons:
        for p in np.nonzero(chosen)[0].tolist():
            yield Shortfall(
                what="bins",
                have=0,
                need=1,
                group=p,
                level="broker",
                is_proven=not untouchable[p],
                message=f"{state.name_of(p)} {why}",
            )


def _of_loads(placing: Replacing, whole: Reassignment) -> Iterator[Shortfall]:
    """Yield the brokers and hosts over a capacity, and further than they are now."""
    draft = placing.draft
    now, then = loads_of(whole.before)[0], loads_of(whole.after())[0].copy()
    if draft.settings.is_disk_transient:
        disk, copied = RESOURCES.index(Resource.DISK), whole.is_copied
        size = draft.weights.copy_bytes[whole.partition_idx[copied]]
        then[:, disk] = now[:, disk]
        np.add.at(then[:, disk], whole.broker_idx[copied], size)
    yield from _over("bin", placing.capacity, now, then)
    loads = (host_loads(draft, load) for load in (now, then))
    yield from _over("host", placing.hosts, *loads)


def _over(
    level: str, capacity: WeightArray, now: WeightArray, then: WeightArray
) -> Iterator[Shortfall]:
    for node, r in np.argwhere((then > capacity) & (then > now)).tolist():
        yield Shortfall(
            what="capacity",
            have=int(capacity[node, r]),
            need=int(then[node, r]),
            node=node,
            resource=str(RESOURCES[r]),
            level=level,
            is_proven=True,
        )


def _of_caps(draft: Draft, whole: Reassignment) -> Iterator[Shortfall]:
    """Yield the caps on copies that the exchange exceeds."""
    settings, copied = draft.settings, whole.is_copied
    size = draft.weights.copy_bytes[whole.partition_idx[copied]]
    needs = {
        "moves": (settings.max_moves, copied.sum()),
        "cost": (settings.max_bytes, size.sum()),
        "crossing": (
            settings.max_cross_rack_bytes,
            crossing_copies(whole, draft.weights).sum(),
        ),
    }
    for what, (have, need) in needs.items():
        if have is not None and need > have:
            yield Shortfall(what=what, have=have, need=int(need), is_proven=True)
