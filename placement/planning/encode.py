"""Encode a draft as the core's problem: replicas are items, brokers are bins."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from placement.core.model.node_limits import with_loads_kept
from placement.core.model.problem import (
    NO_LIMIT,
    NOWHERE,
    Problem,
)
from placement.draft.draft import Draft
from placement.draft.leading_replicas import leading_replicas
from placement.draft.rule_tables import class_tables
from placement.draft.topic_spread import topic_caps
from placement.model.cluster import ABSENT
from placement.model.cross_rack import crossing_copies, source_racks
from placement.model.load import (
    RESOURCES,
    Resource,
    WeightArray,
    add_to,
)
from placement.model.targets import Targets
from placement.rules.hard_levels import (
    OneReplicaPerBroker,
    RackSpread,
    broker_limits,
    with_columns,
)
from placement.rules.hosts import host_capacities, host_level


def build_problem(
    draft: Draft, targets: Targets, balanced: tuple[Resource, ...]
) -> Problem:
    """
    Encode a draft as the core's problem: replicas are items, brokers are bins.

    Leadership is the role of a group. Only resources with a band or a capacity become
    columns.
    """
    state, weights = draft.state, draft.weights
    limits = broker_limits(draft, targets, balanced)
    is_limited = (limits.capacity < NO_LIMIT).any(axis=0)
    is_limited |= (host_capacities(draft) < NO_LIMIT).any(axis=0)
    keep = np.nonzero((limits.target > 0).any(axis=0) | is_limited)[0]
    if not len(keep):
        keep = np.array([RESOURCES.index(Resource.REPLICAS)])
    columns = {
        name: getattr(limits, name)[:, keep]
        for name in ("fixed", "capacity", "lower", "upper", "target")
    }
    soft = draft.columns
    brokers = OneReplicaPerBroker().level(draft, with_columns(columns, soft))
    own = weights.own
    hosts = host_level(draft, keep, len(soft))
    more = [*RackSpread().other_levels(draft), *([] if hosts is None else [hosts])]
    extra = np.zeros((len(own), len(keep) + len(soft)), dtype=np.int64)
    if len(own) and 0 in keep:
        extra[:, keep.tolist().index(0)] = own
    leading = leading_replicas(draft)
    caps = topic_caps(draft, targets)
    home = state.replicas.broker_idx
    if draft.is_unplaced is not None:
        home = np.where(draft.is_unplaced, NOWHERE, home).astype(np.int32)
    classes = class_tables(draft.eligibility, state.num_partitions, state.num_brokers)
    problem = Problem(
        resources=(*(str(RESOURCES[r]) for r in keep), *(one.name for one in soft)),
        group_start=state.replicas.start,
        group_class=classes.group_class,
        weight=np.column_stack(
            [weights.replica[:, keep], *(one.weight for one in soft)]
        ),
        role_weight=np.column_stack(
            [weights.leader[:, keep], *(one.role_weight for one in soft)]
        ),
        cost=weights.copy_bytes,
        home=home,
        extra=extra,
        movability=draft.movability,
        role_home=np.where(leading == ABSENT, NOWHERE, leading),
        is_role_movable=draft.may_lead_anew,
        may_receive=draft.may_receive,
        may_hold_role=draft.leads,
        must_release_role=draft.must_release,
        bin_class=classes.bin_class,
        is_eligible=classes.is_eligible,
        levels=(brokers, RackSpread().level(draft), *more),
        # np.append with an empty list would turn the booleans into floats.
        is_transient=np.append(
            _is_transient(draft)[keep], np.zeros(len(soft), dtype=np.bool_)
        ),
        price_per_move=price_per_move(draft),
        collection_of=caps.topic_of,
        collection_cap=caps.replicas,
        collection_role_cap=caps.leaders,
        **_caps(draft),
    )
    return problem if draft.repairs_capacity else with_loads_kept(problem)


def _is_transient(draft: Draft) -> npt.NDArray[np.bool_]:
    """Return ``(6,)`` true for resources that leaving replicas use until the end."""
    is_held = draft.settings.is_disk_transient
    return np.array([is_held and r == Resource.DISK for r in RESOURCES])


def price_per_move(draft: Draft) -> int:
    """Return the price of a move in bytes: the given one, or the mean replica size."""
    settings = draft.settings
    if settings.price_per_move_bytes or not settings.prefers_moves:
        return settings.price_per_move_bytes
    counts = np.diff(draft.state.replicas.start)
    held = int((draft.weights.copy_bytes * counts).sum())
    return held // max(int(counts.sum()), 1)


def _caps(draft: Draft) -> dict[str, Any]:
    """Return the caps on all copies, less the copies that the operation has decided."""
    settings, own = draft.settings, decided_copies(draft)
    most = {
        "max_moves": (settings.max_moves, own.copies),
        "max_cost": (settings.max_bytes, own.size_bytes),
        "max_crossing": (settings.max_cross_rack_bytes, own.crossing_bytes),
    }
    caps: dict[str, Any] = {
        name: max(cap - spent, 0)
        for name, (cap, spent) in most.items()
        if cap is not None
    }
    if "max_crossing" not in caps:
        return caps
    before = draft.state if draft.decided is None else draft.decided.before
    return caps | {
        "zone_of_bin": before.brokers.rack_idx.astype(np.int32),
        "source_zone": source_racks(before).astype(np.int32),
    }


class DecidedCopies(NamedTuple):
    """Number and bytes of the copies that an operation makes in any case."""

    copies: int = 0
    size_bytes: int = 0
    crossing_bytes: int = 0


def decided_copies(draft: Draft) -> DecidedCopies:
    """Return the copies that the operation has decided; zeros if it decides nothing."""
    decided = draft.decided
    if decided is None:
        return DecidedCopies()
    copied, crossing = decided.is_copied, crossing_copies(decided, draft.weights)
    if draft.is_unplaced is not None:
        copied = copied & ~draft.is_unplaced
    size = draft.weights.copy_bytes[decided.partition_idx[copied]]
    return DecidedCopies(
        int(copied.sum()), int(size.sum()), int(crossing[copied].sum())
    )


def unplaced_load(draft: Draft) -> WeightArray:
    """Return ``(B, R)`` loads that unplaced copies put on their placeholder brokers."""
    load = np.zeros((draft.state.num_brokers, len(RESOURCES)), dtype=np.int64)
    if draft.is_unplaced is not None:
        rows = np.nonzero(draft.is_unplaced)[0]
        replicas = draft.state.replicas
        of = replicas.partition_idx[rows]
        for r in range(len(RESOURCES)):
            add_to(load[:, r], replicas.broker_idx[rows], draft.weights.replica[of, r])
    return load
