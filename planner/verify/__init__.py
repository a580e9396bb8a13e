"""
Outcome of a started plan: status of partitions and waves, and remaining steps.

Imports `planner.plan`, `planner.snapshot` and `planner.text`.
"""

from planner.verify.partition_status import Overall, Status
from planner.verify.verification import Verification, verify

__all__ = ["Overall", "Status", "Verification", "verify"]
