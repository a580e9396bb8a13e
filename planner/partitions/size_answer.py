"""Answer of `partitions size`: the recommended count, and the reasons in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, isnan
from typing import Any

from placement.partition_counts.choose_count import (
    EVEN,
    FACTOR,
    MOST_PARTITIONS,
    Candidate,
    CountAnswer,
    Use,
    choose_count,
)
from placement.partition_counts.count_task import Hosts
from planner.partitions.size_task import AskedCount, read_question
from planner.snapshot import Snapshot
from planner.text.format import bytes_text, duration_text, percent_text, plural

GIVE = {
    "producer": "--throughput and --producer-rate",
    "consumer": "--throughput or --read, and --consumer-rate",
    "in": "--broker-in, and rates in the snapshot",
    "out": "--broker-out, and rates in the snapshot",
    "files": "--throughput and --retention, and sizes in the snapshot",
    "maps": "--throughput and --retention, and sizes in the snapshot",
    "latency": "--max-latency",
    "recovery": "--max-recovery",
}
"""Options that make an unknown limit known."""

ROUNDING = 1e-9
"""Error of one over a share."""
REMEDIES = {
    "producer": "use faster producers (--producer-rate)",
    "consumer": "use faster or more consumers (--consumer-rate, --consumers)",
    "consumers": "use fewer consumers (--consumers)",
    "brokers": "allow uneven leaders (--uneven)",
    "current": "start a new topic",
    "order": "do without a total order (--total-order)",
    EVEN: "allow uneven leaders (--uneven)",
    "replicas": "add brokers, or allow more replicas (--max-replicas-per-broker)",
    "files": "raise the limit (--max-open-files), or keep fewer segments",
    "maps": "raise vm.max_map_count (--max-map-count), or keep fewer segments",
    "in": "add brokers",
    "out": "add brokers, or read less",
    "latency": "add brokers, or accept more (--max-latency)",
    "recovery": "accept more (--max-recovery)",
}
"""Change that makes room for a count, by limit."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SizedPartitions:
    """
    Result of `partitions size`.

    Parameters
    ----------
    snapshot
        The cluster; `None` if only options describe it.
    asked
        The question, with its assumptions.
    answer
        The recommended count and the candidates.
    """

    snapshot: Snapshot | None
    asked: AskedCount
    answer: CountAnswer

    @property
    def shown(self) -> Candidate:
        """The recommended candidate, or the last one where none is recommended."""
        candidates = self.answer.candidates
        chosen = [c for c in candidates if c.partitions == self.answer.recommended]
        return (chosen or list(candidates))[-1]

    @property
    def unknown(self) -> tuple[Use, ...]:
        """Limits that are not known in full, at the shown candidate."""
        return tuple(use for use in self.shown.uses if not use.is_known)


def size_partitions(
    given: Mapping[str, Any], snapshot: Snapshot | None = None
) -> SizedPartitions:
    """
    Return how many partitions a topic should have.

    Parameters
    ----------
    given
        Texts, numbers or typed values by the fields of `SizeOptions`.
    snapshot
        The cluster; `None` if only options describe it.

    Raises
    ------
    BadInputError
        If any option is invalid; names every problem.
    """
    asked = read_question(given, snapshot)
    answer = choose_count(asked.task, asked.candidates)
    return SizedPartitions(snapshot=snapshot, asked=asked, answer=answer)


def reasons(sized: SizedPartitions) -> list[str]:
    """Return the reasons for the answer, one sentence each."""
    return [
        *_needs(sized),
        *_order(sized),
        *_choice(sized),
        *_bounds(sized),
        *_advice(sized),
    ]


