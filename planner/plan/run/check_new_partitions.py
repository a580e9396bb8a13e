"""Checks of plans of new partitions by the same rules as any plan."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from placement.array_types import BoolArray, BytesArray, IntArray, RateArray
from placement.check import CheckSettings, Finding, Where, check
from placement.model.cluster import UNKNOWN, ClusterState
from placement.operations.descriptor import describe
from placement.planning.new_partitions.plan_new_partitions import (
    Expected,
    Grown,
    lying_by_hand,
    with_more_partitions,
    with_new_topic,
)
from planner.kafka_files.reassignment_columns import listing
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.plan.input.plan_input import PlanInput, to_target

LOADS = frozenset({"capacity", "max-replicas"})


def check_new(
    before: ClusterState, after: ClusterState, is_new: BoolArray, rules: CheckSettings
) -> tuple[Finding, ...]:
    """
    Check new partitions against the rules with the independent checker.

    Parameters
    ----------
    before
        The cluster as it is.
    after
        The cluster with the new partitions in their planned places.
    is_new
        ``(P,)`` true for the new partitions of `after`.
    rules
        Limits under which the partitions were placed.

    Returns
    -------
    Findings that the new partitions cause, and those that existed before (`existing`).
    """
    rows = np.nonzero(is_new)[0]
    replicas = after.replicas
    lists = listing(after, rows, replicas.broker_idx, start=replicas.start)
    nothing = to_target(ReassignmentFile((), (), (), ()))
    was = set(map(_key, check(before, nothing, rules)))
    used = set(lists.broker_ids.tolist())
    leading = set(lists.broker_ids[lists.start[:-1]].tolist())
    grows = _grows(after, rows)
    found = []
    for finding in check(after, lists.to_target(), rules):
        broker = finding.where.broker
        if finding.rule == "log-dir-capacity" and _key(finding) not in was:
            # New partitions name no log dir: the one in this state is arbitrary.
            continue
        if finding.rule in LOADS and broker in used:
            # The checker sees all loads as existing; new partitions may add to them.
            resource = finding.where.resource or ""
            adds = grows[resource] and (resource != "out" or broker in leading)
            is_existing = not adds and _key(finding) in was
        else:
            is_existing = finding.existing and _key(finding) in was
        found.append(replace(finding, existing=is_existing))
    return (*found, *_excluded(after, rows, rules))


def _excluded(
    after: ClusterState, rows: IntArray, rules: CheckSettings
) -> Iterator[Finding]:
    """Yield new replicas, and new leaders, on brokers that are excluded."""
    brokers = after.brokers
    for p in rows.tolist():
        listed = after.brokers_of(p)
        for broker in sorted(rules.excluded_for_replicas.intersection(listed)):
            message = f"a new replica on broker {broker}, which takes none"
            yield _finding(after, p, broker, message)
        at = brokers.rows_of(listed)
        live = at[brokers.is_live[at]]
        first = int(live[0] if len(live) else at[0])
        broker = int(brokers.ids[first])
        may_lead = brokers.may_lead[first] or not brokers.is_live[first]
        if broker in rules.excluded_for_leaders or not may_lead:
            message = f"broker {broker} becomes the leader, and may not lead"
            yield _finding(after, p, broker, message)


def _finding(after: ClusterState, p: int, broker: int, message: str) -> Finding:
    topic = after.topics.names[after.partitions.topic_idx[p]]
    number = int(after.partitions.partition[p])
    where = Where(topic=topic, partition=number, broker=broker)
    text = f"{after.name_of(p)}: {message}"
    return Finding(rule="excluded", where=where, message=text)


def _grows(after: ClusterState, rows: IntArray) -> dict[str, bool]:
    """Return whether the new partitions add a known load, by resource."""
    partitions = after.partitions

    def is_more(*columns: RateArray | BytesArray) -> bool:
        return any(bool((column[rows] > 0).any()) for column in columns)

    served = (partitions.out_bytes_per_s, partitions.in_bytes_per_s)
    return {
        "replicas": True,
        "disk": is_more(partitions.size_bytes),
        "in": is_more(partitions.in_bytes_per_s),
        "out": is_more(*served),
        "cpu": is_more(partitions.leader_cpu_cores),
    }


def _key(finding: Finding) -> tuple[str, Where]:
    return finding.rule, finding.where


def check_new_plan(
    plan: PlanInput,
    state: ClusterState,
    rules: Callable[[ClusterState], CheckSettings],
) -> tuple[Finding, ...]:
    """
    Check a plan folder of new partitions against a snapshot.

    Parameters
    ----------
    plan
        The folder.
    state
        The cluster, without the new partitions.
    rules
        Returns the limits for the cluster with the new partitions, which has all topics
        that rules name.
    """
    wrong = tuple(_shape(plan, state))
    if wrong:
        return wrong
    grown = _grown(plan, state)
    after = lying_by_hand(grown, plan.reassignment.replicas)
    return check_new(state, after, grown.is_new, rules(after))


def _shape(plan: PlanInput, state: ClusterState) -> Iterator[Finding]:
    """Yield changes since the snapshot, and lists that Kafka would reject."""
    lists = plan.reassignment
    topics = set(lists.topics)
    for topic in sorted(topics):
        count = _count(state, topic)
        first = min(
            n for t, n in zip(lists.topics, lists.partitions, strict=True) if t == topic
        )
        if count != first:
            message = f"{topic} has {count} partitions, and had {first}"
            yield Finding(rule="stale", where=Where(topic=topic), message=message)
    for topic, number, row in zip(
        lists.topics, lists.partitions, lists.replicas, strict=True
    ):
        where = Where(topic=topic, partition=number)
        name = f"{topic}-{number}"
        if not row:
            message = f"{name}: an empty list of replicas; at least one is needed"
            yield Finding(rule="empty-replicas", where=where, message=message)
        if len(set(row)) < len(row):
            message = f"{name}: a broker stands in the list more than once"
            yield Finding(rule="duplicate-broker", where=where, message=message)
        rows = state.brokers.rows_of(row)
        for broker in np.array(row)[rows < 0].tolist():
            message = f"{name}: broker {broker} is not in the cluster"
            yield Finding(rule="unknown-broker", where=where, message=message)


def _count(state: ClusterState, topic: str) -> int:
    if topic not in state.topics.names:
        return 0
    row = state.topics.names.index(topic)
    return int(np.equal(state.partitions.topic_idx, row).sum())


def _grown(plan: PlanInput, state: ClusterState) -> Grown:
    settings = plan.document.get("settings")
    expected = _expected(settings if isinstance(settings, Mapping) else {})
    lists = plan.reassignment
    topic, factor = lists.topics[0], len(lists.replicas[0])
    if describe(plan.goal).creates_topic:
        return with_new_topic(state, topic, len(lists), factor, expected)
    count = _count(state, topic) + len(lists)
    return with_more_partitions(state, topic, count, expected)


def _expected(settings: Mapping[str, Any]) -> Expected:
    """Return the expected load of the topic from plan.json."""
    size = settings.get("size_bytes")
    min_isr = settings.get("min_insync_replicas")
    return Expected(
        in_bytes_per_s=_rate(settings.get("in_bytes_per_s")),
        out_bytes_per_s=_rate(settings.get("out_bytes_per_s")),
        size_bytes=size if isinstance(size, int) and size >= 0 else UNKNOWN,
        min_insync_replicas=min_isr if isinstance(min_isr, int) else 1,
    )


def _rate(value: object) -> float:
    is_number = isinstance(value, int | float) and math.isfinite(value) and value >= 0
    return float(value) if is_number else math.nan  # type: ignore[arg-type] # a number
