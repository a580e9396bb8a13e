"""Context of a run, shared by its parts: cluster, journal, choices and events."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from planner.errors import AnswerUnknownError, ClusterUnavailableError
from planner.execution.admission import Admitted
from planner.execution.cluster.running_cluster import RunningCluster
from planner.execution.run.controls import ControlFile
from planner.execution.run.gate import Gate
from planner.execution.run.journal import Journal, time_text, utc_now
from planner.execution.run.run_choices import RunChoices
from planner.execution.run.run_records import (
    Event,
    PartitionRecord,
    SetAsideEvent,
    StuckEvent,
)
from planner.execution.run.run_throttles import RunThrottles
from planner.verify.state_rows import Brokers, Key

Answer = TypeVar("Answer")
_PAUSE_S = 5.0


@dataclass(slots=True, kw_only=True)
class RunContext:
    """
    Context of a run, shared by its parts.

    Parameters
    ----------
    cluster, journal, choices, throttles, gate, control_file
        Parts of the run.
    topic_ids
        Id of each topic when the run began.
    may_raise_rate
        Whether the rate of copies is not one that the operator has chosen.
    now
        Function that returns the time of events.
    report
        Function that receives an event while the cluster does not answer; `None`: the
        event is handed out like others, once it answers.
    events
        Events that are not handed out yet.
    set_aside
        Reason by partition that the run gives up.
    """

    cluster: RunningCluster
    journal: Journal
    choices: RunChoices
    throttles: RunThrottles
    gate: Gate
    control_file: ControlFile
    topic_ids: dict[str, str]
    may_raise_rate: bool = False
    now: Callable[[], datetime] = utc_now
    report: Callable[[Event], None] | None = None
    events: list[Event] = field(default_factory=list)
    set_aside: dict[Key, str] = field(default_factory=dict)

    @property
    def time(self) -> str:
        """Time of an event that happens now."""
        return time_text(self.now())

    def handed_out(self) -> Iterator[Event]:
        """Yield the events since the last call."""
        while self.events:
            yield self.events.pop(0)

    def ask(self, request: Callable[[], Answer]) -> Answer:
        """
        Return the answer to a request that may be repeated.

        Raises
        ------
        ClusterUnavailableError, AnswerUnknownError
            If no answer came as long as the patience lasts.
        """
        began, is_noted = self.cluster.now_s(), False
        while True:
            try:
                return request()
            except (ClusterUnavailableError, AnswerUnknownError) as error:
                if self.cluster.now_s() - began >= self.choices.patience_s:
                    raise
                if not is_noted:
                    self.stuck(None, f"{error.message}; trying again")
                is_noted = True
            self.cluster.sleep(_PAUSE_S)

    def stuck(self, key: Key | None, reason: str) -> None:
        """Report a partition that does not go on; for `None` the whole run, at once."""
        topic, partition = key or (None, None)
        event = StuckEvent(
            time=self.time, topic=topic, partition=partition, reason=reason
        )
        if key is None and self.report is not None:
            self.report(event)
        else:
            self.events.append(event)

    def give_up(
        self, steps: Iterable[Admitted], reason: str, *, is_cancelled: bool = False
    ) -> None:
        """Report partitions that this run gives up."""
        found = [(one.change.key, one.step.replicas) for one in steps]
        if found:
            self.set_aside_lists(found, reason, is_cancelled=is_cancelled)

    def set_aside_lists(
        self,
        lists: Iterable[tuple[Key, Brokers]],
        reason: str,
        *,
        is_cancelled: bool = False,
    ) -> None:
        """Report partitions with the lists that this run does not give them."""
        found = list(lists)
        self.set_aside |= {key: reason for key, _ in found}
        partitions = records(found)
        self.journal.write(
            "set-aside",
            reason=reason,
            partitions=[one.model_dump() for one in partitions],
        )
        self.events.append(
            SetAsideEvent(
                time=self.time,
                partitions=partitions,
                reason=reason,
                is_cancelled=is_cancelled,
            )
        )


def records(lists: Iterable[tuple[Key, Brokers]]) -> list[PartitionRecord]:
    """Return partitions with their lists as records."""
    return [
        PartitionRecord(topic=topic, partition=number, replicas=replicas)
        for (topic, number), replicas in lists
    ]
