"""Facts of a topic that grows: compaction, topics joined with it, Kafka Streams."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.errors import BadInputError
from planner.io.problems import problem
from planner.text.suggest import near

if TYPE_CHECKING:
    from planner.snapshot import Snapshot

STREAMS_SUFFIXES = ("-changelog", "-repartition")
"""Ends of the names of topics that Kafka Streams makes for its own state and joins."""
POLICY = "cleanup.policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFacts:
    """
    Facts of the topic that grows.

    Parameters
    ----------
    topic
        Name of the topic; `None` if unknown.
    is_compacted
        Whether its log is compacted; `None` if unknown.
    co_partitioned
        Topics that are joined with it and must have as many partitions.
    other_counts
        Topics joined with it that have another number of partitions today, each with
        its number: they are not co-partitioned.
    streams_topics
        Internal topics of Kafka Streams with as many partitions, which must grow too
        if their application reads the topic.
    """

    topic: str | None = None
    is_compacted: bool | None = None
    co_partitioned: tuple[str, ...] = ()
    other_counts: tuple[tuple[str, int], ...] = ()
    streams_topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTopics:
    """
    Topics of a cluster.

    Parameters
    ----------
    place
        Snapshot, or address of a running cluster, for problems.
    counts
        Partitions of each topic.
    policy
        ``cleanup.policy`` of the topic that grows; `None` if it is hidden.
    """

    place: str
    counts: Mapping[str, int]
    policy: str | None


def known_topics(snapshot: "Snapshot", topic: str) -> KnownTopics:
    """Return the topics of a snapshot, and the policy of one."""
    configs = dict(
        zip(
            snapshot.topics["topic"].to_pylist(),
            snapshot.topics["configs"].to_pylist(),
            strict=True,
        )
    )
    policy = dict(configs.get(topic) or {}).get(POLICY)
    counts = Counter(snapshot.partitions["topic"].to_pylist())
    return KnownTopics(place="snapshot", counts=counts, policy=policy or "delete")


def topic_facts(
    known: KnownTopics | None, topic: str | None, joined: Sequence[str]
) -> tuple[TopicFacts, int | None]:
    """
    Return facts of a topic, and its number of partitions.

    Parameters
    ----------
    known
        Topics of the cluster, if there is one.
    topic
        Name of the topic, if known.
    joined
        Topics that are joined with it.

    Raises
    ------
    BadInputError
        If the cluster does not have a topic.
    """
    names = tuple(dict.fromkeys(joined))
    if known is None or topic is None:
        return TopicFacts(topic=topic, co_partitioned=names), None
    counts = known.counts
    missing = [name for name in (topic, *names) if name not in counts]
    if missing:
        raise _unknown_topics(missing, known)
    count = counts[topic]
    facts = TopicFacts(
        topic=topic,
        is_compacted=None if known.policy is None else "compact" in known.policy,
        co_partitioned=names,
        other_counts=tuple((n, counts[n]) for n in names if counts[n] != count),
        streams_topics=tuple(
            name
            for name in sorted(counts)
            if name.endswith(STREAMS_SUFFIXES) and counts[name] == count
        ),
    )
    return facts, count


def _unknown_topics(missing: Sequence[str], known: KnownTopics) -> BadInputError:
    names = list(known.counts)
    problems = [
        problem(known.place, "topics", name, "has no such topic", near(name, names))
        for name in missing
    ]
    msg = f"no topic {missing[0]}"
    return BadInputError(msg, problems)
