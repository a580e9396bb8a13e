"""
Errors of requests to a cluster.

::

    ClusterUnavailableError     exit 5
    ├── NotAuthorisedError      the user lacks a permission
    ├── RefusedError            the broker rejects the request for another reason
    └── TooOldError             the brokers do not support the request
"""

from collections.abc import Mapping

import kafka.errors as kafka_errors

from planner.errors import ClusterUnavailableError, InputProblem
from planner.kafka.client.addresses import Address
from planner.kafka.client.background_tasks import OverdueError

_WORDS_SHOWN = 200

RETRIED = (
    kafka_errors.KafkaConnectionError,
    kafka_errors.NodeNotReadyError,
    kafka_errors.UnknownBrokerIdError,
    kafka_errors.KafkaTimeoutError,
    kafka_errors.RequestTimedOutError,
    kafka_errors.InvalidMetadataError,
    # A client looks up the coordinator of a group only once.
    kafka_errors.NotCoordinatorError,
    # A broker refuses to authenticate a connection twice within a second, as it has to
    # if sessions last that long (KIP-368); kafka-python then closes the connection.
    kafka_errors.IllegalSaslStateError,
    kafka_errors.Cancelled,
)
"""Errors of kafka-python after which a request is sent again."""


class NotAuthorisedError(ClusterUnavailableError):
    """
    Error for a user who lacks a permission.

    Parameters
    ----------
    message
        One line with the address and the permission.
    needs
        The permission: ``"Describe on Cluster"``.
    """

    def __init__(self, message: str, needs: str) -> None:
        super().__init__(message)
        self.needs = needs


def not_authorised(servers: str, needs: str) -> NotAuthorisedError:
    """Return the error for a user who lacks a permission."""
    message = f"{servers}: not authorised: the user needs {needs}"
    return NotAuthorisedError(message, needs)


class TooOldError(ClusterUnavailableError):
    """Error for brokers that do not support a request."""


class NobodyThereError(Exception):
    """Error for bootstrap addresses that all lead to no broker for known reasons."""


class SentBeforeError(Exception):
    """Error for a change that would be sent twice."""


class RefusedError(ClusterUnavailableError):
    """Error for a request that a broker rejects."""


def unreachable(
    servers: str, failed: Mapping[int, Address], causes: Mapping[int, str]
) -> ClusterUnavailableError:
    """Return the error for brokers with unreachable advertised listeners."""
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


def refused(servers: str, error: BaseException) -> ClusterUnavailableError:
    """Return the error for a request that a broker rejects."""
    # An unknown server error does not reveal whether a change was made.
    is_answer = not isinstance(error, kafka_errors.UnknownError)
    kind = RefusedError if is_answer else ClusterUnavailableError
    return kind(first_words(servers, error))


def unanswered(
    servers: str, error: BaseException, timeout_s: float
) -> ClusterUnavailableError:
    """Return the error for a request without an answer, where no address failed."""
    cause = "timed out"
    if not isinstance(error, (OverdueError, kafka_errors.KafkaTimeoutError)):
        cause = type(error).__name__.removesuffix("Error")
    return ClusterUnavailableError(f"{servers}: {cause} after {timeout_s:g} s")


def first_words(servers: str, error: BaseException) -> str:
    """Return an error of kafka-python as one line."""
    words = str(error).splitlines()[:1] or [""]
    return f"{servers}: {type(error).__name__}: {words[0][:_WORDS_SHOWN]}"


def may_pass(error: Exception) -> bool:
    """Return whether a request that ended with an error may succeed later."""
    return isinstance(error, OverdueError) or bool(getattr(error, "retriable", False))
