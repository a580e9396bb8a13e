"""
A cluster reached over the admin protocol, within a time limit.

kafka-python's admin client gives up at the first broker that is gone, and keeps asking
a dead one until it is back. So every question is asked again, by a new client where the
old one may be stuck, until it is answered or its time is over; and then one line says
which address failed, and why.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Self, TypeVar

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
    NobodyThereError,
    NotAuthorisedError,
    RefusedError,
    SentBeforeError,
    TooOldError,
    not_authorised,
    unreachable,
)
from planner.kafka.client.connection_failures import UNKNOWN_HOST, Failures
from planner.kafka.client.connections import NetworkFactory
from planner.kafka.client.quorum import find_lost_quorum

DEFAULT_TIMEOUT_S = 30.0
_PAUSE_S = 0.2
_WORDS_SHOWN = 200

Answer = TypeVar("Answer")

_RETRIED = (
    kafka_errors.KafkaConnectionError,
    kafka_errors.NodeNotReadyError,
    kafka_errors.UnknownBrokerIdError,
    kafka_errors.KafkaTimeoutError,
    kafka_errors.RequestTimedOutError,
    kafka_errors.InvalidMetadataError,
    # Who coordinates a group is looked up once in a client's life.
    kafka_errors.NotCoordinatorError,
    kafka_errors.Cancelled,
)


def _silence_library() -> None:
    """
    Keep kafka-python's log to itself.

    Its warnings are told better by us, and its debug lines hold passwords.
    """
    logger = logging.getLogger("kafka")
    logger.setLevel(logging.CRITICAL + 1)


def _may_pass(error: Exception) -> bool:
    return isinstance(error, OverdueError) or bool(getattr(error, "retriable", False))


class ClusterClient:
    """
    A running cluster, asked over the admin protocol, by several threads if need be.

    Parameters
    ----------
    bootstrap
        Brokers to begin with.
    settings
        SASL, TLS and names, from a client's properties file.
    resolve
        Advertised addresses, and where they are really reached.
    timeout_s
        Seconds to reach the cluster, and for each question to be answered.
    """

    def __init__(
        self,
        bootstrap: Sequence[Address],
        settings: ClientSettings | None = None,
        *,
        resolve: Mapping[Address, Address] | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
    ) -> None:
        _silence_library()
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
        self._share = Share(self._connect, _RETRIED)
        self._network = self._factory()

    def __repr__(self) -> str:
        return f"ClusterClient({self.servers!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def servers(self) -> str:
        """The bootstrap brokers in one line."""
        return ",".join(map(str, self.bootstrap))

    def close(self) -> None:
        """Close every connection; the next question opens new ones."""
        self._share.close()

    def call(
        self,
        ask: Callable[[KafkaAdminClient], Answer],
        *,
        needs: str,
        timeout_s: float | None = None,
    ) -> Answer:
        """
        Ask the cluster something.

        Parameters
        ----------
        ask
            Asks kafka-python's admin client. May be called several times.
        needs
            The right that it takes, for the message when it is missing: ``"Describe on
            Cluster"``.
        timeout_s
            Seconds; `None`: that of this client.

        Raises
        ------
        ClusterUnavailableError
            If no answer came in time; `NotAuthorisedError` if the right is missing.
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
                raise TooOldError(self._refusal(error)) from None
            except (kafka_errors.KafkaError, OverdueError) as error:
                if not isinstance(error, _RETRIED) and not _may_pass(error):
                    raise self._refused(error) from None
                if self._is_hopeless(deadline):
                    raise self._unavailable(error) from None
            # A broker that has just died is avoided only once it is fenced: ask again.
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
        Ask the cluster for a change.

        Parameters
        ----------
        ask
            Asks kafka-python's admin client.
        what
            The change, for the message when its answer is lost: ``"create topic t"``.
        needs
            The right that it takes.
        look
            Command that shows whether the change was made.
        is_repeatable
            Whether asking twice is as good as asking once. Any other change is never
            asked for again after it may have been sent.

        Raises
        ------
        AnswerUnknownError
            If the request was sent, and no answer came that settles it.
        ClusterUnavailableError
            If nothing was sent; `NotAuthorisedError` if the right is missing.
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
        """Return the error of a change that was sent, and not answered."""
        silent = f"no answer from {self.servers}"
        if isinstance(error, ClusterUnavailableError):
            silent = error.message
        cause = self.lost_quorum() or silent
        message = f"asked to {what}, but the answer is unknown: {cause}"
        return AnswerUnknownError(message, look)

    def lost_quorum(self) -> str:
        """Return why the controllers cannot answer, as far as that can be seen."""
        network = self._factory()
        try:
            # Brokers answer one question of a connection at a time: not of that one.
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
        Open a connection to every broker that is not fenced.

        Raises
        ------
        ClusterUnavailableError
            If the advertised listener of a broker cannot be reached: one problem for
            each.
        """
        deadline = time.monotonic() + self.timeout_s
        while True:
            # Of the first answer, by a bootstrap broker: any other question may go to
            # the very listeners that are in doubt.
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
                # A broker that was away is found again in a second, not minutes.
                metadata_max_age_ms=1000,
                reconnect_backoff_max_ms=500,
                kafka_client=network,
                **arguments,
            )
        except BaseException:
            network.close()
            raise

    def _probe_bootstrap(self, limit_s: float) -> None:
        """Leave out bootstrap addresses where no broker can be asked; once."""
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
        """Return the brokers that no connection was made to."""

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
        # Each at once: one that is out of reach must not use up the time of others.
        failed = each_at_once(fails, ids, at_once=len(ids))
        return {
            one: brokers[one]
            for one, is_lost in zip(ids, failed, strict=True)
            if is_lost
        }

    # -- what went wrong -----------------------------------------------------

    def _cause(self, address: Address) -> str:
        failure = self._failures.by_address.get(address)
        return failure.cause if failure else "no answer in time"

    def _is_hopeless(
        self, deadline: float, failed: Mapping[int, Address] | None = None
    ) -> bool:
        # A name may become known while a cluster starts, but not to a listener that
        # other brokers already speak for.
        causes = [self._cause(address) for address in (failed or {}).values()]
        is_over = time.monotonic() + _PAUSE_S >= deadline
        return is_over or self._is_refused() or UNKNOWN_HOST in causes

    def _is_refused(self) -> bool:
        """Return whether no retry helps: before the first answer, at every address."""
        final = self._failures.final
        if self._was_reached:
            return bool(final)
        return bool(self._usable) and final.keys() >= set(self._usable)

    def _unavailable(self, error: BaseException) -> ClusterUnavailableError:
        if self._is_refused():
            address, failure = next(iter(self._failures.final.items()))
            return ClusterUnavailableError(f"{address}: {failure.cause}")
        failures = dict(self._failures.by_address)  # other threads go on failing
        if failures:
            causes = [f"{address}: {one.cause}" for address, one in failures.items()]
            return ClusterUnavailableError("; ".join(causes))
        cause = "timed out"
        if not isinstance(error, (OverdueError, kafka_errors.KafkaTimeoutError)):
            cause = type(error).__name__.removesuffix("Error")
        message = f"{self.servers}: {cause} after {self.timeout_s:g} s"
        return ClusterUnavailableError(message)

    def _refused(self, error: BaseException) -> ClusterUnavailableError:
        # Of a fault of its own a broker does not say what it did before.
        is_answer = not isinstance(error, kafka_errors.UnknownError)
        kind = RefusedError if is_answer else ClusterUnavailableError
        return kind(self._refusal(error))

    def _refusal(self, error: BaseException) -> str:
        words = str(error).splitlines()[:1] or [""]
        return f"{self.servers}: {type(error).__name__}: {words[0][:_WORDS_SHOWN]}"
