"""What `group show` advises."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from pydantic import TypeAdapter

from assignment.balanced.balanced_assignor import Balanced
from planner.group.assignor_comparison import least_and_most, options_of
from planner.group.show_records import GroupShowRecord
from support.commands import run
from support.groups import groups

AIM = ("--catch-up-within", 100, "--reads-per-s", 10)


def show(tmp_path, capsys, *options, lags=(0, 0, 0, 0), owned=None, ends=1000, **more):
    members = owned or {"c0": [0, 1], "c1": [2, 3]}
    document = {
        "format": "kafka-planner/group",
        "version": 1,
        "group_id": "g",
        "topics": [
            {
                "name": "t",
                "partitions": len(lags),
                "committed_offsets": [ends - lag for lag in lags],
                "log_end_offsets": [ends] * len(lags),
            }
        ],
        "members": [
            {"member_id": name, "topics": ["t"], "owned": {"t": rows}}
            for name, rows in members.items()
        ],
        **more,
    }
    path = tmp_path / "g.json"
    path.write_text(json.dumps(document))

    done = run(capsys, "group", "show", path, *options, "--format", "json")
    text = run(capsys, "group", "show", path, *options)

    assert done.code == text.code == 0, done.out
    TypeAdapter(GroupShowRecord).validate_json(done.out)
    advice = done.document["advice"]
    told = " ".join(text.out.split())
    assert all(" ".join(saying.split()) in told for saying in advice["sayings"])
    return advice


def test_a_group_that_is_well_is_not_advised(tmp_path, capsys):
    advice = show(tmp_path, capsys)

    assert advice["sayings"] == []
    assert advice["holds_back"] is None
    assert advice["members"] == {
        "now": 2,
        "worth_having": {"by_count": 4, "by_load": 4},
        "needed": None,
    }


def test_skew_is_said(tmp_path, capsys):
    advice = show(
        tmp_path, capsys, owned={"c0": [0, 1, 2], "c1": [3]}, lags=[0, 0, 0, 500]
    )

    assert advice["skew"] == {
        "load": {"busiest": "c0", "load": 3, "max_over_mean": 1.5},
        "lag": {"busiest": "c1", "load": 500, "max_over_mean": 2},
    }
    assert advice["sayings"][:2] == [
        "c0 carries 1.5 times the mean load of the members: 3; range, roundrobin, "
        "sticky and balanced would bring the busiest to 2",
        "c1 carries 2 times the mean lag of the members; no assignment makes that less",
    ]


def test_the_partition_that_holds_the_group_back_is_named(tmp_path, capsys):
    advice = show(tmp_path, capsys, lags=[900, 50, 25, 25])

    assert advice["holds_back"] == {
        "topic": "t",
        "partition": 0,
        "lag": 900,
        "share": 0.9,
        "member": "c0",
    }
    assert any("t-0 holds the group back: 90 %" in s for s in advice["sayings"])


def test_more_members_than_partitions_is_said(tmp_path, capsys):
    owned = {f"c{n}": [n] if n < 4 else [] for n in range(6)}

    advice = show(tmp_path, capsys, owned=owned)

    assert "2 of 6 members idle: there are 4 partitions" in advice["sayings"]


def test_fewer_members_would_do_where_one_partition_decides(tmp_path, capsys):
    owned = {f"c{n}": [n] for n in range(4)}

    advice = show(tmp_path, capsys, owned=owned, lags=[600, 200, 200, 200])

    assert advice["members"]["worth_having"]["by_lag"] == 2
    assert any(
        s.startswith("2 members would catch up as soon") for s in advice["sayings"]
    )


@pytest.mark.parametrize(
    ("lags", "options", "needed", "words"),
    [
        pytest.param([500] * 4, (), (2, 2), "2 members are needed", id="just enough"),
        pytest.param([900] * 4, (), (4, 4), "2 are too few", id="no two fit together"),
        pytest.param(
            [0] * 4, ("--in-per-s", 20), (2, 2), "2 are enough", id="to keep up"
        ),
        pytest.param([400] * 4, ("--in-per-s", 20), (4, 4), "2 are too few", id="both"),
        pytest.param(
            [450, 450, 450, 350],
            (),
            (2, 2),
            "2 are enough",
            id="well assigned",
        ),
    ],
)
def test_how_many_members_an_aim_takes(tmp_path, capsys, lags, options, needed, words):
    advice = show(tmp_path, capsys, *AIM, *options, lags=lags)

    found = advice["members"]["needed"]
    assert (found["at_least"], found["enough"]) == needed
    assert any(words in saying for saying in advice["sayings"])


def test_a_partition_too_much_for_one_reader_is_named(tmp_path, capsys):
    advice = show(tmp_path, capsys, *AIM, lags=[5000, 10, 10, 10], ends=9000)

    assert advice["members"]["needed"]["too_heavy"] == ["t-0"]
    assert "to catch up in 100 s, one reader is too slow for t-0" in advice["sayings"]


@pytest.mark.parametrize("kind", ["share", "streams"])
def test_other_kinds_are_shown_too(tmp_path, capsys, kind):
    assert show(tmp_path, capsys, type=kind)["members"]["now"] == 2


def test_members_of_share_groups_are_not_called_too_many(tmp_path, capsys):
    topics = [{"name": "t", "partitions": 1}]

    assert show(tmp_path, capsys, topics=topics)["sayings"]
    assert show(tmp_path, capsys, topics=topics, type="share")["sayings"] == []


def test_a_group_without_members_is_shown(tmp_path, capsys):
    advice = show(tmp_path, capsys, members=[])

    assert advice["skew"] == {"load": None, "lag": None}
    assert advice["members"]["worth_having"] == {"by_count": 0, "by_load": 0}


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        pytest.param(AIM[:2], "given together", id="no speed"),
        pytest.param(AIM[2:], "given together", id="no time"),
        pytest.param(("--in-per-s", 3), "--in-per-s needs", id="only rates"),
        pytest.param((*AIM[:3], 0), "must be above 0", id="speed of 0"),
        pytest.param((*AIM, "--in-per-s", "inf"), "must be above 0", id="infinite"),
    ],
)
def test_half_an_aim_is_refused(tmp_path, capsys, options, rule):
    path = tmp_path / "g.json"

    done = run(capsys, "group", "show", path, *options)

    assert done.code == 2
    assert rule in " ".join(done.err.split())


CASES = Path(__file__).parents[1] / "data" / "cases"


def told(capsys, *words):
    done = run(capsys, "group", *words)
    assert done.code == 0, done.err
    return " ".join(done.out.split())


def test_even_totals_may_hide_an_uneven_topic(capsys):
    path = CASES / "c14" / "group.txt"

    shown = told(capsys, "show", path)
    kept = told(capsys, "assign", path, "--assignor", "sticky")
    evened = told(capsys, "assign", path, "--assignor", "range")

    assert "heavy: 96 partitions, lag 86400, 24 to 72 per member" in shown
    for text in (shown, kept):
        assert "heavy is uneven: 24 to 72 of its 96 partitions per member" in text
        assert "range, roundrobin and balanced even it" in text
    assert "uneven" not in evened


def test_who_could_read_and_who_has_to_idle(capsys):
    shown = told(capsys, "show", CASES / "c42" / "g.txt")

    assert "as range assigns it: 200; roundrobin, sticky and balanced would" in shown
    assert "bring the busiest to 100" in shown
    assert "5 of 10 members idle now; 3 could read, by roundrobin, sticky" in shown
    assert "2 of 10 members must idle: there are 8 partitions" in shown
    assert "holds the group back" not in shown


def test_the_assignor_is_blamed_where_another_does_better(tmp_path, capsys):
    advice = show(tmp_path, capsys, lags=[900, 50, 25, 25])

    assert advice["sayings"][0] == (
        "c0 carries 1.9 times the mean lag of the members as range assigns it: 950; "
        "roundrobin and balanced would bring the busiest to 900"
    )


def test_unknown_lags_are_unknown_in_totals_and_advice(tmp_path, capsys):
    document = {
        "format": "kafka-planner/group",
        "version": 1,
        "group_id": "g",
        "topics": [
            {
                "name": "t",
                "partitions": 3,
                "committed_offsets": [10, None, 120],
                "log_end_offsets": [500, 7, 100],
            }
        ],
        "members": [
            {"member_id": "a", "topics": ["t"], "owned": {"t": [0, 1]}},
            {"member_id": "b", "topics": ["t"], "owned": {"t": [2]}},
        ],
    }
    path = tmp_path / "g.json"
    path.write_text(json.dumps(document))

    found = run(capsys, "group", "show", path, "--format", "json").document
    text = told(capsys, "show", path)

    assert (found["lag"], found["known_lag"], found["unknown_lags"]) == (None, 490, 2)
    assert [member["lag"] for member in found["members"]] == [None, None]
    assert found["past_end"] == [
        {"topic": "t", "partition": 2, "committed": 120, "log_end": 100}
    ]
    assert found["advice"]["skew"]["lag"] is None
    assert found["advice"]["holds_back"] is None
    assert "at least 490; unknown of 2 partitions" in text
    assert "t-2: committed 120, and the log ends at 100" in text
    assert "partitions of unknown lag: 2" in text


@given(groups())
def test_fewest_and_most_of_each_topic_are_those_of_a_count(group):
    assignment = Balanced().assign(group)

    least, most = least_and_most(group, assignment.member_idx)

    for topic in range(len(group.topics)):
        counts = [
            sum(assignment.member_idx[row] == m for row in group.partitions_of(topic))
            for m in range(group.num_members)
            if topic in group.subscribed.of(m)
        ]
        if counts:
            assert (least[topic], most[topic]) == (min(counts), max(counts))


@settings(max_examples=40)
@given(groups())
def test_no_option_is_said_to_do_more_than_it_does(group):
    weight = group.partitions.weight
    for option in options_of(group, None, weight):
        loads = np.zeros(group.num_members)
        for row, member in enumerate(option.member_idx.tolist()):
            if member >= 0:
                loads[member] += weight[row]
        busiest = (loads / group.members.capacity).max(initial=0)
        assert option.busiest == pytest.approx(busiest)
        reading = set(option.member_idx[option.member_idx >= 0].tolist())
        assert option.num_idle == group.num_members - len(reading)
