"""Screen of `partitions audit`: topics with a bad count, and what they cost."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from placement.partition_counts.topic_audit import TopicFinding
from planner.partitions.audit_answer import Audit, finding_text, unknown_text
from planner.text.data_age import age_text
from planner.text.format import command_lines, labelled, plural, wrapped
from planner.text.table import Column, table_lines

MOST_SHOWN = 20
MOST_EXPLAINED = 5
COLUMNS = (
    Column("FINDING"),
    Column("TOPIC", most=30, cut="middle", is_flexible=True),
    Column("PARTITIONS", align="right"),
    Column("NEEDED", align="right"),
    Column("SAVED REPLICAS", align="right"),
    Column("FILES", align="right"),
)


def audit_screen(
    audit: Audit,
    answers: Sequence[Mapping[str, Any]],
    source: Sequence[str],
    *,
    now: datetime,
) -> Iterator[str]:
    """
    Yield the lines of the screen, each at most 80 columns wide.

    Parameters
    ----------
    audit
        The audit.
    answers
        Conditions of ``--fail-on``, each with whether it holds.
    source
        Words by which the next command reads the cluster: the path of the snapshot, or
        the options of the connection.
    now
        Time, with a zone, that gives the age of the data.
    """
    snapshot = audit.snapshot
    yield from wrapped(
        f'Snapshot "{snapshot.cluster_id or "?"}"{age_text(snapshot.taken_at, now)}: '
        f"{plural(audit.brokers, 'live broker')}, {plural(audit.topics, 'topic')}, "
        f"{plural(audit.partitions, 'partition')}, {plural(audit.replicas, 'replica')}."
    )
    yield from labelled("Found", summary_text(audit))
    yield from _findings(audit)
    assumed = [f"{one.text} ({one.option})" for one in audit.assumptions]
    rules = audit.rules
    assumed.append(f"headroom {rules.headroom:g} (--headroom)")
    assumed.append(f"too many from {rules.many:g} times the needed count (--many)")
    if audit.brokers > rules.leading:
        assumed.append(f"{rules.leading} brokers lead a topic (--leading-brokers)")
    yield from labelled("Assumed", "; ".join(assumed))
    if unknown := unknown_text(audit):
        yield from labelled("Unknown", unknown)
    for answer in answers:
        verdict = "holds" if answer["holds"] else "does not hold"
        yield from labelled("Fail on", f"{answer['condition']}: {verdict}")
    if audit.findings:
        topic = audit.findings[0].topic
        words = ["kafka-planner", "partitions", "size", *source, "--topic", topic]
        yield from command_lines("Next", words)


def summary_text(audit: Audit) -> str:
    """Return the number of findings, and what they save together, as text."""
    figures = audit.figures
    kinds = ("too many", "too few", "uneven", "empty")
    counts = [(kind, int(figures[kind.replace(" ", "_")])) for kind in kinds]
    listed = ", ".join(f"{count} {kind}" for kind, count in counts if count)
    if not listed:
        return "nothing, as far as it is known"
    saved = int(figures["saved_replicas"])
    files, maps = int(figures["saved_files"]), int(figures["saved_maps"])
    part = f" ({saved / audit.replicas:.0%})" if audit.replicas else ""
    return (
        f"{listed}; to save: {plural(saved, 'replica')}{part}, {files:,} open files, "
        f"{maps:,} memory maps, and {figures['saved_recovery_s']:.3g} s of recovery"
    )


def _findings(audit: Audit) -> Iterator[str]:
    shown = audit.findings[:MOST_SHOWN]
    if not shown:
        return
    yield ""
    yield from table_lines(COLUMNS, [_row(finding) for finding in shown])
    if (more := len(audit.findings) - len(shown)) > 0:
        yield f"and {plural(more, 'finding')} more (--format json)"
    yield ""
    for number, finding in enumerate(shown[:MOST_EXPLAINED]):
        text = f"{finding.topic}: {finding_text(finding, audit.brokers)}"
        yield from labelled("" if number else "First", text)


def _row(finding: TopicFinding) -> tuple[str, ...]:
    saved = finding.saved_replicas
    return (
        finding.kind,
        finding.topic,
        str(finding.partitions),
        "" if finding.needed is None else str(finding.needed),
        f"{saved:,}" if saved else "",
        f"{finding.saved_files:,}" if finding.saved_files else "",
    )
