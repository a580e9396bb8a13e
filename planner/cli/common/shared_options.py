"""Options of several commands, declared once as the signature of a function."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, get_type_hints

import typer


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
