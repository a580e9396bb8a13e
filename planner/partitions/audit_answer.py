"""Answer of `partitions audit`: findings, their sum, and what is assumed or unknown."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from placement.partition_counts.count_limits import MAPS_PER_SEGMENT
from placement.partition_counts.count_task import RECOVERY_S
from placement.partition_counts.present_load import seen_rates
from placement.partition_counts.topic_audit import (
    AuditRules,
    TopicFinding,
    audit_topics,
    topic_table,
)
from planner.errors import raise_problems
from planner.options.declared.option import Problems, read_options
from planner.partitions.audit_options import AuditOptions
from planner.partitions.size_facts import Assumption
from planner.snapshot import Snapshot
from planner.text.format import bytes_text, plural

FIGURES = (
    "findings",
    "too_many",
    "too_few",
    "uneven",
    "empty",
    "unknown_rates",
    "saved_partitions",
    "saved_replicas",
    "saved_files",
    "saved_maps",
    "saved_recovery_s",
)
"""Names that `--fail-on` of an audit may use."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Audit:
    """
    Result of `partitions audit`.

    Parameters
    ----------
    snapshot
        The cluster.
    rules
        Rates and factors of the audit.
    findings
        Topics with a bad count, most valuable first.
    brokers, topics, partitions, replicas
        Size of the cluster; live brokers count.
    unknown_rates, unknown_sizes
        Number of topics with an unknown rate or size.
    assumptions
        Values that were assumed.
    """

    snapshot: Snapshot
    rules: AuditRules
    findings: tuple[TopicFinding, ...]
    brokers: int
    topics: int
    partitions: int
    replicas: int
    unknown_rates: int
    unknown_sizes: int
    assumptions: tuple[Assumption, ...]

    @property
    def figures(self) -> Mapping[str, float]:
        """Numbers of findings by kind, and everything that is saved."""
        kinds = [finding.kind for finding in self.findings]
        files = sum(finding.saved_files for finding in self.findings)
        return {
            "findings": len(kinds),
            "too_many": kinds.count("too-many"),
            "too_few": kinds.count("too-few"),
            "uneven": kinds.count("uneven"),
            "empty": kinds.count("empty"),
            "unknown_rates": self.unknown_rates,
            "saved_partitions": sum(one.saved_partitions for one in self.findings),
            "saved_replicas": sum(one.saved_replicas for one in self.findings),
            "saved_files": files,
            "saved_maps": files * MAPS_PER_SEGMENT,
            "saved_recovery_s": sum(one.saved_s for one in self.findings),
        }


def audit_partitions(snapshot: Snapshot, given: Mapping[str, Any]) -> Audit:
    """
    Find the topics of a snapshot whose number of partitions is bad.

    Parameters
    ----------
    snapshot
        The cluster.
    given
        Texts, numbers or typed values by the fields of `AuditOptions`.

    Raises
    ------
    BadInputError
        If any option is invalid, or no broker is live; names every problem.
    """
    state = snapshot.to_state()
    options, problems = read_options(AuditOptions, given)
    brokers = int(state.brokers.is_live.sum())
    live = Problems("SNAP")
    if not brokers:
        rule = "the snapshot must have a live broker"
        live.refuse(0, rule, "take a snapshot with brokers that serve")
    raise_problems("bad options", [*problems, *live.found])
    producer, consumer = options.producer_rate, options.consumer_rate
    assumptions: list[Assumption] = []
    seen = seen_rates(state)
    if isnan(producer) and seen.producer_name:
        producer = seen.producer_rate
        assumptions.append(_seen("--producer-rate", producer, seen.producer_name))
    if isnan(consumer) and seen.consumer_name:
        consumer = seen.consumer_rate
        assumptions.append(_seen("--consumer-rate", consumer, seen.consumer_name))
    each = options.recovery_per_partition
    rules = AuditRules(
        producer_rate=producer,
        consumer_rate=consumer,
        headroom=options.headroom,
        many=options.many,
        leading=options.leading_brokers,
        recovery_each_s=RECOVERY_S if isnan(each) else each,
    )
    table = topic_table(state)
    unsized = state.partitions.topic_idx[state.partitions.size_bytes < 0]
    return Audit(
        snapshot=snapshot,
        rules=rules,
        findings=tuple(audit_topics(state, rules)),
        brokers=brokers,
        topics=len(state.topics),
        partitions=state.num_partitions,
        replicas=int(table.replicas.sum()),
        unknown_rates=int(np.isnan(table.rate).sum()),
        unknown_sizes=len(np.unique(unsized)),
        assumptions=tuple(assumptions),
    )


def _seen(option: str, rate: float, name: str) -> Assumption:
    who = "producer into" if option == "--producer-rate" else "consumer from"
    text = f"{bytes_text(rate)}/s by one {who} a partition, the most seen ({name})"
    return Assumption(option=option, text=text)


def finding_text(finding: TopicFinding, brokers: int) -> str:
    """Return a finding as a sentence: what is wrong, the rule, and what to do."""
    count = plural(finding.partitions, "partition")
    if finding.kind == "empty" and finding.needed == 0:
        return f"all of its {count} are empty: delete it if no client needs it"
    if finding.kind == "empty":
        return (
            f"{finding.empty} of {count} are empty: no key reaches them; compare the "
            "sizes of the others"
        )
    if finding.kind == "too-many":
        return (
            f"{count} where {finding.needed} carry {bytes_text(finding.rate)}/s: only "
            "a new topic has fewer"
        )
    if finding.kind == "too-few":
        return (
            f"{count} for {bytes_text(finding.rate)}/s are too few for one client or "
            f"one broker: grow to {finding.needed}, which moves keys"
        )
    low = finding.partitions // brokers
    return (
        f"{count} on {plural(brokers, 'broker')}: some lead {low} and some {low + 1}; "
        f"{finding.needed} would be even, but more partitions move keys"
    )


def unknown_text(audit: Audit) -> str:
    """Return what is not known of the cluster, as text; empty if all is."""
    parts = []
    if audit.unknown_rates:
        topics = plural(audit.unknown_rates, "topic")
        parts.append(f"rates of {topics}, so whether they have too many or too few")
    elif isnan(audit.rules.producer_rate) or isnan(audit.rules.consumer_rate):
        parts.append(
            "what one client manages, so which topics have too many or too few "
            "(--producer-rate, --consumer-rate)"
        )
    if audit.unknown_sizes:
        topics = plural(audit.unknown_sizes, "topic")
        parts.append(f"sizes of {topics}, so which are empty, and their segments")
    return "; ".join(parts)
