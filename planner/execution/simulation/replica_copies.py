"""Replicas of a simulated cluster on its brokers, and the copies that they need."""

from collections.abc import Mapping

import numpy as np

from placement.model.cluster import ClusterState
from planner.execution.simulation.partition_table import PartitionTable
from planner.execution.simulation.simulated_brokers import (
    SimulatedBroker,
    free_bytes_of,
)
from planner.execution.simulation.simulated_configs import ALL
from planner.execution.simulation.simulated_partition import SimulatedPartition
from planner.execution.simulation.transfers import TransferName, Transfers
from planner.throttles import BROKER_THROTTLES, LOG_DIR_RATE, TOPIC_THROTTLES
from planner.verify.state_rows import Key

# Rates of a broker that transfers share, by their place among its rates.
_SEND, _RECEIVE, _INSIDE, _THROTTLED_SEND, _THROTTLED_RECEIVE = range(5)
_NUM_RATES = 5
_RATE_OF = dict(
    zip(BROKER_THROTTLES, (_THROTTLED_SEND, _THROTTLED_RECEIVE, _INSIDE), strict=True)
)


class ReplicaCopies:
    """
    Replicas on the brokers, and the transfers that bring them in sync.

    Parameters
    ----------
    state
        The cluster at first.
    brokers
        Its registered brokers, by id.
    table
        Its topics and partitions.
    defaults
        Configs of the cluster.
    rate_bytes_per_s
        Rate at which a broker sends, at which it receives, and at which it moves
        replicas between its log dirs, unless a throttle is lower.

    Attributes
    ----------
    free_bytes
        Free bytes of the log dirs by their number, infinite where unknown.
    transfers
        Transfers in progress.
    """

    def __init__(
        self,
        state: ClusterState,
        brokers: Mapping[int, SimulatedBroker],
        table: PartitionTable,
        *,
        defaults: Mapping[str, str],
        rate_bytes_per_s: float,
    ) -> None:
        self._brokers, self._table = brokers, table
        self._defaults, self._rate = defaults, rate_bytes_per_s
        self._active: dict[Key, SimulatedPartition] = {}
        # The last log dir stands for the unknown ones.
        self.free_bytes = np.append(free_bytes_of(state), np.inf)
        rates = np.full(_NUM_RATES * state.num_brokers, np.inf)
        self.transfers = Transfers(rates, self.free_bytes)
        for broker in brokers.values():
            self.throttle_broker(broker)

    def is_live(self, broker: int) -> bool:
        """Return whether a broker is registered and not fenced."""
        found = self._brokers.get(broker)
        return found is not None and found.is_live

    def is_online(self, one: SimulatedPartition, broker: int) -> bool:
        """Return whether the replica of a broker is online."""
        found = self._brokers.get(broker)
        is_served = found is not None and found.is_online(one.paths.get(broker))
        return is_served and broker not in one.failed

    def follow(self, one: SimulatedPartition) -> None:
        """Create and delete replicas of a changed partition; start its copies."""
        self.stop(one)
        for broker in [*one.paths]:
            if broker not in one.replicas:
                self._delete_replica(one, broker)
        for broker in one.replicas:
            if broker not in one.paths and self.is_live(broker):
                self._create_replica(one, broker)
        for broker in one.in_sync:
            one.missing.pop(broker, None)
        self.start(one)

    def _create_replica(self, one: SimulatedPartition, broker: int) -> None:
        owner = self._brokers[broker]
        path = owner.choose_dir(one.key)
        owner.count(path, 1)
        one.paths[broker] = path
        if broker in one.in_sync:
            self._take(broker, path, one.size_bytes)
        else:
            one.missing[broker] = one.size_bytes

    def _delete_replica(self, one: SimulatedPartition, broker: int) -> None:
        self._drop_future(one, broker)
        path = one.paths.pop(broker)
        held = one.size_bytes - one.missing.pop(broker, 0.0)
        one.failed = tuple(b for b in one.failed if b != broker)
        if broker in self._brokers:
            self._brokers[broker].count(path, -1)
            self._take(broker, path, -held)

    def _take(self, broker: int, path: str | None, size: float) -> None:
        number = self._brokers[broker].count(path, 0)
        if number is not None:
            self.free_bytes[number] -= size

    def begin_move(self, one: SimulatedPartition, broker: int, path: str) -> None:
        """Begin to copy a replica to another log dir of its broker."""
        self.stop(one)
        self._drop_future(one, broker)
        self._brokers[broker].count(path, 1)
        one.future[broker] = path
        one.future_missing[broker] = one.size_bytes
        self.start(one)

    def end_move(self, one: SimulatedPartition, broker: int) -> None:
        """Delete the future replica of a broker, if it has one."""
        self.stop(one)
        self._drop_future(one, broker)
        self.start(one)

    def _drop_future(self, one: SimulatedPartition, broker: int) -> None:
        if broker in one.future:
            path = one.future.pop(broker)
            held = one.size_bytes - one.future_missing.pop(broker)
            self._brokers[broker].count(path, -1)
            self._take(broker, path, -held)

    def fall_behind(self, one: SimulatedPartition, broker: int, more: float) -> None:
        """Add bytes to those that a replica lacks; it may have lacked none."""
        self.stop(one)
        if broker in one.paths:
            before = one.missing.get(broker, 0.0)
            one.missing[broker] = min(before + more, one.size_bytes)
            # Deletion of old records takes the place of what was not written.
            self._take(broker, one.paths[broker], before - one.missing[broker])
        self.start(one)

    def stop(self, one: SimulatedPartition) -> None:
        """Stop the transfers of a partition, and keep what is left of them."""
        if self._active.pop(one.key, None) is None:
            return
        for is_inside, left in ((False, one.missing), (True, one.future_missing)):
            for broker in left:
                name = TransferName(one.key, broker, is_inside)
                if name in self.transfers:
                    left[broker] = self.transfers.stop(name)

    def start(self, one: SimulatedPartition) -> None:
        """Start the transfers that a partition needs and that can go on."""
        source = one.leader
        for broker, left in one.missing.items():
            if source is not None and broker != source and self.is_online(one, broker):
                used = self._used(one, source, broker)
                growth = one.in_bytes_per_s
                self._transfer(one, broker, left, used, growth=growth)
        for broker, left in one.future_missing.items():
            path = one.future[broker]
            # A future replica is copied from the replica, once that is complete.
            is_ready = broker not in one.missing and self.is_online(one, broker)
            if is_ready and self._brokers[broker].is_online(path):
                used = (_NUM_RATES * self._brokers[broker].number + _INSIDE,)
                self._transfer(one, broker, left, used, path=path)

    def _transfer(
        self,
        one: SimulatedPartition,
        broker: int,
        left: float,
        used: tuple[int, ...],
        *,
        growth: float = 0.0,
        path: str | None = None,
    ) -> None:
        place = one.paths[broker] if path is None else path
        number = self._brokers[broker].count(place, 0)
        self._active[one.key] = one
        self.transfers.start(
            TransferName(one.key, broker, path is not None),
            left,
            most=one.size_bytes,
            growth=growth,
            used=used,
            log_dir=len(self.free_bytes) - 1 if number is None else number,
        )

    def _used(
        self, one: SimulatedPartition, source: int, target: int
    ) -> tuple[int, ...]:
        """Return the rates that a copy shares with others."""
        topic, number = one.key
        configs = self._table.topics[topic].configs
        from_, to = (
            _NUM_RATES * self._brokers[source].number,
            _NUM_RATES * self._brokers[target].number,
        )
        used = [from_ + _SEND, to + _RECEIVE]
        for key, broker, rate in zip(
            TOPIC_THROTTLES,
            (source, target),
            (from_ + _THROTTLED_SEND, to + _THROTTLED_RECEIVE),
            strict=True,
        ):
            if configs.has(key, f"{number}:{broker}"):
                used.append(rate)
        return tuple(used)

    def finish(self, name: TransferName) -> SimulatedPartition:
        """End a transfer without bytes left; return its partition."""
        one = self._active[name.key]
        self.stop(one)
        if name.is_inside:
            self._replace(one, name.broker)
        else:
            del one.missing[name.broker]
        self.start(one)
        return one

    def _replace(self, one: SimulatedPartition, broker: int) -> None:
        """Replace a replica by its future replica."""
        path = one.future.pop(broker)
        del one.future_missing[broker]
        self._brokers[broker].count(one.paths[broker], -1)
        self._take(broker, one.paths[broker], -one.size_bytes)
        one.paths[broker] = path

    def missing(self, one: SimulatedPartition, broker: int, *, inside: bool) -> float:
        """Return the bytes that a replica, or a future replica, lacks now."""
        left = self.transfers.left(TransferName(one.key, broker, inside))
        if left is not None:
            return left
        return (one.future_missing if inside else one.missing).get(broker, 0.0)

    def throttle_broker(self, broker: SimulatedBroker) -> None:
        """Apply the throttles that are set on a broker."""
        first = _NUM_RATES * broker.number
        for place in (_SEND, _RECEIVE):
            self.transfers.set_rate(first + place, self._rate)
        for key in BROKER_THROTTLES:
            default = self._rate if key == LOG_DIR_RATE else np.inf
            text = broker.configs.get(key, self._defaults.get(key, ""))
            rate = min(float(text), default) if text else default
            self.transfers.set_rate(first + _RATE_OF[key], rate)

    def throttle_replicas(self, topic: str, values: frozenset[str]) -> None:
        """Apply changes of a topic's lists of throttled replicas to its copies."""
        numbers = {int(one.split(":")[0]) for one in values if one != ALL}
        keys = [(topic, number) for number in numbers]
        if ALL in values:
            keys = [key for key in self._active if key[0] == topic]
        for key in keys:
            if (one := self._active.get(key)) is not None:
                self.stop(one)
                self.start(one)
