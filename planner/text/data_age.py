"""How old the data of a snapshot are."""

from datetime import datetime

from planner.text.format import duration_text


def age_s(taken_at: str | None, now: datetime) -> float | None:
    """Return the seconds since a snapshot was taken; 0 where clocks differ."""
    if taken_at is None:
        return None
    return max((now - datetime.fromisoformat(taken_at)).total_seconds(), 0.0)


def age_text(taken_at: str | None, now: datetime) -> str:
    """Return when a snapshot was taken, and how old that is."""
    age = age_s(taken_at, now)
    if age is None:
        return ", age unknown"
    return f", taken {taken_at} ({duration_text(age)} old)"
