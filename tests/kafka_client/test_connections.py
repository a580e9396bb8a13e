"""Connections that are being made when a client ends."""

import gc
import socket
import time
import warnings
from weakref import WeakSet

import pytest

from planner.errors import ClusterUnavailableError
from planner.kafka import connections
from planner.kafka.addresses import Address
from planner.kafka.client import ClusterClient


def test_no_socket_is_left_open_of_a_broker_that_says_nothing(monkeypatch):
    kept = []

    class Kept(WeakSet):
        def add(self, item):
            kept.append(item)
            super().add(item)

    monkeypatch.setattr(connections, "WeakSet", Kept)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = Address("127.0.0.1", silent.getsockname()[1])
        with (
            ClusterClient([address], timeout_s=1.5) as client,
            pytest.raises(ClusterUnavailableError),
        ):
            client.call(lambda admin: admin.list_topics(), needs="Describe on Cluster")

    assert kept
    # Who waits no longer does not wait for the attempt to end either.
    ends = time.monotonic() + 10
    while any(sock.fileno() != -1 for sock in kept) and time.monotonic() < ends:
        time.sleep(0.05)
    assert {sock.fileno() for sock in kept} == {-1}
    kept.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gc.collect()
