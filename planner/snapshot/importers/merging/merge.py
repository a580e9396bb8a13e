"""Several files merged into one snapshot, and rejected if they disagree."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.errors import BadInputError, InputProblem, raise_problems
from planner.process import no_garbage_collection
from planner.snapshot.importers.inputs.import_source import (
    Record,
    Source,
    with_defaults,
)
from planner.snapshot.importers.merging.assemble import (
    SourcePlaces,
    problems_of,
    tables_of,
)
from planner.snapshot.importers.merging.controllers import (
    Quorum,
    quorum_of,
    voter_problems,
)
from planner.snapshot.importers.merging.desired_topics import DesiredTopics
from planner.snapshot.importers.merging.impossible_values import ExceededCapacities
from planner.snapshot.importers.merging.joined_replicas import ReplicaDirs
from planner.snapshot.importers.merging.ledger import PartitionLedger, RecordLedger
from planner.snapshot.importers.merging.liveness import Liveness, find_liveness
from planner.snapshot.importers.merging.spread_series import spread_series
from planner.snapshot.importers.merging.visibility import find_gaps, named
from planner.snapshot.snapshot_document import Snapshot

_OPTIONS = "options"
_MERGED_SEPARATELY = frozenset(("rates",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """
    A snapshot made from several files.

    Parameters
    ----------
    snapshot
        The snapshot.
    sources
        The files.
    notes
        Notes for readers of the snapshot.
    """

    snapshot: Snapshot
    sources: tuple[Source, ...]
    notes: tuple[str, ...]


def merge(
    sources: Sequence[Source],
    *,
    header: Mapping[str, Any] | None = None,
    allow_partial: bool = False,
) -> Imported:
    """
    Merge the contents of several files on one cluster.

    Parameters
    ----------
    sources
        The files, in the order given.
    header
        Header values of the caller: `cluster_id`, `taken_at`.
    allow_partial
        Whether to continue if files do not show everything to each other.

    Raises
    ------
    BadInputError
        If no file lists partitions, files contradict each other, the cluster is visible
        only in part, or the merged contents are no cluster. Every problem names the
        places of both sides.
    """
    with no_garbage_collection():
        options = Source(file="command line", kind=_OPTIONS, header=header or {})
        return _merge([options, *sources], allow_partial=allow_partial)


def _merge(
    sources: Sequence[Source],
    *,
    allow_partial: bool,
) -> Imported:
    joined = _Joined(sources)
    joined.raise_problems()
    liveness = find_liveness(joined.sources, joined.brokers, joined.partitions)
    joined.problems += liveness.problems
    joined.join_replicas()
    joined.raise_problems()
    notes = [note for source in sources for note in source.notes]
    notes += joined.join_desired_topics()
    notes += _partial_notes(joined, liveness, allow_partial=allow_partial)
    shared = spread_series(joined.sources, joined.partitions, joined.brokers)
    notes += shared.notes
    joined.problems += joined.partitions.problems
    notes += _excess_notes(joined, allow_partial=allow_partial)
    quorum = joined.quorum(liveness)
    header = joined.header(shared.split, quorum)
    snapshot = _snapshot(joined, liveness, header)
    exceeded = joined.exceeded_capacities(snapshot)
    if exceeded.found and allow_partial:
        notes += exceeded.notes()
        exceeded.clear()
        snapshot = _snapshot(joined, liveness, header)
    else:
        joined.problems += exceeded.problems()
        joined.raise_problems()
    notes += (*_liveness_notes(liveness), *quorum.notes())
    notes += _unknown_notes(snapshot, joined.partitions)
    given = tuple(source for source in sources if source.kind != _OPTIONS)
    return Imported(snapshot=snapshot, sources=given, notes=tuple(notes))


class _Joined:
    """Contents of all files, and their problems."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = _with_defaults(sources)
        self.cluster = RecordLedger("the cluster")
        self.brokers = RecordLedger("broker")
        self.log_dirs = RecordLedger("log dir")
        self.topics = RecordLedger("topic")
        self.controllers = RecordLedger("node")
        self.partitions = PartitionLedger()
        self.dirs = ReplicaDirs(self.partitions)
        self.problems: list[InputProblem] = []
        for source in self.sources:
            self._add(source)
        self._add_partitions()

    def _add(self, source: Source) -> None:
        once = {k: v for k, v in source.header.items() if k not in _MERGED_SEPARATELY}
        self.cluster.add(source, Record(key="", values=once, place=""))
        for ledger, records in (
            (self.brokers, source.brokers),
            (self.log_dirs, source.log_dirs),
            (self.topics, source.topics),
            (self.controllers, source.controllers),
        ):
            for record in records:
                ledger.add(source, record)

    def _add_partitions(self) -> None:
        listing = [s for s in self.sources if _lists_partitions(s)]
        if not listing:
            self.problems.append(_no_placement())
        for source in listing:
            if source.partitions is not None:
                self.partitions.add_placement(source, source.partitions)
        for source in self.sources:
            if source.partitions is not None and source not in listing:
                self.partitions.add_measures(source, source.partitions)
        self.problems += self.partitions.missing_partitions()
        for ledger in (
            *(self.cluster, self.brokers, self.log_dirs),
            *(self.topics, self.controllers),
        ):
            self.problems += ledger.problems
        self.problems += self.partitions.problems
        self.problems += self._missing_dirs()
        self.problems += voter_problems(self.sources)

    def _missing_dirs(self) -> Iterator[InputProblem]:
        """Yield log dirs of a broker that one file lists, and another does not."""
        listed = [(s, _dirs_by_broker(s)) for s in self.sources if s.log_dirs]
        for source, mine in listed:
            for other, theirs in listed:
                for broker in sorted(mine.keys() & theirs.keys()):
                    for path in sorted(theirs[broker] - mine[broker]):
                        yield _missing_dir(source, other, broker, path)

    def join_replicas(self) -> None:
        """Determine the log dirs of replicas."""
        self.dirs = ReplicaDirs(self.partitions)
        for source in self.sources:
            if source.replicas is not None:
                self.dirs.add(source, source.replicas)
        self.problems += self.dirs.problems

    def join_desired_topics(self) -> list[str]:
        """Add settings of desired topics; return notes on differences."""
        desired = DesiredTopics(self.topics, self.partitions)
        return [note for source in self.sources for note in desired.join(source)]

    def quorum(self, liveness: Liveness) -> Quorum:
        """Return the controllers' quorum."""
        brokers = {id_: self.brokers.values.get(id_, {}) for id_ in liveness.ids}
        return quorum_of(
            self.controllers,
            brokers,
            knows_brokers=any(
                s.lists_live_brokers or s.lists_members for s in self.sources
            ),
        )

    def header(self, split: str | None, quorum: Quorum) -> dict[str, Any]:
        """Return the merged header; `split` is the method that distributed rates."""
        header = dict(self.cluster.values.get("", {}))
        rates = [s.header["rates"] for s in self.sources if "rates" in s.header]
        if rates:
            merged = {key: value for each in rates for key, value in each.items()}
            names = dict.fromkeys(each["source"] for each in rates)
            header["rates"] = {**merged, "source": "+".join(names)}
            if split is not None:
                header["rates"]["split"] = split
        if quorum.controllers:
            header["controllers"] = quorum.controllers
        return header

    def exceeded_capacities(self, snapshot: Snapshot) -> ExceededCapacities:
        """Return the capacities that measured loads exceed."""
        state = snapshot.to_state()
        return ExceededCapacities(state, self.sources, self.brokers, self.log_dirs)

    def raise_problems(self) -> None:
        """
        Reject the files if there are problems.

        Raises
        ------
        BadInputError
            With every problem found so far.
        """
        raise_problems(
            "the files do not make one cluster", list(dict.fromkeys(self.problems))
        )


