"""The question of `partitions size`: options, else the snapshot, else assumptions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from placement.model.cluster import ClusterState
from placement.partition_counts.count_task import CountTask
from placement.partition_counts.topic_audit import INTERNAL
from planner.errors import InputProblem, raise_problems
from planner.options.declared.option import Problems
from planner.partitions.size_caps import caps_of
from planner.partitions.size_facts import Assumption, SizeFacts
from planner.partitions.size_hosts import hosts_of, present_of, retention_of
from planner.partitions.size_load import load_of
from planner.partitions.size_options import SizeOptions, read_size_options
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


def check_options(given: Mapping[str, Any]) -> None:
    """
    Refuse options that are invalid on any cluster.

    Raises
    ------
    BadInputError
        If any option is invalid; names every problem.
    """
    raise_problems("bad options", read_size_options(given)[1])


def read_question(given: Mapping[str, Any], snapshot: Snapshot | None) -> AskedCount:
    """
    Read the options and complete them from the snapshot and by assumptions.

    Parameters
    ----------
    given
        Texts, numbers or typed values by the fields of `SizeOptions`.
    snapshot
        The cluster; `None` if only options describe it.

    Raises
    ------
    BadInputError
        If any option is invalid; names every problem.
    """
    options, problems = read_size_options(given)
    state = None if snapshot is None else snapshot.to_state()
    problems += _topic_problems(options.topic, state)
    problems += _broker_problems(options, state)
    raise_problems("bad options", problems)
    topic, rows = None, np.empty(0, dtype=np.int64)
    if state is not None and options.topic is not None:
        topic = state.topics.names.index(options.topic)
        rows = np.nonzero(np.equal(state.partitions.topic_idx, topic))[0]
    facts = SizeFacts(
        options=options,
        state=state,
        topic=topic,
        rows=rows,
        cluster={} if snapshot is None else dict(snapshot.configs),
    )
    return AskedCount(
        task=_task(facts),
        topic=options.topic,
        is_keyed=options.keyed is not False,
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
        is_ordered=facts.options.total_order,
    )


def _topic_problems(name: str | None, state: ClusterState | None) -> list[InputProblem]:
    problems = Problems("--topic")
    if name is None:
        return []
    if state is None:
        rule = "a topic is one of a snapshot or of a running cluster"
        problems.refuse(name, rule, "give SNAP or --bootstrap-server")
    elif name.startswith(INTERNAL):
        rule = "Kafka's own topics must keep the count that they were created with"
        problems.refuse(name, rule, "name another topic")
    elif name not in state.topics.names:
        rule = "there must be such a topic"
        problems.refuse(name, rule, near(name, state.topics.names))
    return problems.found


def _broker_problems(
    options: SizeOptions, state: ClusterState | None
) -> list[InputProblem]:
    """Return the problem of brokers that neither an option nor the snapshot gives."""
    problems = Problems("--brokers")
    if options.brokers is not None:
        return []
    if state is None:
        rule = "the number of brokers must be known"
        remedy = "give --brokers N, a snapshot, or --bootstrap-server H:P"
        problems.refuse("", rule, remedy)
    elif not state.brokers.is_live.any():
        rule = "the snapshot must have a live broker"
        problems.refuse(0, rule, "give --brokers N")
    return problems.found
