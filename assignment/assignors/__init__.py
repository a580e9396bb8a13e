"""
Kafka's assignors with identical results, one module each.

Imports `assignment`'s group and outcome, and `placement.kafka_java`.
"""

from collections.abc import Sequence
from typing import Protocol

from assignment.assignors.cooperative_sticky import CooperativeSticky
from assignment.assignors.hash import HashRoundRobin
from assignment.assignors.random import Random
from assignment.assignors.range import Range
from assignment.assignors.roundrobin import RoundRobin
from assignment.assignors.server_range import ServerRange
from assignment.assignors.server_uniform import ServerUniform
from assignment.assignors.sticky import Sticky
from assignment.group import Group
from assignment.outcome import Assignment

__all__ = [
    "ASSIGNORS",
    "Assignor",
    "CooperativeSticky",
    "HashRoundRobin",
    "Random",
    "Range",
    "RoundRobin",
    "ServerRange",
    "ServerUniform",
    "Sticky",
]


class Assignor(Protocol):
    """Interface of an assignor, which decides the member of each partition."""

    @property
    def name(self) -> str:
        """Name of the assignor in Kafka and on the command line."""
        ...

    def assign(self, group: Group) -> Assignment:
        """Return the member of each partition; the group stays unchanged."""
        ...


ASSIGNORS: Sequence[Assignor] = (
    Range(),
    RoundRobin(),
    Sticky(),
    CooperativeSticky(),
    ServerRange(),
    ServerUniform(),
    HashRoundRobin(),
    Random(),
)
"""All assignors of Kafka; ours is `assignment.balanced.balanced_assignor`."""
