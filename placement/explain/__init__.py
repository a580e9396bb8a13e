"""Why each move of a reassignment is made, and what would be worse without it."""

from placement.explain.moves import Moves, list_moves
from placement.explain.reasons import (
    Explained,
    Reason,
    Standing,
    Undone,
    explain_moves,
)

__all__ = [
    "Explained",
    "Moves",
    "Reason",
    "Standing",
    "Undone",
    "explain_moves",
    "list_moves",
]
