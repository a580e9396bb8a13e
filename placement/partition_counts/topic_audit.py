"""Topics with far too many or too few partitions, uneven or empty ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from placement.array_types import CountArray, IndexArray, RateArray
from placement.model.cluster import ClusterState
from placement.partition_counts.count_limits import TOLERANCE
from placement.partition_counts.count_task import MOST_LEADING, RECOVERY_S
from placement.partition_counts.even_counts import even_from
from placement.partition_counts.present_load import segments_of_partitions

KINDS = ("too-many", "too-few", "uneven", "empty")
INTERNAL = "__"
"""
Prefix of Kafka's own topics, whose counts must stay.

`__consumer_offsets` and `__transaction_state` find the partition of a group or of a
transactional id by its hash, so that more partitions lose what was stored.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRules:
    """
    Rates and factors of an audit.

    Parameters
    ----------
    producer_rate, consumer_rate
        Bytes/s of one producer into, and of one consumer from, one partition; NaN if
        unknown.
    headroom
        Factor of growth that a count should allow, at least 1.
    many
        Factor by which a count exceeds the needed one before it is too large.
    leading
        Brokers that should lead a partition of each topic, if there are as many.
    recovery_each_s
        Seconds of recovery per partition of the cluster.
    """

    producer_rate: float
    consumer_rate: float
    headroom: float = 2.0
    many: float = 4.0
    leading: int = MOST_LEADING
    recovery_each_s: float = RECOVERY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFinding:
    """
    One topic whose number of partitions is bad.

    Parameters
    ----------
    kind
        One of `KINDS`.
    topic, partitions, factor
        Name, number of partitions, and largest replication factor.
    rate
        Bytes/s that producers write; NaN if unknown.
    needed
        Smallest suitable count; 0 for a topic without data; `None` where a count
        does not help.
    empty
        Number of partitions without any data.
    saved_partitions, saved_replicas, saved_files
        Partitions, replicas and log segments that are saved with the needed count.
    saved_s
        Seconds of recovery that are saved.
    excess_rate
        Bytes/s that the busiest leader writes above the mean, at best; NaN if unknown.
    """

    kind: str
    topic: str
    partitions: int
    factor: int
    rate: float
    needed: int | None
    empty: int
    saved_partitions: int = 0
    saved_replicas: int = 0
    saved_files: int = 0
    saved_s: float = 0.0
    excess_rate: float = 0.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TopicTable:
    """
    Topics of a cluster as columns.

    Parameters
    ----------
    partitions, replicas, segments, factor
        ``(T,)`` partitions, replicas, log segments of all replicas (one for a replica
        of unknown size), and largest replication factor.
    rate
        ``(T,)`` bytes/s that producers write to the topic; NaN if one is unknown.
    empty
        ``(T,)`` partitions of known size 0 without a rate above 0.
    """

    partitions: CountArray
    replicas: CountArray
    segments: CountArray
    factor: CountArray
    rate: RateArray
    empty: CountArray


def topic_table(state: ClusterState) -> TopicTable:
    """Return the topics of a cluster as columns."""
    parts, num = state.partitions, len(state.topics)
    topic = parts.topic_idx
    factor = state.target_factor
    most: CountArray = np.zeros(num, dtype=np.int64)
    np.maximum.at(most, topic, factor)
    rate: RateArray = np.zeros(num)
    # One unknown rate makes the topic unknown.
    np.add.at(rate, topic, parts.in_bytes_per_s)
    is_empty = np.equal(parts.size_bytes, 0) & ~(parts.in_bytes_per_s > 0)
    # A tiered topic may have all its data in remote storage.
    is_empty &= ~(parts.remote_bytes > 0)
    return TopicTable(
        partitions=_summed(topic, np.ones(len(parts), dtype=np.int64), num),
        replicas=_summed(topic, factor, num),
        segments=_summed(topic, segments_of_partitions(state) * factor, num),
        factor=most,
        rate=rate,
        empty=_summed(topic, is_empty, num),
    )


def _summed(topic: IndexArray, values: npt.NDArray[Any], num: int) -> CountArray:
    """Return ``(T,)`` sums of whole numbers by topic."""
    sums: CountArray = np.zeros(num, dtype=np.int64)
    np.add.at(sums, topic, values)
    return sums


def audit_topics(state: ClusterState, rules: AuditRules) -> list[TopicFinding]:
    """
    Return the topics whose number of partitions is bad, most valuable first.

    The value is the number of saved replicas, then of saved files, then the bytes/s by
    which the busiest leader exceeds the mean.
    """
    table, auditor = topic_table(state), _Auditor(state, rules)
    found = [
        finding
        for row, name in enumerate(state.topics.names)
        for finding in auditor.findings(table, row, name)
    ]
    return sorted(found, key=_value)


