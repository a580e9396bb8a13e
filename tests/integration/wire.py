"""Connections to the brokers of a cluster that can be cut, and made slow."""

import contextlib
import socket
import threading
import time
from typing import Self

from integration.kafka.cluster import Cluster


class Wire:
    """
    An address before each broker, which hands on what it gets.

    Parameters
    ----------
    cluster
        The cluster.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._ports = list(cluster.ports.values())
        self._servers = [socket.create_server(("127.0.0.1", 0)) for _ in self._ports]
        self._open: list[socket.socket] = [*self._servers]
        self._is_whole = threading.Event()
        self._is_whole.set()
        self.delay_s = 0.0

    @property
    def bootstrap(self) -> str:
        """Every address, as `--bootstrap-server` takes them."""
        return ",".join(map(_address, self._servers))

    @property
    def resolve(self) -> list[str]:
        """Values of `--resolve` that lead here what the brokers advertise."""
        return [
            f"127.0.0.1:{port}={_address(server)}"
            for port, server in zip(self._ports, self._servers, strict=True)
        ]

    def cut(self) -> None:
        """Hand nothing on any more, in neither direction; connections stay open."""
        self._is_whole.clear()

    def cut_for(self, seconds: float) -> None:
        """Hand nothing on for some time."""
        self.cut()
        threading.Timer(seconds, self.join).start()

    def join(self) -> None:
        """Hand on what has waited, and what comes."""
        self._is_whole.set()

    def __enter__(self) -> Self:
        for server, port in zip(self._servers, self._ports, strict=True):
            threading.Thread(
                target=self._accept, args=(server, port), daemon=True
            ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.join()
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self, server: socket.socket, port: int) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = server.accept()
                broker = socket.create_connection(("127.0.0.1", port))
                self._open += [client, broker]
                for ends in ((client, broker), (broker, client)):
                    threading.Thread(
                        target=self._hand_on, args=ends, daemon=True
                    ).start()

    def _hand_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while more := source.recv(65536):
                time.sleep(self.delay_s)
                self._is_whole.wait()
                target.sendall(more)
            target.shutdown(socket.SHUT_WR)


def _address(server: socket.socket) -> str:
    return f"127.0.0.1:{server.getsockname()[1]}"
