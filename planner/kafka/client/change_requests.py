"""Count of sent requests that change a cluster, to judge the effect of failures."""

import struct
from dataclasses import dataclass

# OffsetCommit, CreateTopics, DeleteTopics, AlterReplicaLogDirs, CreatePartitions,
# ElectLeaders, IncrementalAlterConfigs, AlterPartitionReassignments.
CHANGING = frozenset({8, 19, 20, 34, 37, 43, 44, 45})


@dataclass(slots=True)
class ChangesSent:
    """Number of change requests that connections were given to send."""

    number: int = 0

    def count(self, data: bytes) -> None:
        """Count the change requests among the frames of a write."""
        at = 0
        while at + 6 <= len(data):
            size, api_key = struct.unpack_from(">ih", data, at)
            self.number += api_key in CHANGING
            at += 4 + size
