"""Options that select snapshots: what they take, and what they refuse."""

from datetime import UTC, datetime

import pytest

from planner.errors import BadInputError
from planner.fleet.snapshot_selection import ALL, day_text, read_selection

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)


def micros(text):
    return round(datetime.fromisoformat(text).timestamp() * 1e6)


@pytest.mark.parametrize(
    ("since", "until", "taken_at", "is_taken"),
    [
        pytest.param("2026-11-21", None, "2026-11-21T00:00Z", True, id="first-moment"),
        pytest.param("2026-11-21", None, "2026-11-20T23:59:59Z", False, id="before"),
        pytest.param(None, "2026-11-21", "2026-11-21T23:59:59Z", True, id="whole-day"),
        pytest.param(None, "2026-11-21", "2026-11-22T00:00Z", False, id="next-day"),
        pytest.param(None, "2026-11-21T08:00Z", "2026-11-21T08:00Z", False, id="end"),
        pytest.param("2026-11-21T09:00+01:00", None, "2026-11-21T08:00Z", True, id="z"),
        pytest.param("2026-11-21T08:00", None, "2026-11-21T07:59Z", False, id="utc"),
        pytest.param("36h", None, "2026-11-25T00:00Z", True, id="age"),
        pytest.param("36h", None, "2026-11-24T23:59Z", False, id="older"),
        pytest.param("2d", "1d", "2026-11-25T11:59Z", True, id="ages"),
    ],
)
def test_times(since, until, taken_at, is_taken):
    selection = read_selection(since, until, now=NOW)

    assert selection.takes("c", micros(taken_at)) == is_taken


def test_clusters_match_as_a_whole():
    selection = read_selection(cluster="eu-.*|007")

    assert selection.clusters(["eu-b", "007", "eu-a", "us", None]) == [
        "007", "eu-a", "eu-b",
    ]  # fmt: skip
    assert not selection.takes("my-eu-a", 0)
    assert not selection.takes(None, 0)
    assert read_selection() == ALL
    assert ALL.clusters(["a", None]) == ["a"]


def test_what_matches_nothing_is_refused_with_what_was_meant():
    with pytest.raises(BadInputError) as refused:
        read_selection(cluster="eu-order").clusters(["eu-orders", "us"])

    assert "did you mean eu-orders?" in str(refused.value)
    # Of nothing at all nothing is missing.
    assert read_selection(cluster="x").clusters([]) == []


def test_everything_wrong_is_refused_at_once():
    with pytest.raises(BadInputError) as refused:
        read_selection("yesterday", "2026-13-01", "(", now=NOW)

    places = [problem.place for problem in refused.value.problems]
    assert places == ["--since", "--until", "--cluster"]


@pytest.mark.parametrize("until", ["2026-11-20", "2026-11-21T00:00Z"])
def test_an_empty_span_is_refused(until):
    with pytest.raises(BadInputError, match="must be before --until"):
        read_selection("2026-11-21", until)


def test_days():
    assert read_selection("2026-11-20", "2026-11-21").days == (
        "2026-11-20", "2026-11-21",
    )  # fmt: skip
    assert ALL.days == (None, None)
    assert day_text(micros("2026-11-21T23:59:59Z")) == "2026-11-21"
