"""Options of several commands, declared once as the signature of a function."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from planner.cli.common.fractions import fraction
from planner.options.declared.option import DeclaredOption, Panel


def parameters_of(*gatherers: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the options in the signatures of gatherers, by name."""
    return {
        name: parameter
        for each in gatherers
        for name, parameter in inspect.signature(each).parameters.items()
    }


def declare(
    call: Callable[..., None],
    command: Callable[..., None],
    *gatherers: Callable[..., Any],
    instead_of: str,
) -> Callable[..., None]:
    """
    Declare for Typer the options of a command and those that gatherers add.

    Parameters
    ----------
    call
        Function that Typer calls with every option by name, and with its context if it
        has a parameter of that name.
    command
        Function with the parameter `instead_of` in place of the added options.
    gatherers
        Functions whose signatures list the added options.
    instead_of
        Parameter of the command in whose place the added options are listed.
    """
    # What `functools.wraps` has copied is the signature of the command.
    vars(call).pop("__signature__", None)
    taken = inspect.signature(call, follow_wrapped=False).parameters
    own = {name: taken[name] for name in taken if name == "context"}
    own |= parameters_of(command)
    options: dict[str, inspect.Parameter] = {}
    for name, parameter in own.items():
        added = parameters_of(*gatherers) if name == instead_of else {name: parameter}
        options |= added
    hints = {
        name: hint
        for each in (command, *gatherers)
        for name, hint in get_type_hints(each, include_extras=True).items()
    }
    hints |= {"context": typer.Context, "return": None}
    call.__signature__ = inspect.Signature([*options.values()])  # type: ignore[attr-defined] # read by Typer
    call.__annotations__ = {name: hints[name] for name in (*options, "return")}
    return call


def gathered(
    gatherer: Callable[..., Any], *, instead_of: str, argument: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """
    Return a decorator that adds options to a command, as the value of a parameter.

    Parameters
    ----------
    gatherer
        Function or class whose signature lists the options; makes the value of them.
    instead_of
        Parameter of the command that receives the value.
    argument
        Parameter of some commands whose value becomes a field of the value as well.
    """
    names = parameters_of(gatherer)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**given: Any) -> None:  # noqa: ANN401 - as given
            value = gatherer(**{name: given.pop(name) for name in names})
            if argument is not None:
                value = replace(value, **{argument: given.get(argument)})
            command(**given, **{instead_of: value})

        return declare(call, command, gatherer, instead_of=instead_of)

    return decorate


def gatherer_with(options: Mapping[str, tuple[Any, Any]]) -> Callable[..., Any]:
    """
    Return a function that takes options and returns their values by name.

    Parameters
    ----------
    options
        Annotation for Typer, and default, by the names of the options.
    """

    def gather(**given: Any) -> dict[str, Any]:  # noqa: ANN401 - as given
        return given

    gather.__signature__ = inspect.Signature(  # type: ignore[attr-defined] # read by Typer
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=annotation,
            )
            for name, (annotation, default) in options.items()
        ]
    )
    gather.__annotations__ = {name: option[0] for name, option in options.items()}
    return gather


def gatherer_of(options: Iterable[DeclaredOption]) -> Callable[..., dict[str, Any]]:
    """
    Return a function that takes declared options and returns them by name.

    Parameters
    ----------
    options
        The options, which its signature lists for Typer.
    """
    return gatherer_with(
        {each.name: (annotation_of(each), _default(each)) for each in options}
    )


def _default(declared: DeclaredOption) -> Any:  # noqa: ANN401 - of any type
    """Return the default of the parameter; `None` where the text is not given."""
    if declared.option.takes is not None:
        return None
    words = _words(declared)
    return words(declared.default) if words and declared.default else declared.default


def annotation_of(declared: DeclaredOption) -> Any:  # noqa: ANN401 - a type
    """Return the annotation of the parameter of a declared option."""
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
            parser=fraction(option.at_most) if option.takes is Fraction else None,
            rich_help_panel=None if option.panel is Panel.OPERATION else option.panel,
        ),
    ]


def _type(declared: DeclaredOption) -> Any:  # noqa: ANN401 - a type
    """Return the type of the parameter, without `None`."""
    takes = declared.option.takes
    if takes is not None:
        as_types: dict[type, Any] = {list: list[str], Fraction: float}
        return as_types.get(takes, takes)
    return _words(declared) or declared.type


def _words(declared: DeclaredOption) -> type[StrEnum] | None:
    """Return an enumeration of the words of an option that takes one of few."""
    if not declared.words:
        return None
    members = {word.upper().replace("-", "_"): word for word in declared.words}
    return StrEnum(declared.name, members)  # type: ignore[return-value] # made here


def _flags(declared: DeclaredOption) -> str:
    """Return the names on the command line; a switch without its own can be undone."""
    if declared.type is bool and declared.option.flag is None:
        return f"{declared.flag}/--no-{declared.flag[2:]}"
    return declared.flag