def _needs(sized: SizedPartitions) -> Iterator[str]:
    """Yield the smallest count of each need that is known."""
    task, answer = sized.asked.task, sized.answer
    uses = {(use.name, use.group): use for use in sized.shown.uses}
    rate = task.load.headroom
    for name, group, least in answer.least_by_need:
        use = uses[name, group]
        if isnan(use.margin):
            continue
        who = f" of {group}" if group else ""
        need = f"at least {least}" if least else "more than any count gives"
        if name == "producer":
            yield f"Producers write {_rate(use.used)} with headroom {rate:g}: {need}."
        elif name == "consumer":
            yield f"Consumers{who} must read {_rate(use.used)}: {need}."
        elif name == "consumers":
            yield f"{use.used:.0f} consumers{who} at work: {need}."
        elif name == "brokers":
            yield f"{_brokers_text(task.hosts)}: {need}, so that each leads."
        else:
            yield f"The topic has {least}; partitions can only be added."


def _order(sized: SizedPartitions) -> Iterator[str]:
    """Yield what an order of records, in all or by key, means for the count."""
    task = sized.asked.task
    if task.is_ordered:
        yield "A total order of the records needs one partition."
    share = task.load.hottest_share
    if share:
        useful = plural(ceil(1 / share - ROUNDING), "partition")
        yield (
            f"The hottest key has {percent_text(share)} of the records, in one "
            f"partition: more than {useful} do not make the busiest one any lighter."
        )


def _brokers_text(hosts: Hosts) -> str:
    if hosts.must_lead == hosts.brokers:
        return plural(hosts.brokers, "broker")
    return f"{hosts.must_lead} of {hosts.brokers} brokers"


def _rate(value: float) -> str:
    return f"{bytes_text(value)}/s"


def _choice(sized: SizedPartitions) -> Iterator[str]:
    answer, hosts = sized.answer, sized.asked.task.hosts
    if answer.recommended is None:
        yield conflict_text(answer)
        return
    least, chosen = answer.needed, answer.recommended
    if not hosts.is_even:
        yield f"{chosen} is the smallest count within every known limit."
        return
    if chosen < hosts.brokers:
        yield f"{chosen} of the {hosts.brokers} brokers can lead one each."
    else:
        even = f"{chosen} is a multiple of the {plural(hosts.brokers, 'broker')}"
        yield f"{even}: each can lead {chosen // hosts.brokers}."
    if least is not None and least < chosen:
        yield f"{least} would meet the other known needs, unevenly (--uneven)."


def conflict_text(answer: CountAnswer) -> str:
    """Return the smallest set of limits that no count meets, as a sentence."""
    names = answer.conflict
    if names == (FACTOR,):
        hosts = answer.task.hosts
        return (
            f"Replication factor {hosts.factor} needs as many brokers, and there are "
            f"{hosts.brokers}."
        )
    remedies = [REMEDIES[name] for name in REMEDIES if _is_among(name, names)]
    listed = " and ".join(names)
    return (
        f"No count from 1 to {MOST_PARTITIONS:,} meets {listed}: "
        f"{', or '.join(remedies)}."
    )


def _is_among(name: str, names: tuple[str, ...]) -> bool:
    """Return whether a limit is in a conflict, of any consumer group."""
    return any(one == name or one.startswith(f"{name} of ") for one in names)


def _bounds(sized: SizedPartitions) -> Iterator[str]:
    """Yield what the brokers allow, and what the count costs."""
    answer, shown = sized.answer, sized.shown
    if answer.recommended is not None and answer.largest_by not in {"", "order"}:
        yield f"The brokers allow at most {answer.largest:,} ({answer.largest_by})."
    uses = {use.name: use for use in shown.uses}
    latency, recovery = uses["latency"], uses["recovery"]
    yield (
        f"With {shown.partitions} partitions replication adds about "
        f"{1000 * latency.used:.3g} ms to the end-to-end latency, and recovery from an "
        f"unclean stop of the cluster takes about {_short_time(recovery.used)}."
    )


def _short_time(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else duration_text(seconds)


def _advice(sized: SizedPartitions) -> Iterator[str]:
    asked, chosen = sized.asked, sized.answer.recommended
    current = asked.task.hosts.current
    if chosen is None or not asked.is_keyed:
        return
    if current and chosen > current:
        yield (
            f"Growing from {current} to {chosen} moves keys to other partitions: drain "
            "the topic first, or write to a new one."
        )
    elif not current:
        yield "Keys keep their partition only while the count stays the same."
