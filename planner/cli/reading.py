"""Snapshots read for a command."""

import sys
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.snapshot import Snapshot


def read_snapshot(path: Path) -> "Snapshot":
    """
    Read a snapshot as `planner.snapshot.read_snapshot` does, without pandas.

    pyarrow imports pandas, where that is installed, at the first scalar it makes: a
    quarter of a second that no command needs. Having missed it once, it only looks for
    it again when it is asked for a data frame.
    """
    _load_arrow_alone()
    from planner import snapshot

    return snapshot.read_snapshot(path)


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
        from placement.core.ahead import load_ahead

        load_ahead()


class _WithoutPandas(MetaPathFinder):
    """Finds no pandas, whether it is installed or not."""

    def find_spec(self, fullname: str, *_: object) -> None:
        """Refuse pandas; leave everything else to those who come after."""
        if fullname == "pandas":
            raise ImportError(fullname)


def _load_arrow_alone() -> None:
    if "pandas" in sys.modules or "pyarrow" in sys.modules:
        return
    finder = _WithoutPandas()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa

        pa.scalar(0)
    finally:
        sys.meta_path.remove(finder)
