"""Produce rates in bytes/s, estimated from two views some seconds apart."""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from planner.errors import ClusterUnavailableError
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.background_tasks import Task
from planner.kafka.read.cluster_metadata import Look
from planner.kafka.read.log_dirs import BrokerDirs, Partition, read_dirs
from planner.progress import stage

if TYPE_CHECKING:
    from planner.snapshot.snapshot_document import Snapshot

Offsets = Mapping[Partition, int]

_OFFSETS_PER_CALL = 1000
_OFFSETS_CALL_MS = 1000
_OFFSETS_BUDGET_S = 4.0


@dataclass(frozen=True, slots=True)
class Ends:
    """Offsets of partitions, and the time of reading in monotonic seconds."""

    offsets: Offsets
    at_s: float


@dataclass(frozen=True, slots=True)
class Rates:
    """
    Produce rates.

    Parameters
    ----------
    in_bytes_per_s
        Rate in bytes/s by partition, where known.
    window_s
        Mean time between the two views in seconds.
    """

    in_bytes_per_s: Mapping[Partition, float]
    window_s: float


def leaders_of(look: Look) -> dict[Partition, int]:
    """Return the leader of each partition with a leader."""
    return {
        Partition(name, one["partition_index"]): one["leader_id"]
        for name, topic in look.topics.items()
        for one in topic["partitions"]
        if one["leader_id"] >= 0
    }


def _read_offsets(
    client: ClusterClient,
    names: Iterable[Partition],
    *,
    is_end: bool,
    give_up_s: float | None = None,
) -> Ends:
    """
    Return the offsets that are available in time.

    Offsets refine an estimate and do not justify a long wait. A partition that is gone
    or whose leader is changing is left out, with all partitions of the same request.
    """
    wanted = list(names)
    offsets: dict[Partition, int] = {}
    latest_s = time.monotonic() + _OFFSETS_BUDGET_S
    latest_s = latest_s if give_up_s is None else min(latest_s, give_up_s)
    for first in range(0, len(wanted), _OFFSETS_PER_CALL):
        if time.monotonic() > latest_s:
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

    try:
        found = client.call(ask, needs="Describe on Topic", timeout_s=_OFFSETS_BUDGET_S)
    except ClusterUnavailableError:  # a leader that has just died
        return {}
    return {Partition(*name): one.offset for name, one in found.items()}


def _grown(
    name: Partition, before: BrokerDirs | None, after: BrokerDirs | None
) -> float | None:
    """Return the growth of a leader's log in bytes/s; negative if it shrank."""
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
    Return rates in bytes/s as messages/s times the mean size of retained messages.

    Parameters
    ----------
    sizes
        Current size of the leader's log in bytes.
    first, last
        End offsets of both views.
    starts
        Offset of the first retained message.
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


def sample_rates(client: ClusterClient, look: Look, sample_seconds: float) -> Rates:
    """
    Return the growth rate of each leader's log, from a second view.

    Parameters
    ----------
    client
        Client of the cluster.
    look
        First view of the cluster.
    sample_seconds
        Seconds between the views. Positive.

    Returns
    -------
    Rates
        Rates without partitions that have no leader, or whose log shrank (retention)
        and whose mean message size is unknown.

    Notes
    -----
    The rates are estimates: deletion by retention during the window hides a part.
    """
    stage(f"waiting {sample_seconds:g} s for a second look")
    leaders = leaders_of(look)
    due = {broker: one.at_s + sample_seconds for broker, one in look.dirs.items()}
    in_order = sorted(due, key=lambda broker: due[broker])
    first_s = min(due.values(), default=time.monotonic())
    # In the background, so that slow leaders do not delay the second view.
    ends = Task(lambda: _read_offsets(client, leaders, is_end=True, give_up_s=first_s))
    threading.Event().wait(max(0.0, first_s - time.monotonic()))
    after = read_dirs(client, in_order, not_before=due)
    grown = {
        name: _grown(name, look.dirs.get(leader), after.get(leader))
        for name, leader in leaders.items()
    }
    known = {name: rate for name, rate in grown.items() if rate is not None}
    rates = {name: rate for name, rate in known.items() if rate >= 0}
    if shrunk := [name for name, rate in known.items() if rate < 0]:
        sizes = {name: after[leaders[name]].current[name].size_bytes for name in shrunk}
        last = _read_offsets(client, shrunk, is_end=True)
        starts = _read_offsets(client, shrunk, is_end=False).offsets
        rates |= rates_by_messages(sizes, ends.result(), last, starts)
    windows = [one.at_s - look.dirs[broker].at_s for broker, one in after.items()]
    return Rates(rates, sum(windows) / len(windows) if windows else sample_seconds)


def with_rates(snapshot: "Snapshot", rates: Rates) -> "Snapshot":
    """Return a snapshot with rates and their source, from one without rates."""
    import pyarrow as pa

    table = snapshot.partitions
    names = zip(
        table.column("topic").to_pylist(),
        table.column("partition").to_pylist(),
        strict=True,
    )
    found = [rates.in_bytes_per_s.get(Partition(*name)) for name in names]
    position = table.schema.get_field_index("in_bytes_per_s")
    column = pa.array(found, table.schema.field(position).type)
    return replace(
        snapshot,
        rates={"source": "live-sample", "window_s": round(rates.window_s, 3)},
        partitions=table.set_column(position, table.schema.field(position), column),
    )
