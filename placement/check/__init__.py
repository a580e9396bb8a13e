"""
Tell, independently of the solver, whether a target placement is safe to run.

It shares no code with the solver: it imports `placement.model.cluster` alone, places
and weighs every replica anew, and writes each rule again in its own way.
"""

from placement.check.case.check_settings import CheckSettings, CustomRule, HardGoals
from placement.check.case.finding import Finding, Where
from placement.check.case.target_placement import Target
from placement.check.checker import check, is_ok

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
