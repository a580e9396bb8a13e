"""
Compile entry points of the kernels, once and only where it pays.

Kernels are plain Python functions over flat tables. A small problem runs them as they
are, on lists; a large one runs the same functions compiled by numba, on arrays. So a
newcomer's first cluster waits for no compiler, and there is one algorithm.
"""

import functools
import logging
from collections.abc import Callable
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

_Function = TypeVar("_Function", bound=Callable[..., Any])
_inner: list[Callable[..., Any]] = []


def inner(function: _Function) -> _Function:
    """Mark a function that kernels call: compiled with them, else left as it is."""
    _inner.append(function)
    return function


@functools.cache
def _register_inner() -> None:
    from numba.extending import register_jitable

    for function in _inner:
        register_jitable(function)


@functools.cache
def compiled(entry: Callable[..., Any]) -> Callable[..., Any]:
    """
    Return `entry` compiled to machine code, cached on disk where that is possible.

    Numba raises when it finds no writable place for its cache, as with a read-only
    installation and no writable home; then the code is compiled for this process alone.
    """
    from numba import njit

    _register_inner()
    try:
        return njit(cache=True, nogil=True)(entry)
    except RuntimeError as error:
        logger.info("no place for compiled kernels: %s", error)
        return njit(nogil=True)(entry)
