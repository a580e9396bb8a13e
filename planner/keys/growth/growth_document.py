"""The document of `keys grow`, and its records."""

from typing import Any

from planner.io.records import Int32, Record
from planner.keys.growth.key_growth import KeyGrowth
from planner.keys.growth.topic_facts import TopicFacts
from planner.keys.key_skew import counts_of
from planner.keys.key_types import key_text
from planner.keys.skew_document import KeySampleRecord, partition_or_none, sample_record
from planner.text.document_numbers import rounded
from planner.text.format import percent_text, plural

MOST_NAMED = 10


class MovedKeyRecord(Record):
    """A key that changes partition."""

    key: str | None
    records: int
    before: Int32
    after: Int32 | None


class CompactedRecord(Record):
    """Keys whose last old value outlives every new one; `topic`: null if unknown."""

    topic: bool | None
    keys: int
    message: str


class WayAroundRecord(Record):
    """A way to grow without lost order, or with less of it."""

    way: str
    message: str


class GrowthCountRecord(Record):
    """Figures of a number of partitions."""

    partitions: int
    moved_share: float | None
    expected_moved_share: float
    max_over_mean: float


class KeysGrowRecord(Record):
    """
    Answer of `keys grow`; `moved_share` is of keys, null if none has an effect.

    `streams_topics`: internal topics of Kafka Streams with as many partitions today.
    """

    sample: KeySampleRecord
    partitioner: str
    before: int
    after: int
    moved_share: float | None
    expected_moved_share: float
    keys_moved: int
    records_moved: int
    records_moved_share: float
    max_over_mean_before: float
    max_over_mean_after: float
    examples: list[MovedKeyRecord]
    compacted: CompactedRecord
    co_partitioned: list[str]
    streams_topics: list[str]
    smallest_multiple: int
    counts: list[GrowthCountRecord]
    ways_around: list[WayAroundRecord]
    notes: list[str]


def growth_document(growth: KeyGrowth, facts: TopicFacts) -> dict[str, Any]:
    """Return the document of a growth."""
    first = growth.rows[0]
    return KeysGrowRecord(
        sample=sample_record(counts_of(growth.sample)),
        partitioner=growth.options.partitioner.name,
        before=growth.options.old,
        after=growth.options.new,
        moved_share=None if first.share is None else rounded(first.share),
        expected_moved_share=rounded(first.expected),
        keys_moved=len(growth.moved_rows),
        records_moved=round(growth.records_moved),
        records_moved_share=rounded(growth.records_share),
        max_over_mean_before=rounded(growth.before.max_over_mean),
        max_over_mean_after=rounded(growth.after.max_over_mean),
        examples=_examples(growth),
        compacted=_compacted(growth, facts),
        co_partitioned=list(facts.co_partitioned),
        streams_topics=list(facts.streams_topics),
        smallest_multiple=growth.smallest_multiple,
        counts=[
            GrowthCountRecord(
                partitions=row.num_partitions,
                moved_share=None if row.share is None else rounded(row.share),
                expected_moved_share=rounded(row.expected),
                max_over_mean=rounded(row.max_over_mean),
            )
            for row in growth.rows
        ],
        ways_around=_ways_around(growth),
        notes=[*growth.sample.notes, *_notes(growth, facts)],
    ).model_dump()


def _examples(growth: KeyGrowth) -> list[MovedKeyRecord]:
    sample = growth.sample
    return [
        MovedKeyRecord(
            key=key_text(sample.keys[row], sample.key_type, sample.prefix_bytes),
            records=round(float(sample.records_by_key[row])),
            before=int(growth.before.key_partitions[row]),
            after=partition_or_none(int(growth.after.key_partitions[row])),
        )
        for row in growth.moved_rows[: growth.options.num_examples].tolist()
    ]


def _compacted(growth: KeyGrowth, facts: TopicFacts) -> CompactedRecord:
    stale = 0 if facts.is_compacted is False else len(growth.moved_rows)
    if facts.is_compacted is False:
        message = "the topic is not compacted"
    elif not growth.num_keys:
        message = "no key decides a partition, so that none moves"
    else:
        scope = "" if facts.is_compacted else "if the topic is compacted: "
        message = (
            f"{scope}the last value of each moved key stays on its old partition, "
            "where no newer value and no tombstone replaces it; readers of both "
            "partitions may see the old value after the new one"
        )
    return CompactedRecord(topic=facts.is_compacted, keys=stale, message=message)


def _ways_around(growth: KeyGrowth) -> list[WayAroundRecord]:
    if not growth.num_keys:
        return []
    old, new = growth.options.old, growth.options.new
    multiple = growth.smallest_multiple
    ways = []
    if multiple != new:
        row = next(r for r in growth.rows if r.num_partitions == multiple)
        ways.append(_multiple_way(old, new, multiple, row.expected))
    ways.append(
        WayAroundRecord(
            way="new-topic",
            message=f"create a topic of {new} partitions, let producers write to both, "
            "copy the old records by key, move the consumers, then stop the old writes",
        )
    )
    ways.append(
        WayAroundRecord(
            way="drain",
            message="stop the producers, let every consumer reach the end of the log, "
            "add the partitions, and start the producers: every old record of a moved "
            "key is processed before the first new one",
        )
    )
    return ways


def _multiple_way(old: int, new: int, multiple: int, share: float) -> WayAroundRecord:
    return WayAroundRecord(
        way="multiple",
        message=f"grow to {multiple} partitions: by theory {percent_text(share)} of "
        f"the keys move, each by a multiple of {old}, so that every new partition has "
        f"keys of one old partition alone; with {new} the keys of all are mixed",
    )


def _notes(growth: KeyGrowth, facts: TopicFacts) -> list[str]:
    name, notes = growth.options.partitioner.name, []
    if not growth.num_keys:
        notes.append(f"{name} places none of these records by key: none has an order")
    moved = len(growth.moved_rows)
    if moved:
        notes.append(
            f"order is lost across the change for {plural(moved, 'key')}: records "
            "before it are on another partition than records after it"
        )
        notes.append(
            "state of Kafka Streams stays in the changelog partition of the old "
            "partition: reset the application, or move it to a new topic"
        )
    if facts.co_partitioned:
        listed = ", ".join(facts.co_partitioned)
        notes.append(f"topics joined with it must grow to the same count: {listed}")
    if facts.other_counts:
        each = ", ".join(f"{name} has {count}" for name, count in facts.other_counts)
        notes.append(
            f"not co-partitioned today, so that a join by key misses records: {each}, "
            f"and this topic {growth.options.old}"
        )
    if facts.streams_topics:
        listed = ", ".join(facts.streams_topics[:MOST_NAMED])
        rest = len(facts.streams_topics) - MOST_NAMED
        more = f" and {rest} more" if rest > 0 else ""
        notes.append(
            "internal topics of Kafka Streams with as many partitions, which must grow "
            f"with it if their application reads it: {listed}{more}"
        )
    return notes
