"""Classes and functions of the user, by ``package.module:name``."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn


def load_object(name: str, refuse: Callable[[str], NoReturn]) -> Any:  # noqa: ANN401 - the user's
    """
    Return the object of a name; the current folder is searched for modules, too.

    Parameters
    ----------
    name
        ``package.module:name``.
    refuse
        Function that raises the error for a violated rule.
    """
    module_name, _, object_name = name.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return getattr(importlib.import_module(module_name), object_name)
    except ModuleNotFoundError as error:
        refuse(f"the module cannot be found: {error}")
    except AttributeError as error:
        refuse(f"the class cannot be found: {error}")
    except Exception as error:
        refuse(f"it cannot be made: {type(error).__name__}: {error}")
    finally:
        sys.path.remove(here)


def make_object(kind: Any, refuse: Callable[[str], NoReturn]) -> Any:  # noqa: ANN401 - the user's
    """Return an instance of a class of the user, made without arguments."""
    try:
        return kind()
    except Exception as error:
        refuse(f"it cannot be made: {type(error).__name__}: {error}")
