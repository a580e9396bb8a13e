"""The Python processes that Spark's tasks run in."""

import gc
from functools import cache


@cache
def settle(_task: str) -> None:
    """
    Leave what is loaded by now out of the collections of garbage to come.

    Spark collects garbage after every task: with this package and all it needs loaded
    that takes 0.06 s, as long as a small task itself.

    Parameters
    ----------
    _task
        What kind of task ends. After the first one of its kind all that it needs is
        loaded, and later ones do nothing here.
    """
    gc.collect()
    gc.freeze()
