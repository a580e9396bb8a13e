"""
Check a plan before it runs, and verify it afterwards.

Prints::

    check by hand: orders-1: rack a holds 2 replicas; 1 at most at replication factor 2
    check ours: ok
    verify before: not-started
    verify after: completed
"""

import json
from pathlib import Path

import planner
from planner.snapshot import Snapshot

orders = [{"partition": n, "replicas": [1, 2]} for n in range(6)]
before = Snapshot.from_document(
    {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [{"id": n, "rack": rack} for n, rack in enumerate("aabb")],
        "topics": [{"name": "orders", "partitions": orders}],
    }
)

# A plan is whatever Kafka's own tool takes: here one written by hand, and not well.
by_hand = {"topic": "orders", "partition": 1, "replicas": [1, 0]}
Path("by-hand.json").write_text(json.dumps({"version": 1, "partitions": [by_hand]}))
for finding in planner.check_plan("by-hand.json", before).findings:
    print("check by hand:", finding.message)

ours = planner.rebalance(before, resources=["replicas"])
ours.write("plan")
print("check ours:", planner.check_plan("plan", before))

# On a running cluster: after = planner.take_snapshot("kafka-1:9092", sample_seconds=0)
after = planner.apply_plan("plan", before)
print("verify before:", planner.verify_plan("plan", before).overall)
print("verify after:", planner.verify_plan("plan", after).overall)
