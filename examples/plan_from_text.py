"""
Plan from the text that kafka-topics, kafka-log-dirs and kafka-cluster printed.

Prints::

    6 brokers, 16 partitions
    from kafka-topics --describe
    from kafka-log-dirs --describe
    from kafka-cluster list-endpoints
    remove-brokers: optimal, checked by separate code: True
    5 copies; no plan needs under 5
    partitions left on broker 6: 0
"""

from pathlib import Path

import planner
from planner.snapshot.importers import load

printed = Path(__file__).with_name("printed")
imported = load(
    {
        "topics": [printed / "topics.txt"],
        "log_dirs": [printed / "log-dirs.txt"],
        "list_endpoints": [printed / "endpoints.txt"],
    }
)
snapshot = imported.snapshot
print(f"{len(snapshot.brokers)} brokers, {len(snapshot.partitions)} partitions")
for source in imported.sources:
    print(f"from {source.kind}")

plan = planner.remove_brokers(snapshot, [6])
print(f"{plan.goal}: {plan.status}, checked by separate code: {plan.is_ok}")

proven = plan.certificate["replicas"]
print(f"{proven['value']} copies; no plan needs under {proven['lower_bound']}")

after = planner.apply_plan(plan, snapshot)
left = [ids for ids in after.partitions.column("replicas").to_pylist() if 6 in ids]
print(f"partitions left on broker 6: {len(left)}")
