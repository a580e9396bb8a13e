"""
Measured series distributed over partitions.

A series of a broker and a topic is distributed over the partitions of the topic that
the broker leads; a series without such a leader, or without a broker, over all
partitions of the topic. Weights are the messages of each partition if known, else its
growth, else equal (as in Cruise Control).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from planner.snapshot.importers.inputs.import_source import (
    PartitionColumns,
    Series,
    Source,
)
from planner.snapshot.importers.merging.ledger import PartitionLedger, RecordLedger
from planner.snapshot.importers.merging.spread_cpu import notes_of, share_cpu
from planner.snapshot.importers.merging.visibility import named

_CPU = "cpu"
_RATES = {"in": "in_bytes_per_s", "out": "out_bytes_per_s"}


@dataclass(frozen=True, slots=True)
class Spread:
    """
    Result of distributing series.

    Parameters
    ----------
    split
        Name of the method; `None` if there was nothing to distribute.
    notes
        Notes for readers of the snapshot.
    """

    split: str | None = None
    notes: tuple[str, ...] = ()


def spread_series(
    sources: Sequence[Source], partitions: PartitionLedger, brokers: RecordLedger
) -> Spread:
    """
    Distribute the series of all sources, and add the results to partitions.

    Parameters
    ----------
    sources
        All files.
    partitions
        The partitions, to which rates and sizes are added.
    brokers
        The brokers, with their hosts.
    """
    measured = [source for source in sources if source.series]
    if not measured:
        return Spread()
    distribution = _Distribution(measured, partitions, brokers)
    distribution.share_rates()
    distribution.share_sizes()
    distribution.share_cpu()
    return Spread(distribution.split, tuple(distribution.notes))


class _Distribution:
    """Series by topic, and the partitions over which they are distributed."""

    def __init__(
        self,
        sources: Sequence[Source],
        partitions: PartitionLedger,
        brokers: RecordLedger,
    ) -> None:
        self.partitions = partitions
        self.notes: list[str] = []
        self.rows_of: dict[str, list[int]] = defaultdict(list)
        for row, topic in enumerate(partitions.topics):
            self.rows_of[topic].append(row)
        self.leaders = _leaders(partitions)
        self.file = ", ".join(source.file for source in sources)
        self.host_ids = _ids_by_host(brokers)
        series = [one for source in sources for one in source.series]
        self.cpu_series = [one for one in series if one.measure == _CPU]
        self.series = self._with_names(one for one in series if one.measure != _CPU)
        self.weights, split = self._weights()
        has_rates = any(one.measure in _RATES for one in self.series)
        self.split = split if has_rates or not self.cpu_series else None

    def _with_names(self, series: Iterable[Series]) -> list[Series]:
        """Return the series with topic and broker; note those of unknown topics."""
        series = list(series)
        names = _names({one.topic for one in series}, self.rows_of)
        for topics in sorted(set(names.ambiguous.values())):
            self.notes.append(
                f"{self.file}: series of {named(topics)} have the same name, as '.' "
                "became '_': unknown"
            )
        unknown = sorted({one.topic for one in series} - names.known.keys())
        unknown = [topic for topic in unknown if topic not in names.ambiguous]
        if unknown:
            self.notes.append(
                f"{self.file}: skipped, as the cluster has no such topics: "
                f"{named(unknown)}"
            )
        found = [
            replace(one, topic=names.known[one.topic], broker=self._id_of(one.broker))
            for one in series
            if one.topic in names.known
        ]
        excess = {
            (one.topic, one.partition)
            for one in found
            if one.partition is not None and self._row(one) is None
        }
        if excess:
            excess_names = [f"{topic}-{number}" for topic, number in sorted(excess)]
            self.partitions.excess_partitions[self.file] = excess_names
        return [one for one in found if (one.topic, one.partition) not in excess]

    def _id_of(self, broker: int | str | None) -> int | None:
        return self.host_ids.get(broker) if isinstance(broker, str) else broker

    def _weights(self) -> tuple[dict[int, float], str]:
        """Return the weights of partitions by row, and the name of the method."""
        for measure, name in (("weight", "high-watermark"), ("size", "size-growth")):
            grown = [one for one in self.series if one.measure == measure]
            found: dict[int, float] = {}
            for one in grown:
                row = self._row(one)
                amount = one.growth if measure == "size" else one.value
                if row is not None and amount is not None:
                    found[row] = max(found.get(row, 0.0), amount)
            if found:
                return found, name
        return {}, "equal"

    def _row(self, one: Series) -> int | None:
        if one.partition is None:
            return None
        return self.partitions.row_of.get((one.topic, one.partition))

    def share_rates(self) -> None:
        """Distribute inbound and outbound bytes."""
        for measure, column in _RATES.items():
            series = [one for one in self.series if one.measure == measure]
            totals: dict[int, list[float]] = defaultdict(list)
            num_lost = 0
            for one in series:
                rows, is_led = self._receivers(one)
                num_lost += not is_led
                for row, share in self._shares(rows):
                    totals[row].append(one.value * share)
            if totals:
                self._add_column(
                    column, {row: fsum(parts) for row, parts in totals.items()}
                )
            if num_lost:
                self.notes.append(
                    f"{self.file}: {num_lost} of {len(series)} series of bytes "
                    f"{measure} name no broker that leads their topic: distributed "
                    "over all its partitions"
                )

    def _receivers(self, one: Series) -> tuple[list[int], bool]:
        row = self._row(one)
        if row is not None:
            return [row], True
        rows = self.rows_of[one.topic]
        led = [row for row in rows if self.leaders[row] == one.broker]
        if one.broker is None or not led:
            return rows, False
        return led, True

    def _shares(self, rows: list[int]) -> Iterable[tuple[int, float]]:
        weights = [self.weights.get(row) for row in rows]
        known = [weight for weight in weights if weight is not None]
        total = fsum(known)
        if len(known) < len(rows) or total <= 0:
            return [(row, 1 / len(rows)) for row in rows]
        pairs = zip(rows, known, strict=True)
        return [(row, weight / total) for row, weight in pairs]

    def share_sizes(self) -> None:
        """Set sizes of partitions: of the leader, else the largest known size."""
        own: dict[int, dict[int | str | None, float]] = defaultdict(dict)
        for one in self.series:
            row = self._row(one) if one.measure == "size" else None
            if row is not None:
                sizes = own[row]
                sizes[one.broker] = max(sizes.get(one.broker, 0.0), one.value)
        found = {
            row: sizes.get(self.leaders[row], max(sizes.values()))
            for row, sizes in own.items()
        }
        if found:
            self._add_column(
                "size_bytes", {row: round(size) for row, size in found.items()}
            )
        self._share_totals(found.keys())

    def _share_totals(self, with_sizes: Iterable[int]) -> None:
        """Distribute the total bytes of all replicas of a topic."""
        replicas, found = self.partitions.column("replicas"), {}
        known = set(with_sizes)
        for one in self.series:
            rows = self.rows_of[one.topic]
            if one.measure != "all-sizes" or known.intersection(rows):
                continue
            copies = max(1.0, fsum(len(replicas[row]) for row in rows) / len(rows))
            for row, share in self._shares(rows):
                found[row] = round(one.value / copies * share)
        if found:
            self._add_column("size_bytes", found)
            self.notes.append(
                f"{self.file}: sizes of {len(found)} partitions are an estimate from "
                "totals of their topics"
            )

    def share_cpu(self) -> None:
        """Distribute the CPU cores of brokers by the rates known so far."""
        if not self.cpu_series:
            return
        cores: dict[int, float] = {}
        num_without_broker = 0
        for one in self.cpu_series:
            broker = self._id_of(one.broker)
            if broker is None:
                num_without_broker += 1
            else:
                # One process may be scraped twice.
                cores[broker] = max(cores.get(broker, 0.0), one.value)
        column = self.partitions.column
        shares = share_cpu(
            cores,
            self.leaders,
            column("replicas"),
            column("in_bytes_per_s"),
            column("out_bytes_per_s"),
        )
        self._add_column("leader_cpu_cores", shares.leader)
        self._add_column("follower_cpu_cores", shares.follower)
        self.notes += notes_of(self.file, shares, num_without_broker=num_without_broker)

    def _add_column(self, column: str, values: Mapping[int, Any]) -> None:
        rows = sorted(values)
        source = Source(file=self.file, kind="measured series")
        columns = PartitionColumns(
            topics=[self.partitions.topics[row] for row in rows],
            partitions=[self.partitions.partitions[row] for row in rows],
            values={column: [values[row] for row in rows]},
            places=["series"] * len(rows),
            place_format="{}",
        )
        self.partitions.add_measures(replace(source, partitions=columns), columns)


class _Names:
    """Topics by the names in labels."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.ambiguous: dict[str, tuple[str, ...]] = {}


