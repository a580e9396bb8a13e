"""A connection to a broker that loses what is said of a change."""

import contextlib
import socket
import struct
import threading
from typing import Literal, Self

Loss = Literal["request", "answer", "connection"]

OFFSET_COMMIT, CREATE_TOPICS, CREATE_PARTITIONS, ELECT_LEADERS = 8, 19, 37, 43
ALTER_REASSIGNMENTS = 45


class LossyBroker:
    """
    An address before a broker that hands on everything but one kind of request.

    Parameters
    ----------
    port
        Of the broker, on loopback.
    api_key
        Kind of request that is lost.
    loss
        ``request``: it never arrives; ``answer``: it arrives, and is answered in vain;
        ``connection``: it arrives, and the connection breaks.
    """

    def __init__(self, port: int, api_key: int, loss: Loss) -> None:
        self._real = ("127.0.0.1", port)
        self._api_key, self._loss = api_key, loss
        self._server = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._server]
        self._is_whole = False
        self.lost = 0

    @property
    def options(self) -> tuple[str, ...]:
        """Options that lead a command here, also where the broker advertises itself."""
        here = f"127.0.0.1:{self._server.getsockname()[1]}"
        advertised = "{}:{}".format(*self._real)
        return ("--bootstrap-server", here, "--resolve", f"{advertised}={here}")

    def repair(self) -> None:
        """Lose nothing more; a connection that has lost something stays deaf."""
        self._is_whole = True

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                broker = socket.create_connection(self._real)
                self._open += [client, broker]
                is_deaf = threading.Event()
                for work in (self._hand_on, self._answer):
                    arguments = (client, broker, is_deaf)
                    threading.Thread(target=work, args=arguments, daemon=True).start()

    def _hand_on(
        self, client: socket.socket, broker: socket.socket, is_deaf: threading.Event
    ) -> None:
        with contextlib.suppress(OSError, struct.error):
            while True:
                head = _read(client, 6)
                size, api_key = struct.unpack(">ih", head)
                request = head + _read(client, size - 2)
                if api_key == self._api_key and not self._is_whole:
                    self.lost += 1
                    is_deaf.set()
                    if self._loss == "request":
                        continue
                broker.sendall(request)

    def _answer(
        self, client: socket.socket, broker: socket.socket, is_deaf: threading.Event
    ) -> None:
        with contextlib.suppress(OSError):
            while more := broker.recv(65536):
                if not is_deaf.is_set():
                    client.sendall(more)
                elif self._loss == "connection":  # the answer is there: it was done
                    client.shutdown(socket.SHUT_RDWR)


def _read(sock: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = sock.recv(size - len(found))
        if not more:
            raise OSError
        found += more
    return found
