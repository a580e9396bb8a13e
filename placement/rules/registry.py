"""All rules by name, from the modules of this package."""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules

from placement.rules import __name__ as package
from placement.rules import __path__ as folder
from placement.rules.descriptor import RuleDescriptor


def _described() -> Iterator[RuleDescriptor]:
    for module in iter_modules(folder):
        if module.name != "registry":
            yield from getattr(import_module(f"{package}.{module.name}"), "RULES", ())


def _lift_key(rule: RuleDescriptor) -> tuple[int, str]:
    rank = rule.rank if rule.lift_rank is None else rule.lift_rank
    return rank, rule.name if rule.is_goal else ""


def _by_option(rules: Iterable[RuleDescriptor]) -> dict[str, tuple[str, ...]]:
    """Return the rules that a name in an option stands for, families included."""
    found: dict[str, tuple[str, ...]] = {}
    for rule in rules:
        if rule.family:
            found[rule.family] = (*found.get(rule.family, ()), rule.name)
        found[rule.name] = (rule.name,)
    return found


RULES: Mapping[str, RuleDescriptor] = {
    rule.name: rule for rule in sorted(_described(), key=lambda rule: rule.rank)
}
"""All rules by name, in the order of lists."""
SOFT = _by_option(rule for rule in RULES.values() if rule.may_be_soft)
"""Hard rules that may be soft, by their names in options."""
ALWAYS_HARD = {
    name: rule.always_hard
    for name, rule in RULES.items()
    if rule.always_hard and name not in SOFT and not rule.is_goal
}
"""Rules that may not be soft, with the reason."""
HARD = _by_option(rule for rule in RULES.values() if rule.is_goal)
"""Goals that may be hard, by their names in options."""
LIFTED = {
    rule.name: rule
    for rule in sorted(
        (rule for rule in RULES.values() if rule.text),
        key=_lift_key,
    )
}
"""
Hard rules that can be lifted, in the order in which they are.

If several reasons are possible, the one with the user's own options is reported.
"""
REQUESTED = tuple(
    sorted(
        (rule for rule in RULES.values() if rule.make is not None),
        key=lambda rule: (rule.fill_rank, rule.rank),
    )
)
"""Rules that an option requests, in the order in which they fill a draft."""


def rules_named(names: Iterable[str]) -> frozenset[str]:
    """
    Return the rules that option names stand for.

    Examples
    --------
    >>> sorted(rules_named(["rack", "capacity-in"]))
    ['capacity-in', 'rack']
    """
    return frozenset(rule for name in names for rule in SOFT.get(name, ()))


def goals_named(names: Iterable[str]) -> frozenset[str]:
    """
    Return the goals that option names stand for.

    Examples
    --------
    >>> sorted(goals_named(["band-in", "leader-in"]))
    ['band-in', 'leader-in']
    """
    return frozenset(goal for name in names for goal in HARD.get(name, ()))
