"""Options of a reset of offsets: times, durations, scopes."""

from datetime import UTC, datetime

import pytest

from planner.errors import BadInputError
from planner.group.offsets.offsets_request import (
    OffsetsOptions,
    Scope,
    parse_datetime,
    parse_duration,
    read_offsets_request,
)
from planner.group.offsets.target_offsets import (
    Target,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "2026-11-21T08:00:00.250",
            datetime(2026, 11, 21, 8, 0, 0, 250_000, tzinfo=UTC),
            id="utc-unless-said",
        ),
        pytest.param(
            "2026-11-21T08:00:00.000Z", datetime(2026, 11, 21, 8, tzinfo=UTC), id="z"
        ),
        pytest.param(
            "2026-11-21T08:00:00.000+02:00",
            datetime(2026, 11, 21, 6, tzinfo=UTC),
            id="zone",
        ),
        pytest.param(
            "2026-11-21T08:00:00", datetime(2026, 11, 21, 8, tzinfo=UTC), id="seconds"
        ),
    ],
)
def test_times_are_read_as_kafka_reads_them(text, expected):
    assert parse_datetime(text) == expected.timestamp() * 1000


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("PT15S", 15),
        ("PT1M", 60),
        ("PT1H30M", 5400),
        ("P1D", 86_400),
        ("P2DT3H4M5.5S", 2 * 86_400 + 3 * 3600 + 4 * 60 + 5.5),
        ("pt5m", 300),
        ("-PT1M", -60),
        ("PT-1M", -60),
        ("-PT-1M", 60),
        ("PT0,25S", 0.25),
        ("P0D", 0),
    ],
)
def test_durations_are_read_as_java_reads_them(text, seconds):
    assert parse_duration(text) == seconds * 1000


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        pytest.param(
            {"to_earliest": True}, ["partitions must be selected"], id="no-scope"
        ),
        pytest.param(
            {"to_earliest": True, "to_latest": True, "all_topics": True},
            ["only one target may be given"],
            id="two-targets",
        ),
        pytest.param(
            {"to_latest": True, "all_topics": True, "topics": ["t"]},
            ["only one selection of partitions may be given"],
            id="two-scopes",
        ),
        pytest.param(
            {"to_datetime": "2026-11-21", "topics": ["t"]},
            ["must be a time: "],
            id="a-day",
        ),
        pytest.param(
            {"to_datetime": "noon", "by_duration": "1h", "topics": ["t:x", "u", "u:1"]},
            [
                "only one target may be given",
                "must be a time: ",
                "must be a topic, or a topic and partitions",
                "must name a partition once",
            ],
            id="everything-at-once",
        ),
        pytest.param(
            {"by_duration": "P", "topics": ["t"]}, ["must be a duration"], id="no-time"
        ),
        pytest.param(
            {"by_duration": "PT", "topics": ["t"]}, ["must be a duration"], id="only-t"
        ),
        pytest.param(
            {"to_offset": 2**63, "topics": ["t"]}, ["64 bits"], id="large-offset"
        ),
        pytest.param(
            {"shift_by": -(2**63), "topics": ["t"]}, ["64 bits"], id="large-shift"
        ),
        pytest.param(
            {"to_latest": True, "topics": ["t:1,1"]},
            ["must name a partition once"],
            id="twice-in-one",
        ),
        pytest.param(
            {"to_latest": True, "topics": ["t:1", "t:1"]},
            ["must name a partition once"],
            id="twice-in-two",
        ),
        pytest.param(
            {"to_latest": True, "topics": [f"t:{2**31}"]},
            ["must be a topic, or"],
            id="no-partition-number",
        ),
    ],
)
def test_what_cannot_be_asked_for(options, rules):
    with pytest.raises(BadInputError) as raised:
        read_offsets_request(OffsetsOptions(**options))

    found = [problem.rule for problem in raised.value.problems]
    assert len(found) == len(rules)
    assert all(rule in text for rule, text in zip(rules, found, strict=True))


def test_a_scope_names_topics_and_partitions():
    options = OffsetsOptions(to_latest=True, topics=["a.b-c:1", "a.b-c:0", "d"])

    request = read_offsets_request(options)

    assert request.scope == Scope(topics={"a.b-c": [1, 0], "d": []})


def test_durations_count_back_from_now():
    now = datetime(2026, 11, 21, 8, tzinfo=UTC)

    request = read_offsets_request(
        OffsetsOptions(by_duration="PT1H", topics=["t"]), now=now
    )

    assert request.target is Target.DURATION
    assert request.number == parse_datetime("2026-11-21T07:00:00.000")
