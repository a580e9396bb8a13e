"""The verdict on tables of fleets in sentences: what is wrong, and where."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from planner.score.score_tables import count_full_log_dirs
from planner.text.format import bytes_text, plural

MOST_NAMES = 5
SOON_DAYS = 30
WRONG = (
    "offline_partitions",
    "under_min_isr",
    "offline_replicas",
    "under_replicated",
    "rack",
)
"""Columns of an overview, and fields of violations, that count what is wrong."""
Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]


def fleet_verdict(tables: Tables) -> str:
    """
    Return the verdict on tables of a fleet.

    Parameters
    ----------
    tables
        Rows of the last snapshot of each cluster, by the name of the table.
    """
    wrong = tables.get("overview") or _wrong_of(tables.get("scores", ()))
    sentences = [
        *_wrong_sentences(wrong),
        *_plan_sentences("plan", tables.get("plans", ())),
        *_plan_sentences("scenario", tables.get("scenarios", ())),
        *_trend_sentences(tables.get("trends")),
        *_change_sentences(tables.get("changes", ())),
        *_drift_sentences(tables.get("drift", ())),
    ]
    failed = [row for row in tables.get("problems", ()) if row["severity"] == "error"]
    if failed:
        sentences.append(f"Not scored: {_named(failed)}.")
    return " ".join(sentences) or "No cluster has what is looked for here."


def cluster_name(row: Row) -> str:
    """Return the id of the cluster of a row, for people."""
    return str(row["cluster_id"] or "(no id)")


def _wrong_of(scores: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows of clusters in an overview's columns, from their scores."""
    found: dict[str, dict[str, Any]] = {}
    of_clusters = [row for row in scores if row["level"] == "cluster"]
    full = count_full_log_dirs(
        (cluster_name(row), row["level"], row.get("broker")) for row in scores
    )
    for row in of_clusters:
        violations = row["violations"] or {}
        mine = found.setdefault(
            cluster_name(row),
            {"cluster_id": row["cluster_id"], **{n: violations.get(n) for n in WRONG}},
        )
        over = row["brokers_over_threshold"] or 0
        mine["brokers_over_threshold"] = mine.get("brokers_over_threshold", 0) + over
        mine["log_dirs_over_threshold"] = full[cluster_name(row)]
        mine["is_incomplete"] = row.get("complete") is False
    return list(found.values())


def _wrong_sentences(rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    words = {
        "offline_partitions": "Partitions are offline",
        "under_min_isr": "Partitions are under min ISR",
        "offline_replicas": "Replicas are offline",
        "under_replicated": "Partitions are under-replicated",
        "rack": "Partitions are against the rack rule",
        "brokers_over_threshold": "Brokers are over a threshold",
        "log_dirs_over_threshold": "Log dirs are over a threshold",
        "is_incomplete": "Partitions are missing in the snapshot",
    }
    unread = [row for row in rows if row.get("status") not in {None, "ok"}]
    if unread:
        yield f"Not read: {_named(unread)}."
    is_fine = True
    for column, text in words.items():
        if hurt := [row for row in rows if row.get(column)]:
            is_fine = False
            yield f"{text}: {_named(hurt)}."
    tight = [row for row in rows if (row.get("headroom_n1_broker") or 0) < 0]
    if tight:
        yield f"No room for the loss of a broker: {_named(tight)}."
    if is_fine and not unread and not tight:
        yield f"Nothing is wrong in {plural(len(rows), 'cluster')}."


def _plan_sentences(noun: str, rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    moved = sum(row["moved_bytes"] or 0 for row in rows)
    yield (
        f"{plural(len(rows), noun)}: {_by_status(rows)}; {bytes_text(moved)} to copy."
    )
    failing = [row for row in rows if row.get("holds") is False]
    if failing:
        yield f"A scenario does not hold: {_named(failing)}."


def _trend_sentences(rows: Sequence[Row] | None) -> Iterator[str]:
    if rows is None:
        return
    words = {
        "days_until_full": "A broker or log dir is full",
        "days_until_threshold": "A capacity threshold is reached",
    }
    soon = {column: [row for row in rows if _is_soon(row[column])] for column in words}
    for column, found in soon.items():
        if found:
            yield f"{words[column]} within {SOON_DAYS} days: {_named(found)}."
    if not any(soon.values()):
        yield f"No limit is reached within {SOON_DAYS} days, as far as is known."


def _is_soon(days: float | None) -> bool:
    return days is not None and days <= SOON_DAYS


def _change_sentences(rows: Sequence[Row]) -> Iterator[str]:
    if unread := [row for row in rows if row["reason"] is not None]:
        yield f"Not compared: {_named(unread)}."
    if compared := [row for row in rows if row["reason"] is None]:
        copied = bytes_text(sum(row["bytes"] or 0 for row in compared))
        count = plural(len(compared), "cluster")
        yield f"{copied} copied since the snapshot before, in {count}."


def _drift_sentences(rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    yield f"{plural(len(rows), 'plan')} by now: {_by_status(rows)}."
    for status, words in (
        ("differs", "The cluster differs from its plan"),
        ("unknown", "The progress of a plan is unknown"),
    ):
        if found := [row for row in rows if row["status"] == status]:
            yield f"{words}: {_named(found)}."


def _by_status(rows: Sequence[Row]) -> str:
    counts = Counter(row["status"] for row in rows)
    return ", ".join(f"{count:,} {status}" for status, count in sorted(counts.items()))


def _named(rows: Iterable[Row]) -> str:
    """Return the number of clusters and the names of the first."""
    listed = sorted(set(map(cluster_name, rows)))
    names = ", ".join(listed[:MOST_NAMES])
    more = f" and {len(listed) - MOST_NAMES:,} more" if len(listed) > MOST_NAMES else ""
    return f"{plural(len(listed), 'cluster')} ({names}{more})"
