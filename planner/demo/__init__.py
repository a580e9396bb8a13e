"""The bundled cluster "orders-eu", to try the planner without a Kafka."""

from pathlib import Path

SNAPSHOT_FILE = Path(__file__).with_name("snapshot.json.gz")
"""A `kafka-planner/snapshot`; `planner.demo.make_snapshot` generates it."""
