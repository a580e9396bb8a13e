"""Group files: read, checked, written, and imported from outputs of Kafka's tools."""

from planner.group.group_document import GroupDocument
from planner.group.group_files import read_group, write_group

__all__ = ["GroupDocument", "read_group", "write_group"]
