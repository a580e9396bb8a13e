"""
Brokers of the cluster, and which of them are live.

Replica lists still name brokers that are gone. A broker in no other place is dead if
some file lists the live ones; so is one that only capacities or broker sets name. A
broker that leads, or is in sync below a leader, is live, and contradicts a list of live
brokers without it. One that holds replicas, leads nothing and is in no ISR, may be
down: no copy may go there, so it counts as fenced unless some file shows that it is
live.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.errors import InputProblem
from planner.snapshot.importers.inputs.import_source import Source
from planner.snapshot.importers.inputs.input_text import harmless
from planner.snapshot.importers.merging.ledger import (
    Origin,
    PartitionLedger,
    RecordLedger,
)

_NOT_LIVE = frozenset(("dead", "fenced", "shutting-down"))
NO_LEADER = -1


@dataclass(slots=True)
class Liveness:
    """
    Known facts on the liveness of brokers.

    Parameters
    ----------
    ids
        Ids of all brokers, ascending.
    dead
        Brokers that count as dead because no list of live ones names them.
    without_log_dirs
        Brokers that are, or may be, live and whose log dirs no file lists, although
        files list those of others.
    fenced
        Brokers that count as fenced because they lead nothing and are in no ISR, and no
        file shows that they are live.
    uncertain
        Brokers that lead nothing and are in no ISR, but are being filled, or list their
        log dirs.
    problems
        Contradictions between files.
    """

    ids: list[int] = field(default_factory=list)
    dead: list[int] = field(default_factory=list)
    without_log_dirs: list[int] = field(default_factory=list)
    fenced: list[int] = field(default_factory=list)
    uncertain: list[int] = field(default_factory=list)
    problems: list[InputProblem] = field(default_factory=list)


def find_liveness(
    sources: Sequence[Source], brokers: RecordLedger, partitions: PartitionLedger
) -> Liveness:
    """
    Determine which brokers are live.

    Parameters
    ----------
    sources
        All files.
    brokers, partitions
        Ledgers of their contents.
    """
    evidence = _Evidence(sources, brokers, partitions)
    liveness = Liveness(ids=sorted(evidence.named.keys() | brokers.values.keys()))
    for broker in liveness.ids:
        evidence.classify(broker, liveness)
    return liveness


class _Evidence:
    """Evidence for and against the liveness of brokers."""

    def __init__(
        self,
        sources: Sequence[Source],
        brokers: RecordLedger,
        partitions: PartitionLedger,
    ) -> None:
        self.brokers = brokers
        self.partitions = partitions
        self.live_lists = [s for s in sources if s.lists_live_brokers]
        self.member_lists = [s for s in sources if s.lists_members]
        self.dir_lists = [s for s in sources if s.replicas is not None]
        self.observed = [s for s in sources if not s.is_configuration]
        self.ids_of = {
            id(source): {record.key for record in source.brokers} for source in sources
        }
        self.named = _first_rows(partitions.column("replicas"))
        self.settled = _settled_brokers(partitions)
        self.active = _active_brokers(partitions)
        self.has_isr = any(isr is not None for isr in partitions.column("isr"))

    def classify(self, broker: int, liveness: Liveness) -> None:
        state = self.brokers.values.get(broker, {}).get("state")
        liveness.problems += self._contradictions(broker, state)
        if state in _NOT_LIVE:
            return
        if self._is_gone(broker, state):
            liveness.dead.append(broker)
            return
        is_uncertain = self._is_uncertain(broker, state)
        if is_uncertain and self._is_silent(broker):
            liveness.fenced.append(broker)
            return
        if self.dir_lists and not self._is_in(self.dir_lists, broker):
            if state != "new":
                liveness.without_log_dirs.append(broker)
        elif is_uncertain:
            liveness.uncertain.append(broker)

    def _is_in(self, lists: Sequence[Source], broker: int) -> bool:
        return any(broker in self.ids_of[id(source)] for source in lists)

    def _is_gone(self, broker: int, state: str | None) -> bool:
        """Return whether no file lists a broker among the live ones."""
        if state is not None or broker in self.active:
            return False
        for lists in (self.live_lists, self.member_lists):
            if lists:
                return not self._is_in(lists, broker)
        # Log dirs may be listed of some brokers only, so ISRs must agree.
        lacks_log_dirs = bool(self.dir_lists) and not self._is_in(
            self.dir_lists, broker
        )
        is_seen = broker in self.named or self._is_in(self.observed, broker)
        return (lacks_log_dirs and self.has_isr) or not is_seen

    def _is_uncertain(self, broker: int, state: str | None) -> bool:
        is_idle = broker in self.named and broker not in self.active
        return is_idle and state is None and self.has_isr

    def _is_silent(self, broker: int) -> bool:
        """Return whether a broker has old replicas, and answers in no file."""
        answers = (*self.live_lists, *self.dir_lists)
        return broker in self.settled and not self._is_in(answers, broker)

    def _contradictions(self, broker: int, state: str | None) -> Iterator[InputProblem]:
        if state in _NOT_LIVE - {"shutting-down"} and broker in self.active:
            origin = self.brokers.origin(broker, "state")
            yield self._active_problem(broker, origin.file, origin.place, f"is {state}")
        if state in _NOT_LIVE or state == "new":
            return
        for source in self.live_lists or self.member_lists:
            if broker in self.ids_of[id(source)]:
                continue
            if broker in self.active:
                yield self._active_problem(broker, source.file, "", "is not listed")
            elif state is not None:
                origin = self.brokers.origin(broker, "state")
                yield _not_listed(source, broker, origin)

    def _active_problem(
        self, broker: int, file: str, place: str, what: str
    ) -> InputProblem:
        row, role = self.active[broker]
        name = "leader" if role == "leads" else "isr"
        origin = self.partitions.origin(row, name)
        return InputProblem(
            file=file,
            place=place or "brokers",
            value=harmless(broker),
            rule=f"broker {broker} {what}, but {role} {self.partitions.name_of(row)} "
            f"({origin})",
            remedy="take both files at the same time, or add the broker",
        )


def _not_listed(source: Source, broker: int, origin: Origin) -> InputProblem:
    return InputProblem(
        file=source.file,
        place="brokers",
        value=harmless(broker),
        rule=f"broker {broker} is not listed as live, but is live in {origin}",
        remedy="take both files at the same time, or leave one out",
    )


def _first_rows(lists: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return every broker in replica lists, with the first such partition."""
    return {broker: row for row in reversed(range(len(lists))) for broker in lists[row]}


def _settled_brokers(partitions: PartitionLedger) -> set[int]:
    """Return brokers with a replica that no reassignment is adding."""
    lists = partitions.column("replicas")
    adding = partitions.column("adding_replicas")
    return {
        broker
        for ids, added in zip(lists, adding, strict=True)
        for broker in set(ids).difference(added or ())
    }


def _active_brokers(partitions: PartitionLedger) -> Mapping[int, tuple[int, str]]:
    """Return brokers that lead, or are in sync below a leader, with a partition."""
    leaders: Sequence[Any] = partitions.column("leader")
    isrs: Sequence[Any] = partitions.column("isr")
    found: dict[int, tuple[int, str]] = {}
    for row, (leader, isr) in enumerate(zip(leaders, isrs, strict=True)):
        if leader is None or leader == NO_LEADER:
            continue
        found.setdefault(leader, (row, "leads"))
        for broker in isr or ():
            found.setdefault(broker, (row, "is in sync for"))
    return found
