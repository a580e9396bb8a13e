# ruff: noqa: ANN401 - kafka-python is not typed
"""
Connections of kafka-python's client: `--resolve`, time limits, reasons of failures.

The library retries a broker indefinitely and writes the reason to its log only. Here
every failure is recorded by address, and a permanent failure ends the attempt at once.
"""

import logging
import ssl
import time
from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

import kafka.errors as kafka_errors
from kafka.net.compat import KafkaNetClient
from kafka.net.inet import KafkaNetSocket
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

from planner.kafka.client.addresses import Address
from planner.kafka.client.change_requests import ChangesSent
from planner.kafka.client.connection_failures import (
    REFUSED,
    TIMED_OUT,
    UNKNOWN_HOST,
    Failure,
    Failures,
)

_SHORTEST_ATTEMPT_S = 1.0


def silence_library() -> None:
    """
    Suppress kafka-python's log.

    Our errors replace its warnings, and its debug lines contain passwords.
    """
    logger = logging.getLogger("kafka")
    logger.setLevel(logging.CRITICAL + 1)


def explain(error: BaseException, protocol: str) -> Failure:
    """Return the reason of a failed connection from an error of kafka-python."""
    if isinstance(error, kafka_errors.SaslAuthenticationFailedError):
        return Failure(f"authentication failed: {_broker_words(error)}", is_final=True)
    if isinstance(error, kafka_errors.UnsupportedSaslMechanismError):
        return Failure("the listener does not take this sasl.mechanism", is_final=True)
    if isinstance(error, ssl.SSLCertVerificationError):
        cause = f"its certificate is not trusted: {error.verify_message}"
        return Failure(cause, is_final=True)
    if isinstance(error, ssl.SSLError):
        words = (error.reason or "no TLS").lower().replace("_", " ")
        cause = f"TLS failed: {words}; is security.protocol={protocol} right?"
        return Failure(cause, is_final=True)
    return _explain_text(str(error), protocol)


def _broker_words(error: Exception) -> str:
    words = str(error.args[0]) if error.args else ""
    return words.rpartition(": ")[2] or "the broker refused the user"


def _explain_text(text: str, protocol: str) -> Failure:
    for mark, cause in (
        ("ECONNREFUSED", REFUSED),
        ("DNS", UNKNOWN_HOST),
        ("EHOSTUNREACH", "no route to the host"),
        ("ENETUNREACH", "no route to the network"),
        ("imed out", TIMED_OUT),
        ("imeout", TIMED_OUT),
    ):
        if mark in text:
            return Failure(cause)
    hint = f"is security.protocol={protocol} what this listener speaks"
    if "SSL" in protocol:
        hint += ", or does it ask for a certificate (ssl.keystore.location)"
    return Failure(f"the connection was closed; {hint}?")


class _Socket(KafkaNetSocket):  # type: ignore[misc]  # untyped base
    """
    Socket that is closed if it does not connect.

    Parameters
    ----------
    opened
        Set that receives every new socket.
    """

    SCHEMES = ()

    def __new__(cls, opened: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, opened: Any) -> None:
        super().__init__()
        self._opened = opened

    def socket(self, *args: Any, **options: Any) -> Any:
        sock = super().socket(*args, **options)
        self._opened.add(sock)
        return sock

    async def sock_connect(
        self, net: Any, sock: Any, *args: Any, **options: Any
    ) -> Any:
        try:
            return await super().sock_connect(net, sock, *args, **options)
        except BaseException:
            sock.close()
            raise


class _Client(KafkaNetClient):  # type: ignore[misc]  # untyped base
    """
    Network client that closes all sockets when it is closed.

    The library drops connections in progress, and their sockets would stay open until
    Python's garbage collection.
    """

    def __init__(self, opened: Any, **configs: Any) -> None:
        super().__init__(**configs)
        self._opened = opened

    def close(self, node_id: Any = None) -> None:
        super().close(node_id)
        if node_id is None:
            for sock in list(self._opened):
                sock.close()


class _Explained(kafka_errors.KafkaConnectionError):  # type: ignore[misc]  # untyped base
    """Error whose reason is recorded already."""


class _Watched:
    """
    Transport that counts sent changes, and passes on all received data.

    The library drops data that arrive together with the end of the connection, such as
    the answer to a rejected login, after which the broker closes the connection.
    """

    _end: Any = None
    changes: ChangesSent

    def write(self, data: Any) -> None:
        self.changes.count(data)
        super().write(data)  # type: ignore[misc]  # of the transport

    def _sock_recv(self) -> Any:
        if self._end is not None:
            return b"", self._end
        data, end = super()._sock_recv()  # type: ignore[misc]  # of the transport
        if data and end is not None:
            self._end = end
            return data, None
        return data, end


class _PlainTransport(_Watched, KafkaTCPTransport):  # type: ignore[misc]  # untyped
    """Transport without TLS."""


class _TlsTransport(_Watched, KafkaSSLTransport):  # type: ignore[misc]  # untyped base
    """Transport with TLS."""


