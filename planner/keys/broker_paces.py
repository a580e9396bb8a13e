"""Slow brokers, and partitions without a leader, for records without keys (KIP-794)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assignment.partitioners import Partitioner
from assignment.partitioners.built_in import SlowBrokers
from assignment.partitioners.java_clients import JavaDefault
from planner.errors import BadInputError, InputProblem
from planner.io.problems import problem
from planner.text.format import percent_text

SLOW, AWAY, TIMEOUT = "--slow", "--away", "--availability-timeout"
NOT_ADAPTIVE = "--no-adaptive"


@dataclass(frozen=True, slots=True, kw_only=True)
class PacesRequest:
    """
    Options on brokers that are slow or away, unparsed.

    Parameters
    ----------
    slow
        ``PARTITION=FACTOR``: the part of an even share of the records that the broker
        of a partition takes.
    away
        Partitions without a leader.
    is_adaptive
        ``partitioner.adaptive.partitioning.enable``.
    timeout_batches
        Batches that the producer fills in ``partitioner.availability.timeout.ms``; 0
        for no timeout.
    """

    slow: Sequence[str] = ()
    away: Sequence[int] = ()
    is_adaptive: bool = True
    timeout_batches: int = 0

    def options(self) -> Iterator[str]:
        """Yield the options that are given."""
        given = {
            SLOW: self.slow,
            AWAY: self.away,
            NOT_ADAPTIVE: not self.is_adaptive,
            TIMEOUT: self.timeout_batches,
        }
        yield from (option for option, value in given.items() if value)

    def refuse_beside(self, option: str) -> None:
        """
        Refuse the options beside one that spreads records without keys evenly.

        Raises
        ------
        BadInputError
            If any is given.
        """
        rule = f"must be without {option}, which spreads records without keys evenly"
        problems = [
            problem("command line", each, None, rule, "leave one of the two out")
            for each in self.options()
        ]
        if problems:
            msg = "brokers are not simulated like this"
            raise BadInputError(msg, problems)

    def problems(
        self, partitioners: Sequence[Partitioner], count: int, *, has_sweep: bool
    ) -> Iterator[InputProblem]:
        """Yield the problems of the options for partitioners and partitions."""
        yield from self._unused(partitioners, has_sweep=has_sweep)
        yield from self._wrong_partitions(count)
        if not self.timeout_batches:
            return
        if not self.is_adaptive:
            rule = f"has no effect with {NOT_ADAPTIVE}"
            yield _problem(TIMEOUT, self.timeout_batches, rule, "leave one of them out")
        elif not any(factor == 0 for factor in self._factors().values()):
            rule = "needs a broker that takes nothing"
            remedy = f"add {SLOW} PARTITION=0"
            yield _problem(TIMEOUT, self.timeout_batches, rule, remedy)

    def _unused(
        self, partitioners: Sequence[Partitioner], *, has_sweep: bool
    ) -> Iterator[InputProblem]:
        for option in self.options():
            for one in partitioners:
                if not _is_built_in(one):
                    rule = "does not draw partitions by the queues of their brokers"
                    remedy = f"leave {option} out, or compare default and builtin alone"
                    yield _problem(option, one.name, rule, remedy)
        if has_sweep and (self.slow or self.away):
            option = SLOW if self.slow else AWAY
            rule = "is for one number of partitions"
            yield _problem(option, None, rule, "leave out --sweep")

    def _wrong_partitions(self, count: int) -> Iterator[InputProblem]:
        seen: set[int] = set()
        for option, text, partition in self._named():
            if partition is None:
                rule = "must be PARTITION=FACTOR, with a factor from 0 to 1"
                yield _problem(option, text, rule, "for example 3=0.5")
            elif not 0 <= partition < count:
                rule = f"must be a partition from 0 to {count - 1}"
                yield _problem(option, text, rule)
            elif partition in seen:
                rule = f"names partition {partition} again"
                yield _problem(option, text, rule, "give one pace for each")
            else:
                seen.add(partition)
        if len(seen.intersection(self.away)) == count:
            rule = "must leave a partition with a leader"
            yield _problem(AWAY, len(self.away), rule, "leave one out")

    def _named(self) -> Iterator[tuple[str, str, int | None]]:
        """Yield option, text and partition of each; `None` if it cannot be read."""
        for text in self.slow:
            found = _factor(text)
            yield SLOW, text, None if found is None else found[0]
        for partition in self.away:
            yield AWAY, str(partition), partition

    def _factors(self) -> dict[int, float]:
        return dict(each for text in self.slow if (each := _factor(text)) is not None)

    def applied(self, partitioner: Partitioner, count: int) -> Partitioner:
        """Return a partitioner with the paces of its brokers; itself without any."""
        if not isinstance(partitioner, JavaDefault) or not (self.slow or self.away):
            return partitioner
        drained = np.ones(count)
        for partition, factor in self._factors().items():
            drained[partition] = factor / count
        is_away = np.isin(np.arange(count), list(self.away))
        slow = SlowBrokers(drained, self.timeout_batches, is_away)
        return replace(partitioner, slow=slow, is_adaptive=self.is_adaptive)


def paces_note(partitioner: Partitioner) -> str:
    """Return the paces of brokers in a simulation; empty where all are alike."""
    slow = partitioner.slow if isinstance(partitioner, JavaDefault) else None
    if slow is None:
        return ""
    factors = slow.drained * len(slow.drained)
    parts = [
        f"partition {p} takes {percent_text(float(factors[p]))} of an even share"
        for p in np.flatnonzero(slow.drained < 1).tolist()
    ]
    away = np.flatnonzero(~slow.has_leader).tolist()
    return "; ".join([*parts, *(f"partition {p} has no leader" for p in away)])


def _is_built_in(partitioner: Partitioner) -> bool:
    return isinstance(partitioner, JavaDefault) and not partitioner.is_sticky


def _factor(text: str) -> tuple[int, float] | None:
    """Return partition and factor of a text such as ``3=0.5``; `None` if wrong."""
    name, _, number = text.partition("=")
    try:
        partition, factor = int(name), float(number)
    except ValueError:
        return None
    return (partition, factor) if 0 <= factor <= 1 else None


def _problem(option: str, value: object, rule: str, remedy: str = "") -> InputProblem:
    return problem("command line", option, value, rule, remedy)
