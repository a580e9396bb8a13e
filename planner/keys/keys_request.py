"""Options of `keys skew`, unparsed, and the answer to them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from assignment.errors import UserPartitionerError
from assignment.partitioners.built_in import BATCH_BYTES
from planner.errors import BadInputError, InputProblem
from planner.io.gatherer import Gatherer
from planner.io.problems import problem
from planner.keys.broker_paces import PacesRequest
from planner.keys.key_sample import KeySample
from planner.keys.key_skew import KeySkew, SkewOptions, find_skew
from planner.keys.partitioner_names import named_partitioner

MOST_PARTITIONS = 1_000_000
"""More partitions than Kafka's controllers hold in one cluster."""
MOST_SWEPT = 1000
"""Longest range of a sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkewRequest:
    """
    Options of `keys skew`, unparsed.

    Parameters
    ----------
    partitions
        Partitions of the topic.
    partitioners
        Names, the first of which places the sample.
    sweep
        Numbers of partitions, such as ``3-48`` or ``6,12,24``.
    num_hot
        Hottest keys listed.
    batch_bytes
        ``batch.size``.
    seed
        Seed of records whose keys do not decide.
    paces
        Brokers that are slow or away.
    """

    partitions: int
    partitioners: Sequence[str] = ("default",)
    sweep: str | None = None
    num_hot: int = 10
    batch_bytes: int = BATCH_BYTES
    seed: int = 1
    paces: PacesRequest = field(default_factory=PacesRequest)

    def options(self) -> SkewOptions:
        """
        Return the parsed options.

        Raises
        ------
        BadInputError
            With every problem of the options.
        """
        inputs, size = Gatherer(), self.batch_bytes
        read = [
            inputs.read(partial(named_partitioner, name, batch_bytes=size))
            for name in self.partitioners
        ]
        sweep = _counts(self.sweep, inputs.problems)
        named, count = [one for one in read if one is not None], self.partitions
        if 1 <= count <= MOST_PARTITIONS:
            inputs.problems += self.paces.problems(named, count, has_sweep=bool(sweep))
        else:
            inputs.problems.append(out_of_range("--partitions", count))
        inputs.raise_problems("the skew cannot be computed with these options")
        return SkewOptions(
            num_partitions=self.partitions,
            partitioners=[self.paces.applied(one, count) for one in named],
            sweep=sweep,
            num_hot=self.num_hot,
            seed=self.seed,
        )


def answer_skew(sample: KeySample, options: SkewOptions) -> KeySkew:
    """
    Return the skew of a sample.

    Raises
    ------
    BadInputError
        If a partitioner of the user fails.
    """
    try:
        return find_skew(sample, options)
    except UserPartitionerError as error:
        raise user_failure(error) from error


def _counts(text: str | None, problems: list[InputProblem]) -> list[int]:
    """Return numbers of partitions from a text such as ``3-6,12``."""
    if text is None:
        return []
    found: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        is_number = low.isdecimal() and (high.isdecimal() if dash else True)
        first, last = (int(low), int(high or low)) if is_number else (0, 0)
        if not 1 <= first <= last <= MOST_PARTITIONS or last - first > MOST_SWEPT:
            rule = f"must be counts from 1, or ranges of at most {MOST_SWEPT} of them"
            problems.append(
                problem("command line", "--sweep", part, rule, "for example 3-48")
            )
            continue
        found += range(first, last + 1)
    return list(dict.fromkeys(found))


def out_of_range(option: str, count: int) -> InputProblem:
    """Return the problem of a number of partitions that no topic has."""
    rule = f"must be from 1 to {MOST_PARTITIONS}"
    return problem("command line", option, count, rule)


def user_failure(error: UserPartitionerError) -> BadInputError:
    """Return the error of a partitioner of the user."""
    found = problem("command line", "--partitioner", None, str(error), "correct it")
    msg = "the partitioner failed"
    return BadInputError(msg, [found])
