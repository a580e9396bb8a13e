"""
The snapshot format: JSON, gzip JSON or a folder of Parquet, and its model.

Imports its own folders, `planner.io` and `placement.model`.
"""

from planner.snapshot.snapshot_document import Snapshot
from planner.snapshot.snapshot_files import check_output, read_snapshot, write_snapshot

__all__ = ["Snapshot", "check_output", "read_snapshot", "write_snapshot"]
