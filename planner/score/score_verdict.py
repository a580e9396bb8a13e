"""Violations of a score, its balance, the binding resource, and the next command."""

from pathlib import Path

import numpy as np

from placement.failures.partition_health import health_of
from placement.model.cluster import BrokerState
from placement.model.load import RESOURCES, Resource, as_units
from placement.model.targets import COUNTS
from placement.score.cluster_score import ClusterScore
from planner.score.make_score import Scored
from planner.text.format import bytes_text, percent_text, plural, use_text

DISK = RESOURCES.index(Resource.DISK)
FIXED = ("offline_replicas", "rack")
"""Violations that `plan fix` repairs."""
WRONG = {
    "offline_partitions": ("partition", "without a leader"),
    "offline_replicas": ("replica", "offline"),
    "under_min_isr": ("partition", "under min ISR"),
    "under_replicated": ("partition", "under-replicated"),
    "at_min_isr": ("partition", "at min ISR"),
    "rack": ("partition", "against the rack rule"),
    "over_capacity": ("load", "over a threshold"),
    "leader_not_preferred": ("leader", "not preferred"),
    "rf1": ("partition", "with one replica"),
    "rf_equals_min_isr": ("partition", "with RF = min ISR"),
}
"""Noun and words of each violation, the worst first."""


def wrong_text(score: ClusterScore) -> str:
    """Return the violations of a score, the worst first, as text."""
    counts, full = score.placed.violations, int(score.full_log_dirs.sum())
    texts = [f"{plural(full, 'log dir')} over the disk threshold"] * (full > 0)
    if crowded := int(score.measured.is_crowded.sum()):
        texts.append(f"{plural(crowded, 'broker')} over max_replicas")
    texts += [
        f"{plural(counts[rule], noun)} {words}"
        for rule, (noun, words) in WRONG.items()
        if counts[rule]
    ]
    if counts["offline_replicas"] and _counts_offline_in_sync(score):
        texts.append("replicas that are offline count as in sync where an ISR has them")
    return "; ".join(texts) or "nothing"


def _counts_offline_in_sync(score: ClusterScore) -> bool:
    """Return whether an ISR has offline replicas, which lowers what a score counts."""
    counts, now = score.placed.violations, health_of(score.state).counts()
    return any(
        counts[rule] != now[rule] for rule in ("under_min_isr", "under_replicated")
    )


def binding_text(scored: Scored) -> str:
    """Return the live broker and resource nearest to their threshold, as text."""
    measured, most = scored.score.measured, scored.settings.capacity_thresholds
    limit = measured.limit.copy()
    limit[:, [RESOURCES.index(count) for count in COUNTS]] = np.inf
    is_bound = np.isfinite(limit) & (limit > 0)
    is_bound &= measured.state.brokers.is_live[:, None]
    if not is_bound.any():
        return "no capacity is known"
    load = as_units(measured.load)
    part = np.divide(load, limit, out=np.full(load.shape, -1.0), where=is_bound)
    row, r = np.unravel_index(int(part.argmax()), part.shape)
    threshold = most[RESOURCES[int(r)]]
    use = float(part[row, r]) * threshold
    broker = int(measured.state.brokers.ids[row])
    nearest = float(part[row, r])
    if text := _crowded_text(scored, nearest) or _full_dir_text(scored, nearest):
        return text
    return f"{RESOURCES[int(r)]} of broker {broker}: {use_text(use, threshold)}"


def _crowded_text(scored: Scored, part: float) -> str:
    """Return the broker furthest over `max_replicas`, if fuller than a part of it."""
    measured = scored.score.measured
    rows = np.nonzero(measured.is_crowded)[0]
    if not len(rows):
        return ""
    replicas = as_units(measured.load)[rows, RESOURCES.index(Resource.REPLICAS)]
    use = replicas / np.maximum(measured.state.brokers.max_replicas[rows], 1)
    first = int(use.argmax())
    if use[first] <= part:
        return ""
    broker = int(measured.state.brokers.ids[rows[first]])
    return f"replicas of broker {broker}: {use_text(float(use[first]), 1.0)}"


