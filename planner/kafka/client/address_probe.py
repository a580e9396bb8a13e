"""
Probe of a listener before a client connects.

A Kafka client retries an address until its time limit, whatever the reason of the
failure. One look-up, one connection and one small request reveal most reasons at once:
an unknown host, a refused connection, a controller's listener, or a mismatch of TLS or
SASL between client and listener.
"""

import socket
import ssl
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from planner.kafka.client.addresses import Address
from planner.kafka.client.background_tasks import OverdueError, Task, each_at_once
from planner.kafka.client.connection_failures import Failure, explain_os_error

PROBE_S = 1.0
"""Seconds for one address; the client decides about addresses that stay silent."""

_API_VERSIONS, _METADATA, _SASL_HANDSHAKE = 18, 3, 17
_ILLEGAL_SASL_STATE = 34
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Spoken:
    """
    Security protocol of a client.

    Parameters
    ----------
    protocol
        ``security.protocol``.
    mechanism
        ``sasl.mechanism``; used with SASL only.
    """

    protocol: str = "PLAINTEXT"
    mechanism: str = "PLAIN"

    @property
    def has_tls(self) -> bool:
        """Whether the client uses TLS."""
        return self.protocol.endswith("SSL")

    @property
    def has_sasl(self) -> bool:
        """Whether the client authenticates by SASL."""
        return self.protocol.startswith("SASL")


class _ClosedError(Exception):
    """Error for a listener that closes the connection instead of answering."""


def probe_all(
    addresses: Sequence[Address],
    spoken: Spoken,
    *,
    limit_s: float = PROBE_S,
    reached_at: Callable[[Address], Address] = lambda address: address,
) -> dict[Address, Failure]:
    """
    Return the failures of addresses that cannot be bootstrap brokers, by address.

    Parameters
    ----------
    addresses
        Addresses as given by the user.
    spoken
        Security protocol and SASL mechanism of the client.
    limit_s
        Seconds for each address; all are probed at the same time.
    reached_at
        Function that returns the real address of an advertised one.
    """

    def ask(address: Address) -> Failure | None:
        try:
            real = reached_at(address)
            work = Task(lambda: probe(real, address.host, spoken, limit_s=limit_s))
            return work.result(limit_s)
        except OverdueError:
            return None

    found = each_at_once(ask, addresses, at_once=max(len(addresses), 1))
    pairs = zip(addresses, found, strict=True)
    return {address: one for address, one in pairs if one is not None}


def probe(
    address: Address, name: str, spoken: Spoken, *, limit_s: float
) -> Failure | None:
    """
    Return the reason why no broker can be reached at an address.

    Parameters
    ----------
    address
        Address to connect to.
    name
        Host name for TLS, by which a proxy may route.
    spoken, limit_s
        As in `probe_all`.

    Returns
    -------
    Failure
        `None` if a broker can be reached, or the reason is uncertain.
    """
    try:
        sock = _connect(address, limit_s)
    except OSError as error:
        return explain_os_error(error)
    with sock:
        try:
            channel = _tls(sock, name) if spoken.has_tls else sock
        except OSError:
            return _against_tls(address, spoken, limit_s)
        with channel:
            return _probe_channel(channel, address, name, spoken, limit_s)


def _probe_channel(
    channel: socket.socket, address: Address, name: str, spoken: Spoken, limit_s: float
) -> Failure | None:
    try:
        return _judge(channel, _api_keys(channel), spoken)
    except (_ClosedError, ConnectionError):
        return _against_plaintext(address, name, spoken, limit_s)
    except OSError:  # no answer in time, or the listener requires a certificate
        return None


def is_refused(address: Address, limit_s: float = PROBE_S) -> bool:
    """Return whether the host of an address refuses connections to its port."""

    def work() -> bool:
        try:
            _connect(address, limit_s).close()
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
        return False

    try:
        return Task(work).result(limit_s)
    except OverdueError:
        return False


def _connect(address: Address, limit_s: float) -> socket.socket:
    return socket.create_connection((address.host, address.port), timeout=limit_s)


