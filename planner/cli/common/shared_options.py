"""Options that several commands share, declared once as the signature of a function."""

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import typer


def parameters_of(*gatherers: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the options that gatherers declare, by name."""
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
    Declare for Typer what a command takes itself and what gatherers take for it.

    Parameters
    ----------
    call
        Called by Typer, with its context and every option by name.
    command
        Takes `instead_of` where `call` takes the options of the gatherers.
    gatherers
        Their signatures are lists of options.
    instead_of
        A parameter of the command, which is no option.
    """
    own = parameters_of(command)
    del own[instead_of]
    shared = parameters_of(*gatherers)
    hints = {
        name: hint
        for each in (command, *gatherers)
        for name, hint in get_type_hints(each, include_extras=True).items()
    }
    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    listed = [context, *own.values(), *shared.values()]
    call.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined] # read by Typer
    call.__annotations__ = {name: hints[name] for name in (*own, *shared)} | {
        "context": typer.Context,
        "return": None,
    }
    return call
