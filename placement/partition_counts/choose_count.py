"""The recommended number of partitions, candidates beside it, and what binds each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from placement.array_types import BoolArray, CountArray
from placement.partition_counts.count_limits import (
    Limit,
    consumer_ceiling,
    limits_of,
    network_ceiling,
    producer_ceiling,
)
from placement.partition_counts.count_task import CountTask
from placement.partition_counts.even_counts import (
    even_from,
    is_even,
    most_leaders,
    most_replicas,
)

MOST_PARTITIONS = 100_000
"""Largest number of partitions that is considered."""
EVEN = "even-leaders"
"""Name of the rule that each broker leads the same number of partitions."""
FACTOR = "replication-factor"
"""Name of the rule that replicas of a partition are on distinct brokers."""
Rule = tuple[str, BoolArray]
"""Name of a rule, and ``(N,)`` true where a count keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """
    One limit at one count.

    Parameters
    ----------
    name, unit, group
        As of `Limit`.
    used, most, margin
        Amounts and ``most / used``; NaN if unknown.
    is_broken
        Whether the limit is known not to hold.
    is_known
        Whether both amounts are known in full.
    """

    name: str
    unit: str
    group: str
    used: float
    most: float
    margin: float
    is_broken: bool
    is_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """
    One number of partitions.

    Parameters
    ----------
    partitions
        Number of partitions.
    uses
        Every limit at this count.
    producer, consumer, brokers
        Bytes/s that producers can write to the topic, that its slowest group can read,
        and that the network of the brokers can take; NaN if unknown.
    is_even
        Whether leaders can be even, as `is_even` has it.
    leaders
        Smallest and largest number of partitions that a broker leads, at best.
    replicas
        Replicas of the topic on the fullest broker, at best.
    """

    partitions: int
    uses: tuple[Use, ...]
    producer: float
    consumer: float
    brokers: float
    is_even: bool
    leaders: tuple[int, int]
    replicas: int

    @property
    def binding(self) -> Use | None:
        """The limit with the smallest margin; `None` if all are unknown."""
        known = [use for use in self.uses if not np.isnan(use.margin)]
        return min(known, key=lambda use: use.margin, default=None)

    @property
    def broken(self) -> tuple[Use, ...]:
        """Limits that are known not to hold."""
        return tuple(use for use in self.uses if use.is_broken)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountAnswer:
    """
    Number of partitions that a topic needs.

    Parameters
    ----------
    task
        The question.
    recommended
        Smallest count that breaks no limit, with even leaders where the task asks for
        them; `None` if there is none.
    at_least
        Smallest count that meets the needs, whatever the brokers allow; `None` if no
        count does.
    needed
        The same without the need that each broker leads a partition.
    largest
        Largest count that breaks no limit of the brokers; `None` if there is none.
    largest_by
        Name of a limit that the next count breaks; empty without one.
    least_by_need
        Smallest count that meets each need alone, by name and group; `None` if no
        count does.
    candidates
        Counts side by side, ascending.
    conflict
        Names of a smallest set of limits that no count meets together; empty with an
        answer.
    """

    task: CountTask
    recommended: int | None
    at_least: int | None
    needed: int | None
    largest: int | None
    largest_by: str
    least_by_need: tuple[tuple[str, str, int | None], ...]
    candidates: tuple[Candidate, ...]
    conflict: tuple[str, ...]


def choose_count(task: CountTask, others: Iterable[int] = ()) -> CountAnswer:
    """
    Choose the number of partitions of a topic.

    Parameters
    ----------
    task
        The question.
    others
        Counts to compare besides, each from 1 to `MOST_PARTITIONS`.

    Notes
    -----
    Every count up to `MOST_PARTITIONS` is evaluated. At any one count, more throughput
    only shrinks margins, so that it never makes the recommended count smaller.
    """
    counts: CountArray = np.arange(1, MOST_PARTITIONS + 1, dtype=np.int64)
    limits = limits_of(task, counts)
    rules = [(_name(limit), ~limit.is_broken) for limit in limits]
    rules += _shape_rules(task, counts)
    needs = [limit for limit in limits if limit.is_need]
    caps = [limit for limit in limits if not limit.is_need]
    is_met = _all([rule for _, rule in rules])
    recommended = _first(is_met)
    at_least = _first(_all([~limit.is_broken for limit in needs]))
    largest = _last(_all([~limit.is_broken for limit in caps]))
    own = [~limit.is_broken for limit in needs if limit.name != "brokers"]
    by_need = tuple((one.name, one.group, _first(~one.is_broken)) for one in needs)
    shown = _shown(task, [recommended, at_least, *(least for *_, least in by_need)])
    picked = sorted({*shown, *_within([*others, _last(is_met)])})
    return CountAnswer(
        task=task,
        recommended=recommended,
        at_least=at_least,
        needed=_first(_all(own)),
        largest=largest,
        largest_by=_next_broken(caps, largest),
        least_by_need=by_need,
        candidates=candidates_of(task, picked),
        conflict=() if recommended else _conflict(rules),
    )


