"""Screen of `partitions size`: candidates side by side, reasons and assumptions."""

from collections.abc import Iterator
from datetime import datetime
from math import isnan

from placement.partition_counts.choose_count import Candidate
from planner.partitions.size_answer import GIVE, SizedPartitions, reasons
from planner.partitions.size_document import fits
from planner.text.data_age import age_text
from planner.text.format import (
    bytes_text,
    command_lines,
    labelled,
    plural,
    span_text,
    wrapped,
)
from planner.text.table import Column, table_lines

COLUMNS = (
    Column("PARTITIONS", align="right"),
    Column("FITS"),
    Column("BINDS"),
    Column("MARGIN", align="right"),
    Column("PRODUCERS", align="right"),
    Column("CONSUMERS", align="right"),
    Column("BROKERS", align="right"),
    Column("LEADERS", align="right"),
)
UNKNOWN = "unknown"


def size_screen(
    sized: SizedPartitions, source: str | None, *, now: datetime
) -> Iterator[str]:
    """
    Yield the lines of the screen, each at most 80 columns wide.

    Parameters
    ----------
    sized
        Result of the sizing.
    source
        Path of the snapshot, for the next command; `None` without one.
    now
        Time, with a zone, that gives the age of the data.
    """
    yield from wrapped(_question(sized, now))
    yield from labelled("Answer", answer_text(sized))
    yield ""
    yield from table_lines(COLUMNS, [_row(c, sized) for c in sized.answer.candidates])
    yield ""
    for number, reason in enumerate(reasons(sized)):
        yield from labelled("" if number else "Because", reason)
    texts = [f"{one.text} ({one.option})" for one in sized.asked.assumptions]
    if texts:
        yield from labelled("Assumed", "; ".join(texts))
    if sized.unknown:
        yield from labelled("Unknown", unknown_text(sized))
    if source is not None and (words := _next_words(sized, source)):
        yield from command_lines("Next", words)


def _question(sized: SizedPartitions, now: datetime) -> str:
    hosts, snapshot = sized.asked.task.hosts, sized.snapshot
    of = f'Topic "{sized.asked.topic}"' if sized.asked.topic else "A topic"
    where = ""
    if snapshot is not None:
        age = age_text(snapshot.taken_at, now)
        where = f' of "{snapshot.cluster_id or "?"}"{age}'
    today = f", {plural(hosts.current, 'partition')} today" if hosts.current else ""
    return (
        f"{of}{where}: {plural(hosts.brokers, 'broker')}, replication factor "
        f"{hosts.factor}{today}."
    )


def answer_text(sized: SizedPartitions) -> str:
    """Return the recommended count with what is not known, as text."""
    answer = sized.answer
    if answer.recommended is None:
        return "no count meets every limit"
    text = plural(answer.recommended, "partition")
    unknown = [name for name in ("producer", "consumer") if _is_unknown(sized, name)]
    if unknown:
        text += f", not sized by {' and '.join(unknown)} rates: they are unknown"
    return text


def _is_unknown(sized: SizedPartitions, name: str) -> bool:
    return any(use.name == name for use in sized.unknown)


def _row(candidate: Candidate, sized: SizedPartitions) -> tuple[str, ...]:
    binding = candidate.binding
    chosen = "*" if candidate.partitions == sized.answer.recommended else ""
    return (
        f"{chosen}{candidate.partitions}",
        "yes" if fits(candidate, sized) else "no",
        UNKNOWN if binding is None else binding.name,
        "" if binding is None else _margin(binding.margin),
        _rate(candidate.producer),
        _rate(candidate.consumer),
        _rate(candidate.brokers),
        span_text(*candidate.leaders),
    )


def _margin(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def _rate(value: float) -> str:
    return UNKNOWN if isnan(value) else f"{bytes_text(value)}/s"


def unknown_text(sized: SizedPartitions) -> str:
    """Return the limits that are not known, each with the options that give it."""
    names: dict[str, list[str]] = {}
    for use in sized.unknown:
        group = f" of {use.group}" if use.group else ""
        names.setdefault(GIVE[use.name], []).append(f"{use.name}{group}")
    return "; ".join(f"{', '.join(each)} (give {give})" for give, each in names.items())


def _next_words(sized: SizedPartitions, source: str) -> list[str]:
    """Return the words of the next command; none if nothing is to be changed."""
    chosen, topic = sized.answer.recommended, sized.asked.topic
    if chosen is None or chosen == sized.asked.task.hosts.current:
        return []
    name = "new-topic" if topic is None else "add-partitions"
    words = ["kafka-planner", "plan", name, source, "--topic", topic or "NAME"]
    if topic is None:
        words += ["--replication-factor", str(sized.asked.task.hosts.factor)]
    return [*words, "--partitions", str(chosen), "-o", "plan"]
