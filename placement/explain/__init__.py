"""Why each move of a reassignment is made, and what would be worse without it."""

from placement.explain.move_reasons import (
    Explained,
    Reason,
    Standing,
    Undone,
    explain_moves,
)
from placement.explain.move_table import Moves, list_moves

__all__ = [
    "Explained",
    "Moves",
    "Reason",
    "Standing",
    "Undone",
    "explain_moves",
    "list_moves",
]
