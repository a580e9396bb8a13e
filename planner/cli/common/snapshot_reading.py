"""Snapshots read for a command, and no library that no command needs."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from planner.cli.common.output import print_note

if TYPE_CHECKING:
    from planner.snapshot import Snapshot

_MAX_UNUSED = 12


def read_snapshot(path: Path) -> "Snapshot":
    """
    Read a snapshot as `planner.snapshot.read_snapshot` does, without pandas.

    pyarrow imports pandas, where that is installed, at the first scalar it makes: a
    quarter of a second that no command needs. Having missed it once, it only looks for
    it again when it is asked for a data frame. Columns that no snapshot has are named
    on stderr.
    """
    _load_arrow_alone()
    from planner import snapshot

    read = snapshot.read_snapshot(path)
    if read.unused:
        shown, rest = read.unused[:_MAX_UNUSED], len(read.unused) - _MAX_UNUSED
        more = f" and {rest} more" if rest > 0 else ""
        print_note(f"{path}: not used: {', '.join(shown)}{more}")
    return read


LARGE_BYTES = 2_000_000
"""Of a file from which on its cluster has some ten thousand replicas."""


def load_search_for(path: Path) -> None:
    """Begin to load the compiled search, where a snapshot is so large as to need it."""
    files = path.glob("partitions.parquet") if path.is_dir() else [path]
    try:
        is_large = any(file.stat().st_size > LARGE_BYTES for file in files)
    except OSError:
        # Reading it says what is wrong.
        return
    if is_large:
        from placement.core.search.preload import load_ahead

        load_ahead(_load_numba_alone)


class _Without(MetaPathFinder):
    """Finds some packages in no place, for the thread that made it."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names, self._thread = names, threading.get_ident()

    def find_spec(self, fullname: str, *_: object) -> None:
        """Refuse what is named; leave everything else to those who come after."""
        is_own = threading.get_ident() == self._thread
        if is_own and fullname.partition(".")[0] in self._names:
            raise ImportError(fullname)


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """Let a library that can do without some packages do without them."""
    finder = _Without(frozenset(names))
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _load_arrow_alone() -> None:
    if "pandas" in sys.modules or "pyarrow" in sys.modules:
        return
    with _without("pandas"):
        import pyarrow as pa

        pa.scalar(0)


def _load_numba_alone() -> None:
    """
    Load numba without SciPy, YAML and coverage: half of the time that it takes.

    It asks SciPy for linear algebra, of which kernels have none, YAML for a file of
    settings that it looks for here, and coverage for the lines that it compiles.
    """
    if Path(".numba_config.yaml").exists():
        return
    with _without("scipy", "yaml", "coverage"):
        # This part looks for SciPy, and would do so at the first kernel.
        import numba.np.arraymath  # noqa: F401 - loaded for those who come after
