"""
Compilation of kernel entry points, once and only where it pays.

Kernels are plain Python functions over flat tables. A small problem runs them
uncompiled on lists; a large one runs the same functions compiled by numba on arrays.
There is one algorithm, and small problems do not wait for the compiler.
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
    """Mark a function that kernels call, to be compiled with them."""
    _inner.append(function)
    return function


def inlined(function: _Function) -> _Function:
    """
    Mark a small function that kernels call often, to be inlined into its callers.

    A call passes all descriptors of every array of a table, some hundred numbers for
    twenty arrays; by default the compiler inlines too little.
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
    Return `entry` compiled to machine code, cached on disk where possible.

    `options` are further options of numba. Numba raises an error if it finds no
    writable place for its cache, as with a read-only installation and no writable home
    directory; the code is then compiled for this process alone.
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
    Return whether entry points are compiled already, in this process or on disk.

    A small problem uses compiled kernels if that costs no more than loading them; the
    answer is the same.
    """
    return all(_is_compiled(compiled(entry)) for entry in entries)


def _is_compiled(dispatcher: Any) -> bool:  # noqa: ANN401 - numba's
    if _signatures(dispatcher):
        return True
    cache_file = _cache_file(dispatcher)
    load = getattr(cache_file, "_load_index", None)
    return bool(load and load())


def _signatures(dispatcher: Any) -> Any:  # noqa: ANN401 - numba's
    """Return the signatures for which an entry point is compiled in this process."""
    return getattr(dispatcher, "signatures", None)


def _cache_file(dispatcher: Any) -> Any:  # noqa: ANN401 - numba's
    return getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)


def _stamp(dispatcher: Any, entry_file: Path) -> None:  # noqa: ANN401 - numba's
    """
    Invalidate cached code if any kernel module changes, not only its own file.

    Numba checks only the file of the entry point, and would otherwise use code compiled
    from older versions of the functions it calls.
    """
    cache_file = _cache_file(dispatcher)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = _sources_stamp(entry_file)  # noqa: SLF001 - no other way in


@functools.cache
def _sources_stamp(entry_file: Path) -> tuple[str, int]:
    """
    Return digest and size of all sources that an entry point may depend on.

    These are all kernel modules of this folder, the module of the entry point, and all
    modules of its folder if that is another folder of kernels.
    """
    here = Path(__file__).parent
    files = {*here.glob("*.py"), entry_file}
    if entry_file.parent.name == here.name:
        files |= set(entry_file.parent.glob("*.py"))
    sources = [path.read_bytes() for path in sorted(files)]
    joined = b"\0".join(sources)
    return hashlib.sha256(joined).hexdigest(), len(joined)
