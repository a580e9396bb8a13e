"""Violations before and after a plan in words: of its screen, document and report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from placement.array_types import BoolArray
from placement.model.cluster import ABSENT, BrokerState, ClusterState, LogDirState
from placement.model.disk_bytes import used_bytes
from placement.model.load import RESOURCES, Resource
from placement.model.rack_violations import rack_broken
from placement.planning.outcome.prior_violations import worse_racks
from placement.score import Score
from planner.plan.documents.plan_figures import over_threshold
from planner.plan.documents.scored_plan import Plan, score_of
from planner.text.format import brokers_text, percent_text, plural

BEFORE, AFTER, AS_BEFORE = "Wrong", "Plan: wrong", "Plan: as before"
"""Labels of the lines: on the cluster as it is, and after the plan, new and old."""
MOST_DIRS = 3
"""Largest number of log dirs named one by one."""
VIOLATIONS = {
    "rack": ("breaks the rack rule", "break the rack rule"),
    "offline_partitions": ("has no leader", "have no leader"),
    "under_min_isr": ("is under min ISR", "are under min ISR"),
}
"""Words of the violations that operators care about, of one and of more partitions."""


def wrong_lines(plan: Plan) -> dict[str, str]:
    """
    Return what is wrong before the plan, and after it where anything is, by label.

    Parameters
    ----------
    plan
        The plan. Of one that creates partitions, the cluster without them is before.
    """
    if plan not in _lines:
        before = plan.state, plan.before
        if plan.existing is not None:
            before = plan.existing, score_of(plan.placed, plan.existing)
        new, old = _after_texts(plan, *before)
        texts = {BEFORE: _before_text(plan, *before), AFTER: new, AS_BEFORE: old}
        _lines[plan] = {label: text for label, text in texts.items() if text}
    return _lines[plan]


_lines: WeakKeyDictionary[Plan, dict[str, str]] = WeakKeyDictionary()


def line_of(lines: Sequence[Mapping[str, Any]], label: str) -> str:
    """Return the text of a line of `summary` in plan.json; empty if it is absent."""
    return next((line["text"] for line in lines if line["label"] == label), "")


def _before_text(plan: Plan, state: ClusterState, score: Score) -> str:
    """Return what is wrong with the placement before the plan, as text."""
    offline = score.violations["offline_replicas"]
    full = _full_dirs(plan, state)
    problems = [_offline_text(offline), *_wrong(plan, score, full)]
    problems += _idle_brokers(plan, score)
    fine = [] if score.violations["rack"] else ["racks ok"]
    if not offline:
        fine.append("0 offline")
    ending = f" {', '.join(fine).capitalize()}." if fine else ""
    return f"{'; '.join(filter(None, problems)) or 'nothing'}.{ending}"


def _wrong(plan: Plan, score: Score, full: Sequence[int]) -> Iterator[str]:
    """Yield the violations that operators care about, `full` log dirs among them."""
    for r, over in _overloads(plan, score).items():
        yield _over_text(plan, r, over)
    yield _full_dirs_text(plan, score, full)
    yield _crowded_text(plan, _crowded(plan, score))
    for rule in VIOLATIONS:
        yield _count_text(rule, score.violations[rule])


def _crowded(plan: Plan, score: Score) -> BoolArray:
    """Return ``(B,)`` true for brokers that stay and hold too many replicas."""
    brokers, draft = plan.state.brokers, plan.placed.draft
    replicas = score.load[:, RESOURCES.index(Resource.REPLICAS)]
    stays = brokers.is_live & ~draft.leaves
    crowded: BoolArray = (
        stays & (brokers.max_replicas >= 0) & (replicas > brokers.max_replicas)
    )
    return crowded


def _crowded_text(plan: Plan, crowded: BoolArray) -> str:
    return f"{_named_brokers(plan, crowded)} over max_replicas" if crowded.any() else ""


def _after_texts(plan: Plan, state: ClusterState, score: Score) -> tuple[str, str]:
    """Return what is wrong after the plan, as texts: new violations, and old ones."""
    new, old = zip(*_after(plan, state, score), strict=True)
    return "; ".join(filter(None, new)), "; ".join(filter(None, old))


def _after(plan: Plan, state: ClusterState, score: Score) -> Iterator[tuple[str, str]]:
    """Yield the new and the old part of each violation after the plan."""
    was_offline = score.violations["offline_replicas"]
    offline = plan.after.violations["offline_replicas"]
    num_new = max(0, offline - was_offline)
    yield _offline_text(num_new), _offline_text(offline - num_new)
    before = _overloads(plan, score)
    for r, over in _overloads(plan, plan.after).items():
        was = before[r]
        yield _over_text(plan, r, over & ~was), _over_text(plan, r, over & was)
    was_full = _full_dirs(plan, state)
    full = _full_dirs(plan, plan.placed.reassignment.after(), is_after=True)
    text = _full_dirs_text(plan, plan.after, full)
    yield ("", text) if {*full} <= {*was_full} else (text, "")
    was, now = _crowded(plan, score), _crowded(plan, plan.after)
    yield _crowded_text(plan, now & ~was), _crowded_text(plan, now & was)
    for rule in VIOLATIONS:
        count = plan.after.violations[rule]
        num_new = _num_new(plan, score, rule)
        yield _count_text(rule, num_new), _count_text(rule, count - num_new)


def _num_new(plan: Plan, score: Score, rule: str) -> int:
    """Return the number of partitions for which the plan makes a violation worse."""
    count = plan.after.violations[rule]
    if rule != "rack" or plan.creation is not None:
        return max(0, count - score.violations[rule])
    draft, lists = plan.placed.draft, plan.placed.reassignment
    rows = np.nonzero(rack_broken(lists.after(), draft.holds))[0]
    return min(count, int(worse_racks(draft, lists, rows).sum()))


def _offline_text(count: int) -> str:
    return f"{plural(count, 'replica')} offline" if count else ""


def _count_text(rule: str, count: int) -> str:
    if not count:
        return ""
    return f"{plural(count, 'partition')} {VIOLATIONS[rule][count > 1]}"


def _overloads(plan: Plan, score: Score) -> dict[int, BoolArray]:
    """Return the brokers over a capacity threshold, by resource."""
    return {r: over_threshold(plan, score, r) for r in range(len(RESOURCES))}


def _over_text(plan: Plan, r: int, over: BoolArray) -> str:
    if not over.any():
        return ""
    limit = percent_text(plan.placed.draft.settings.capacity_thresholds[RESOURCES[r]])
    return f"{_named_brokers(plan, over)} over the {limit} {RESOURCES[r]} threshold"


def _full_dirs(plan: Plan, state: ClusterState, *, is_after: bool = False) -> list[int]:
    """
    Return the rows of the log dirs over their threshold.

    After the plan, brokers that choose the log dir of a copy themselves are left out.
    """
    threshold = plan.placed.draft.settings.capacity_thresholds.get(Resource.DISK)
    if threshold is None:
        return []
    dirs, replicas = state.log_dirs, state.replicas
    if not (dirs.size_bytes > 0).any():
        return []
    used = used_bytes(state)
    is_full = (dirs.size_bytes > 0) & (used > threshold * dirs.size_bytes)
    is_full &= np.not_equal(dirs.state, LogDirState.OFFLINE)
    if is_after:
        choosing = replicas.broker_idx[np.equal(replicas.log_dir_idx, ABSENT)]
        is_full &= ~np.isin(dirs.broker_idx, choosing)
    return [int(row) for row in np.flatnonzero(is_full)]


def _full_dirs_text(plan: Plan, score: Score, full: Sequence[int]) -> str:
    """Return those of the full log dirs on brokers that are not over, or ""."""
    dirs = plan.state.log_dirs
    over = over_threshold(plan, score, RESOURCES.index(Resource.DISK))
    rows = [row for row in full if not over[dirs.broker_idx[row]]]
    if not rows:
        return ""
    ids = plan.state.brokers.ids[dirs.broker_idx]
    named = ", ".join(f"{ids[row]}:{dirs.paths[row]}" for row in rows)
    noun = f"log dir{'s' * (len(rows) > 1)} {named}"
    which = noun if len(rows) <= MOST_DIRS else plural(len(rows), "log dir")
    threshold = plan.placed.draft.settings.capacity_thresholds[Resource.DISK]
    return f"{which} over the {percent_text(threshold)} disk threshold"


def _named_brokers(plan: Plan, chosen: BoolArray) -> str:
    """Return the ids of the flagged brokers, ``(B,)``, as text."""
    return brokers_text(plan.state.brokers.ids[chosen].tolist())


def _idle_brokers(plan: Plan, score: Score) -> Iterator[str]:
    """Yield the number of empty brokers, and the brokers that are dead."""
    brokers, draft = plan.state.brokers, plan.placed.draft
    replicas = score.load[:, RESOURCES.index(Resource.REPLICAS)]
    empty = int((brokers.is_live & ~draft.leaves & (replicas == 0)).sum())
    # Where no broker has two replicas, and racks are kept, none is left for others.
    is_wrong = replicas.max(initial=0) > 1 or score.violations["rack"]
    if empty and is_wrong:
        yield f"{plural(empty, 'broker')} empty"
    dead = np.equal(brokers.state, BrokerState.DEAD)
    if dead.any():
        yield f"{_named_brokers(plan, dead)} dead"
