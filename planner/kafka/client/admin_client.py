"""
Access to a cluster over the admin protocol, within a time limit.

kafka-python's admin client fails at the first broker that is gone, and keeps asking a
dead broker until it returns. So every request is retried, by a new client if the old
one may be stuck, until it is answered or its time limit is reached. Then one line
states which address failed and why.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeVar

import kafka.errors as kafka_errors
from kafka import KafkaAdminClient

from planner.errors import AnswerUnknownError, ClusterUnavailableError
from planner.kafka.auth.client_settings import ClientSettings
from planner.kafka.client.address_probe import PROBE_S, Spoken, probe_all
from planner.kafka.client.addresses import Address
from planner.kafka.client.background_tasks import OverdueError, Task, each_at_once
from planner.kafka.client.change_requests import ChangesSent
from planner.kafka.client.client_pool import Share
from planner.kafka.client.cluster_errors import (
    RETRIED,
    NobodyThereError,
    NotAuthorisedError,
    RefusedError,
    SentBeforeError,
    TooOldError,
    first_words,
    may_pass,
    not_authorised,
    refused,
    unanswered,
    unreachable,
)
from planner.kafka.client.connection_failures import UNKNOWN_HOST, Failures
from planner.kafka.client.connections import NetworkFactory, silence_library
from planner.kafka.client.quorum import find_lost_quorum

DEFAULT_TIMEOUT_S = 30.0
_PAUSE_S = 0.2

Answer = TypeVar("Answer")


class ClusterClient:
    """
    Client of a running cluster over the admin protocol, safe for several threads.

    Parameters
    ----------
    bootstrap
        Bootstrap brokers.
    settings
        SASL, TLS and other settings from a client's properties file.
    resolve
        Real address of each advertised address that differs.
    timeout_s
        Seconds to reach the cluster, and for each request.
    """

    def __init__(
        self,
        bootstrap: Sequence[Address],
        settings: ClientSettings | None = None,
        *,
        resolve: Mapping[Address, Address] | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
    ) -> None:
        silence_library()
        self.bootstrap = tuple(bootstrap)
        self.timeout_s = timeout_s
        self._limit_ms = max(int(timeout_s * 1000), 1)
        self._settings = settings or ClientSettings()
        self._resolve = dict(resolve or {})
        self._failures = Failures()
        self._changes = ChangesSent()
        self._usable: tuple[Address, ...] = ()
        self._was_reached = False
        self.has_controller = False
        self._share = Share(self._connect, RETRIED)
        self._network = self._factory()

    def __repr__(self) -> str:
        return f"ClusterClient({self.servers!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def servers(self) -> str:
        """Comma-separated bootstrap brokers."""
        return ",".join(map(str, self.bootstrap))

    def close(self) -> None:
        """Close every connection; the next request opens new ones."""
        self._share.close()

    def forgive(self) -> None:
        """Try refused addresses again: credentials and rights may have come back."""
        self._failures.forget_final()

    def call(
        self,
        ask: Callable[[KafkaAdminClient], Answer],
        *,
        needs: str,
        timeout_s: float | None = None,
    ) -> Answer:
        """
        Send a request to the cluster.

        Parameters
        ----------
        ask
            Function that uses kafka-python's admin client. May be called several times.
        needs
            Required permission, for the message if it is missing: ``"Describe on
            Cluster"``.
        timeout_s
            Time limit in seconds; `None`: the limit of this client.

        Raises
        ------
        ClusterUnavailableError
            If no answer came in time; `NotAuthorisedError` if permission is missing.
        """
        deadline = time.monotonic() + (timeout_s or self.timeout_s)
        while True:
            try:
                return self._ask_once(ask, deadline)
            except NobodyThereError as error:
                raise ClusterUnavailableError(str(error)) from None
            except kafka_errors.AuthorizationError:
                raise not_authorised(self.servers, needs) from None
            except kafka_errors.IncompatibleBrokerVersion as error:
                raise TooOldError(first_words(self.servers, error)) from None
            except (kafka_errors.KafkaError, OverdueError) as error:
                if not isinstance(error, RETRIED) and not may_pass(error):
                    raise refused(self.servers, error) from None
                if self._is_hopeless(deadline):
                    raise self._unavailable(error) from None
            # A broker that has just died is avoided only after it is fenced: retry.
            threading.Event().wait(_PAUSE_S)

    def change(
        self,
        ask: Callable[[KafkaAdminClient], Answer],
        *,
        what: str,
        needs: str,
        look: str,
        is_repeatable: bool = False,
    ) -> Answer:
        """
        Send a request that changes the cluster.

        Parameters
        ----------
        ask
            Function that uses kafka-python's admin client.
        what
            The change, for the message if its answer is lost: ``"create topic t"``.
        needs
            Required permission.
        look
            Command that shows whether the change was made.
        is_repeatable
            Whether the change is idempotent. Other changes are never retried after they
            may have been sent.

        Raises
        ------
        AnswerUnknownError
            If the request was sent and no conclusive answer came.
        ClusterUnavailableError
            If nothing was sent; `NotAuthorisedError` if permission is missing.
        """
        before = self._changes.number

        def once(admin: KafkaAdminClient) -> Answer:
            if self._changes.number > before and not is_repeatable:
                raise SentBeforeError
            return ask(admin)

        try:
            return self.call(once, needs=needs)
        except (NotAuthorisedError, RefusedError, TooOldError):
            raise
        except (ClusterUnavailableError, SentBeforeError) as error:
            if self._changes.number == before:
                raise
            raise self.unknown(what, look, error) from None

    def unknown(self, what: str, look: str, error: Exception) -> AnswerUnknownError:
        """Return the error for a change that was sent and not answered."""
        silent = f"no answer from {self.servers}"
        if isinstance(error, ClusterUnavailableError):
            silent = error.message
        cause = self.lost_quorum() or silent
        message = f"asked to {what}, but the answer is unknown: {cause}"
        return AnswerUnknownError(message, look)

    def lost_quorum(self) -> str:
        """Return the reason why the controllers cannot answer; empty if unknown."""
        network = self._factory()
        try:
            # Brokers answer one request of a connection at a time: use another.
            admin = self._open(network, PROBE_S)
        except kafka_errors.KafkaError:
            return ""
        try:
            return Task(lambda: find_lost_quorum(admin)).result(2 * PROBE_S)
        except (kafka_errors.KafkaError, OverdueError):
            return ""
        finally:
            admin.close()

    def reach_brokers(self) -> None:
        """
        Connect to every broker that is not fenced.

        Raises
        ------
        ClusterUnavailableError
            If the advertised listener of a broker cannot be reached, with one problem
            for each broker.
        """
        deadline = time.monotonic() + self.timeout_s
        while True:
            # The first answer of a bootstrap broker lists them: any other request may
            # go to the listeners in doubt.
            brokers = self.call(
                lambda _: self._network.brokers(),
                needs="Describe on Cluster",
                timeout_s=max(deadline - time.monotonic(), _PAUSE_S),
            )
            failed = self._probe(brokers, deadline)
            if not failed:
                return
            if self._is_hopeless(deadline, failed):
                causes = {one: self._cause(at) for one, at in failed.items()}
                raise unreachable(self.servers, failed, causes)
            self.close()
            threading.Event().wait(_PAUSE_S)

    # -- one attempt ---------------------------------------------------------

    def _ask_once(
        self, ask: Callable[[KafkaAdminClient], Answer], deadline: float
    ) -> Answer:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise OverdueError
        return self._share.ask(ask, left_s)

    def _connect(self, limit_s: float) -> KafkaAdminClient:
        self._probe_bootstrap(limit_s)
        self._network = network = self._factory()
        admin = self._open(network, limit_s)
        self._was_reached = True
        return admin

    def _factory(self) -> NetworkFactory:
        return NetworkFactory(
            self._resolve, self._failures, self._changes, self.timeout_s
        )

    def _open(self, network: NetworkFactory, limit_s: float) -> KafkaAdminClient:
        arguments = dict(self._settings.arguments)
        asked_ms = arguments.pop("request_timeout_ms", 30_000)
        try:
            return KafkaAdminClient(
                bootstrap_servers=[str(one) for one in self._usable or self.bootstrap],
                bootstrap_timeout_ms=max(int(limit_s * 1000), 1),
                request_timeout_ms=min(asked_ms, self._limit_ms),
                # A broker that returns is found in a second, not in minutes.
                metadata_max_age_ms=1000,
                reconnect_backoff_max_ms=500,
                kafka_client=network,
                **arguments,
            )
        except BaseException:
            network.close()
            raise

    @contextmanager
    def consumer(self) -> Iterator[Any]:
        """
        Open a consumer without a group, with the settings of this client.

        The cluster should have answered a request before, so that an unreachable one is
        explained.

        Raises
        ------
        ClusterUnavailableError
            If no broker can be reached.
        """
        from kafka import KafkaConsumer

        network = self._factory()
        try:
            consumer = KafkaConsumer(
                bootstrap_servers=[str(one) for one in self._usable or self.bootstrap],
                enable_auto_commit=False,
                kafka_client=network,
                **self._settings.arguments,
            )
        except kafka_errors.KafkaError as error:
            network.close()
            raise self._unavailable(error) from None
        try:
            yield consumer
        finally:
            consumer.close()

    def _probe_bootstrap(self, limit_s: float) -> None:
        """Exclude bootstrap addresses without a broker; probe only once."""
        if self._usable:
            return
        arguments = self._settings.arguments
        spoken = Spoken(
            arguments.get("security_protocol", "PLAINTEXT"),
            arguments.get("sasl_mechanism") or "PLAIN",
        )
        failed = probe_all(
            self.bootstrap,
            spoken,
            limit_s=min(PROBE_S, limit_s),
            reached_at=lambda address: self._resolve.get(address, address),
        )
        usable = tuple(one for one in self.bootstrap if one not in failed)
        if not usable:
            causes = [f"{address}: {one.cause}" for address, one in failed.items()]
            raise NobodyThereError("; ".join(causes))
        self._usable = usable

    def _probe(
        self, brokers: Mapping[int, Address], deadline: float
    ) -> dict[int, Address]:
        """Return the brokers without a connection, with their addresses."""

        def fails(broker_id: int) -> bool:
            try:
                self._share.ask(
                    lambda admin: admin.get_broker_version_data(broker_id),
                    deadline - time.monotonic(),
                )
            except (kafka_errors.KafkaError, OverdueError):
                return True
            return False

        ids = list(brokers)
        # All at once: an unreachable broker must not use up the time of others.
        failed = each_at_once(fails, ids, at_once=len(ids))
        return {
            one: brokers[one]
            for one, is_lost in zip(ids, failed, strict=True)
            if is_lost
        }

    # -- reasons of failures -------------------------------------------------

    def _cause(self, address: Address) -> str:
        failure = self._failures.by_address.get(address)
        return failure.cause if failure else "no answer in time"

    def _is_hopeless(
        self, deadline: float, failed: Mapping[int, Address] | None = None
    ) -> bool:
        # A host name may become known while a cluster starts, but not the name of a
        # listener that brokers already advertise.
        causes = [self._cause(address) for address in (failed or {}).values()]
        is_over = time.monotonic() + _PAUSE_S >= deadline
        return is_over or self._is_refused() or UNKNOWN_HOST in causes

    def _is_refused(self) -> bool:
        """Return whether retries are useless, at every address until one answers."""
        final = self._failures.final
        if self._was_reached:
            return bool(final)
        return bool(self._usable) and final.keys() >= set(self._usable)

    def _unavailable(self, error: BaseException) -> ClusterUnavailableError:
        if self._is_refused():
            address, failure = next(iter(self._failures.final.items()))
            return ClusterUnavailableError(f"{address}: {failure.cause}")
        failures = dict(self._failures.by_address)  # other threads may add more
        if failures:
            causes = [f"{address}: {one.cause}" for address, one in failures.items()]
            return ClusterUnavailableError("; ".join(causes))
        return unanswered(self.servers, error, self.timeout_s)
