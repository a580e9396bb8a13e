"""
Clusters that a user sees only in part.

Without an authorisation, Kafka omits entries instead of returning an error. An entry
that one file shows and another omits reveals this; a filtered output looks the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from planner.errors import InputProblem
from planner.snapshot.importers.inputs.import_source import Source
from planner.snapshot.importers.merging.joined_replicas import ReplicaDirs
from planner.snapshot.importers.merging.ledger import PartitionLedger, RecordLedger
from planner.snapshot.importers.merging.liveness import NO_LEADER, Liveness

_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Gap:
    """
    Entries that a file omits.

    Parameters
    ----------
    file
        Name of the file that should have them.
    what
        Kind of the entries.
    names
        Names of the brokers, topics or partitions concerned.
    remedy
        The missing authorisation, or the filter that was set.
    """

    file: str
    what: str
    names: Sequence[str]
    remedy: str

    def __str__(self) -> str:
        return f"{self.what} {named(self.names)}"

    def to_problem(self) -> InputProblem:
        """Return the problem for the error message."""
        return InputProblem(
            file=self.file,
            place=self.what,
            value="",
            rule=f"all of the cluster must be visible: {self.what} {named(self.names)}",
            remedy=f"{self.remedy}; or continue with --allow-partial",
        )


def named(names: Sequence[object]) -> str:
    """Return the first names, and the number of the others."""
    shown = ", ".join(map(str, names[:_NAMES_SHOWN]))
    more = len(names) - _NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def find_gaps(
    sources: Sequence[Source],
    liveness: Liveness,
    log_dirs: RecordLedger,
    dirs: ReplicaDirs,
) -> list[Gap]:
    """
    Return the entries that files omit, compared with each other.

    Parameters
    ----------
    sources
        All files.
    liveness
        Liveness of the brokers.
    log_dirs
        Log dirs by (broker id, path).
    dirs
        Log dirs of the replicas.
    """
    gaps = list(_config_gaps(sources, set(dirs.ledger.topics)))
    listing = [source for source in sources if source.replicas is not None]
    if listing:
        files = ", ".join(source.file for source in listing)
        gaps += _gaps(files, listing, liveness, log_dirs, dirs)
    return [gap for gap in gaps if gap.names]


def _config_gaps(sources: Sequence[Source], known: set[str]) -> Iterator[Gap]:
    """Yield topics without settings in any file, and settings of unlisted topics."""
    listing = [source for source in sources if source.lists_topics]
    if not listing:
        return
    files = ", ".join(source.file for source in listing)
    configured = {record.key for source in listing for record in source.topics}
    yield Gap(
        files,
        "with settings, but not described, topics",
        sorted(configured - known),
        "give the user Describe on Topic '*', and describe every topic",
    )
    yield Gap(
        files,
        "no settings of topics",
        sorted(known - configured),
        "give the user DescribeConfigs on Topic '*', and run kafka-configs without "
        "--entity-name",
    )


def _gaps(
    files: str,
    listing: Sequence[Source],
    liveness: Liveness,
    log_dirs: RecordLedger,
    dirs: ReplicaDirs,
) -> Iterator[Gap]:
    with_dirs = {broker for broker, _ in log_dirs.values}
    listed = {r.key for source in listing for r in source.brokers}
    empty = listed - with_dirs
    yield Gap(
        files,
        "no log dirs of brokers",
        sorted({*liveness.without_log_dirs, *empty} - set(liveness.dead)),
        "give the user Describe on Cluster, and run kafka-log-dirs without "
        "--broker-list",
    )
    known = set(dirs.ledger.topics)
    unknown = dirs.strays.unknown_partitions
    yield Gap(
        files,
        "in log dirs, but not described, topics",
        sorted({n.rpartition("-")[0] for n in unknown} - known),
        "give the user Describe on Topic '*', and describe every topic",
    )
    yield Gap(
        files,
        "in log dirs, but not described, partitions",
        sorted(n for n in unknown if n.rpartition("-")[0] in known),
        "Kafka only adds partitions, so the list of topics is likely older than the "
        "log dirs, or cut: take both files at the same time",
    )
    yield Gap(
        files,
        "in no log dir, topics",
        sorted(_hidden_topics(listing, log_dirs, dirs)),
        "give the user Describe on Topic '*', and run kafka-log-dirs without "
        "--topic-list",
    )
    yield Gap(
        files,
        "in sync, but in no log dir of their broker, replicas",
        _lost_replicas(listed & with_dirs, dirs),
        "take this file and the list of topics at the same time, without a filter",
    )


def _lost_replicas(brokers: set[int], dirs: ReplicaDirs) -> list[str]:
    """
    Return replicas in sync below a leader that are in no log dir of their broker.

    They were moved, or their log dir failed, between the two outputs. Topics in no log
    dir at all are hidden, and named elsewhere. The ISR of a partition without a leader
    keeps its last replica, wherever it is.
    """
    ledger, found = dirs.ledger, _found_topics(dirs)
    leaders, isrs = ledger.column("leader"), ledger.column("isr")
    missing = np.flatnonzero(dirs.size_bytes < 0)
    pairs = zip(dirs.row[missing].tolist(), dirs.broker[missing].tolist(), strict=True)
    return [
        f"{ledger.name_of(row)} on broker {broker}"
        for row, broker in pairs
        if broker in brokers
        and leaders[row] not in (None, NO_LEADER)
        and broker in (isrs[row] or ())
        and ledger.topics[row] in found
    ]


def _hidden_topics(
    listing: Sequence[Source], log_dirs: RecordLedger, dirs: ReplicaDirs
) -> set[str]:
    """Return topics in no log dir, although all log dirs of a leader are listed."""
    complete = {record.key for source in listing for record in source.brokers}
    complete -= {
        broker
        for (broker, _), values in log_dirs.values.items()
        if values.get("state") == "offline"
    }
    return _listed_topics(dirs.ledger, complete) - _found_topics(dirs)


def _listed_topics(ledger: PartitionLedger, brokers: set[int]) -> set[str]:
    """Return topics with a leader on some brokers."""
    leaders, replicas = ledger.column("leader"), ledger.column("replicas")
    return {
        topic
        for topic, leader, ids in zip(ledger.topics, leaders, replicas, strict=True)
        if (ids[0] if leader is None else leader) in brokers
    }


def _found_topics(dirs: ReplicaDirs) -> set[str]:
    topics = dirs.ledger.topics
    return {topics[row] for row in set(dirs.row[dirs.size_bytes >= 0].tolist())}
