"""Metadata of a declared option, and the options that a class declares."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import Enum, StrEnum
from functools import cache
from math import inf
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from placement.operations.descriptor import OPERATIONS
from planner.errors import InputProblem
from planner.options.declared.types import fitted

T = TypeVar("T")
UNCHANGED = object()
"""Marker: an option that plan.json lacks has its default."""


class Panel(StrEnum):
    """Titles of the groups of options of plans in help and docs."""

    OPERATION = "Operation"
    TOPICS = "Topics"
    BROKERS = "Brokers"
    BALANCE = "Balance"
    RULES = "Rules"
    GOALS = "Goals"
    COPIES = "Copies"
    WAVES = "Waves"
    SEARCH = "Search"


class Saved(Enum):
    """Plans whose plan.json names an option under `settings`."""

    ALWAYS = "every plan"
    OWN = "plans of the operations that have the option"
    GIVEN = "plans that the option was given for"
    IN_WAVES = "plans with waves, inside `waves`"
    NEVER = "no plan: what came of it is recorded instead"


class Problems:
    """
    Problems of one option.

    Parameters
    ----------
    flag
        Option on the command line, which the problems name as their place.
    """

    def __init__(self, flag: str) -> None:
        self.flag = flag
        self.found: list[InputProblem] = []

    def refuse(self, value: object, rule: str, remedy: str) -> None:
        """Record a problem of the option."""
        self.found.append(InputProblem.of_option(self.flag, value, rule, remedy))


Reader = Callable[[Any, Problems], Any]
"""
Converts a text, texts or a typed value to the type of the field.

Records every problem; of several texts it keeps those without one.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """
    Metadata of an option, which annotates its field.

    Parameters
    ----------
    help
        One sentence for people.
    metavar
        Placeholder of its value in help.
    takes
        Type of its value on the command line: `str`, `float`, `Fraction` (a number or
        percent), `list` of texts, or `Path`; `None`: the type of the field.
    read
        Reader of its value; `None`: values are taken as they are.
    flag
        Name on the command line; `None`: the name of the field with dashes.
    at_least, at_most
        Smallest number accepted; largest fraction accepted.
    count
        Number of different brokers that an operation with the option must be given.
    must_be_live
        Whether brokers that it names must be live.
    example
        Value for `planner.toml`; empty: the default.
    panel
        Title of its group in help and docs.
    sets
        Field of the settings of a plan, or of waves, that takes the value as it is.
    saved, saved_as
        Plans that record it in plan.json, and its key there; `None`: the name.
    save
        Converts its value to JSON; the annotation of its result is the type of the key
        in the schema.
    absent
        Value where plan.json lacks the key; `UNCHANGED`: the default.
    """

    help: str
    metavar: str | None = None
    takes: type | None = None
    read: Reader | None = None
    flag: str | None = None
    at_least: int | None = None
    at_most: float = inf
    count: int | None = None
    must_be_live: bool = False
    example: str = ""
    panel: str
    sets: str | None = None
    saved: Saved = Saved.ALWAYS
    saved_as: str | None = None
    save: Callable[[Any], Any] | None = None
    absent: object = UNCHANGED


@dataclass(frozen=True, slots=True)
class DeclaredOption:
    """
    A field of a class of options, with its metadata.

    Parameters
    ----------
    name
        Name of the field, which is the key in `planner.toml`.
    option
        Metadata.
    type
        Type of the field, without `None`.
    is_optional
        Whether the field may be `None`.
    default
        Default of the field.
    """

    name: str
    option: Option
    type: Any
    is_optional: bool
    default: Any

    @property
    def flag(self) -> str:
        """Name on the command line."""
        return self.option.flag or f"--{self.name.replace('_', '-')}"

    @property
    def words(self) -> tuple[str, ...]:
        """The words of an option that takes one of few; else empty."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def operations(self) -> tuple[str, ...]:
        """Names of the operations that have the option; empty: all."""
        return tuple(
            name for name, each in OPERATIONS.items() if self.name in each.options
        )

    def is_of(self, operation: str) -> bool:
        """Return whether an operation has the option."""
        return not self.operations or operation in self.operations

    def read(self, value: object, problems: Problems) -> Any:  # noqa: ANN401 - any type
        """Return a value of the type of the field; record what is wrong."""
        if value is None:
            return None if self.is_optional else self.default
        if self.option.takes is not Path:
            value, rule = fitted(value, self.type, takes=self.option.takes)
            if rule:
                problems.refuse(value, rule, self.option.help)
                return None if self.is_optional else self.default
        if self.option.read is not None:
            return self.option.read(value, problems)
        if self.words:
            return self._word(str(value), problems)
        return value

    def _word(self, word: str, problems: Problems) -> str:
        """Return one of the words; the default if there is no such word."""
        if word in self.words:
            return word
        remedy = f"write {self.words[0]}"
        problems.refuse(word, f"must be one of {', '.join(self.words)}", remedy)
        return str(self.default)


def read_options(
    declaration: type[T], given: Mapping[str, Any]
) -> tuple[T, tuple[InputProblem, ...]]:
    """
    Return an instance of a class of options, and what is wrong with the values.

    Parameters
    ----------
    declaration
        A dataclass whose fields are annotated with an `Option` each.
    given
        Texts, lists of texts or typed values by the names of the options; `None`: not
        given.

    Returns
    -------
    The options, and what is wrong with them; a wrong value counts as not given.

    Raises
    ------
    TypeError
        If there is no option of such a name.
    """
    options = options_of(declaration)  # type: ignore[arg-type] # classes are hashable
    if unknown := sorted(given.keys() - options.keys()):
        msg = f"unexpected option {unknown[0]!r}; there are: {', '.join(options)}"
        raise TypeError(msg)
    values: dict[str, Any] = {}
    found: list[InputProblem] = []
    for name, declared in options.items():
        if name in given:
            problems = Problems(declared.flag)
            values[name] = declared.read(given[name], problems)
            found += problems.found
    return declaration(**values), tuple(found)


@cache
def options_of(declaration: type) -> Mapping[str, DeclaredOption]:
    """
    Return the options that a class declares by name, in their order.

    Parameters
    ----------
    declaration
        A dataclass whose fields are annotated with an `Option` each.
    """
    hints = get_type_hints(declaration, include_extras=True)
    found = {}
    for each in fields(declaration):
        hint, option = get_args(hints[each.name])[:2]
        default = each.default
        if each.default_factory is not MISSING:
            default = each.default_factory()
        found[each.name] = DeclaredOption(
            each.name, option, _without_none(hint), _is_optional(hint), default
        )
    return found


def _is_optional(hint: Any) -> bool:  # noqa: ANN401 - any type
    return get_origin(hint) in {Union, UnionType} and NoneType in get_args(hint)


def _without_none(hint: Any) -> Any:  # noqa: ANN401 - any type
    if not _is_optional(hint):
        return hint
    left = [one for one in get_args(hint) if one is not NoneType]
    return Union[tuple(left)]  # noqa: UP007 - types known only now
