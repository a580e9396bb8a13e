"""Reasons of failed connections to addresses."""

import socket
from dataclasses import dataclass, field

from planner.kafka.client.addresses import Address

TIMED_OUT = "timed out"
UNKNOWN_HOST = "unknown host"
REFUSED = "connection refused"


@dataclass(frozen=True, slots=True)
class Failure:
    """
    Reason of a failed connection.

    Parameters
    ----------
    cause
        Text for the user.
    is_final
        Whether a retry is useless.
    """

    cause: str
    is_final: bool = False


@dataclass(slots=True)
class Failures:
    """Last failure of each address, removed when a connection succeeds."""

    by_address: dict[Address, Failure] = field(default_factory=dict)

    def keep(self, address: Address, failure: Failure) -> None:
        """Record a failure; a time-out does not replace a more specific failure."""
        if failure.cause != TIMED_OUT or address not in self.by_address:
            self.by_address[address] = failure

    def forget_final(self) -> None:
        """Forget the failures for which a retry was useless, so that there is one."""
        for address in self.final:
            self.by_address.pop(address, None)

    @property
    def final(self) -> dict[Address, Failure]:
        """Failures for which a retry is useless, by address."""
        found = [*self.by_address.items()]  # other threads may add more
        return {address: one for address, one in found if one.is_final}


def explain_os_error(error: OSError) -> Failure | None:
    """Return the reason why a socket did not connect; `None` for a time-out."""
    if isinstance(error, socket.gaierror):
        return Failure(UNKNOWN_HOST)
    if isinstance(error, ConnectionRefusedError):
        return Failure(REFUSED)
    if isinstance(error, TimeoutError):
        return None
    return Failure(error.strerror or type(error).__name__)
