"""Group files: read, checked, written, and imported from outputs of Kafka's tools."""

from planner.group.files.group_files import read_group, write_group
from planner.group.group_document import GroupDocument

__all__ = ["GroupDocument", "read_group", "write_group"]
