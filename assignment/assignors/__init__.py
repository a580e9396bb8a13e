"""
Kafka's assignors, result for result, one module each.

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
    """Decides which member reads which partition."""

    @property
    def name(self) -> str:
        """What Kafka calls it, and the command line."""
        ...

    def assign(self, group: Group) -> Assignment:
        """Return who reads what; the group is not changed."""
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
"""All of Kafka's; ours is `assignment.balanced.balanced_assignor`."""
