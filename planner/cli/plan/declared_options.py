"""Parameters of commands from the declaration of the options of plans."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.fractions import fraction
from planner.options.declared.option import DeclaredOption, Panel
from planner.options.declared.plan_options import OPTIONS, RULE_NAMES


def gatherer_of(names: Iterable[str]) -> Callable[..., dict[str, Any]]:
    """
    Return a function that takes declared options and returns them by name.

    Parameters
    ----------
    names
        Names of the options; its signature lists them for Typer.
    """

    def gather(**given: Any) -> dict[str, Any]:  # noqa: ANN401 - as given
        return given

    listed = [OPTIONS[name] for name in names]
    gather.__signature__ = Signature([_parameter(each) for each in listed])  # type: ignore[attr-defined] # read by Typer
    gather.__annotations__ = {each.name: _annotation(each) for each in listed}
    return gather


def own_names(operation: str) -> list[str]:
    """Return the names of the options that an operation has and others lack."""
    return [
        name
        for name, each in OPTIONS.items()
        if each.operations and each.is_of(operation)
    ]


def _parameter(declared: DeclaredOption) -> Parameter:
    return Parameter(
        declared.name,
        Parameter.KEYWORD_ONLY,
        default=_default(declared),
        annotation=_annotation(declared),
    )


def _default(declared: DeclaredOption) -> Any:  # noqa: ANN401 - of any type
    """Return the default of the parameter; `None` where the text is not given."""
    if declared.option.takes is not None:
        return None
    words = _words(declared)
    return words(declared.default) if words and declared.default else declared.default


def _annotation(declared: DeclaredOption) -> Any:  # noqa: ANN401 - a type
    option = declared.option
    kind = _type(declared)
    is_optional = option.takes is not None or declared.is_optional
    return Annotated[
        kind | None if is_optional else kind,
        typer.Option(
            _flags(declared),
            metavar=option.metavar,
            help=option.help,
            min=option.at_least,
            parser=fraction() if option.takes is float else None,
            rich_help_panel=None if option.panel is Panel.OPERATION else option.panel,
        ),
    ]


def _type(declared: DeclaredOption) -> Any:  # noqa: ANN401 - a type
    """Return the type of the parameter, without `None`."""
    takes = declared.option.takes
    if takes is not None:
        return list[str] if takes is list else takes
    return _words(declared) or declared.type


def _words(declared: DeclaredOption) -> type[StrEnum] | None:
    """Return an enumeration of the words of an option that takes one of few."""
    if not declared.words:
        return None
    members = {word.upper().replace("-", "_"): word for word in declared.words}
    return StrEnum(declared.name, members)  # type: ignore[return-value] # made here


def _flags(declared: DeclaredOption) -> str:
    """Return the names on the command line; a switch can be taken back."""
    if declared.type is bool:
        return f"{declared.flag}/--no-{declared.flag[2:]}"
    return declared.flag


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
rule_options = gatherer_of(RULES)
shared_options = gatherer_of(SHARED)

if TYPE_CHECKING:
    Band = list[str] | None
    CapacityThreshold = list[str] | None
    Resources = str | None
else:
    Band = _annotation(OPTIONS["band"])
    CapacityThreshold = _annotation(OPTIONS["capacity_threshold"])
    Resources = _annotation(OPTIONS["resources"])
