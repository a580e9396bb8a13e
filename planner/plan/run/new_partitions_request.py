"""Request for new partitions, checked against a cluster."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from placement.cluster_changes.replica_filling import open_brokers
from placement.draft.draft import Note
from placement.errors import (
    AdminOperationError,
    InvalidPartitionsError,
    KafkaRefusalError,
)
from placement.model.cluster import UNKNOWN, ClusterState
from placement.model.copies import INTERNAL
from placement.operations.descriptor import describe
from placement.placers.manual_placement import (
    ManualAssignment,
    check_added_partitions,
    check_new_topic,
    growth_refusal,
    read_replica_assignment,
)
from placement.placers.striped_placer import check_replication_factor
from placement.placers.usable_brokers import PlacerBrokers
from placement.planning.new_partitions.plan_new_partitions import (
    Expected,
    Grown,
    with_more_partitions,
    with_new_topic,
)
from planner.io.gatherer import Gatherer
from planner.kafka_files.creation import Creation
from planner.options.cluster_options import ResolvedOptions, read_request
from planner.options.declared.topic_configs import (
    MIN_ISR,
    OPTION,
    min_isr_of,
)
from planner.options.option_reader import OptionReader
from planner.options.plan_request import PlanRequest
from planner.plan.run.key_notes import (
    GrownTopic,
    SampledGrowth,
    check_keys,
    key_notes,
    sampled_growth,
)

MOST_NAME = 249
LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


class Asked:
    """
    Request for new partitions, checked against a cluster; raises every problem.

    Parameters
    ----------
    state
        The cluster.
    request
        The operation and its options; the only topic is the topic concerned.
    cluster_configs
        Configs of the whole cluster, from the snapshot.
    """

    def __init__(
        self,
        state: ClusterState,
        request: PlanRequest,
        cluster_configs: Mapping[str, str],
    ) -> None:
        self.state, self.request, self.goal = state, request.options, request.goal
        self.cluster_configs = cluster_configs
        self.reader = OptionReader(state)
        self.is_new_topic = describe(request.goal).creates_topic
        self.topic = self._topic()
        self.current = self._current()
        self.first = len(self.current)
        self.brokers = PlacerBrokers.of(state, np.arange(state.num_brokers))
        self.expected = self._expected()
        self.lists = self._by_hand()
        self.count = self._count()
        self.factor = self._factor()
        self._check_min_isr()
        check_keys(self.request, self.reader)
        self.reader.raise_problems()
        self._check_log_dirs()
        self.reader.raise_problems()
        self.sampled = self._sampled()

    @property
    def document(self) -> dict[str, Any]:
        """Entries of plan.json under `settings` of this operation."""
        expected, request = self.expected, self.request
        rates = (expected.in_bytes_per_s, expected.out_bytes_per_s)
        inbound, outbound = (None if np.isnan(rate) else rate for rate in rates)
        size = expected.size_bytes
        return {
            "topic": [self.topic],
            "partitions": self.count,
            "replication_factor": self.factor,
            "in_bytes_per_s": inbound,
            "out_bytes_per_s": outbound,
            "size_bytes": None if size == UNKNOWN else size,
            "replica_assignment": request.replica_assignment,
            "topic_config": dict(expected.configs),
            "min_insync_replicas": expected.min_insync_replicas
            if self.is_new_topic
            else None,
        }

    @cached_property
    def grown(self) -> Grown:
        """Cluster with the new partitions, in arbitrary places."""
        if self.is_new_topic:
            return with_new_topic(
                self.state, self.topic, self.count, self.factor, self.expected
            )
        return with_more_partitions(self.state, self.topic, self.count, self.expected)

    def creation(self, after: ClusterState) -> Creation:
        """Return the request for Kafka, from the cluster with the partitions placed."""
        rows = np.nonzero(self.grown.is_new)[0].tolist()
        return Creation(
            topic=self.topic,
            first=self.first,
            lists=tuple(tuple(after.brokers_of(p)) for p in rows),
            configs=self.expected.configs,
        )

    def key_notes(self) -> Iterator[Note]:
        """Return the note on keys that change partition, if the topic exists."""
        return key_notes(self._grown_topic, self.sampled)

    @property
    def _grown_topic(self) -> GrownTopic:
        topics = self.state.topics
        configs = dict(zip(topics.names, topics.configs, strict=True))
        default = self.cluster_configs.get("log.cleanup.policy", "delete")
        policy = configs.get(self.topic, {}).get("cleanup.policy", default)
        return GrownTopic(
            name=self.topic,
            old=self.first,
            new=self.count,
            is_compacted="compact" in policy,
        )

    def _sampled(self) -> SampledGrowth | None:
        if self.is_new_topic:
            return None
        return sampled_growth(self.request, self._grown_topic)

    def _refuse(self, option: str, value: object, error: KafkaRefusalError) -> None:
        self.reader.refuse(option, value, str(error), _REMEDIES[option])

    def _topic(self) -> str:
        named = self.request.topic
        if len(named) != 1:
            rule = "one topic must be named"
            self.reader.refuse("--topic", ",".join(named) or "nothing", rule, "name it")
            return ""
        topic = named[0]
        exists = topic in self.state.topics.names
        if not self.is_new_topic:
            if not exists:
                error = AdminOperationError(
                    f"Topic '{topic}' does not exist as expected"
                )
                self._refuse("--topic", topic, error)
            elif topic in INTERNAL:
                self.reader.refuse("--topic", topic, *_INTERNAL_REFUSAL)
            return topic
        if exists:
            error = AdminOperationError(f"Topic '{topic}' already exists.")
            self._refuse("--topic", topic, error)
        elif problem := _name_problem(topic):
            self.reader.refuse("--topic", topic, problem, "choose another name")
        return topic

    def _current(self) -> list[int]:
        """Return the replication factor of each partition that the topic has."""
        names, of = self.state.topics.names, self.state.partitions.topic_idx
        if self.topic not in names:
            return []
        factors = self.state.replication_factor
        rows: list[int] = factors[np.equal(of, names.index(self.topic))].tolist()
        return rows

    def _expected(self) -> Expected:
        options, configs = self.request, self.request.topic_config
        inbound, outbound = options.in_bytes_per_s, options.out_bytes_per_s
        min_isr = min_isr_of(configs) or min_isr_of(self.cluster_configs)
        return Expected(
            in_bytes_per_s=np.nan if inbound is None else float(inbound),
            out_bytes_per_s=np.nan if outbound is None else float(outbound),
            size_bytes=UNKNOWN if options.size_bytes is None else options.size_bytes,
            configs=configs,
            min_insync_replicas=min_isr or 1,
        )

    def _by_hand(self) -> tuple[tuple[int, ...], ...] | None:
        request = self.request
        if request.replica_assignment is None:
            return None
        read = read_replica_assignment(request.replica_assignment)
        if self.is_new_topic:
            for option, value in (
                ("--partitions", request.partitions),
                ("--replication-factor", request.replication_factor),
            ):
                if value is not None:
                    rule = (
                        f'Option "[{option.removeprefix("--")}]" can\'t be used with '
                        'option "[replica-assignment]"'
                    )
                    self.reader.refuse(option, value, rule, "leave one out")
            read = check_new_topic(read, self.brokers)
        elif self.current and request.partitions is not None:
            read = check_added_partitions(
                read,
                self.brokers,
                topic=self.topic,
                current=self.current,
                num_partitions=request.partitions,
            )
        self._refuse_all(read)
        return read.lists

    def _refuse_all(self, read: ManualAssignment) -> None:
        for refusal in read.refusals:
            where = "" if refusal.place is None else f" of partition {refusal.place}"
            is_growth = isinstance(refusal.error, InvalidPartitionsError)
            option = "--partitions" if is_growth else "--replica-assignment"
            self.reader.refuse(
                option,
                self.request.partitions
                if is_growth
                else self.request.replica_assignment,
                str(refusal.error),
                f"correct the list{where}" if not is_growth else _REMEDIES[option],
            )

    def _count(self) -> int:
        count = self.request.partitions
        if self.is_new_topic and self.lists is not None:
            return len(self.lists)
        if count is None:
            rule = "the number of partitions must be given"
            remedy = _REMEDIES["--partitions"]
            self.reader.refuse("--partitions", "nothing", rule, remedy)
            return 1
        if self.is_new_topic:
            if count <= 0:
                words = "Number of partitions must be larger than 0."
                self._refuse("--partitions", count, InvalidPartitionsError(words))
            return count
        growth = growth_refusal(self.topic, self.first, count)
        if growth is not None and self.current and self.lists is None:
            self._refuse("--partitions", count, growth)
        return count

    def _factor(self) -> int:
        if not self.is_new_topic:
            return self.current[0] if self.current else 1
        if self.lists is not None:
            return len(self.lists[0]) if self.lists else 1
        factor = self.request.replication_factor
        if factor is None:
            rule = "the replication factor must be given"
            remedy = _REMEDIES["--replication-factor"]
            self.reader.refuse("--replication-factor", "nothing", rule, remedy)
            return 1
        live = PlacerBrokers.of(self.state)
        try:
            check_replication_factor(live, factor)
        except KafkaRefusalError as error:
            self._refuse("--replication-factor", factor, error)
        return factor

    def _check_min_isr(self) -> None:
        """Reject a new topic whose replication factor is below its min ISR."""
        least = self.expected.min_insync_replicas
        if not self.is_new_topic or self.reader.problems or self.factor >= least:
            return
        own = min_isr_of(self.expected.configs) is not None
        whose = "of --topic-config" if own else "of the cluster"
        rule = f"replication factor {self.factor} is below {MIN_ISR} {least} {whose}"
        remedy = f"give {OPTION} {MIN_ISR}={self.factor}, or {least} replicas or more"
        self.reader.refuse(*self._asked_for(), rule, remedy)

    def _check_log_dirs(self) -> None:
        """Reject a request that exceeds the live brokers with a log dir online."""
        count = int(open_brokers(self.state, frozenset()).sum())
        if count < self.factor:
            rule = f"only {count} live brokers have a log dir online"
            self.reader.refuse(*self._asked_for(), rule, "correct the log dirs first")

    def _asked_for(self) -> tuple[str, object]:
        """Return the option that requests replicas, and its value."""
        if self.lists is not None:
            return "--replica-assignment", self.request.replica_assignment
        if self.is_new_topic:
            return "--replication-factor", self.factor
        return "--partitions", self.count


def read_new_request(
    state: ClusterState, request: PlanRequest, cluster_configs: Mapping[str, str]
) -> tuple[Asked, ResolvedOptions]:
    """
    Return the checked request, and its options parsed for a cluster.

    Raises
    ------
    BadInputError
        With every option that is wrong.
    """
    inputs = Gatherer()
    asked = inputs.read(lambda: Asked(state, request, cluster_configs))
    to_be = state if asked is None else asked.grown.state
    # New replicas have no rack to stay in, and the topic may not exist.
    plan = request.changed(topic=(), locality_scoped=False)
    resolved = inputs.read(lambda: read_request(plan, to_be))
    inputs.raise_problems("bad options")
    assert asked is not None  # noqa: S101 - else there were problems
    assert resolved is not None  # noqa: S101 - as above
    # What came of the options stands last, in one group.
    resolved.document.pop("replication_factor", None)
    return asked, replace(resolved, document=resolved.document | asked.document)


_REMEDIES: Mapping[str, str] = {
    "--topic": "check the name",
    "--partitions": "give how many the topic shall have, more than now",
    "--replication-factor": "give a number up to that of the live brokers",
}


_INTERNAL_REFUSAL = (
    "a topic of Kafka itself keeps its partitions: what groups and transactions have "
    "stored is looked for by a hash over their number",
    "leave it as it is",
)


def _name_problem(topic: str) -> str | None:
    """Return Kafka's error message for an illegal topic name, else `None`."""
    if not topic:
        return "Topic name is invalid: the empty string is not allowed"
    if topic in {".", ".."}:
        return "Topic name is invalid: '.' or '..' is not allowed"
    if len(topic) > MOST_NAME:
        return (
            f"Topic name is invalid: the length of '{topic[:20]}…' is longer than the "
            f"max allowed length {MOST_NAME}"
        )
    if not LEGAL_NAME.fullmatch(topic):
        return (
            f"Topic name is invalid: '{topic}' contains one or more characters other "
            "than ASCII alphanumerics, '.', '_' and '-'"
        )
    return None
