"""
Current problems of a cluster: offline brokers, leaderless partitions, stuck moves.

Imports `model` and `failures`.
"""

from placement.status.impossible_facts import Impossible, find_impossible
from placement.status.leaderless_partitions import Leaderless, Rescue, find_leaderless
from placement.status.running_moves import Moves, Obstacle, find_moves
from placement.status.troubles import TopicTroubles, Troubles, find_troubles

__all__ = [
    "Impossible",
    "Leaderless",
    "Moves",
    "Obstacle",
    "Rescue",
    "TopicTroubles",
    "Troubles",
    "find_impossible",
    "find_leaderless",
    "find_moves",
    "find_troubles",
]
