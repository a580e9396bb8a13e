"""
Compile entry points of the kernels, once and only where it pays.

Kernels are plain Python functions over flat tables. A small problem runs them as they
are, on lists; a large one runs the same functions compiled by numba, on arrays. So a
newcomer's first cluster waits for no compiler, and there is one algorithm.
"""

import functools
import hashlib
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

_Function = TypeVar("_Function", bound=Callable[..., Any])
_inner: list[Callable[..., Any]] = []
_inlined: list[Callable[..., Any]] = []


def inner(function: _Function) -> _Function:
    """Mark a function that kernels call: compiled with them, else left as it is."""
    _inner.append(function)
    return function


def inlined(function: _Function) -> _Function:
    """
    Mark a small function that kernels call often: compiled into its callers.

    A call hands over all that every array of a table consists of, some hundred numbers
    where there are twenty arrays; left to itself the compiler calls more than it ought.
    """
    _inlined.append(function)
    return function


@functools.cache
def _register_inner() -> None:
    from numba.extending import register_jitable

    for function in _inner:
        register_jitable(function)
    for function in _inlined:
        register_jitable(forceinline=True)(function)


@functools.cache
def compiled(entry: Callable[..., Any], **options: Any) -> Callable[..., Any]:  # noqa: ANN401 - numba's
    """
    Return `entry` compiled to machine code, cached on disk where that is possible.

    Options are those of numba besides its own.

    Numba raises when it finds no writable place for its cache, as with a read-only
    installation and no writable home; then the code is compiled for this process alone.
    """
    from numba import njit

    _register_inner()
    try:
        dispatcher = njit(cache=True, nogil=True, **options)(entry)
    except RuntimeError as error:
        logger.info("no place for compiled kernels: %s", error)
        return njit(nogil=True, **options)(entry)
    _stamp(dispatcher, Path(entry.__code__.co_filename))
    return dispatcher


def is_running(entries: Sequence[Callable[..., Any]]) -> bool:
    """Return whether this process runs compiled kernels already; loads none itself."""
    if "numba" not in sys.modules:
        return False
    has_run = any(_signatures(compiled(entry)) for entry in entries)
    return has_run and is_at_hand(entries)


def is_at_hand(entries: Sequence[Callable[..., Any]]) -> bool:
    """
    Return whether entry points need no compiling: done in this process, or on disk.

    A problem that is small enough to be solved uncompiled is solved compiled where
    that costs no more than loading; the answer is the same.
    """
    return all(_is_compiled(compiled(entry)) for entry in entries)


def _is_compiled(dispatcher: Any) -> bool:  # noqa: ANN401 - numba's
    if _signatures(dispatcher):
        return True
    cache_file = _cache_file(dispatcher)
    load = getattr(cache_file, "_load_index", None)
    return bool(load and load())


def _signatures(dispatcher: Any) -> Any:  # noqa: ANN401 - numba's
    """Return the types for which an entry point is compiled in this process."""
    return getattr(dispatcher, "signatures", None)


def _cache_file(dispatcher: Any) -> Any:  # noqa: ANN401 - numba's
    return getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)


def _stamp(dispatcher: Any, entry_file: Path) -> None:  # noqa: ANN401 - numba's
    """
    Let cached code go stale with any of the kernels, not with its own file alone.

    Numba looks at the file of the entry point only, and would go on with what was
    compiled from older versions of the functions it calls.
    """
    cache_file = _cache_file(dispatcher)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = _sources_stamp(entry_file)  # noqa: SLF001 - no other way in


@functools.cache
def _sources_stamp(entry_file: Path) -> tuple[str, int]:
    """
    Return the digest and the size of what an entry point may be made of.

    These are all modules of kernels here, and those beside the entry point where it
    lies in another such folder; else its own.
    """
    here = Path(__file__).parent
    files = {*here.glob("*.py"), entry_file}
    if entry_file.parent.name == here.name:
        files |= set(entry_file.parent.glob("*.py"))
    sources = [path.read_bytes() for path in sorted(files)]
    joined = b"\0".join(sources)
    return hashlib.sha256(joined).hexdigest(), len(joined)
