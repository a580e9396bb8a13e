"""Note on the keys of a topic that gets more partitions."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assignment.partitioners.balls_into_bins import moved_share, smallest_multiple
from placement.draft.draft import Note
from planner.options.declared.plan_options import PlanOptions
from planner.options.option_reader import OptionReader
from planner.plan.documents.note_document import KEYS_MOVE
from planner.text.format import counted, percent_text

if TYPE_CHECKING:
    from planner.keys.growth.key_growth import KeyGrowth

_OF_SAMPLE = ("partitioner", "sample_format", "key_column", "key_type", "schema_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class GrownTopic:
    """
    A topic that gets more partitions.

    Parameters
    ----------
    name
        Name of the topic.
    old, new
        Partitions before and after.
    is_compacted
        Whether the topic is compacted, so that old values of moved keys stay.
    """

    name: str
    old: int
    new: int
    is_compacted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledGrowth:
    """
    Keys of a sample that a topic moves when it grows.

    Parameters
    ----------
    growth
        Figures of `keys grow`.
    words
        Words of the command that shows them.
    """

    growth: "KeyGrowth"
    words: list[str] = field(default_factory=list)


def check_keys(options: PlanOptions, reader: OptionReader) -> None:
    """Refuse options of a sample without a sample, and ids that no schema has."""
    most, schema = 2**31 - 1, options.schema_id
    if schema is not None and not 0 <= schema <= most:
        rule = f"must be from 0 to {most}"
        reader.refuse("--schema-id", schema, rule, "name the id in the registry")
    for name in _OF_SAMPLE if options.keys is None else ():
        value = getattr(options, name)
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            reader.refuse(option, value, "is for a sample of keys", "add --keys FILE")


def sampled_growth(options: PlanOptions, topic: GrownTopic) -> SampledGrowth | None:
    """
    Return the keys of a sample that the growth of a topic moves, if there is a sample.

    Raises
    ------
    BadInputError
        If the sample cannot be read, or an option of it is wrong.
    """
    if options.keys is None:
        return None
    # Only a plan with a sample reads keys.
    from planner.keys.formats.read_sample import read_sample
    from planner.keys.growth.growth_request import answer_growth
    from planner.keys.partitioner_names import named_partitioner
    from planner.keys.sample_options import SampleOptions

    reading = SampleOptions(
        sample_format=options.sample_format,
        key_column=options.key_column or "key",
        key_type=options.key_type,
        schema_id=options.schema_id,
        topic=topic.name,
    )
    name = options.partitioner or "default"
    # Before the sample, which may be large.
    named_partitioner(name)
    sample = read_sample(Path(options.keys), reading)
    growth = answer_growth(sample, topic.old, topic.new, name)
    words = ["kafka-planner", "keys", "grow", options.keys]
    words += ["--from", str(topic.old), "--to", str(topic.new)]
    for each in _OF_SAMPLE:
        if (value := getattr(options, each)) is not None:
            words += [f"--{each.replace('_', '-')}", str(value)]
    return SampledGrowth(growth=growth, words=words)


def key_notes(topic: GrownTopic, sampled: SampledGrowth | None) -> Iterator[Note]:
    """
    Yield a note on the share of keys that change partition, if the topic exists.

    Parameters
    ----------
    topic
        The topic; no note if it has no partition yet.
    sampled
        Keys of a sample; `None` for the share by theory.
    """
    if topic.old:
        text = _by_theory(topic) if sampled is None else _by_sample(topic, sampled)
        yield Note(KEYS_MOVE, text, where={"topic": topic.name})


def _by_theory(topic: GrownTopic) -> str:
    share = percent_text(moved_share(topic.old, topic.new))
    multiple = smallest_multiple(topic.old, topic.new)
    at_multiple = percent_text(moved_share(topic.old, multiple))
    return (
        f"producers that place records by key put {share} of the keys of {topic.name} "
        f"on other partitions: {_lost_text(topic)}{_fewer_text(topic, at_multiple)} "
        "See with a sample of keys: kafka-planner keys grow SAMPLE --from "
        f"{topic.old} --to {topic.new}"
    )


def _by_sample(topic: GrownTopic, sampled: SampledGrowth) -> str:
    growth, see = sampled.growth, f"See which: {shlex.join(sampled.words)}"
    name, source = growth.options.partitioner.name, growth.sample.source
    if not growth.num_keys:
        none = f"{name} places no record of {source} by its key"
        return f"{none}: no order is lost. {see}"
    shares = {row.num_partitions: row.share or 0.0 for row in growth.rows}
    moved = counted(len(growth.moved_rows), "key")
    return (
        f"{name} puts {moved} of {growth.num_keys:,} in {source} on other partitions "
        f"of {topic.name} ({percent_text(shares[topic.new])}; by theory "
        f"{percent_text(moved_share(topic.old, topic.new))}), with "
        f"{percent_text(growth.records_share)} of the records: {_lost_text(topic)}"
        f"{_fewer_text(topic, percent_text(shares[growth.smallest_multiple]))} "
        f"The busiest partition has {growth.before.max_over_mean:.2f} x the mean now, "
        f"{growth.after.max_over_mean:.2f} x afterwards. {see}"
    )


def _lost_text(topic: GrownTopic) -> str:
    stale = ", and the last old values of these keys stay" if topic.is_compacted else ""
    return f"records before and after the change have no order{stale}."


def _fewer_text(topic: GrownTopic, share: str) -> str:
    multiple = smallest_multiple(topic.old, topic.new)
    if multiple == topic.new:
        return ""
    return (
        f" With {multiple} partitions, a multiple of {topic.old}, it would be {share}, "
        "and no new partition mixes keys of several."
    )
