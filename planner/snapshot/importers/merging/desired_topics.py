"""Topics as an operator of Kubernetes wants them, compared with the cluster's own."""

from collections.abc import Iterator
from typing import Any

from planner.snapshot.importers.inputs.import_source import Record, Source
from planner.snapshot.importers.merging.ledger import PartitionLedger, RecordLedger
from planner.snapshot.importers.merging.visibility import named
from planner.text.format import ids_text
from planner.text.printable import printable

_CONSEQUENCE = (
    "the Topic Operator tries to change the cluster, so correct the KafkaTopic where "
    "the cluster is right"
)


class DesiredTopics:
    """
    Comparison of desired topics with the cluster, whose values are the ones used.

    Parameters
    ----------
    topics
        Topics of all files; settings that no file has are added.
    partitions
        Partitions of all files.
    """

    def __init__(self, topics: RecordLedger, partitions: PartitionLedger) -> None:
        self.topics = topics
        self.partitions = partitions
        self._factors: dict[str, list[int]] = {}

    def join(self, source: Source) -> Iterator[str]:
        """Add the settings of a source; yield notes on what differs."""
        if not source.desired_topics:
            return
        factors = self._factors_by_topic()
        known = [one for one in source.desired_topics if one.key in factors]
        unknown = [one.key for one in source.desired_topics if one.key not in factors]
        settings = [text for one in known for text in self._join_configs(source, one)]
        for what, found in (
            ("numbers of partitions differ from the cluster", self._counts(known)),
            ("replication factors differ from the cluster", self._replicas(known)),
            ("settings differ from the cluster, whose values are used", settings),
        ):
            if differing := list(found):
                yield f"{source.file}: {what}: {named(differing)}; {_CONSEQUENCE}"
        if unknown:
            yield (
                f"{source.file}: skipped, as the cluster has no such topics: "
                f"{named(sorted(unknown))}"
            )

    def _factors_by_topic(self) -> dict[str, list[int]]:
        """Return the replication factor of each partition, by topic."""
        if not self._factors:
            replicas = self.partitions.column("replicas")
            adding = self.partitions.column("adding_replicas")
            for topic, ids, more in zip(
                self.partitions.topics, replicas, adding, strict=True
            ):
                factor = len(ids) - len(more or ())
                self._factors.setdefault(topic, []).append(factor)
        return self._factors

    def _counts(self, desired: list[Record]) -> Iterator[str]:
        for one in desired:
            count = len(self._factors[one.key])
            if one.values.get("partitions", count) != count:
                yield _difference(one.key, one.values["partitions"], count)

    def _replicas(self, desired: list[Record]) -> Iterator[str]:
        for one in desired:
            factors = sorted(set(self._factors[one.key]))
            wanted = one.values.get("replicas")
            if wanted is not None and factors != [wanted]:
                yield _difference(one.key, wanted, ids_text(factors))

    def _join_configs(self, source: Source, desired: Record) -> Iterator[str]:
        """Add the settings if no file has those of the topic, else compare them."""
        wanted = desired.values.get("configs", {})
        now = self.topics.values.get(desired.key, {}).get("configs")
        if now is None:
            values: dict[str, Any] = {"configs": wanted}
            if wanted.get("remote.storage.enable") == "true":
                values["storage"] = "tiered"
            record = Record(key=desired.key, values=values, place=desired.place)
            self.topics.add(source, record)
            return
        for key, value in wanted.items():
            if now.get(key) != value:
                yield _difference(f"{desired.key} {key}", value, now.get(key, "unset"))


def _difference(what: str, wanted: object, now: object) -> str:
    return printable(f"{what} ({wanted} in the KafkaTopic, {now} in the cluster)")
