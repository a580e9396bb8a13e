"""Watch over copies under way: their bytes, and those that do not go on."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from planner.execution.cluster.running_cluster import ReplicaKey
from planner.execution.run.active_steps import (
    ActiveStep,
    failed_dirs,
    offline_text,
)
from planner.execution.run.run_context import RunContext
from planner.execution.run.run_records import BrokerProgressRecord, CopyRecord
from planner.kafka.read.log_dirs import BrokerDirs, Partition
from planner.verify.state_rows import Key

STUCK_S = 60.0
"""Seconds without a new byte after which a copy is looked into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """
    Copies under way at one moment.

    Parameters
    ----------
    copies
        Each copy with its bytes.
    brokers
        Copies and missing bytes by the broker that receives them.
    left_bytes
        Bytes that the copies under way lack.
    """

    copies: list[CopyRecord]
    brokers: list[BrokerProgressRecord]
    left_bytes: int


@dataclass(slots=True)
class CopyWatch:
    """
    Bytes of copies under way, look by look.

    Parameters
    ----------
    context
        Context of the run.
    """

    context: RunContext
    _grown: dict[ReplicaKey, tuple[int, float]] = field(default_factory=dict)
    _hidden: dict[ReplicaKey, tuple[str, float]] = field(default_factory=dict)

    def look(self, active: Mapping[Key, ActiveStep]) -> Progress:
        """Return the progress of the copies under way."""
        replicas = [
            (key, broker)
            for key, one in active.items()
            for broker in (*one.one.step.copies, *one.one.step.paths)
        ]
        dirs: dict[int, BrokerDirs] = {}
        if replicas:
            cluster = self.context.cluster
            dirs = self.context.ask(lambda: cluster.log_dirs(replicas))
        copies = [
            _copy(active[key], b, dirs.get(b)) for key, b in dict.fromkeys(replicas)
        ]
        self._note(copies)
        self._note_hidden(replicas, dirs)
        self._forget(set(replicas))
        return Progress(
            copies=copies,
            brokers=_by_broker(copies),
            left_bytes=sum(map(_left, copies)),
        )

    def _note(self, copies: Iterable[CopyRecord]) -> None:
        """Note when each copy has grown last."""
        now = self.context.cluster.now_s()
        for one in copies:
            key = ((one.topic, one.partition), one.broker)
            size = one.bytes or 0
            before = self._grown.get(key)
            if before is None or size > before[0]:
                self._grown[key] = size, now

    def _note_hidden(
        self, replicas: Iterable[ReplicaKey], dirs: Mapping[int, BrokerDirs]
    ) -> None:
        """Note since when a copy is in no log dir of a broker with a failed one."""
        now, before = self.context.cluster.now_s(), self._hidden
        self._hidden = {}
        for key, broker in replicas:
            found = dirs.get(broker)
            if found is None or not (failed := failed_dirs(found)):
                continue
            name = Partition(*key)
            if name not in found.current and name not in found.future:
                reason = offline_text(broker, failed)
                _, since_s = before.get((key, broker), ("", now))
                self._hidden[key, broker] = reason, since_s

    def failed(self) -> dict[str, list[Key]]:
        """Return the copies that a failed log dir holds for good, by the reason."""
        now, grace = self.context.cluster.now_s(), self.context.choices.broker_grace_s
        found: dict[str, list[Key]] = {}
        for (key, _), (reason, since_s) in self._hidden.items():
            if now - since_s >= grace:
                found.setdefault(reason, []).append(key)
        return found

    def _forget(self, kept: Collection[ReplicaKey]) -> None:
        for key in self._grown.keys() - set(kept):
            del self._grown[key]

    def stalled(self) -> list[ReplicaKey]:
        """Return the copies without a new byte for some time; again after as long."""
        now = self.context.cluster.now_s()
        found = [key for key, (_, at_s) in self._grown.items() if now - at_s >= STUCK_S]
        for key in found:
            self._grown[key] = self._grown[key][0], now
        return found

    def explain(self, keys: Iterable[ReplicaKey], live: Collection[int]) -> bool:
        """
        Report why copies do not go on.

        Returns
        -------
        bool
            Whether for one of them no reason is left but the throttle.
        """
        stalled = list(keys)
        if not stalled:
            return False
        cluster = self.context.cluster
        seen = self.context.ask(lambda: cluster.partitions([key for key, _ in stalled]))
        dirs = self.context.ask(lambda: cluster.log_dirs(stalled))
        is_throttle = False
        for key, broker in stalled:
            one = seen.get(key)
            if broker not in live:
                reason = f"broker {broker}, which receives it, is down"
            elif one is None or one.leader is None:
                reason = "it has no leader to copy from"
            elif failed := failed_dirs(dirs.get(broker)):
                reason = offline_text(broker, failed)
            elif others := self._other_rates(broker, one.leader):
                reason = (
                    f"nothing was copied to broker {broker} for {STUCK_S:g} s: another "
                    f"tool changed the throttle: {', '.join(others)}; another rate, by "
                    "--set throttle=RATE, sets it anew"
                )
            elif self.context.throttles.rate is None:
                reason = f"nothing was copied to broker {broker} for {STUCK_S:g} s"
            else:
                is_throttle = True
                rate = self.context.throttles.rate
                reason = (
                    f"nothing was copied to broker {broker} for {STUCK_S:g} s: the "
                    f"throttle of {rate} bytes/s may be below the traffic in sync"
                )
            self.context.stuck(key, reason)
        return is_throttle

    def _other_rates(self, *brokers: int) -> list[str]:
        return self.context.ask(lambda: self.context.throttles.other_rates(brokers))


def _copy(active: ActiveStep, broker: int, dirs: BrokerDirs | None) -> CopyRecord:
    topic, number = active.one.change.key
    name = Partition(topic, number)
    found = None
    if dirs is not None:
        found = dirs.future.get(name) or dirs.current.get(name)
    return CopyRecord(
        topic=topic,
        partition=number,
        broker=broker,
        bytes=None if found is None else found.size_bytes,
        of_bytes=active.one.change.copy_bytes,
    )


def _left(one: CopyRecord) -> int:
    return max((one.of_bytes or 0) - (one.bytes or 0), 0)


def _by_broker(copies: Iterable[CopyRecord]) -> list[BrokerProgressRecord]:
    count: Counter[int] = Counter()
    left: Counter[int] = Counter()
    for one in copies:
        count[one.broker] += 1
        left[one.broker] += _left(one)
    return [
        BrokerProgressRecord(
            broker=broker, copies=count[broker], left_bytes=left[broker]
        )
        for broker in sorted(count)
    ]
