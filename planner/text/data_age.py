"""Age of a snapshot."""

from datetime import datetime
from typing import Any

from planner.text.format import duration_text


def age_s(taken_at: str | None, now: datetime) -> float | None:
    """Return the age of a snapshot in seconds, at least 0; `None` if unknown."""
    if taken_at is None:
        return None
    return max((now - datetime.fromisoformat(taken_at)).total_seconds(), 0.0)


def dated_fields(
    cluster_id: str | None, taken_at: str | None, now: datetime
) -> dict[str, Any]:
    """Return the first fields of a document on a snapshot, with its age in seconds."""
    age = age_s(taken_at, now)
    rounded_age = None if age is None else round(age)
    return {"cluster_id": cluster_id, "taken_at": taken_at, "data_age_s": rounded_age}


def age_text(taken_at: str | None, now: datetime) -> str:
    """Return the time and the age of a snapshot as text."""
    age = age_s(taken_at, now)
    if age is None:
        return ", age unknown"
    return f", taken {taken_at} ({duration_text(age)} old)"
