"""Failures of machines that Spark runs on, as opposed to faults of input or program."""

import re
from traceback import walk_tb

AGAIN = "run the command again; what has been written stays"
MORE_MEMORY = (
    f"{AGAIN}; if it recurs give Spark more memory: --conf spark.executor.memory=4g, "
    "or spark.driver.memory where it runs on this machine"
)
_EXECUTOR = re.compile(
    r"ExecutorLostFailure \(executor (?P<executor>[^ )]+)[^)]*\)"
    r"(?: Reason: (?P<reason>[^\n]*))?"
)
_CONFLICT = (
    r"DELTA_CONCURRENT_|DELTA_(?:METADATA|PROTOCOL)_CHANGED|Concurrent\w*Exception"
    r"|(?:Metadata|Protocol)ChangedException|CommitFailedException"
    r"|Found (?:new )?conflicting"
)
"""Errors of Delta Lake and Iceberg at a commit that another job's commit prevents."""
_CREATED = r"ALREADY_EXISTS|AlreadyExistsException|CREATE_TABLE_WITH_NON_EMPTY_LOCATION"
"""Errors at the creation of a table, or a column, that another job is creating."""
_KINDS = (
    (r"Python worker exited unexpectedly", "a Python worker was killed", MORE_MEMORY),
    (r"Python worker (?:failed to connect|timed out)", "a worker is gone", AGAIN),
    (r"OutOfMemoryError|GC overhead limit", "Java ran out of memory", MORE_MEMORY),
    (
        r"No space left on device",
        "a disk that Spark works on is full",
        "free some of it, or name another with --conf spark.local.dir=…, and run the "
        "command again",
    ),
    (_CONFLICT, "another job wrote to the same table meanwhile", AGAIN),
    (r"FetchFailed", "an executor was lost with rows that were needed", AGAIN),
    (
        r"(?:stopped|because) SparkContext|SparkContext (?:was|has been) shut ?down"
        r"|All masters are unresponsive",
        "Spark was shut down in the midst of its work",
        AGAIN,
    ),
    (r"StatusCode\.UNAVAILABLE", "the Spark Connect server does not answer", AGAIN),
    (r"Answer from Java side is empty", "Spark's driver is gone", AGAIN),
)
_PACKAGES = ("py4j", "pyspark")


class OtherJobError(RuntimeError):
    """Another job did the same work meanwhile, with another result."""


def machine_failure(error: BaseException) -> str | None:
    """
    Describe a machine failure and its remedy in one line.

    Parameters
    ----------
    error
        Exception that ended a command on Spark.

    Returns
    -------
    `None` if no machine failed: the same command would end the same way.
    """
    if isinstance(error, OtherJobError):
        return f"{error}; {AGAIN}"
    if not _is_of_spark(error):
        return None
    text = str(error)
    if lost := _EXECUTOR.search(text):
        reason = f": {lost['reason'].strip()}" if lost["reason"] else ""
        return f"Spark lost executor {lost['executor']}{reason}; {MORE_MEMORY}"
    for pattern, what, remedy in _KINDS:
        if re.search(pattern, text):
            return f"{what}; {remedy}"
    if isinstance(error, ConnectionError):
        return f"Spark's driver is gone; {AGAIN}"
    return None


def is_conflict(error: BaseException) -> bool:
    """Return whether another job's commit to the same table prevented a commit."""
    found = re.search(f"{_CONFLICT}|{_CREATED}", str(error))
    return _is_of_spark(error) and found is not None


def _is_of_spark(error: BaseException) -> bool:
    """Return whether an error was raised through code of Spark."""
    names = (
        frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)
    )
    return any(name.partition(".")[0] in _PACKAGES for name in names)