def _full_dir_text(scored: Scored, part: float) -> str:
    """Return the fullest log dir over its threshold, if fuller than a part of it."""
    score, dirs = scored.score, scored.score.state.log_dirs
    full = np.nonzero(score.full_log_dirs)[0]
    if not len(full):
        return ""
    threshold = scored.settings.capacity_thresholds[Resource.DISK]
    row = int(full[score.log_dirs.use[full, DISK].argmax()])
    use = float(score.log_dirs.use[row, DISK])
    if use <= part * threshold:
        return ""
    place = f"{score.state.brokers.ids[dirs.broker_idx[row]]}:{dirs.paths[row]}"
    return f"log dir {place}: {use_text(use, threshold)}"


def assumed_text(scored: Scored) -> str:
    """Return the assumptions of the verdict, as text."""
    settings = scored.settings
    most = [f"{r} {percent_text(v)}" for r, v in settings.capacity_thresholds.items()]
    bands = {settings.band(resource) for resource in RESOURCES}
    width = " to ".join(percent_text(band) for band in sorted({min(bands), max(bands)}))
    return f"at most {', '.join(most)}; bands of {width} around each share"


def balance_text(score: ClusterScore) -> str:
    """Return whether brokers are in their bands, and what is proven, as text."""
    least = score.min_bytes_to_balance
    if any(score.placed.resources[r].brokers_out_of_band for r in RESOURCES):
        if least:
            return (
                "no plan brings every broker into its bands by moving under "
                f"{bytes_text(least, 4)}; see 'plan rebalance'"
            )
        return "it is not proven that bytes must move: see 'plan rebalance'"
    return "every broker is in its bands"


def next_words(score: ClusterScore, path: Path) -> list[str]:
    """Return the words of the command that helps most."""
    if _waits_for_brokers(score):
        return ["kafka-planner", "status", str(path)]
    if goal := _next_goal(score):
        return ["kafka-planner", "plan", goal, str(path), "-o", "plan"]
    if _is_too_full(score):
        return ["kafka-planner", "size", str(path)]
    return ["kafka-planner", "failures", str(path)]


def _next_goal(score: ClusterScore) -> str | None:
    """Return the goal of the plan that helps most; `None` if none helps."""
    wrong = score.placed.violations
    if _can_be_fixed(score):
        return "fix"
    if score.hot_spots and score.hot_spots[0].would_leaders_do:
        return "leaders"
    if score.full_log_dirs.any() and not wrong["over_capacity"]:
        return "log-dirs"
    is_wrong = wrong["over_capacity"] or score.measured.is_crowded.any()
    is_wrong |= any(score.placed.resources[r].brokers_out_of_band for r in RESOURCES)
    if is_wrong and not _is_too_full(score):
        return "rebalance"
    return None


def _is_too_full(score: ClusterScore) -> bool:
    """Return whether a load is more than all brokers together may carry."""
    measured = score.measured
    holds = measured.shares.members.holds
    most = measured.limit.copy()
    counted = measured.state.brokers.max_replicas
    most[:, RESOURCES.index(Resource.REPLICAS)] = np.where(
        counted >= 0, counted, np.inf
    )
    limit = most[holds].sum(axis=0)
    is_given = np.isfinite(limit) & (limit > 0)
    return bool((is_given & (as_units(measured.load)[holds].sum(axis=0) > limit)).any())


def _waits_for_brokers(score: ClusterScore) -> bool:
    """Return whether a broker that is down, but not dead, has replicas."""
    brokers, replicas = score.state.brokers, score.state.replicas
    may_return = ~brokers.is_live & np.not_equal(brokers.state, BrokerState.DEAD)
    return bool(may_return[replicas.broker_idx].any())


def _can_be_fixed(score: ClusterScore) -> bool:
    """Return whether `plan fix` can repair a partition that is not being reassigned."""
    broken, settled = score.measured.broken, ~score.state.is_reassigning
    return any((broken[rule] > 0)[settled].any() for rule in FIXED)
