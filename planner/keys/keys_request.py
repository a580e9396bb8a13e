"""Options of `keys skew` and `keys grow`, unparsed, and the answers to them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from assignment.errors import UserPartitionerError
from assignment.partitioners.built_in import BATCH_BYTES
from planner.errors import BadInputError, InputProblem, raise_problems
from planner.io.gatherer import Gatherer
from planner.io.problems import problem
from planner.keys.broker_paces import PacesRequest
from planner.keys.growth_document import TopicFacts
from planner.keys.key_growth import GrowthOptions, KeyGrowth, find_growth
from planner.keys.key_sample import KeySample
from planner.keys.key_skew import KeySkew, SkewOptions, find_skew
from planner.keys.partitioner_names import named_partitioner
from planner.text.suggest import near

if TYPE_CHECKING:
    from planner.snapshot import Snapshot

MOST_PARTITIONS = 1_000_000
"""More partitions than Kafka's controllers hold in one cluster."""
MOST_SWEPT = 1000
"""Longest range of a sweep."""
STREAMS_SUFFIXES = ("-changelog", "-repartition")


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
            inputs.problems.append(_out_of_range("--partitions", count))
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


def answer_growth(
    sample: KeySample,
    old: int,
    new: int,
    partitioner: str,
    *,
    seed: int = 1,
    num_examples: int = 10,
) -> KeyGrowth:
    """
    Return the keys that change partition when a topic grows; some of them listed.

    Raises
    ------
    BadInputError
        If the topic would not grow, or there is no such partitioner.
    """
    named = named_partitioner(partitioner)
    problems = [
        _out_of_range(option, count)
        for option, count in (("--from", old), ("--to", new))
        if not 1 <= count <= MOST_PARTITIONS
    ]
    if new <= old:
        rule = f"must be over --from {old}: Kafka cannot take partitions away"
        problems.append(problem("command line", "--to", new, rule))
    raise_problems("the topic cannot grow like this", problems)
    options = GrowthOptions(
        old=old, new=new, partitioner=named, num_examples=num_examples, seed=seed
    )
    try:
        return find_growth(sample, options)
    except UserPartitionerError as error:
        raise user_failure(error) from error


def topic_facts(
    snapshot: "Snapshot | None", topic: str | None, joined: Sequence[str]
) -> tuple[TopicFacts, int | None]:
    """
    Return facts of a topic from a snapshot, and its number of partitions.

    Parameters
    ----------
    snapshot
        Snapshot of the cluster, if there is one.
    topic
        Name of the topic, if known.
    joined
        Topics that are joined with it.

    Raises
    ------
    BadInputError
        If the snapshot does not have a topic.
    """
    if snapshot is None or topic is None:
        return TopicFacts(topic=topic, co_partitioned=tuple(joined)), None
    counts = Counter(snapshot.partitions["topic"].to_pylist())
    missing = [name for name in (topic, *joined) if name not in counts]
    if missing:
        raise _unknown_topics(missing, list(counts))
    streams = [
        name
        for name in sorted(counts)
        if name.endswith(STREAMS_SUFFIXES) and counts[name] == counts[topic]
    ]
    facts = TopicFacts(
        topic=topic,
        is_compacted=_is_compacted(snapshot, topic),
        co_partitioned=tuple(dict.fromkeys(joined)),
        other_counts=tuple(
            (name, counts[name])
            for name in dict.fromkeys(joined)
            if counts[name] != counts[topic]
        ),
        streams_topics=tuple(streams),
    )
    return facts, counts[topic]


def _is_compacted(snapshot: "Snapshot", topic: str) -> bool:
    configs = dict(
        zip(
            snapshot.topics["topic"].to_pylist(),
            snapshot.topics["configs"].to_pylist(),
            strict=True,
        )
    )
    policy = dict(configs.get(topic) or {}).get("cleanup.policy")
    return "compact" in (policy or "delete")


def _unknown_topics(missing: Sequence[str], known: Sequence[str]) -> BadInputError:
    problems = [
        problem("snapshot", "topics", name, "has no such topic", near(name, known))
        for name in missing
    ]
    msg = "the topic is not in the snapshot"
    return BadInputError(msg, problems)


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


def _out_of_range(option: str, count: int) -> InputProblem:
    rule = f"must be from 1 to {MOST_PARTITIONS}"
    return problem("command line", option, count, rule)


def user_failure(error: UserPartitionerError) -> BadInputError:
    """Return the error of a partitioner of the user."""
    found = problem("command line", "--partitioner", None, str(error), "correct it")
    msg = "the partitioner failed"
    return BadInputError(msg, [found])
