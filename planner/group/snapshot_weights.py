"""Partitions, racks and weights that a snapshot or a table adds to a group."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from planner.errors import InputProblem, raise_problems
from planner.group.group_document import GroupDocument, lags_of
from planner.group.group_problems import refuse
from planner.group.group_records import TopicRecord
from planner.io.problems import problem
from planner.text.format import plural

if TYPE_CHECKING:
    from placement.model.cluster import ClusterState


_FILE = "the group"


class WeightSource(StrEnum):
    """Source of the weights of partitions: their lag, or the bytes written to them."""

    LAG = "lag"
    IN = "in"


def with_cluster(
    group: GroupDocument, state: "ClusterState", *, weigh_by_rate: bool = False
) -> GroupDocument:
    """
    Return the group with the partitions, racks and rates of a snapshot.

    Parameters
    ----------
    group
        The group, as imported.
    state
        The cluster. Topics that it lacks stay unchanged, with a note each.
    weigh_by_rate
        Whether the weight of a partition is its write rate in bytes/s.

    Raises
    ------
    BadInputError
        If the group has partitions that the cluster lacks, or if `weigh_by_rate` is
        set and the rate of any partition is unknown.
    """
    row_of = {name: row for row, name in enumerate(state.topics.names)}
    document = group.to_document()
    _refuse_excess_partitions(document, state, row_of)
    if weigh_by_rate:
        _refuse_another_cluster(document, row_of)
    notes = [note for note in group.notes if "--snapshot" not in note]
    _add_topics(document, state)
    for topic in document["topics"]:
        if topic["name"] in row_of:
            _add_topic(topic, state, row_of[topic["name"]])
            if weigh_by_rate:
                topic["weights"] = _rates(topic["name"], state, row_of[topic["name"]])
            continue
        rest = ""
        if weigh_by_rate and topic["partitions"]:
            topic["weights"] = [0.0] * topic["partitions"]
            rest = ": its partitions weigh nothing"
        notes.append(f"the snapshot has no topic {topic['name']}{rest}")
    return GroupDocument.from_document(document, notes=notes)


def _refuse_excess_partitions(
    document: dict[str, Any], state: "ClusterState", row_of: Mapping[str, int]
) -> None:
    """Refuse topics of which the group has more partitions than the cluster."""
    there = np.bincount(state.partitions.topic_idx, minlength=len(row_of)).tolist()
    found = [
        problem(
            _FILE,
            f"topic {topic['name']}",
            topic["partitions"],
            f"the snapshot has {there[row_of[topic['name']]]} partitions of this topic",
            "the snapshot is older than the group: take a new one, or leave it out",
        )
        for topic in document["topics"]
        if topic["name"] in row_of
        and topic["partitions"] > there[row_of[topic["name"]]]
    ]
    raise_problems("the group and the snapshot contradict each other", found)


def _refuse_another_cluster(
    document: dict[str, Any], row_of: Mapping[str, int]
) -> None:
    """Refuse a group of which the cluster has no topic, and so no rates."""
    names = [topic["name"] for topic in document["topics"] if topic["partitions"]]
    if names and row_of.keys().isdisjoint(names):
        rule = "the snapshot has none of these topics, and so no bytes in to weigh by"
        remedy = "give a snapshot of the cluster of the group, or weigh by lag"
        raise refuse(_FILE, [problem(_FILE, "topics", ", ".join(names), rule, remedy)])


def _add_topics(document: dict[str, Any], state: "ClusterState") -> None:
    """Add the topics to which members subscribe by name or by pattern."""
    from assignment.make_group import matches

    known = {topic["name"] for topic in document["topics"]}
    named = {name for member in document["members"] for name in member["topics"]}
    patterns = {m["pattern"] for m in document["members"] if m.get("pattern")}
    for name in state.topics.names:
        is_read = name in named or any(matches(pattern, name) for pattern in patterns)
        if is_read and name not in known:
            document["topics"].append({"name": name, "partitions": 0})


def _add_topic(topic: dict[str, Any], state: "ClusterState", row: int) -> None:
    partitions = np.nonzero(np.equal(state.partitions.topic_idx, row))[0].tolist()
    topic["partitions"] = len(partitions)
    topic["racks"] = [_racks(state, p) for p in partitions]
    if state.topics.topic_ids[row] is not None:
        topic["topic_id"] = state.topics.topic_ids[row]
    for key in ("committed_offsets", "log_end_offsets", "weights"):
        if topic.get(key) is not None:
            missing = [1.0 if key == "weights" else None] * len(partitions)
            topic[key] = (topic[key] + missing)[: len(partitions)]


def _racks(state: "ClusterState", partition: int) -> list[str]:
    start, stop = state.replicas.start[partition : partition + 2]
    racks = state.brokers.rack_idx[state.replicas.broker_idx[start:stop]]
    names = (state.brokers.racks[rack] for rack in racks.tolist())
    return [name for name in names if name]


def _rates(name: str, state: "ClusterState", row: int) -> list[float]:
    is_its = np.equal(state.partitions.topic_idx, row)
    rates = state.partitions.in_bytes_per_s[is_its]
    if np.isnan(rates).any():
        rule = "bytes in must be known for every partition to weigh by them"
        remedy = "take a snapshot with rates, or weigh by lag"
        found = problem("snapshot", f"topic {name}, in_bytes_per_s", None, rule, remedy)
        raise refuse(_FILE, [found])
    return [float(rate) for rate in rates]


def with_lag_weights(group: GroupDocument) -> GroupDocument:
    """
    Return the group with the lag of each partition, in messages, as its weight.

    Raises
    ------
    BadInputError
        If no lag is known. Partitions of unknown lag get the weight 0, with a note.
    """
    lags = {topic.name: lags_of(topic) for topic in group.record.topics}
    known = [lag for each in lags.values() for lag in each if lag is not None]
    if not known:
        rule = "lags must be known to weigh by them"
        found = problem(
            "the group", "topics", None, rule, "import the offsets of --describe"
        )
        raise refuse(_FILE, [found])
    document = group.to_document()
    for topic in document["topics"]:
        topic["weights"] = [float(lag or 0) for lag in lags[topic["name"]]]
    num_unknown = sum(map(len, lags.values())) - len(known)
    notes = [*group.notes]
    if num_unknown:
        notes.append(f"{num_unknown} partitions of unknown lag weigh nothing")
    return GroupDocument.from_document(document, notes=notes)


def with_table_weights(group: GroupDocument, text: str, file: str) -> GroupDocument:
    """
    Return the group with weights from a table of ``topic,partition,weight`` lines.

    Raises
    ------
    BadInputError
        If a line cannot be read, or names no partition of the group, or repeats one;
        names every such line. Partitions without a line get the weight 0.
    """
    topics = {topic.name: topic for topic in group.record.topics}
    weights = {name: [0.0] * topic.partitions for name, topic in topics.items()}
    problems: list[InputProblem] = []
    seen: set[tuple[str, int]] = set()
    for line, cells in enumerate(csv.reader(io.StringIO(text)), 1):
        if not cells or cells[0].startswith("#") or cells == _HEADINGS:
            continue
        rule = _weight_rule(cells, topics, seen)
        if rule:
            remedy = "write topic,partition,weight"
            value = ",".join(cells)
            problems.append(problem(file, f"line {line}", value, rule, remedy))
            continue
        name, number = cells[0].strip(), int(cells[1])
        seen.add((name, number))
        weights[name][number] = float(cells[2])
    if not seen and not problems:
        rule, remedy = "must have at least one line", "write topic,partition,weight"
        problems.append(problem(file, "", None, rule, remedy))
    raise_problems(f"{file} is not a table of weights", problems)
    document = group.to_document()
    for topic in document["topics"]:
        topic["weights"] = weights[topic["name"]]
    return GroupDocument.from_document(
        document, notes=[*group.notes, *_unnamed(weights, len(seen), file)]
    )


def _unnamed(
    weights: Mapping[str, Sequence[float]], num_named: int, file: str
) -> Iterator[str]:
    """Yield a note on the partitions that no line of a table names."""
    if rest := sum(map(len, weights.values())) - num_named:
        verb = "weighs" if rest == 1 else "weigh"
        yield f"{plural(rest, 'partition')} without a line in {file} {verb} nothing"


_HEADINGS = ["topic", "partition", "weight"]


def _weight_rule(
    cells: list[str], topics: Mapping[str, TopicRecord], seen: set[tuple[str, int]]
) -> str:
    """Return the rule that a line breaks; empty if the line is valid."""
    if len(cells) != len(_HEADINGS):
        return "must have three cells"
    name, number, weight = (cell.strip() for cell in cells)
    if name not in topics:
        return "must name a topic of the group"
    if not number.isdecimal() or int(number) >= topics[name].partitions:
        return f"must name one of {topics[name].partitions} partitions"
    if (name, int(number)) in seen:
        return "must name a partition once"
    return "" if _is_weight(weight) else "must have a weight that is not negative"


def _is_weight(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return bool(np.isfinite(value)) and value >= 0
