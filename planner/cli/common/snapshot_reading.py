"""Snapshots read for a command, without libraries that no command uses."""

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

    pyarrow imports an installed pandas with the first scalar, which takes a quarter of
    a second and is not needed. After one failed import it tries again only for a data
    frame. Columns that a snapshot does not have are listed on stderr.
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
"""Size of a snapshot file whose cluster has some ten thousand replicas."""


def load_search_for(path: Path) -> None:
    """Start loading the compiled search if the snapshot is large enough to need it."""
    files = path.glob("partitions.parquet") if path.is_dir() else [path]
    try:
        is_large = any(file.stat().st_size > LARGE_BYTES for file in files)
    except OSError:
        # The reader of the snapshot reports the problem.
        return
    if is_large:
        from placement.core.search.preload import load_ahead

        load_ahead(_load_numba_alone)


class _Without(MetaPathFinder):
    """Finder that hides packages from the thread that created it."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names, self._thread = names, threading.get_ident()

    def find_spec(self, fullname: str, *_: object) -> None:
        """Raise for a hidden package; leave all others to the next finders."""
        is_own = threading.get_ident() == self._thread
        if is_own and fullname.partition(".")[0] in self._names:
            raise ImportError(fullname)


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """Hide packages that a library imports if it finds them, and does not need."""
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
    Load numba without SciPy, YAML and coverage, in half of the time.

    Numba uses SciPy for linear algebra, which the kernels do not contain, YAML for a
    settings file in the current folder, and coverage for lines that it compiles.
    """
    if Path(".numba_config.yaml").exists():
        return
    with _without("scipy", "yaml", "coverage"):
        # This module looks for SciPy; else it would do so with the first kernel.
        import numba.np.arraymath  # noqa: F401 - loaded for later imports
