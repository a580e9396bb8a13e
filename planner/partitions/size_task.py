"""The question of `partitions size`: options, else the snapshot, else assumptions."""

from dataclasses import dataclass

import numpy as np

from placement.model.cluster import ClusterState
from placement.partition_counts.count_task import CountTask
from placement.partition_counts.topic_audit import INTERNAL
from planner.partitions.option_values import ValueReader
from planner.partitions.size_caps import caps_of
from planner.partitions.size_facts import Assumption, SizeFacts
from planner.partitions.size_hosts import hosts_of, present_of, retention_of
from planner.partitions.size_load import load_of
from planner.partitions.size_request import CountOptions, CountRequest, parse_request
from planner.snapshot import Snapshot
from planner.text.suggest import near


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AskedCount:
    """
    Question of `partitions size` with its assumptions.

    Parameters
    ----------
    task
        The question.
    topic
        Topic of the snapshot; `None` for a new one.
    is_keyed
        Whether records have keys, given or assumed.
    candidates
        Counts to compare.
    assumptions
        Values that were assumed.
    """

    task: CountTask
    topic: str | None
    is_keyed: bool
    candidates: tuple[int, ...]
    assumptions: tuple[Assumption, ...]


def check_request(request: CountRequest) -> None:
    """
    Refuse options that are invalid on any cluster.

    Raises
    ------
    BadInputError
        If any option is invalid; names every problem.
    """
    reader = ValueReader()
    parse_request(request, reader)
    reader.raise_problems()


def read_question(request: CountRequest, snapshot: Snapshot | None) -> AskedCount:
    """
    Read the options and complete them from the snapshot and by assumptions.

    Raises
    ------
    BadInputError
        If any option is invalid; names every problem.
    """
    reader = ValueReader()
    options = parse_request(request, reader)
    state = None if snapshot is None else snapshot.to_state()
    topic = _topic_row(request, state, reader)
    _refuse_absent_brokers(options, state, reader)
    reader.raise_problems()
    rows = np.empty(0, dtype=np.int64)
    if state is not None and topic is not None:
        rows = np.nonzero(np.equal(state.partitions.topic_idx, topic))[0]
    facts = SizeFacts(
        request=request,
        options=options,
        state=state,
        topic=topic,
        rows=rows,
        cluster={} if snapshot is None else dict(snapshot.configs),
    )
    return AskedCount(
        task=_task(facts),
        topic=request.topic,
        is_keyed=request.keyed is not False,
        candidates=options.candidates,
        assumptions=tuple(facts.assumptions),
    )


def _task(facts: SizeFacts) -> CountTask:
    return CountTask(
        load=load_of(facts),
        hosts=hosts_of(facts),
        retention=retention_of(facts),
        present=present_of(facts),
        caps=caps_of(facts),
    )


def _topic_row(
    request: CountRequest, state: ClusterState | None, reader: ValueReader
) -> int | None:
    name = request.topic
    if name is None:
        return None
    if state is None:
        rule = "a topic is one of a snapshot or of a running cluster"
        reader.refuse("--topic", name, rule, "give SNAP or --bootstrap-server")
        return None
    if name.startswith(INTERNAL):
        rule = "Kafka's own topics must keep the count that they were created with"
        reader.refuse("--topic", name, rule, "name another topic")
        return None
    if name not in state.topics.names:
        rule = "there must be such a topic"
        reader.refuse("--topic", name, rule, near(name, state.topics.names))
        return None
    return state.topics.names.index(name)


def _refuse_absent_brokers(
    options: CountOptions, state: ClusterState | None, reader: ValueReader
) -> None:
    if options.brokers is not None or any(
        problem.place == "--brokers" for problem in reader.problems
    ):
        return
    if state is None:
        rule = "the number of brokers must be known"
        remedy = "give --brokers N, a snapshot, or --bootstrap-server H:P"
        reader.refuse("--brokers", "", rule, remedy)
    elif not state.brokers.is_live.any():
        rule = "the snapshot must have a live broker"
        reader.refuse("--brokers", 0, rule, "give --brokers N")
