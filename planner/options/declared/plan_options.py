"""All options of a plan."""

from collections.abc import Mapping
from dataclasses import dataclass

from planner.options.declared.common_options import CommonOptions
from planner.options.declared.new_partition_options import NewPartitionOptions
from planner.options.declared.operation_options import OperationOptions
from planner.options.declared.option import DeclaredOption, options_of
from planner.options.declared.rule_options import RuleOptions
from planner.options.declared.wave_options import WaveOptions


@dataclass(frozen=True, kw_only=True)
class PlanOptions(
    OperationOptions, NewPartitionOptions, RuleOptions, WaveOptions, CommonOptions
):
    """
    Options of a plan, typed.

    The fields of the last base come first, which is also their order in plan.json.
    """


OPTIONS: Mapping[str, DeclaredOption] = options_of(PlanOptions)
"""The options by name."""
RULE_NAMES = frozenset(options_of(RuleOptions))
"""Names of the options of rules."""


def keyword_lines(keywords: type, renamed: Mapping[str, str]) -> str:
    """
    Return the numpydoc lines of keywords: each with its help.

    Parameters
    ----------
    keywords
        Typed dictionary of keywords.
    renamed
        Names of the options of which the keyword is another word.
    """
    lines = ["    Parameters", "    ----------"]
    for name in keywords.__annotations__:
        words = OPTIONS[renamed.get(name, name)].option.help
        lines += [f"    {name}", f"        {words}"]
    return "\n".join(lines)
