"""
Tell, independently of the solver, whether a target placement is safe to run.

It shares no code with the solver: it imports `placement.cluster` alone, places and
weighs every replica anew, and writes each rule again in its own way.
"""

from placement.check.checker import check, is_ok
from placement.check.finding import Finding, Where
from placement.check.settings import CheckSettings, CustomRule, HardGoals
from placement.check.target import Target

__all__ = [
    "CheckSettings",
    "CustomRule",
    "Finding",
    "HardGoals",
    "Target",
    "Where",
    "check",
    "is_ok",
]
