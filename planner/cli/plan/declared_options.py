"""Parameters of commands from the declaration of the options of plans."""

from typing import TYPE_CHECKING

from planner.cli.common.shared_options import annotation_of, gatherer_of
from planner.options.declared.plan_options import OPTIONS, RULE_NAMES


def own_names(operation: str) -> list[str]:
    """Return the names of the options that an operation has and others lack."""
    return [
        name
        for name, each in OPTIONS.items()
        if each.operations and each.is_of(operation)
    ]


TRADE_OFF = "Also show the distance from the bands by bytes; plans a dozen times."
"""Help of `--trade-off`, which no plan keeps."""
RULES = tuple(name for name in OPTIONS if name in RULE_NAMES)
"""Names of the options of rules."""
SHARED = tuple(
    name
    for name, each in OPTIONS.items()
    if not each.operations and name not in RULE_NAMES
)
"""Names of the other options of every operation."""
rule_options = gatherer_of(OPTIONS[name] for name in RULES)
shared_options = gatherer_of(OPTIONS[name] for name in SHARED)

if TYPE_CHECKING:
    Band = list[str] | None
    CapacityThreshold = list[str] | None
    Resources = str | None
else:
    Band = annotation_of(OPTIONS["band"])
    CapacityThreshold = annotation_of(OPTIONS["capacity_threshold"])
    Resources = annotation_of(OPTIONS["resources"])
