"""Garbage collection in the Python workers of Spark's tasks."""

import gc
from functools import cache


@cache
def settle(_task: str) -> None:
    """
    Exclude all objects loaded so far from later garbage collections.

    Spark collects garbage after every task. With this package and its dependencies
    loaded that takes 0.06 s, as long as a small task itself.

    Parameters
    ----------
    _task
        Kind of the task that ends. After the first task of a kind all its modules are
        loaded; later calls for the kind do nothing.
    """
    gc.collect()
    gc.freeze()
