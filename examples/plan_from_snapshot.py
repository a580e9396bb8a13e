"""
Plan from a snapshot file: fill the new brokers of the bundled cluster.

Prints::

    add-brokers: all rules kept, checked by separate code: True
    within 5 % of the bytes that any plan must copy: True
    brokers that get replicas: [10, 11, 12]
    files: RUNBOOK.md moves.csv plan.json
    files: preferred-election.json reassignment.json rollback.json
"""

import polars as pl

import planner
from planner.demo import SNAPSHOT_FILE

snapshot = planner.read_snapshot(SNAPSHOT_FILE)
plan = planner.add_brokers(snapshot, band={"disk": 0.05, "replicas": 0.2})
print(f"{plan.goal}: all rules kept, checked by separate code: {plan.is_ok}")

proven = plan.certificate["bytes"]
print(f"within 5 % of the bytes that any plan must copy: {proven['gap'] <= 0.05}")

copies = plan.moves.to_polars().filter(pl.col("kind") == "replica")
print(f"brokers that get replicas: {copies['to'].unique().sort().to_list()}")

files = plan.write("orders-plan")
names = [path.name for path in files]
print("files:", *names[:3])
print("files:", *names[3:])
