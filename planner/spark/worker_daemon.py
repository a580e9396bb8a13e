"""
Daemon of Spark that forks Python workers, with the libraries of tasks loaded.

Each worker loads NumPy, Arrow, numba and this package in about a second. A worker that
is forked from a process that has loaded them shares them. Run by Spark as
``python -m planner.spark.worker_daemon pyspark.worker``.
"""

import gc
from contextlib import suppress
from importlib import import_module

from pyspark import daemon

LIBRARIES = (
    "numba",
    "pyarrow.fs",
    "pyarrow.parquet",
    "pyspark.worker",
    "planner.spark.scoring.reduce_side.reduce_snapshots",
    "planner.snapshot.to_state",
    "planner.snapshot.from_state",
)
"""
Libraries that tasks load. The only thread that they start is one of jemalloc, which
starts it again in forked processes.
"""


def preload() -> None:
    """Load the libraries of tasks, and exclude them from garbage collections."""
    for name in LIBRARIES:
        # The task that needs a missing library reports it.
        with suppress(ImportError):
            import_module(name)
    with suppress(ImportError, AttributeError):
        # What compiled code may call: half a second in each worker that runs some.
        import_module("numba.core.registry").cpu_target.target_context.refresh()
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    preload()
    daemon.manager()
