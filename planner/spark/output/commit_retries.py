"""Commits to tables of a catalog, tried again after another job's commit."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from planner.spark.common.machine_failures import is_conflict

Result = TypeVar("Result")
MOST_TRIES = 6
FIRST_PAUSE_S = 0.5
"""Longest pause before the second try; it doubles with each further try."""


def with_retries(commit: Callable[[], Result]) -> Result:
    """
    Return the result of a commit, which is tried again if another job's prevents it.

    Parameters
    ----------
    commit
        Reads the table, and commits to it; each try has to see the commits before it.

    Notes
    -----
    The pause is drawn from zero to a bound that doubles ("full jitter"), so that jobs
    that collided do not meet again. After `MOST_TRIES` the error is raised; commands
    report it in one line, with exit code 75.
    """
    for attempt in range(MOST_TRIES - 1):
        try:
            return commit()
        except Exception as error:
            if not is_conflict(error):
                raise
        time.sleep(random.uniform(0, FIRST_PAUSE_S * 2**attempt))  # noqa: S311 - no secret
    return commit()
