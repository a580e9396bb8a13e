"""
A rule of your own, asked together with all others: payments stay off new brokers.

Prints::

    everything may move: ok False, findings of ['payments']
    payments stay: ok True, findings of []
"""

from collections.abc import Iterator

import planner
from placement.check import Finding, Target, Where
from placement.model.cluster import ClusterState
from planner.demo import SNAPSHOT_FILE


def payments_stay_off_new_brokers(
    state: ClusterState, target: Target
) -> Iterator[Finding]:
    """Find replicas of payments on brokers 10 to 12."""
    ends = zip(target.start[:-1].tolist(), target.start[1:].tolist(), strict=True)
    entries = zip(target.topics, target.partitions.tolist(), ends, strict=True)
    for topic, partition, (start, stop) in entries:
        for broker in target.broker_ids[start:stop].tolist():
            if topic.startswith("payments.") and broker >= 10:
                yield Finding(
                    rule="payments",
                    where=Where(topic=topic, partition=partition, broker=broker),
                    message=f"{topic}-{partition}: a replica on new broker {broker}",
                )


snapshot = planner.read_snapshot(SNAPSHOT_FILE)
rules = [payments_stay_off_new_brokers]

plan = planner.add_brokers(snapshot)
checked = planner.check_plan(plan, snapshot, rules=rules)
found = sorted({finding.rule for finding in checked.findings})
print(f"everything may move: ok {checked.ok}, findings of {found}")

# A rule that is checked is not one that the solver knows: tell it what to leave alone.
plan = planner.add_brokers(snapshot, exclude_topics=r"payments\..*")
checked = planner.check_plan(plan, snapshot, rules=rules)
found = sorted({finding.rule for finding in checked.findings})
print(f"payments stay: ok {checked.ok}, findings of {found}")
