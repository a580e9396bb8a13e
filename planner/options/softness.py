"""Goals that are hard on request."""

from collections.abc import Mapping, Sequence

from placement.rules.registry import ALWAYS_HARD, HARD, SOFT, goals_named, rules_named
from planner.options.option_reader import OptionReader


def read_hard(
    reader: OptionReader,
    names: Sequence[str],
    soft: Sequence[str],
    is_asked: Mapping[str, bool],
) -> frozenset[str]:
    """
    Parse the names of hard goals; rules are hard by default.

    Parameters
    ----------
    reader
        Keeps the problems.
    names
        Names as given.
    soft
        Names of soft rules as given: no name may be in both.
    is_asked
        Whether a goal with an option of its own is requested.
    """
    both = (rules_named(names) & rules_named(soft)) | (
        goals_named(names) & goals_named(soft)
    )
    for name in sorted(both):
        rule = "a rule is hard or soft, and this one is named as both"
        reader.refuse("--hard", name, rule, "leave it out of one of the two")
    for name in dict.fromkeys(names):
        if name not in HARD and name not in SOFT and name not in ALWAYS_HARD:
            rule = "must name a goal that may be hard"
            reader.refuse("--hard", name, rule, f"one of {', '.join(HARD)}")
        elif not is_asked.get(name, True):
            rule = "a goal that is hard must be asked for"
            reader.refuse("--hard", name, rule, f"give --{name}")
    return goals_named(names)
