"""Findings of a verification: one for each cause, with a count and first examples."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from placement.check import Where
from planner.plan.documents.check_records import VerifyFindingRecord, WhereRecord
from planner.verify.state_rows import Key

MAX_EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """
    One partition that is not as planned.

    Parameters
    ----------
    rule
        Name of the kind of finding.
    cause
        Predicate for a number of partitions; events with the same one are one finding.
    key
        The partition.
    detail
        Details of this partition.
    broker, log_dir
        Broker, or log dir, of the event, if there is one.
    """

    rule: str
    cause: str
    key: Key
    detail: str
    broker: int | None = None
    log_dir: str | None = None

    @property
    def name(self) -> str:
        """The partition as ``topic-number``."""
        return f"{self.key[0]}-{self.key[1]}"

    @property
    def where(self) -> Where:
        """The place of the event."""
        topic, partition = self.key
        return Where(
            topic=topic, partition=partition, broker=self.broker, log_dir=self.log_dir
        )


def fold(events: Iterable[Event]) -> list[VerifyFindingRecord]:
    """Return one finding for each rule and cause, in the order of the first event."""
    groups: dict[tuple[str, str], list[Event]] = {}
    for event in events:
        groups.setdefault((event.rule, event.cause), []).append(event)
    return [_finding(group) for group in groups.values()]


def _finding(events: Sequence[Event]) -> VerifyFindingRecord:
    first = events[0]
    names = dict.fromkeys(event.name for event in events)
    if len(names) == 1:
        details = "; ".join(dict.fromkeys(event.detail for event in events))
        message = f"{first.name}: {details}"
    else:
        message = f"{len(names)} partitions {first.cause}: {_examples(events)}"
    return VerifyFindingRecord(
        rule=first.rule, where=_common(events), message=message, count=len(names)
    )


def _examples(events: Sequence[Event]) -> str:
    by_name: dict[str, str] = {}
    for event in events:
        by_name.setdefault(event.name, event.detail)
    shown = list(by_name.items())[:MAX_EXAMPLES]
    is_alike = len(set(by_name.values())) == 1
    texts = [name if is_alike else f"{name} ({detail})" for name, detail in shown]
    more = " …" if len(by_name) > len(shown) else ""
    return ", ".join(texts) + more


def _common(events: Sequence[Event]) -> WhereRecord:
    places = [event.where for event in events]
    shared = {}
    for name in WhereRecord.model_fields:
        values = {getattr(place, name) for place in places}
        shared[name] = values.pop() if len(values) == 1 else None
    if shared["topic"] is None:
        # The number of a partition means nothing without its topic.
        shared["partition"] = None
    return WhereRecord(**shared)
