"""Age of a snapshot."""

from datetime import datetime

from planner.text.format import duration_text


def age_s(taken_at: str | None, now: datetime) -> float | None:
    """Return the age of a snapshot in seconds, at least 0; `None` if unknown."""
    if taken_at is None:
        return None
    return max((now - datetime.fromisoformat(taken_at)).total_seconds(), 0.0)


def age_text(taken_at: str | None, now: datetime) -> str:
    """Return the time and the age of a snapshot as text."""
    age = age_s(taken_at, now)
    if age is None:
        return ", age unknown"
    return f", taken {taken_at} ({duration_text(age)} old)"
