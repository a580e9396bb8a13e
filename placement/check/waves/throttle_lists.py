"""
Check, from the lists alone, that Kafka's tool can throttle the files of a wave.

`kafka-reassign-partitions --throttle` writes two configs for each topic in a file: the
current replicas of its partitions and the new ones, as ``partition:broker`` separated
by commas. Kafka cannot store a value of over 32,767 bytes (KAFKA-17993).
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from placement.check.case.finding import Finding, Where

Key = tuple[str, int]
Lists = Mapping[Key, Sequence[int]]
MOST_BYTES = 2**15 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveProperties:
    """
    Properties of one wave other than its lists.

    Parameters
    ----------
    parts
        Lists of each part; empty where the wave is one file.
    wildcards
        Topics to throttle with ``*`` where the whole wave is run at once.
    bytes_per_s
        Bytes/s at which a broker sends, and receives, copies; `None`: unknown.
    """

    parts: Sequence[Lists] = ()
    wildcards: Collection[str] = ()
    bytes_per_s: float | None = None


def file_findings(
    number: int, now: Lists, wave: Lists, properties: WaveProperties
) -> Iterator[Finding]:
    """
    Yield the problems that prevent the files of a wave from being run.

    Parameters
    ----------
    number
        Number of the wave.
    now
        Lists of the wave's partitions before the wave.
    wave
        Lists of the wave.
    properties
        Parts and wildcards of the wave.
    """
    if properties.parts and not _make_up(properties.parts, wave):
        yield _finding(number, None, "has parts that do not make up the whole")
    for topic, most in _longest(now, wave).items():
        if most > MOST_BYTES and topic not in properties.wildcards:
            message = f"throttles {topic} by a list of {most} B, and does not say so"
            yield _finding(number, topic, message)
    for place, part in enumerate(properties.parts or [wave], start=1):
        for topic, most in _longest(now, part).items():
            is_cut = len({p for t, p in part if t == topic}) > 1
            if most > MOST_BYTES and is_cut:
                message = f"has a file, {place}, that throttles {topic} by a list of "
                yield _finding(number, topic, f"{message}{most} B, over {MOST_BYTES}")


def _make_up(parts: Sequence[Lists], wave: Lists) -> bool:
    """Return whether the parts contain each list of a wave once, and no other."""
    joined = {key: list(row) for part in parts for key, row in part.items()}
    is_once = sum(map(len, parts)) == len(joined)
    return is_once and joined == {key: list(row) for key, row in wave.items()}


def _longest(now: Lists, file: Lists) -> dict[str, int]:
    """Return the bytes of the longer throttle list of each topic in a file."""
    leaders: dict[str, list[str]] = defaultdict(list)
    followers: dict[str, list[str]] = defaultdict(list)
    for (topic, number), new in file.items():
        old = now.get((topic, number), ())
        leaders[topic] += [f"{number}:{broker}" for broker in old]
        followers[topic] += [
            f"{number}:{broker}" for broker in new if broker not in old
        ]
    return {
        topic: max(len(",".join(lists[topic])) for lists in (leaders, followers))
        for topic in leaders
    }


def _finding(number: int, topic: str | None, message: str) -> Finding:
    return Finding(
        rule="wave-throttle",
        where=Where(topic=topic),
        message=f"wave {number} {message}",
    )