def _with_defaults(sources: Sequence[Source]) -> list[Source]:
    """Return the sources with their defaults applied to brokers they do not name."""
    brokers = {record.key for source in sources for record in source.brokers}
    for source in sources:
        if source.partitions is not None:
            for ids in source.partitions.values.get("replicas", ()):
                brokers.update(ids)
    return [with_defaults(source, sorted(brokers)) for source in sources]


def _lists_partitions(source: Source) -> bool:
    return source.partitions is not None and "replicas" in source.partitions.values


def _no_placement() -> InputProblem:
    return InputProblem.of_option(
        "snapshot import",
        "",
        "one file must list the replicas of the partitions",
        "add --topics, --kcat, --assignment, or --cruise-control with "
        "kafka_cluster_state",
    )


def _dirs_by_broker(source: Source) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for record in source.log_dirs:
        broker, path = record.key
        found.setdefault(broker, set()).add(path)
    return found


def _missing_dir(source: Source, other: Source, broker: int, path: str) -> InputProblem:
    return InputProblem(
        file=source.file,
        place=f"log dirs of broker {broker}",
        value="",
        rule=f"must be those in {other.file}; {path} is missing",
        remedy="correct one of the files, or leave one out",
    )


def _partial_notes(
    joined: _Joined, liveness: Liveness, *, allow_partial: bool
) -> Iterator[str]:
    gaps = find_gaps(joined.sources, liveness, joined.log_dirs, joined.dirs)
    if gaps and not allow_partial:
        msg = "the files show only a part of the cluster"
        raise BadInputError(msg, [gap.to_problem() for gap in gaps])
    for gap in gaps:
        yield f"only a part is visible: {gap}"
    strays = joined.dirs.strays
    if strays.num_stray:
        yield (
            f"{strays.num_stray} copies ({strays.stray_bytes} bytes) are on brokers "
            "that hold no replica of their partition: not counted"
        )