def _tls(sock: socket.socket, host: str) -> ssl.SSLSocket:
    """Perform a TLS handshake without verification, which the client does later."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(sock, server_hostname=host)


# -- requests ----------------------------------------------------------------


def _ask(
    channel: socket.socket, api_key: int, version: int, body: bytes = b""
) -> bytes:
    """Return the response to a request of an old version, without correlation id."""
    client_id = b"kafka-planner"
    header = struct.pack(">hhih", api_key, version, 1, len(client_id)) + client_id
    request = header + body
    channel.sendall(struct.pack(">i", len(request)) + request)
    (size,) = struct.unpack(">i", _read(channel, 4))
    if not 4 <= size <= _MOST_BYTES:
        raise _ClosedError
    return _read(channel, size)[4:]


def _read(channel: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = channel.recv(size - len(found))
        if not more:
            raise _ClosedError
        found += more
    return found


def _api_keys(channel: socket.socket) -> set[int]:
    answer = _ask(channel, _API_VERSIONS, 0)
    count = struct.unpack_from(">hi", answer)[1] if len(answer) >= 6 else -1
    if not 0 <= count <= (len(answer) - 6) // 6:
        raise _ClosedError
    rows = struct.iter_unpack(">hhh", answer[6 : 6 + 6 * count])
    return {key for key, _, _ in rows}


def _judge(channel: socket.socket, keys: set[int], spoken: Spoken) -> Failure | None:
    """Return the failure of a listener that speaks Kafka's protocol, if any."""
    if _METADATA not in keys:
        return Failure(
            "a controller listens here, not a broker: give the address of a broker",
            is_final=True,
        )
    if spoken.has_sasl:
        return _judge_sasl(channel, spoken)
    try:
        _ask(channel, _METADATA, 0, struct.pack(">ih", 1, 1) + b"-")
    except (_ClosedError, ConnectionError):
        return Failure(
            f"the listener asks for a login (SASL), and security.protocol="
            f"{spoken.protocol} has none; security.protocol=SASL_{spoken.protocol} "
            "in --command-config logs in",
            is_final=True,
        )
    return None


def _judge_sasl(channel: socket.socket, spoken: Spoken) -> Failure | None:
    name = spoken.mechanism.encode()
    try:
        answer = _ask(channel, _SASL_HANDSHAKE, 1, struct.pack(">h", len(name)) + name)
    except (_ClosedError, ConnectionError):
        return None
    if struct.unpack_from(">h", answer)[0] != _ILLEGAL_SASL_STATE:
        return None
    plain = spoken.protocol.removeprefix("SASL_")
    return Failure(
        f"the listener takes no login (SASL), and security.protocol={spoken.protocol} "
        f"asks for one; security.protocol={plain} asks for none",
        is_final=True,
    )


# -- the other kind of listener ----------------------------------------------


def _against_tls(address: Address, spoken: Spoken, limit_s: float) -> Failure | None:
    """Return the failure of a listener without TLS after a failed handshake."""
    with suppress(OSError, _ClosedError), _connect(address, limit_s) as sock:
        _api_keys(sock)
        plain = spoken.protocol.replace("SSL", "PLAINTEXT")
        return Failure(
            f"the listener speaks no TLS, and security.protocol={spoken.protocol} "
            f"does; security.protocol={plain} would fit it",
            is_final=True,
        )
    return None


def _against_plaintext(
    address: Address, name: str, spoken: Spoken, limit_s: float
) -> Failure | None:
    """Return the failure of a listener with TLS that closed a plain connection."""
    if spoken.has_tls:
        return None
    with suppress(OSError), _connect(address, limit_s) as sock, _tls(sock, name):
        secure = spoken.protocol.replace("PLAINTEXT", "SSL")
        return Failure(
            f"the listener speaks TLS, and security.protocol={spoken.protocol} does "
            f"not; security.protocol={secure} in --command-config would fit it",
            is_final=True,
        )
    return None