def _names(labels: set[str], topics: Iterable[str]) -> _Names:
    """
    Match names in which '.' may have become '_'.

    A name with a '.' shows that its exporter keeps it. A name is exact if it can stand
    for only one topic, or if the other topics occur under their own names.
    """
    names = _Names()
    by_flat: dict[str, list[str]] = defaultdict(list)
    for topic in topics:
        by_flat[topic.replace(".", "_")].append(topic)
    for name in labels:
        alike = by_flat.get(name.replace(".", "_"), [])
        if "." in name:
            alike = [topic for topic in alike if topic == name]
        elif len(alike) > 1:
            alike = [t for t in alike if t == name or t not in labels]
        if len(alike) == 1:
            names.known[name] = alike[0]
        elif alike:
            names.ambiguous[name] = tuple(sorted(alike))
    return names


def _leaders(partitions: PartitionLedger) -> list[int]:
    leaders, replicas = partitions.column("leader"), partitions.column("replicas")
    return [
        ids[0] if leader is None else leader
        for leader, ids in zip(leaders, replicas, strict=True)
    ]


def _ids_by_host(brokers: RecordLedger) -> dict[str, int]:
    """Return the broker of each host that has only one."""
    ids: dict[str, list[int]] = defaultdict(list)
    for broker, values in brokers.values.items():
        if values.get("host"):
            ids[values["host"]].append(broker)
    return {host: found[0] for host, found in ids.items() if len(found) == 1}