def _value(found: TopicFinding) -> tuple[float, float, float, str, str]:
    excess = 0.0 if isnan(found.excess_rate) else found.excess_rate
    saved = (-found.saved_replicas, -found.saved_files, -excess)
    return (*saved, found.topic, found.kind)


class _Auditor:
    """Rules of an audit on the live brokers of a cluster."""

    def __init__(self, state: ClusterState, rules: AuditRules) -> None:
        self._rules = rules
        self._brokers = max(int(state.brokers.is_live.sum()), 1)
        rates = state.partitions.in_bytes_per_s
        self._mean = float(rates.sum()) / self._brokers

    def findings(
        self, table: TopicTable, row: int, name: str
    ) -> Iterator[TopicFinding]:
        """Yield the findings on one topic; Kafka's own topics have none."""
        partitions, empty = int(table.partitions[row]), int(table.empty[row])
        if not partitions or name.startswith(INTERNAL):
            return
        needed = self._needed(float(table.rate[row]))
        if empty == partitions:
            yield self._saving(table, row, name, "empty", 0)
        elif self._is_many(partitions, needed):
            yield self._saving(table, row, name, "too-many", needed)
        elif self._is_few(table, row):
            yield self._finding(table, row, name, "too-few", self._more(table, row))
        if empty and empty < partitions and table.rate[row] > 0:
            yield self._finding(table, row, name, "empty", None)
        if partitions > self._brokers and partitions % self._brokers:
            yield self._finding(table, row, name, "uneven", self._even(partitions))

    def _needed(self, rate: float) -> int | None:
        """Return the count that a rate needs, with even leaders; `None` if unknown."""
        least = self._least(rate * self._rules.headroom)
        return None if least is None else self._even(least)

    def _even(self, count: int) -> int:
        return even_from(count, self._brokers, self._rules.leading)

    def _least(self, rate: float) -> int | None:
        """Return the smallest count for a rate; `None` if it or a limit is unknown."""
        each = min(self._rules.producer_rate, self._rules.consumer_rate)
        if isnan(rate) or isnan(each):
            return None
        return max(ceil(rate / each * (1 - TOLERANCE)), 1)

    def _is_many(self, partitions: int, needed: int | None) -> bool:
        if needed is None or partitions <= needed:
            return False
        return partitions >= self._rules.many * needed

    def _is_few(self, table: TopicTable, row: int) -> bool:
        """
        Return whether a topic has too few partitions for its rate.

        Either they cannot carry it, or one of them alone exceeds the mean of a broker,
        so that no placement is even.
        """
        partitions, rate = int(table.partitions[row]), float(table.rate[row])
        least = self._least(rate)
        if least is not None and partitions < least:
            return True
        return self._is_heavy(rate / partitions)

    def _is_heavy(self, each: float) -> bool:
        return self._mean > 0 and each > self._mean * (1 + TOLERANCE)

    def _more(self, table: TopicTable, row: int) -> int:
        """Return a count whose partitions are not too heavy."""
        rate = float(table.rate[row])
        light = ceil(rate / self._mean * (1 - TOLERANCE)) if self._mean > 0 else 1
        least = self._least(rate * self._rules.headroom) or 1
        return self._even(max(light, least))

    def _saving(
        self, table: TopicTable, row: int, name: str, kind: str, needed: int | None
    ) -> TopicFinding:
        """Return a finding with its savings at the needed count."""
        partitions = int(table.partitions[row])
        saved = partitions - (needed or 0)
        part = saved / partitions
        base = self._finding(table, row, name, kind, needed)
        return TopicFinding(
            kind=kind,
            topic=name,
            partitions=partitions,
            factor=base.factor,
            rate=base.rate,
            needed=needed,
            empty=base.empty,
            saved_partitions=saved,
            saved_replicas=round(int(table.replicas[row]) * part),
            saved_files=self._saved_files(table, row, needed or 0),
            saved_s=saved * self._rules.recovery_each_s,
            excess_rate=base.excess_rate,
        )

    def _saved_files(self, table: TopicTable, row: int, needed: int) -> int:
        """
        Return the log segments that are saved.

        The same data fills as many segments in fewer partitions; each replica less
        saves its open one.
        """
        if not needed:
            return int(table.segments[row])
        return (int(table.partitions[row]) - needed) * int(table.factor[row])

    def _finding(
        self, table: TopicTable, row: int, name: str, kind: str, needed: int | None
    ) -> TopicFinding:
        partitions, rate = int(table.partitions[row]), float(table.rate[row])
        most = -(-partitions // self._brokers)
        return TopicFinding(
            kind=kind,
            topic=name,
            partitions=partitions,
            factor=int(table.factor[row]),
            rate=rate,
            needed=needed,
            empty=int(table.empty[row]),
            excess_rate=rate / partitions * (most - partitions / self._brokers),
        )
