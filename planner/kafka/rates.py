"""Bytes that producers write, estimated from two looks some seconds apart."""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.kafka.client import ClusterClient
from planner.kafka.look import BrokerDirs, Look, Partition, read_dirs

Offsets = Mapping[Partition, int]

_OFFSETS_PER_CALL = 1000
_OFFSETS_CALL_MS = 1000
_OFFSETS_BUDGET_S = 4.0


@dataclass(frozen=True, slots=True)
class Ends:
    """End offsets of partitions, and when they were read."""

    offsets: Offsets
    at_s: float


def leaders_of(look: Look) -> dict[Partition, int]:
    """Return the leader of each partition that has one."""
    return {
        Partition(name, one["partition_index"]): one["leader_id"]
        for name, topic in look.topics.items()
        for one in topic["partitions"]
        if one["leader_id"] >= 0
    }


def _read_offsets(
    client: ClusterClient, names: Iterable[Partition], *, is_end: bool
) -> Ends:
    """
    Return offsets, as many as can be had in time.

    They sharpen an estimate and are worth no long wait: a partition that has gone, or
    whose leader is changing, is left out, with those asked for together with it.
    """
    wanted = list(names)
    offsets: dict[Partition, int] = {}
    give_up_s = time.monotonic() + _OFFSETS_BUDGET_S
    for first in range(0, len(wanted), _OFFSETS_PER_CALL):
        if time.monotonic() > give_up_s:
            break
        part = wanted[first : first + _OFFSETS_PER_CALL]
        offsets |= _read_some_offsets(client, part, is_end=is_end)
    return Ends(offsets, time.monotonic())


def _read_some_offsets(
    client: ClusterClient, names: Sequence[Partition], *, is_end: bool
) -> dict[Partition, int]:
    from kafka import TopicPartition
    from kafka.admin import OffsetSpec
    from kafka.errors import BrokerResponseError

    spec = OffsetSpec.LATEST if is_end else OffsetSpec.EARLIEST
    wanted = {TopicPartition(*name): spec for name in names}

    def ask(admin: Any) -> Any:  # noqa: ANN401 - kafka-python is not typed
        try:
            return admin.list_partition_offsets(wanted, timeout_ms=_OFFSETS_CALL_MS)
        except BrokerResponseError:
            return {}

    found = client.call(ask, needs="Describe on Topic")
    return {Partition(*name): one.offset for name, one in found.items()}


def _grown(
    name: Partition, before: BrokerDirs | None, after: BrokerDirs | None
) -> float | None:
    """Return bytes/s by which a leader's log grew; negative where it shrank."""
    if before is None or after is None:
        return None
    old, new = before.current.get(name), after.current.get(name)
    if old is None or new is None:
        return None
    return (new.size_bytes - old.size_bytes) / (after.at_s - before.at_s)


def rates_by_messages(
    sizes: Mapping[Partition, int], first: Ends, last: Ends, starts: Offsets
) -> dict[Partition, float]:
    """
    Return bytes/s as messages/s times the mean size of those that are kept.

    Parameters
    ----------
    sizes
        Bytes that the leader's log takes now.
    first, last
        End offsets of both looks.
    starts
        Offset of the first message that is kept.
    """
    seconds = last.at_s - first.at_s
    rates = {}
    for name, size_bytes in sizes.items():
        if not all(name in some for some in (first.offsets, last.offsets, starts)):
            continue
        kept = last.offsets[name] - starts[name]
        if kept > 0:
            grown = max(last.offsets[name] - first.offsets[name], 0)
            rates[name] = grown * size_bytes / kept / seconds
    return rates


def sample_rates(
    client: ClusterClient, look: Look, sample_seconds: float
) -> tuple[dict[Partition, float], float]:
    """
    Look a second time, and tell how fast each leader's log grew.

    Parameters
    ----------
    client
        The cluster.
    look
        The first look.
    sample_seconds
        Seconds between the looks. Positive.

    Returns
    -------
    tuple
        ``in`` bytes/s by partition, and the mean seconds between the looks. A partition
        without a leader is left out, and so is one whose log shrank (retention) and
        whose mean message is not known.

    Notes
    -----
    An estimate: retention that deletes while producers write hides a part of it.
    """
    leaders = leaders_of(look)
    first = _read_offsets(client, leaders, is_end=True)
    began_s = min((one.at_s for one in look.dirs.values()), default=first.at_s)
    # Reading the offsets is a part of the time between the looks.
    threading.Event().wait(max(0.0, began_s + sample_seconds - time.monotonic()))
    after = read_dirs(client, sorted(look.dirs))
    grown = {
        name: _grown(name, look.dirs.get(leader), after.get(leader))
        for name, leader in leaders.items()
    }
    known = {name: rate for name, rate in grown.items() if rate is not None}
    shrunk = [name for name, rate in known.items() if rate < 0]
    sizes = {name: after[leaders[name]].current[name].size_bytes for name in shrunk}
    rates = {name: rate for name, rate in known.items() if rate >= 0}
    last = _read_offsets(client, shrunk, is_end=True)
    starts = _read_offsets(client, shrunk, is_end=False).offsets
    rates |= rates_by_messages(sizes, first, last, starts)
    windows = [one.at_s - look.dirs[broker].at_s for broker, one in after.items()]
    return rates, sum(windows) / len(windows) if windows else sample_seconds
