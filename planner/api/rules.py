"""Rules of plans from Python, with the names of the command's options."""

from planner.options.declared.rule_options import RuleKeywords as RuleOptions

__all__ = ["RuleOptions"]
