"""What a score says on one screen."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings

from placement.model.cluster import BrokerState
from placement.score import score_cluster
from planner.score.make_score import Scored, age_s
from planner.score.partition_skew import skew_documents
from planner.score.score_document import score_document
from planner.score.score_screen import MOST_BROKERS, bar, score_screen
from planner.text.format import SCREEN_WIDTH
from support.clusters import Dir, clusters, make_state


def screen(state, **said):
    scored = Scored(
        score=score_cluster(state),
        **{"cluster_id": "c", "taken_at": None, "data_age_s": None} | said,
    )
    return list(score_screen(scored, Path("s.json")))


@settings(max_examples=40)
@given(clusters(reassigning=True))
def test_every_screen_fits(state):
    lines = screen(state)

    assert max(map(len, lines)) <= SCREEN_WIDTH
    assert not [line for line in lines if line != line.rstrip()]


def test_long_names_fit():
    name = "a-rack-with-a-name-that-nobody-would-read"
    state = make_state([[0, 1]] * 3, racks=[name, f"{name}-too"], size_bytes=10**15)

    assert max(map(len, screen(state))) <= SCREEN_WIDTH


def test_only_the_worst_brokers_are_shown():
    count = MOST_BROKERS + 3
    rows = [[b] for b in range(count)] + [[0]] * 20
    state = make_state(rows, racks="a" * count, size_bytes=7)

    lines = screen(state)

    assert any(line.startswith(" 0 a") for line in lines)
    assert any(f"of {count}; --format json has all" in line for line in lines)


def test_what_is_wrong_is_said():
    state = make_state(
        [[0, 1], [2, 0]],
        racks="aab",
        states={2: BrokerState.DEAD},
        size_bytes=90,
        disk_bytes=100,
        log_dirs={0: [Dir("/d1", 100)]},
        dirs=[["/d1", None], [None, "/d1"]],
    )

    text = " ".join(" ".join(screen(state)).split())

    assert "1 replica offline; 1 partition under-replicated" in text
    assert "2 loads over a threshold" in text
    assert "fullest: b0:/d1 180 %" in text
    assert "80 GB" not in text


def test_an_isr_of_brokers_that_are_down_is_named():
    state = make_state(
        [[0, 1], [1]], states={1: BrokerState.FENCED}, isr=[[0], [1]], leaders=[0, None]
    )

    assert "count as in sync where an ISR has them" in " ".join(
        " ".join(screen(state)).split()
    )


def test_nothing_wrong_is_said():
    text = "\n".join(screen(make_state([[0, 1], [1, 0]], racks="ab", size_bytes=1)))

    assert "Wrong      nothing" in text
    assert "every broker is in its bands" in text


@pytest.mark.parametrize(
    ("given", "binds", "command"),
    [
        pytest.param(
            {"lists": [[0], [1]], "size_bytes": [90, 10], "disk_bytes": 100},
            "Binds disk of broker 0: 90 % of 80 %",
            "plan rebalance s.json -o plan",
            id="over-a-threshold",
        ),
        pytest.param(
            {"lists": [[0, 1]] * 2, "size_bytes": 50, "disk_bytes": 200},
            "Binds disk of broker 0: 50 % of 80 %",
            "plan leaders s.json -o plan",
            id="leaders-would-do",
        ),
        pytest.param(
            {"lists": [[0], [1]], "size_bytes": 1},
            "Binds no capacity is known",
            "failures s.json",
            id="even",
        ),
        pytest.param(
            {"lists": [[0], [1]], "size_bytes": 1, "states": {1: BrokerState.DEAD}},
            "Binds no capacity is known",
            "plan fix s.json -o plan",
            id="offline",
        ),
        pytest.param(
            {
                "lists": [[0, 1], [1, 2]],
                "size_bytes": [20, 60],
                "disk_bytes": 100,
                "states": {1: BrokerState.DEAD},
            },
            "Binds disk of broker 2: 60 % of 80 %",
            "plan fix s.json -o plan",
            id="dead-brokers-bind-nothing",
        ),
    ],
)
def test_it_ends_with_what_binds_and_what_to_do(given, binds: str, command: str):
    more = {key: value for key, value in given.items() if key != "lists"}

    text = " ".join(" ".join(screen(make_state(given["lists"], **more))).split())

    assert binds in text
    assert "Assumed at most disk 80 %, in 80 %, out 80 %, cpu 70 %; bands of" in text
    assert text.endswith(f"Next kafka-planner {command}")


def test_an_empty_cluster_has_a_screen():
    assert screen(make_state([], racks=""))[0].startswith("Cluster    c: 0 brokers")


@pytest.mark.parametrize(
    ("fraction", "width", "expected"),
    [
        (0.0, 4, "    "),
        (0.5, 4, "██  "),
        (1.0, 4, "████"),
        (7.0, 4, "████"),
        (-1.0, 4, "    "),
        (9 / 32, 4, "█▏  "),
    ],
)
def test_bars(fraction, width, expected):
    assert bar(fraction, width) == expected


@pytest.mark.parametrize(
    ("taken_at", "age"),
    [
        ("2026-11-21T08:00:00Z", 3600.0),
        ("2026-11-21T10:00:00+01:00", 0.0),
        ("2026-11-21T11:00:00Z", 0.0),
        (None, None),
    ],
)
def test_age_of_the_data(taken_at, age):
    assert age_s(taken_at, datetime(2026, 11, 21, 9, tzinfo=UTC)) == age


@pytest.mark.parametrize(
    ("rates", "sizes", "text"),
    [
        pytest.param([9, 1, 1, 1], [5] * 4, "3.0 x the mean of its 4 by in", id="in"),
        pytest.param(
            [5] * 4, [900, 1, 1, 1], "4.0 x the mean of its 4 by disk", id="disk"
        ),
        pytest.param([2, 1, 1, 0], [5] * 4, None, id="at-the-factor"),
        pytest.param([9, 1, 1, float("nan")], [5] * 4, None, id="unknown-rate"),
    ],
)
def test_a_topic_with_a_hot_partition_points_to_its_keys(rates, sizes, text):
    topics = {"orders": [[0], [1], [0], [1]]}

    lines = screen(make_state(topics, racks="ab", in_rate=rates, size_bytes=sizes))

    found = [line for line in lines if line.startswith("Skew")]
    assert len(found) == (text is not None)
    command = "kafka-planner keys skew --bootstrap-server HOST:PORT --topic orders"
    assert any(command in line for line in lines) == (text is not None)
    assert text is None or text in found[0]


def test_the_document_lists_skewed_topics_with_the_command_for_each():
    topics = {"a": [[0], [1], [0]], "b c": [[0], [1], [0]], "even": [[0], [1], [0]]}
    rates = [500.0, 1, 1, 900, 1, 1, 5, 5, 5]
    state = make_state(topics, racks="ab", in_rate=rates, size_bytes=5)
    scored = Scored(
        score=score_cluster(state), cluster_id="c", taken_at=None, data_age_s=None
    )

    document = score_document(scored)

    first, second = document["skewed_topics"]
    assert (first["topic"], second["topic"]) == ("b c", "a")
    assert first == {
        "topic": "b c",
        "partitions": 3,
        "resource": "in",
        "max_over_mean": pytest.approx(900 / 902 * 3, abs=1e-6),
        "command": "kafka-planner keys skew --bootstrap-server HOST:PORT --topic 'b c'",
    }
    even = make_state({"a": [[0], [1]]}, racks="ab", in_rate=5.0, size_bytes=5)
    assert not skew_documents(score_cluster(even))


def test_hot_partitions_of_quiet_topics_and_of_kafkas_own_are_left_out():
    topics = {
        "__consumer_offsets": [[0], [1], [0]],
        "big": [[0], [1], [0]],
        "quiet": [[0], [1], [0]],
    }
    rates = [900.0, 1, 1, 5000, 5000, 5000, 9, 1, 1]

    lines = screen(make_state(topics, racks="ab", in_rate=rates, size_bytes=5))

    assert not [line for line in lines if line.startswith("Skew")]


def test_a_full_log_dir_of_a_broker_with_room_is_wrong():
    state = make_state(
        [[0], [1]],
        size_bytes=[90, 10],
        disk_bytes=1000,
        log_dirs={0: [Dir("/d1", 100), Dir("/d2", 900)]},
        dirs=[["/d1"], [None]],
    )

    text = "\n".join(screen(state))

    assert "Wrong      1 log dir over the disk threshold; " in text
    assert "Binds      log dir 0:/d1: 90 % of 80 %" in text
    assert "Next       kafka-planner plan log-dirs" in text


@pytest.mark.parametrize(
    ("sizes", "command"),
    [
        pytest.param([85, 85], "size s.json", id="no-room-anywhere"),
        pytest.param([82, 75], "plan rebalance", id="room-elsewhere"),
    ],
)
def test_brokers_that_are_all_too_full_need_others(sizes, command):
    state = make_state([[0], [1]], racks="ab", size_bytes=sizes, disk_bytes=100)

    text = "\n".join(screen(state))

    assert "Balance    every broker is in its bands" in text
    assert f"Next       kafka-planner {command}" in text


def test_long_ids_of_brokers_are_not_cut():
    ids = [7, 123_456, 2**31 - 2, 2**31 - 1]
    state = make_state(
        [ids[:2], ids[2:]], racks=["rack-number-1", "rack-2", "c", "d"], ids=ids
    )

    lines = screen(state)

    rows = [line[:10].split() for line in lines if line[:10].split()[:1] != []]
    labels = [row for row in rows if row[0].isdigit()]
    assert labels[:4] == [
        ["7", "rack-n…"],
        ["123456", "r…"],
        [str(ids[2])],
        [str(ids[3])],
    ]


def test_even_loads_have_no_negative_gini():
    rows = [[p % 6, (p + 1) % 6, (p + 2) % 6] for p in range(48)]

    lines = screen(make_state(rows, racks="abcabc", in_rate=1e6, broker_in=1e8))

    assert [line for line in lines if line.startswith("in ")]
    assert "-0.00" not in "\n".join(lines)
