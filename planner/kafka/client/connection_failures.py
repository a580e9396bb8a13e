"""Reasons why an address was not reached."""

import socket
from dataclasses import dataclass, field

from planner.kafka.client.addresses import Address

TIMED_OUT = "timed out"
UNKNOWN_HOST = "unknown host"
REFUSED = "connection refused"


@dataclass(frozen=True, slots=True)
class Failure:
    """
    Why a connection was not made.

    Parameters
    ----------
    cause
        Words for people.
    is_final
        Whether trying again is of no use.
    """

    cause: str
    is_final: bool = False


@dataclass(slots=True)
class Failures:
    """The last failure of each address, gone when a connection succeeds."""

    by_address: dict[Address, Failure] = field(default_factory=dict)

    def keep(self, address: Address, failure: Failure) -> None:
        """Keep a failure; that nothing came in time does not hide what did come."""
        if failure.cause != TIMED_OUT or address not in self.by_address:
            self.by_address[address] = failure

    @property
    def final(self) -> dict[Address, Failure]:
        """The failures that no retry mends."""
        found = [*self.by_address.items()]  # other threads go on failing
        return {address: one for address, one in found if one.is_final}


def explain_os_error(error: OSError) -> Failure | None:
    """Return why a socket was not connected; `None` where it only took too long."""
    if isinstance(error, socket.gaierror):
        return Failure(UNKNOWN_HOST)
    if isinstance(error, ConnectionRefusedError):
        return Failure(REFUSED)
    if isinstance(error, TimeoutError):
        return None
    return Failure(error.strerror or type(error).__name__)
