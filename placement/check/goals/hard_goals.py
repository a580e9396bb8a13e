"""Hard goals, evaluated from their definitions."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from placement.array_types import BoolArray, IntArray, RateArray
from placement.check.case.check_settings import HardGoals
from placement.check.case.finding import Finding, Missed, Where
from placement.check.case.plan_case import Case, stays
from placement.check.goals.broker_bands import bands, leads
from placement.check.goals.log_dir_bands import log_dir_bands
from placement.check.rules.capacity_rules import amount, capacities

SLACK = 1e-6


def hard_goals(case: Case, goals: HardGoals) -> Iterator[Finding]:
    """
    Yield the hard goals that a plan misses.

    A goal missed at a place by as much or more before the plan is existing.
    """
    missed = list(_missed(case, goals))
    if not missed:
        return
    nothing = np.zeros_like(case.is_touched)
    unchanged = replace(case, after=case.before, is_touched=nothing)
    was = {_key(finding): by for finding, by in _missed(unchanged, goals)}
    for finding, by in missed:
        had = was.get(_key(finding), 0.0)
        yield replace(finding, existing=by <= had * (1 + SLACK) and had > 0)


def _key(finding: Finding) -> tuple[str, Where]:
    return finding.rule, finding.where


def _missed(case: Case, goals: HardGoals) -> Iterator[Missed]:
    """Yield the goals missed after the plan, each with its distance."""
    if not goals.is_inside:
        yield from bands(case, goals)
    elif "band-disk" in goals.names and "disk" not in goals.not_balanced:
        yield from log_dir_bands(case, goals)
    if "potential-out" in goals.names:
        yield from _potential_out(case)
    if "leader-in" in goals.names:
        width = goals.bands.get("in", 0.10)
        # Cruise Control applies its full threshold here, and 0.9 of it to bands.
        width = width / 0.9 if goals.is_cruise_control else width
        yield from _leader_in(case, _leading(case, goals), width)
    if "spread-topics" in goals.names:
        yield from _spread_replicas(case, goals)
    if "spread-topic-leaders" in goals.names:
        yield from _spread_leaders(case, goals)
    if "min-topic-leaders" in goals.names:
        yield from _min_leaders(case, _leading(case, goals), goals.topic_leaders)


def _finding(
    case: Case, goal: str, at: tuple[int, str | None], text: str, by: float
) -> Missed:
    """Return a goal missed at a broker, given by row, for one topic or for all."""
    broker = case.broker_id(at[0])
    message = f"broker {broker}: {text}, and {goal} is hard"
    where = Where(broker=broker, topic=at[1])
    return Missed(Finding(rule=goal, where=where, message=message), by)


def _potential_out(case: Case) -> Iterator[Missed]:
    partitions, after = case.state.partitions, case.after
    copies = after.replication_factor - 1
    fetched = np.where(copies > 0, partitions.in_bytes_per_s * copies, 0.0)
    sent = np.nan_to_num(partitions.out_bytes_per_s + fetched)[after.partition_idx]
    load = np.bincount(after.broker_idx, sent, minlength=case.state.num_brokers)
    limit = capacities(case.state, "out") * case.settings.threshold_of("out")
    over = (load > limit * (1 + SLACK) + SLACK) & stays(case) & (limit > 0)
    for row in np.flatnonzero(over).tolist():
        text = f"it would send {amount('out', load[row])} if it led all it holds, "
        text += f"over {amount('out', limit[row])}"
        yield _finding(
            case, "potential-out", (row, None), text, float(load[row] - limit[row])
        )


def _leading(case: Case, goals: HardGoals) -> BoolArray:
    """Return ``(B,)`` true for brokers that share the leaders."""
    member = leads(case)
    if goals.is_order_only:
        # A broker without a replica cannot lead.
        held = np.bincount(case.after.broker_idx, minlength=case.state.num_brokers)
        member = member & (held > 0)
    return member


def _leader_in(case: Case, member: BoolArray, width: float) -> Iterator[Missed]:
    into = np.nan_to_num(case.state.partitions.in_bytes_per_s)
    load = _led(case, into)
    most = into.sum() / max(int(member.sum()), 1) * (1 + width)
    # Rates are stored in thousandths, each of them rounded.
    slack = SLACK * most + 1e-3 * (1 + case.after.is_leader.sum())
    for row in np.flatnonzero((load > most + slack) & member).tolist():
        text = f"leaders of {amount('in', load[row])} in, over {amount('in', most)}"
        yield _finding(case, "leader-in", (row, None), text, float(load[row] - most))


def _led(case: Case, values: RateArray) -> RateArray:
    """Return ``(B,)`` sums over the partitions that each broker leads."""
    after, led = case.after, case.after.is_leader
    rows = after.partition_idx[led]
    return np.bincount(
        after.broker_idx[led], values[rows], minlength=case.state.num_brokers
    ).astype(np.float64)


def _spread_replicas(case: Case, goals: HardGoals) -> Iterator[Missed]:
    member = stays(case)
    for _, name, chosen in _topics(case, goals.spread_topics):
        held = case.after.broker_idx[chosen[case.after.partition_idx]]
        counts = np.bincount(held, minlength=case.state.num_brokers)
        mean = float(case.after.replication_factor[chosen].sum()) / max(member.sum(), 1)
        for row, asked, by in _uneven(counts, member, mean, goals):
            text = f"{counts[row]} replicas of topic {name}, {asked} asked"
            yield _finding(case, "spread-topics", (row, name), text, by)


def _spread_leaders(case: Case, goals: HardGoals) -> Iterator[Missed]:
    member = _leading(case, goals)
    for _, name, chosen in _topics(case, goals.spread_topic_leaders):
        counts = _led(case, chosen.astype(np.float64)).astype(np.int64)
        mean = float(chosen.sum()) / max(member.sum(), 1)
        for row, asked, by in _uneven(counts, member, mean, goals):
            text = f"it leads {counts[row]} partitions of topic {name}, {asked} asked"
            yield _finding(case, "spread-topic-leaders", (row, name), text, by)


def _uneven(
    counts: IntArray, member: BoolArray, mean: float, goals: HardGoals
) -> Iterator[tuple[int, str, float]]:
    """Yield brokers outside the allowed range, the range, and the distance to it."""
    band, (least, most) = goals.spread_band, goals.spread_gap
    # From whole numbers outwards, as Cruise Control rounds.
    down, up = np.floor(mean), np.ceil(mean)
    lower = np.clip(np.floor(mean * max(0.0, 1 - band)), down - most, down - least)
    upper = np.clip(np.ceil(mean * (1 + band)), up + least, up + most)
    lower = max(lower, 0)
    off = np.maximum(lower - counts, counts - upper)
    for row in np.flatnonzero((off > 0) & member).tolist():
        yield row, f"{lower:.0f} to {upper:.0f}", float(off[row])


def _min_leaders(
    case: Case, member: BoolArray, wanted: Mapping[str, int]
) -> Iterator[Missed]:
    for _, name, chosen in _topics(case, frozenset(wanted)):
        counts = _led(case, chosen.astype(np.float64)).astype(np.int64)
        least = min(wanted[name], int(chosen.sum()) // max(int(member.sum()), 1))
        for row in np.flatnonzero((counts < least) & member).tolist():
            text = f"it leads {counts[row]} partitions of topic {name}, {least} asked"
            by = float(least - counts[row])
            yield _finding(case, "min-topic-leaders", (row, name), text, by)


def _topics(case: Case, names: frozenset[str]) -> Iterator[tuple[int, str, BoolArray]]:
    """Yield row, name and ``(P,)`` partition mask of the named topics."""
    of: IntArray = case.state.partitions.topic_idx.astype(np.int64)
    for topic, name in enumerate(case.state.topics.names):
        if name in names:
            yield topic, name, np.equal(of, topic)
