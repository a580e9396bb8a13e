"""Exit codes of the commands."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes; 1 is reserved for crashes of Python."""

    OK = 0
    BAD_INPUT = 2
    FINDINGS = 3
    INFEASIBLE = 4
    CLUSTER_UNAVAILABLE = 5
    ANSWER_UNKNOWN = 6
    RUN_AGAIN = 75
    """EX_TEMPFAIL of sysexits.h: machines failed, not the input."""
    INTERRUPTED = 130
