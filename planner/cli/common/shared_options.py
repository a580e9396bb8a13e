"""Options of several commands, declared once as the signature of a function."""

import inspect
from collections.abc import Callable
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
    taken = inspect.signature(call, follow_wrapped=False).parameters
    listed = [taken[name] for name in taken if name == "context"]
    types = {"context": typer.Context} if listed else {}
    own, shared = parameters_of(command), parameters_of(*gatherers)
    own.pop("context", None)
    options: dict[str, inspect.Parameter] = {}
    for name, parameter in own.items():
        options |= shared if name == instead_of else {name: parameter}
    hints = {
        name: hint
        for each in (command, *gatherers)
        for name, hint in get_type_hints(each, include_extras=True).items()
    }
    call.__signature__ = inspect.Signature([*listed, *options.values()])  # type: ignore[attr-defined] # read by Typer
    call.__annotations__ = {name: hints[name] for name in options} | types
    call.__annotations__["return"] = None
    return call