def _excess_notes(joined: _Joined, *, allow_partial: bool) -> Iterator[str]:
    """Reject, or skip, partitions past the last one of their topic."""
    listing = [source.file for source in joined.sources if _lists_partitions(source)]
    for file, names in joined.partitions.excess_partitions.items():
        if allow_partial:
            yield f"{file}: skipped, past the last partition: {named(names)}"
            continue
        files = ", ".join(listing)
        joined.problems.append(
            InputProblem(
                file=file,
                place="partitions",
                value="",
                rule=f"must be partitions that {files} lists; {named(names)} is past "
                "the last one of its topic. Kafka only adds partitions, so "
                f"{files} is likely older, or cut",
                remedy="take both files at the same time; --allow-partial skips them",
            )
        )


def _snapshot(joined: _Joined, liveness: Liveness, header: dict[str, Any]) -> Snapshot:
    assumed = dict.fromkeys(liveness.dead, "dead")
    assumed |= dict.fromkeys(liveness.fenced, "fenced")
    brokers = {
        broker: {
            **joined.brokers.values.get(broker, {}),
            **({"state": assumed[broker]} if broker in assumed else {}),
        }
        for broker in liveness.ids
    }
    tables = tables_of(
        brokers, joined.log_dirs, joined.topics, joined.partitions, joined.dirs
    )
    places = SourcePlaces(
        tables, joined.brokers, joined.log_dirs, joined.topics, joined.partitions
    )
    joined.problems += problems_of(header, tables, places)
    joined.raise_problems()
    return Snapshot.from_tables(tables, header, file="the files together")


def _liveness_notes(liveness: Liveness) -> Iterator[str]:
    if liveness.dead:
        yield (
            "counted as dead, as no file that should list them does: brokers "
            f"{named(liveness.dead)}; if one runs, add --list-endpoints, or list all "
            "brokers in --brokers with the column state: alive, or new for one that is "
            "still to be started"
        )
    if liveness.fenced:
        yield (
            f"counted as fenced: brokers {named(liveness.fenced)} have replicas, lead "
            "nothing, are in no ISR, and no file says that they are live; add "
            "--list-endpoints, or set the column state of --brokers to alive or dead"
        )
    if liveness.uncertain:
        yield (
            f"brokers {named(liveness.uncertain)} lead nothing and are in no ISR: if "
            "they are dead, set the column state of --brokers to dead"
        )


_UNKNOWN_NOTES = (
    ("brokers", "rack", "racks of {} brokers: each counts as a rack of its own"),
    ("partitions", "isr", "ISRs of {} partitions: all live replicas count as in sync"),
    ("partitions", "size_bytes", "sizes of {} partitions"),
    ("partitions", "in_bytes_per_s", "bytes in of {} partitions"),
    ("partitions", "out_bytes_per_s", "bytes out of {} partitions"),
)


def _unknown_notes(snapshot: Snapshot, partitions: PartitionLedger) -> Iterator[str]:
    unknown = [
        words.format(f"{nulls} of {table.num_rows}")
        for name, column, words in _UNKNOWN_NOTES
        if (nulls := (table := snapshot.tables()[name]).column(column).null_count)
    ]
    if unknown:
        yield f"unknown, and not 0: {'; '.join(unknown)}"
    for file, topics in partitions.unknown_topics.items():
        names = named(topics)
        yield f"{file}: skipped, as the cluster has no such partitions: {names}"
