"""Violations that existed before a plan and remain, with commands that repair them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from placement.array_types import BoolArray, IntArray
from placement.check import Finding
from placement.core.model.problem import NO_LIMIT
from placement.core.model.solution import Shortfall
from placement.draft.draft import Note
from placement.model.cluster import ClusterState, LogDirState, sum_rows
from placement.model.disk_bytes import has_several_log_dirs
from placement.model.load import RESOURCES, UNITS, Resource, as_units, loads_of
from placement.model.rack_violations import rack_broken
from placement.operations.fix import Defect
from placement.planning.outcome.prior_violations import worse_racks
from placement.rules.fetch_sources import source_remedy
from placement.rules.frozen_partitions import (
    has_no_online_dir,
    is_on_every_broker,
    is_untouchable,
)
from placement.rules.hard_levels import ruled_capacities
from placement.score.known_loads import given_capacities
from planner.plan.documents.infeasibility import amount_text
from planner.plan.documents.remedy_text import away_brokers, away_remedy
from planner.plan.documents.scored_plan import Plan
from planner.text.format import plural

NOISE = 1 + 1e-9
FIX_RACKS = "plan fix --only racks"
REMEDIES = {
    "rack": FIX_RACKS,
    "dead-broker": "plan fix --only offline",
    "capacity": "plan rebalance",
    "max-replicas": "plan rebalance",
    "log-dir": "plan fix --only log-dirs",
    "log-dir-capacity": "plan log-dirs",
    "even-positions": "plan rebalance --even-positions",
    **{f"band-{name}": "plan rebalance" for name in RESOURCES},
}
"""Commands that repair the findings of a rule."""
MORE = "more capacity (kafka-planner size says how many brokers)"
"""Remedy where no placement on the brokers of now keeps a threshold."""
WAIT = "the end of its reassignment (kafka-planner status shows it)"
Place = tuple[str | None, int | None]
"""Topic and number of a partition."""


REPAIRING = {"fix", "rebalance"}
"""Operations that repair offline replicas, failed log dirs and racks themselves."""


@dataclass(frozen=True, slots=True)
class _Unsettled:
    """
    Partitions that a usual remedy leaves alone.

    Parameters
    ----------
    sources
        Remedy of each partition without a source.
    away
        Remedy of each partition with replicas on brokers that may come back.
    offline
        Partitions with offline replicas.
    moving
        Partitions that are being reassigned.
    crowded
        Partitions with more replicas than brokers are live.
    unplaced
        Partitions that have a replica on each live broker with an online log dir.
    cramped
        Brokers whose online log dirs cannot hold all of their replicas.
    """

    sources: Mapping[Place, str]
    away: Mapping[Place, str]
    offline: frozenset[Place]
    moving: frozenset[Place]
    crowded: frozenset[Place]
    unplaced: frozenset[Place]
    cramped: frozenset[int]


_unsettled: WeakKeyDictionary[ClusterState, _Unsettled] = WeakKeyDictionary()


def remedy_of(finding: Finding, state: ClusterState) -> str | None:
    """
    Return a command that repairs an existing finding; `None` if none is known.

    Parameters
    ----------
    finding
        Finding of the checker.
    state
        The cluster before the plan.
    """
    if not finding.existing or finding.soft:
        return None
    place = (finding.where.topic, finding.where.partition)
    unsettled = _unsettled_of(state)
    if (remedy := unsettled.sources.get(place)) is not None:
        # Without a source no plan can repair it.
        return remedy
    remedy = unsettled.away.get(place) or _usual_remedy(finding, state)
    if finding.rule == "dead-broker" and place in unsettled.crowded:
        remedy = f"start broker {finding.where.broker}, or add a broker"
    if finding.rule == "log-dir" and place in unsettled.unplaced:
        remedy = _disk_remedy(finding, state)
    if remedy == FIX_RACKS and place in unsettled.offline:
        # Racks alone leave partitions with offline replicas as they are.
        remedy = "plan fix"
    if place in unsettled.moving:
        return WAIT if remedy is None else f"{WAIT}, then {remedy}"
    return remedy


def _disk_remedy(finding: Finding, state: ClusterState) -> str:
    """Return what brings a replica back that no other broker can take."""
    broker, dirs = finding.where.broker or 0, state.log_dirs
    if broker in _unsettled_of(state).cramped:
        return f"replace the disk of broker {broker}, or add a broker"
    row = int(state.brokers.rows_of([broker])[0])
    paths = {
        dirs.paths[d]
        for d in np.flatnonzero(dirs.broker_idx == row).tolist()
        if dirs.state[d] == LogDirState.OFFLINE
    }
    named = " and ".join(sorted(paths))
    return f"restart broker {broker} without {named}, or add a broker"


def tried_remedies(
    goal: str | None,
    settings: Mapping[str, Any],
    state: ClusterState,
    *,
    has_met_rules: bool,
) -> frozenset[str]:
    """
    Return the commands that repair no more than a plan tried to.

    Parameters
    ----------
    goal, settings
        Operation and settings of plan.json; `None` and empty for lists alone.
    state
        The cluster before the plan.
    has_met_rules
        Whether the plan meets every hard rule; else its own repairs were tried in vain.
    """
    itself = f"plan {goal}"
    if has_met_rules or goal not in REPAIRING:
        return frozenset({itself})
    parts = settings.get("only") or list(Defect)
    tried = {itself, *(f"plan fix --only {part}" for part in parts)}
    if settings.get("lost"):
        tried.add(away_remedy(state))
    return frozenset(tried)


def _usual_remedy(finding: Finding, state: ClusterState) -> str | None:
    if finding.rule == "min-isr":
        topic = state.topics.names.index(finding.where.topic or "")
        least = int(state.topics.min_insync_replicas[topic])
        if least > int(state.brokers.is_live.sum()):
            return f"a lower min.insync.replicas of {finding.where.topic}"
        return (
            "plan set-replication-factor --replication-factor "
            f"{least} --topic {finding.where.topic}"
        )
    broker, rule = finding.where.broker, finding.rule
    if rule == "capacity" and broker is not None and _has_failed(finding, state):
        return _failed_remedy(finding, state)
    if broker is None or not (rule == "capacity" or _is_lone_dir(finding, state)):
        return REMEDIES.get(rule)
    row = int(state.brokers.rows_of([broker])[0])
    r = RESOURCES.index(Resource(finding.where.resource or Resource.DISK))
    return MORE if _is_at_most_mean(state)[row, r] else REMEDIES["capacity"]


def _failed_remedy(finding: Finding, state: ClusterState) -> str:
    """Return what repairs the replicas in the failed log dirs of a broker."""
    failed = _failed_on(state, finding.where.broker or 0)
    without = failed[~state.has_source[failed]]
    if len(without):
        return source_remedy(state, int(without[0]))
    is_stuck = is_on_every_broker(state)[failed].any()
    return _disk_remedy(finding, state) if is_stuck else REMEDIES["log-dir"]


def _has_failed(finding: Finding, state: ClusterState) -> bool:
    """Return whether the disk of a live broker counts replicas in failed log dirs."""
    is_disk = (finding.where.resource or Resource.DISK) == Resource.DISK
    return is_disk and len(_failed_on(state, finding.where.broker or 0)) > 0


def _failed_on(state: ClusterState, broker_id: int) -> IntArray:
    """Return the partitions of the offline replicas of a live broker."""
    replicas, row = state.replicas, int(state.brokers.rows_of([broker_id])[0])
    if not state.brokers.is_live[row]:
        return np.zeros(0, dtype=np.int64)
    is_here = np.equal(replicas.broker_idx, row) & state.is_offline
    return replicas.partition_idx[is_here].astype(np.int64)


def _is_lone_dir(finding: Finding, state: ClusterState) -> bool:
    """Return whether a full log dir is the only one of its broker that serves."""
    if finding.rule != "log-dir-capacity":
        return False
    row = int(state.brokers.rows_of([finding.where.broker or 0])[0])
    return not has_several_log_dirs(state)[state.log_dirs.broker_idx == row].any()


_at_most_mean: WeakKeyDictionary[ClusterState, BoolArray] = WeakKeyDictionary()


def _is_at_most_mean(state: ClusterState) -> BoolArray:
    """
    Return ``(B, R)`` true where the use is no higher than that of all live brokers.

    No placement then keeps a threshold that the broker exceeds. False where a capacity
    is unknown. Findings may be many: the loads are summed once for all.
    """
    if state not in _at_most_mean:
        live, capacity = state.brokers.is_live, given_capacities(state)
        load, is_known = as_units(loads_of(state)[0]), (capacity[live] > 0).all(axis=0)
        whole = np.where(is_known, capacity[live].sum(axis=0), np.inf)
        most = capacity * load[live].sum(axis=0) / whole * NOISE
        _at_most_mean[state] = is_known & (load <= most)
    return _at_most_mean[state]


def _unsettled_of(state: ClusterState) -> _Unsettled:
    if state not in _unsettled:
        start = state.replicas.start
        is_away = away_brokers(state)[state.replicas.broker_idx]
        remedy, live = away_remedy(state), int(state.brokers.is_live.sum())
        _unsettled[state] = _Unsettled(
            sources={
                _place(state, p): source_remedy(state, p)
                for p in np.nonzero(~state.has_source)[0].tolist()
            },
            away=dict.fromkeys(_places(state, sum_rows(is_away, start)), remedy),
            offline=frozenset(_places(state, sum_rows(state.is_offline, start))),
            moving=frozenset(_places(state, state.is_reassigning)),
            crowded=frozenset(_places(state, state.replication_factor > live)),
            unplaced=frozenset(_places(state, is_on_every_broker(state))),
            cramped=frozenset(_cramped(state)),
        )
    return _unsettled[state]


def _cramped(state: ClusterState) -> list[int]:
    """Return the ids of brokers whose online log dirs cannot hold their replicas."""
    brokers = state.brokers
    load = as_units(loads_of(state)[0])[:, RESOURCES.index(Resource.DISK)]
    is_full = (brokers.disk_bytes >= 0) & (load > brokers.disk_bytes)
    is_full |= has_no_online_dir(state)
    return [int(broker) for broker in brokers.ids[is_full]]


def _places(state: ClusterState, chosen: IntArray | BoolArray) -> Iterator[Place]:
    return (_place(state, p) for p in np.nonzero(chosen)[0].tolist())


def _place(state: ClusterState, p: int) -> Place:
    topic = state.topics.names[state.partitions.topic_idx[p]]
    return topic, int(state.partitions.partition[p])


def existing_notes(plan: Plan) -> Iterator[Note]:
    """Yield a note per rule on violations that existed before and are no worse."""
    yield from _rack_notes(plan)
    yield from _capacity_notes(plan)


def _rack_notes(plan: Plan) -> Iterator[Note]:
    draft, lists = plan.placed.draft, plan.placed.reassignment
    if not plan.after.violations["rack"] or "rack" in draft.settings.lifted:
        return
    lacking = [one.group for one in plan.placed.solution.shortfalls if _is_rack(one)]
    broken = rack_broken(lists.after(), draft.holds)
    broken[[group for group in lacking if group >= 0]] = False
    rows = np.nonzero(broken)[0]
    rows = rows[~worse_racks(draft, lists, rows)]
    held = is_untouchable(draft)[rows]
    yield from _rack_note(plan, rows[~held], f"{FIX_RACKS} repairs that")
    yield from _rack_note(plan, rows[held], "they are left alone, see the other notes")


def _is_rack(one: Shortfall) -> bool:
    return one.what == "spread" and one.level == "rack"


def _rack_note(plan: Plan, rows: IntArray, remedy: str) -> Iterator[Note]:
    if not len(rows):
        return
    verb = "break" if len(rows) > 1 else "breaks"
    name = plan.state.name_of(int(rows[0]))
    such = f", such as {name}" if len(rows) > 1 else f": {name}"
    yield Note(
        what="rack",
        message=f"{plural(len(rows), 'partition')} {verb} the rack rule as before"
        f"{such}; {remedy}",
        have=float(len(rows)),
        need=0.0,
        is_existing=True,
    )


def _capacity_notes(plan: Plan) -> Iterator[Note]:
    draft = plan.placed.draft
    if draft.is_emptied_dir is not None:
        return
    most = ruled_capacities(draft)
    units = np.array([UNITS[resource] for resource in RESOURCES])
    was, now = plan.before.load * units, plan.after.load * units
    known = {(one.bin, one.resource) for one in plan.placed.solution.shortfalls}
    is_over = (most < NO_LIMIT) & (now > most * NOISE) & (now <= was * NOISE)
    for b, r in np.argwhere(is_over).tolist():
        resource = str(RESOURCES[r])
        if (b, resource) in known:
            continue
        broker = int(plan.state.brokers.ids[b])
        amounts = int(now[b, r]), int(most[b, r])
        load, limit = (amount_text(resource, value) for value in amounts)
        yield Note(
            what="max-replicas" if RESOURCES[r] == Resource.REPLICAS else "capacity",
            message=f"broker {broker} carries {load} of {resource} and may carry "
            f"{limit}, no more than before; plan rebalance relieves it",
            where={"broker": broker, "resource": resource},
            have=float(most[b, r] / units[r]),
            need=float(now[b, r] / units[r]),
            is_existing=True,
        )
