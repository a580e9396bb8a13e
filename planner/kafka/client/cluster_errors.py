"""
Errors of a cluster that was asked something.

::

    ClusterUnavailableError     exit 5
    ├── NotAuthorisedError      a right is missing
    ├── RefusedError            answered: no, for another reason
    └── TooOldError             the brokers do not know the question
"""

from collections.abc import Mapping

from planner.errors import ClusterUnavailableError, InputProblem
from planner.kafka.client.addresses import Address


class NotAuthorisedError(ClusterUnavailableError):
    """
    The user lacks a right.

    Parameters
    ----------
    message
        One line with the address and the right.
    needs
        The right: ``"Describe on Cluster"``.
    """

    def __init__(self, message: str, needs: str) -> None:
        super().__init__(message)
        self.needs = needs


def not_authorised(servers: str, needs: str) -> NotAuthorisedError:
    """Return the error of a user who lacks a right."""
    message = f"{servers}: not authorised: the user needs {needs}"
    return NotAuthorisedError(message, needs)


class TooOldError(ClusterUnavailableError):
    """The brokers do not know the question."""


class NobodyThereError(Exception):
    """No bootstrap address leads to a broker, each for a reason that is known."""


class SentBeforeError(Exception):
    """A change was sent, and would be asked for again."""


class RefusedError(ClusterUnavailableError):
    """A broker answered that it will not do it."""


def unreachable(
    servers: str, failed: Mapping[int, Address], causes: Mapping[int, str]
) -> ClusterUnavailableError:
    """Return the error of brokers whose advertised listeners cannot be reached."""
    problems = [
        InputProblem(
            file=servers,
            place=f"broker {broker_id}",
            value=str(address),
            rule=f"advertised listener must be reachable: {causes[broker_id]}",
            remedy=f"--resolve {address}=HOST:PORT says where it really is",
        )
        for broker_id, address in failed.items()
    ]
    named = ", ".join(
        f"of broker {broker_id} at {address}: {causes[broker_id]}"
        for broker_id, address in failed.items()
    )
    message = f"{servers}: advertised listener {named}"
    if len(problems) == 1:
        return ClusterUnavailableError(f"{message}; {problems[0].remedy}")
    return ClusterUnavailableError(message, problems)
