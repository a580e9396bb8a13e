"""
Independent check that a target placement is safe to run.

The checker shares no code with the solver. It imports `placement.model.cluster` alone,
places and sums every replica again, and implements each rule a second time.
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
