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

RETRIED = (
    kafka_errors.KafkaConnectionError,
    kafka_errors.NodeNotReadyError,
    kafka_errors.UnknownBrokerIdError,
    kafka_errors.KafkaTimeoutError,
    kafka_errors.RequestTimedOutError,
    kafka_errors.InvalidMetadataError,
    # A client looks up the coordinator of a group only once.
    kafka_errors.NotCoordinatorError,
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
