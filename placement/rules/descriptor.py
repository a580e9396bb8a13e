"""Descriptor of a rule: its option, its softness, and its part in infeasible plans."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from placement.draft.draft import Draft, Settings
from placement.draft.rule import Rule
from placement.model.cluster import ClusterState

RANK = 50
"""Rank of a rule without one of its own: after the rules on request."""


Kind = Literal[
    "switch",
    "topics",
    "topic groups",
    "topic sides",
    "topic sets",
    "topic counts",
]
"""
Kind of the value of an option.

On or off; a regular expression of topics; several of them; ``REGEX=REGEX``,
``REGEX=SET`` or ``REGEX=N`` texts.
"""


@dataclass(frozen=True, slots=True)
class RuleOption:
    """
    The option that requests a rule; it has the name of the rule.

    Parameters
    ----------
    kind
        Kind of its value.
    help
        One sentence for people.
    example
        Value for `planner.toml`; empty: the default.
    saved_as
        Key of plan.json under `settings`; empty: the name of the option.
    """

    kind: Kind
    help: str
    example: str = ""
    saved_as: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RuleRequest:
    """
    A value of the option of a rule, for one cluster.

    Parameters
    ----------
    state
        The cluster.
    value
        Value of the option, read; `None`, false or an empty tuple if it is not given.
    options
        Values of all options by name.
    refuse
        Function that records a problem of the option: the value, the rule that it
        violates, and the remedy.
    """

    state: ClusterState
    value: Any
    options: Mapping[str, Any]
    refuse: Callable[[str, str, str], None]

    def topics(self, pattern: str) -> list[int]:
        """Return the rows of the topics whose whole name matches an expression."""
        names = enumerate(self.state.topics.names)
        return [row for row, name in names if re.fullmatch(pattern, name)]


def is_given(value: object) -> bool:
    """Return whether a value of an option requests its rule."""
    return value not in (None, False, ())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RuleDescriptor:
    """
    Parsing, making, relaxation and description of a rule.

    Parameters
    ----------
    name
        Name of the rule, and of its option without leading dashes.
    text
        The rule as a phrase for the reason of an infeasible plan; empty if the rule
        cannot be lifted. A constant phrase may name the ``settings`` of the plan and
        their format: ``{settings.max_bytes:bytes}``, ``:ids`` or ``:replicas``.
    remedy
        Remedy in that reason; empty: to leave out the option.
    always_hard
        Reason why the rule may not be soft, as a clause that follows its name.
    may_be_soft, is_goal
        Whether `--soft` may relax the rule; whether it is a goal, which `--hard` may
        harden.
    family
        Name that stands for several rules in `--soft` and `--hard`.
    rank
        Position in lists of rules and options.
    lift_rank
        Position in which the search for the reason lifts the rule; `None`: `rank`. Of
        several possible reasons, the one with the rules lifted last is reported.
    setting
        Field of the settings that holds the rule, and that lifts it by its default;
        empty: the rule is one of `rules`.
    lift
        Function that lifts the rule from settings, in place of that.
    is_active
        Whether the rule limits anything in a draft; `None`: if the settings have it.
    is_of_brokers
        Whether the rule has no effect if replicas stay on their brokers.
    left_out
        Change of options that lifts the rule; empty: to leave out its option.
    option
        The option that requests the rule; `None` if planner declares it.
    make
        Function that makes the rule from its option; `None` if it is no `Rule`.
    is_always_made
        Whether `make` is called without the option too.
    fill_rank
        Position in which the rule fills the draft.
    """

    name: str
    text: str | Callable[[Draft], str] = ""
    remedy: str | Callable[[Settings], str] = ""
    always_hard: str = "says what a plan may touch, which is no goal"
    may_be_soft: bool = False
    is_goal: bool = False
    family: str = ""
    rank: int = RANK
    lift_rank: int | None = None
    setting: str = ""
    lift: Callable[[Settings], Settings] | None = None
    is_active: Callable[[Draft], bool] | None = None
    is_of_brokers: bool = False
    left_out: str = ""
    option: RuleOption | None = None
    make: Callable[[RuleRequest], Iterable[Rule[Draft]]] | None = None
    is_always_made: bool = False
    fill_rank: int = RANK

    @property
    def option_name(self) -> str:
        """Name of the option as a keyword."""
        return self.name.replace("-", "_")

    @property
    def omission(self) -> str:
        """Change of options that lifts the rule."""
        return self.left_out or f"leave out --{self.name}"

    def lifted(self, settings: Settings) -> Settings:
        """Return settings without the rule."""
        if self.lift is not None:
            return self.lift(settings)
        if self.setting:
            nothing = {self.setting: getattr(Settings(), self.setting)}
            return replace(settings, **nothing)
        rules = tuple(rule for rule in settings.rules if rule.name != self.name)
        return replace(settings, rules=rules)

    def limits(self, draft: Draft) -> bool:
        """Return whether the rule limits anything in a draft."""
        if draft.is_emptied_dir is not None and self.is_of_brokers:
            return False
        if self.is_active is not None:
            return self.is_active(draft)
        if self.setting:
            value = getattr(draft.settings, self.setting)
            is_flag = isinstance(value, bool | frozenset)
            return bool(value) if is_flag else value is not None
        return any(rule.name == self.name for rule in draft.settings.rules)


def goal(name: str, **more: Any) -> RuleDescriptor:  # noqa: ANN401 - any field
    """Return the descriptor of a goal, which is lifted if it is soft again."""
    return RuleDescriptor(
        name=name,
        text=f"{name} met in full, which is hard",
        left_out=f"leave out --hard {name}",
        is_goal=True,
        lift_rank=0,
        lift=lambda settings: replace(settings, hard=settings.hard - {name}),
        is_active=lambda draft: name in draft.settings.hard,
        **more,
    )


def without(name: str) -> Callable[[Settings], Settings]:
    """Return the function that lifts a rule that always holds."""
    return lambda settings: replace(settings, lifted=settings.lifted | {name})
