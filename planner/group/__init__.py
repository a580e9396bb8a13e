"""Group files: read, checked, written, and imported from what Kafka's tools print."""

from planner.group.files.group_files import read_group, write_group
from planner.group.group_document import GroupDocument

__all__ = ["GroupDocument", "read_group", "write_group"]
