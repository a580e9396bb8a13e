"""
Reasons of each move of a reassignment, and consequences of leaving it out.

Imports `model`, `draft`, `rules`, `planning` and `operations.steps`.
"""

from placement.explain.move_reasons import (
    Consequence,
    Explained,
    Reason,
    Standing,
    explain_moves,
)
from placement.explain.move_table import Moves, list_moves

__all__ = [
    "Consequence",
    "Explained",
    "Moves",
    "Reason",
    "Standing",
    "explain_moves",
    "list_moves",
]
