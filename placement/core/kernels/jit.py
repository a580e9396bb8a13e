"""
Compile entry points of the kernels, once and only where it pays.

Kernels are plain Python functions over flat tables. A small problem runs them as they
are, on lists; a large one runs the same functions compiled by numba, on arrays. So a
newcomer's first cluster waits for no compiler, and there is one algorithm.
"""

import functools
import hashlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
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
        dispatcher = njit(cache=True, nogil=True)(entry)
    except RuntimeError as error:
        logger.info("no place for compiled kernels: %s", error)
        return njit(nogil=True)(entry)
    _stamp(dispatcher)
    return dispatcher


def is_at_hand(entries: Sequence[Callable[..., Any]]) -> bool:
    """
    Tell whether entry points need no compiling: done in this process, or on disk.

    A problem that is small enough to be solved uncompiled is solved compiled where
    that costs no more than loading; the answer is the same.
    """
    return all(_is_compiled(compiled(entry)) for entry in entries)


def _is_compiled(dispatcher: Any) -> bool:  # noqa: ANN401 - numba's
    if getattr(dispatcher, "signatures", None):
        return True
    cache_file = _cache_file(dispatcher)
    load = getattr(cache_file, "_load_index", None)
    return bool(load and load())


def _cache_file(dispatcher: Any) -> Any:  # noqa: ANN401 - numba's
    return getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)


def _stamp(dispatcher: Any) -> None:  # noqa: ANN401 - numba's
    """
    Let cached code go stale with any of the kernels, not with its own file alone.

    Numba looks at the file of the entry point only, and would go on with what was
    compiled from older versions of the functions it calls.
    """
    cache_file = _cache_file(dispatcher)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = _sources_stamp()  # noqa: SLF001 - no other way in


@functools.cache
def _sources_stamp() -> tuple[str, int]:
    """Return the digest and the size of all modules of kernels."""
    sources = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    joined = b"\0".join(sources)
    return hashlib.sha256(joined).hexdigest(), len(joined)
