"""Trouble of a cluster now: what is offline, leaderless, behind, or stuck."""

from placement.status.leaderless import Leaderless, Rescue, find_leaderless
from placement.status.moves import Moves, Obstacle, find_moves
from placement.status.troubles import TopicTroubles, Troubles, find_troubles

__all__ = [
    "Leaderless",
    "Moves",
    "Obstacle",
    "Rescue",
    "TopicTroubles",
    "Troubles",
    "find_leaderless",
    "find_moves",
    "find_troubles",
]