class _Connections(KafkaConnectionManager):  # type: ignore[misc]  # untyped base
    """Connections of the library with `--resolve`, time limits and failure records."""

    def __init__(
        self,
        net: Any,
        *,
        resolve: Mapping[Address, Address],
        failures: Failures,
        changes: ChangesSent,
        attempt_s: float,
        opened: Any,
        **configs: Any,
    ) -> None:
        self._opened = opened
        self._changes = changes
        self._resolve = resolve
        self._failures = failures
        self._attempt_s = attempt_s
        super().__init__(net, **configs)

    def get_connection(
        self, node_id: Any, timeout_ms: float | None = None, **options: Any
    ) -> Any:
        node = self.cluster.broker_metadata(node_id)
        address = None if node is None else Address(node.host, node.port)
        if address is not None and address in self._failures.final:
            raise kafka_errors.KafkaConnectionError(self._failures.final[address].cause)
        limit_ms = self._attempt_s * 1000
        limit_ms = limit_ms if timeout_ms is None else min(limit_ms, timeout_ms)
        is_new = node_id not in self._conns
        connection = super().get_connection(node_id, limit_ms, **options)
        if is_new and address is not None:
            self._watch(connection, address)
        return connection

    def _watch(self, connection: Any, address: Address) -> None:
        def keep(error: BaseException) -> None:
            if not isinstance(error, _Explained):
                self._keep(address, error)

        def forget(_: Any) -> None:
            self._failures.by_address.pop(address, None)

        connection.init_future.add_errback(keep)
        connection.init_future.add_callback(forget)
        # A listener may accept the connection and close it later.
        connection.close_future.add_errback(keep)

    def _keep(self, address: Address, error: BaseException) -> Failure:
        failure = explain(error, self.config["security_protocol"])
        self._failures.keep(address, failure)
        return failure

    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> Any:
        advertised = Address(node.host, node.port)
        try:
            return await self._reach(advertised, timeout_at)
        except Exception as error:
            failure = self._keep(advertised, error)
            raise _Explained(failure.cause) from error

    async def _reach(self, advertised: Address, timeout_at: float | None) -> Any:
        real = self._resolve.get(advertised, advertised)
        sock = await self._open(real, timeout_at)
        transport = self._wrap(sock, advertised.host)
        left_s = self._attempt_s
        if timeout_at is not None:
            left_s = max(timeout_at - time.monotonic(), 0.001)
        try:
            # The library's handshake has no time limit of its own.
            await self.wait_for(self.call_soon(transport.handshake), left_s * 1000)
        except BaseException:
            transport.close()
            raise
        return transport

    async def _open(self, address: Address, timeout_at: float | None) -> Any:
        """Return a socket connected to the first address of a name that answers."""
        sockets, options = _Socket(self._opened), self.config["socket_options"]
        error: Exception = kafka_errors.KafkaConnectionError("DNS")
        for found in sockets.dns_lookup(address.host, address.port):
            try:
                return await sockets.connect(
                    self._net, found, options, timeout_at=timeout_at
                )
            except (OSError, kafka_errors.KafkaError) as another:
                error = another
        raise error

    def _wrap(self, sock: Any, host: str) -> Any:
        transport: Any
        if self.ssl_enabled:
            context = self.config["ssl_context"]
            transport = _TlsTransport(self._net, sock, host=host, ssl_context=context)
        else:
            transport = _PlainTransport(self._net, sock, host=host)
        transport.changes = self._changes
        return transport


class NetworkFactory:
    """
    Factory of the admin client's network client.

    Parameters
    ----------
    resolve
        Real address of each advertised address that differs. TLS still verifies the
        advertised name.
    failures
        Record that receives failures.
    changes
        Counter of sent change requests.
    limit_s
        Time limit to reach the cluster in seconds. An attempt at one address gets a
        third of it, at least 1 s, so that a dead address leaves time for others.
    """

    def __init__(
        self,
        resolve: Mapping[Address, Address],
        failures: Failures,
        changes: ChangesSent,
        limit_s: float,
    ) -> None:
        self._resolve = resolve
        self._failures = failures
        self._changes = changes
        self._attempt_s = max(_SHORTEST_ATTEMPT_S, limit_s / 3)
        self._made: tuple[Any, Any] | None = None

    def __call__(self, **configs: Any) -> Any:
        """Return a network client."""
        opened: WeakSet[Any] = WeakSet()
        net = NetworkSelector(**configs)
        connections = _Connections(
            net,
            resolve=self._resolve,
            failures=self._failures,
            changes=self._changes,
            attempt_s=self._attempt_s,
            opened=opened,
            **configs,
        )
        client = _Client(opened, net=net, manager=connections, **configs)
        self._made = (client, net)
        return client

    def brokers(self) -> dict[int, Address]:
        """Return the advertised listeners by broker, from a bootstrap broker."""
        if self._made is None:
            return {}
        cluster = self._made[0].cluster
        return {
            one.node_id: Address(one.host, one.port)
            for one in sorted(cluster.brokers(), key=lambda one: one.node_id)
        }

    def close(self) -> None:
        """Close the network client, which a failed admin client leaves running."""
        if self._made is not None:
            client, net = self._made
            client.close()
            net.stop()
