"""All options of a plan."""

from collections.abc import Mapping
from dataclasses import dataclass

from planner.options.declared.common_options import CommonOptions
from planner.options.declared.operation_options import OperationOptions
from planner.options.declared.option import DeclaredOption, options_of
from planner.options.declared.rule_options import RuleOptions
from planner.options.declared.wave_options import WaveOptions


@dataclass(frozen=True, kw_only=True)
class PlanOptions(OperationOptions, RuleOptions, WaveOptions, CommonOptions):
    """
    Options of a plan, typed.

    The fields of the last base come first, which is also their order in plan.json.
    """


OPTIONS: Mapping[str, DeclaredOption] = options_of(PlanOptions)
"""The options by name."""
RULE_NAMES = frozenset(options_of(RuleOptions))
"""Names of the options of rules."""