def _shape_rules(task: CountTask, counts: CountArray) -> Iterator[Rule]:
    """Yield the rules that have no margin: enough brokers, even leaders."""
    hosts = task.hosts
    yield FACTOR, np.full(counts.shape, hosts.factor <= hosts.brokers)
    if hosts.is_even:
        yield EVEN, is_even(counts, hosts.brokers, hosts.leading)


def _name(limit: Limit) -> str:
    return f"{limit.name} of {limit.group}" if limit.group else limit.name


def _all(masks: Sequence[BoolArray]) -> BoolArray:
    found: BoolArray = np.logical_and.reduce(masks)
    return found


def _first(mask: BoolArray) -> int | None:
    return int(mask.argmax()) + 1 if mask.any() else None


def _last(mask: BoolArray) -> int | None:
    return len(mask) - int(mask[::-1].argmax()) if mask.any() else None


def _next_broken(caps: Sequence[Limit], largest: int | None) -> str:
    """Return the name of the first limit that the count after the largest breaks."""
    if largest is None or largest == MOST_PARTITIONS:
        return ""
    return next(limit.name for limit in caps if limit.is_broken[largest])


def _within(counts: Iterable[int | None]) -> Iterator[int]:
    return (n for n in counts if n is not None and 1 <= n <= MOST_PARTITIONS)


def _shown(task: CountTask, found: Iterable[int | None]) -> set[int]:
    """Return the counts of interest, and those with even leaders around them."""
    own = set(_within([*found, task.hosts.current]))
    hosts = task.hosts
    pivot = max(own, default=hosts.brokers)
    even = even_from(pivot, hosts.brokers, hosts.leading)
    below = pivot // hosts.brokers * hosts.brokers
    return own | set(_within([below, even, 2 * even]))


def candidates_of(task: CountTask, counts: Sequence[int]) -> tuple[Candidate, ...]:
    """Evaluate some counts, each at least 1."""
    picked: CountArray = np.array(counts, dtype=np.int64)
    limits, brokers = limits_of(task, picked), task.hosts.brokers
    producer = producer_ceiling(task, picked)
    read = [consumer_ceiling(one, task.load, picked) for one in task.load.readers]
    # `fmin` ignores unknown rates of a group unless all of them are.
    consumer = np.fmin.reduce(read) if read else np.full(picked.shape, np.nan)
    network = network_ceiling(task, picked)
    even = is_even(picked, brokers, task.hosts.leading)
    leaders = most_leaders(picked, brokers)
    replicas = most_replicas(picked, task.hosts.racks, task.hosts.factor)
    return tuple(
        Candidate(
            partitions=int(picked[row]),
            uses=tuple(_use(limit, row) for limit in limits),
            producer=float(producer[row]),
            consumer=float(consumer[row]),
            brokers=float(network[row]),
            is_even=bool(even[row]),
            leaders=(int(picked[row]) // brokers, int(leaders[row])),
            replicas=int(replicas[row]),
        )
        for row in range(len(picked))
    )


def _use(limit: Limit, row: int) -> Use:
    return Use(
        name=limit.name,
        unit=limit.unit,
        group=limit.group,
        used=float(limit.used[row]),
        most=float(limit.most[row]),
        margin=float(limit.margin[row]),
        is_broken=bool(limit.is_broken[row]),
        is_known=limit.is_known,
    )


def _conflict(rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return the names of a smallest set of rules that no count meets together."""
    for size in range(1, len(rules) + 1):
        for chosen in combinations(rules, size):
            if not _all([mask for _, mask in chosen]).any():
                return tuple(name for name, _ in chosen)
    return ()
