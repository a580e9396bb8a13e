"""What a plan says on one screen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.model.cluster import BrokerState, LogDirState
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from planner.plan.screen.broker_table import broker_groups
from planner.plan.screen.plan_screen import files_lines, headline, plan_screen
from planner.text.format import (
    SCREEN_WIDTH,
    bytes_text,
    command_lines,
    duration_text,
    ids_text,
    labelled,
    percent_text,
    plural,
    span_text,
    wrapped,
)
from support.clusters import Dir, clusters, make_state
from support.plans import planned_for, skewed_document

GOALS = ["rebalance", "add-brokers", "remove-brokers"]


def planned(state, goal="rebalance", **options):
    return make(state, PlanRequest(goal=goal, effort="quick", **options))


def screen(state, goal="rebalance", **options):
    return list(plan_screen(planned(state, goal, **options)))


def part(lines, label):
    """Return the text under a label, in one line."""
    start = next(n for n, line in enumerate(lines) if line.startswith(label))
    stop = start + 1
    while stop < len(lines) and lines[stop].startswith(" " * 11):
        stop += 1
    return " ".join(
        [lines[start][11:], *(line.strip() for line in lines[start + 1 : stop])]
    )


@settings(max_examples=80)
@given(clusters(reassigning=True), st.sampled_from(["rebalance", "remove-brokers"]))
def test_every_screen_fits(state, goal):
    first = str(int(state.brokers.ids[0]))
    made = planned(state, goal, broker_list=first if goal == "remove-brokers" else None)

    lines = [*wrapped(headline(made.plan)), *plan_screen(made)]

    assert max(map(len, lines)) <= SCREEN_WIDTH
    assert not [line for line in lines if line != line.rstrip()]
    labels = [line[:11].strip() for line in lines]
    for label in ("Now", "Wrong", "Plan", "copies", "leaders", "Survives", "Checked"):
        assert (label in labels) or (label == "Survives" and not state.num_partitions)


def test_long_names_and_ids_fit_too():
    state = make_state(
        {"x" * 249: [[0, 1, 2]] * 3},
        ids=[0, 1, 2, 10_000, 200_000, 2_000_000_000],
        racks=["a", "b", "c", "a", "b", "c"],
        states={1: BrokerState.FENCED},
    )

    lines = screen(state)

    # A name that is longer than a line is not broken: it could not be copied.
    assert all(len(line) <= SCREEN_WIDTH or "x" * 249 in line for line in lines)
    assert "left alone" in " ".join(lines)


@pytest.mark.parametrize("goal", GOALS)
def test_screen_of_a_usual_plan(goal):
    options = {"broker_list": "1"} if goal == "remove-brokers" else {}
    made = planned_for(skewed_document(), goal, effort="quick", **options)

    lines = list(plan_screen(made))

    moves = made.plan.moves
    copies = part(lines, " copies")
    assert copies.startswith(f"{moves['replicas']} replicas, ")
    assert "proven: no plan can move under" in copies
    assert part(lines, " leaders").startswith(f"{moves['leaders']} change")
    assert part(lines, "Note") == "not balanced, unknown: cpu"
    assert part(lines, "Checked") == "by separate code: 17 rules: ok"
    assert part(lines, "Wrong").endswith("Racks ok, 0 offline.")


def test_resources_known_in_part_stand_in_the_same_line():
    state = make_state(
        [[0], [1]], racks="ab", size_bytes=[1, -1], in_rate=1.0, out_rate=1.0
    )

    note = part(screen(state), "Note")

    assert (
        note
        == "not balanced, unknown: cpu; known in part: disk (50 % of the partitions)"
    )


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        pytest.param({}, "nothing. Racks ok, 0 offline.", id="nothing"),
        pytest.param(
            {"size_bytes": 81, "disk_bytes": 100},
            "brokers 0-1 over the 80 % disk threshold. Racks ok, 0 offline.",
            id="over",
        ),
        pytest.param(
            {"states": {1: BrokerState.DEAD}, "leaders": [0]},
            "1 replica offline; broker 1 dead. Racks ok.",
            id="dead",
        ),
        pytest.param(
            {"leaders": [None], "isr": [[]]},
            "1 partition has no leader; 1 partition is under min ISR. Racks ok, "
            "0 offline.",
            id="no-leader",
        ),
        pytest.param(
            {"racks": "aab"},
            "1 partition breaks the rack rule; 1 broker empty. 0 offline.",
            id="racks",
        ),
        pytest.param(
            {"max_replicas": [0, 1]},
            "broker 0 over max_replicas. Racks ok, 0 offline.",
            id="max-replicas",
        ),
        pytest.param(
            {
                "size_bytes": 81,
                "log_dirs": {
                    0: [Dir("/a", 100, 19), Dir("/b", 900, 900)],
                    1: [Dir("/a", 1000, 919)],
                },
                "dirs": [["/a", "/a"]],
            },
            "log dir 0:/a over the 80 % disk threshold. Racks ok, 0 offline.",
            id="log-dir",
        ),
    ],
)
def test_what_is_wrong_is_named(options, wrong):
    state = make_state([[0, 1]], **({"racks": "ab"} | options))

    assert part(screen(state), "Wrong") == wrong


def test_what_stays_wrong_is_named():
    state = make_state([[0], [1]], racks="ab", size_bytes=[90, 90], disk_bytes=100)

    lines = screen(state)

    assert part(lines, " as before") == "brokers 0-1 over the 80 % disk threshold"


def test_what_a_plan_leaves_in_part_is_no_fault_of_it():
    state = make_state(
        [[0, 3], [1, 3], [2, 4]],
        racks="abcde",
        states={3: BrokerState.DEAD, 4: BrokerState.FENCED},
        min_isr=2,
    )

    lines = screen(state, "fix")

    assert "3 partitions are under min ISR" in part(lines, "Wrong")
    assert part(lines, " as before") == (
        "1 replica offline; 1 partition is under min ISR"
    )
    assert not [one for one in lines if one.startswith(" wrong")]


def test_a_crowded_rack_that_keeps_a_dead_replica_no_more_is_no_fault_of_a_plan():
    state = make_state(
        [[0, 1], [2, 3]],
        racks="aaabb",
        states={1: BrokerState.DEAD},
        ids=[0, 1, 2, 3, 4],
    )

    lines = screen(state, "replace-broker", broker="1", with_broker="2")

    assert part(lines, "Checked").endswith("broken before and now: rack 1")
    assert part(lines, " as before") == "1 partition breaks the rack rule"
    assert not [one for one in lines if one.startswith(" wrong")]


def test_a_rack_that_a_plan_crowds_is_counted_apart_from_those_of_before():
    state = make_state([[0, 1], [0, 2]], racks="aabb")
    options = {"broker_list": "2", "destination_broker_list": "1", "soft": ["rack"]}

    lines = screen(state, "remove-brokers", **options)

    assert part(lines, " wrong") == "1 partition breaks the rack rule"
    assert part(lines, " as before") == "1 partition breaks the rack rule"


def test_another_plan_is_named_for_what_stays_wrong():
    dirs = [Dir("/a", 100, 10), Dir("/b", 100, 100)]
    state = make_state(
        [[0, 1], [1, 0]],
        racks="ab",
        size_bytes=45,
        log_dirs={0: dirs, 1: dirs},
        dirs=[["/a", "/a"], ["/a", "/a"]],
    )
    full = "log dirs 0:/a, 1:/a over the 80 % disk threshold"

    lines = screen(state)

    assert part(lines, " as before") == full
    assert part(lines, " repair") == "plan log-dirs"
    # It is no remedy of its own.
    assert not [one for one in screen(state, "log-dirs") if one.startswith(" repair")]


@pytest.mark.parametrize(
    ("sizes", "remedy"),
    [
        pytest.param(
            [90, 90],
            "more capacity (kafka-planner size says how many brokers)",
            id="no-room-anywhere",
        ),
        pytest.param([90, 10], "plan rebalance", id="room-elsewhere"),
    ],
)
def test_a_full_broker_of_one_log_dir_is_not_repaired_inside(sizes, remedy):
    dirs = [Dir("/a", 100)]
    state = make_state(
        [[0], [1]],
        racks="ab",
        size_bytes=sizes,
        disk_bytes=100,
        log_dirs={0: dirs, 1: dirs},
        dirs=[["/a"], ["/a"]],
    )

    assert part(screen(state, "leaders"), " repair") == remedy


@pytest.mark.parametrize(
    "only",
    [
        pytest.param((), id="all-of-it"),
        pytest.param(("log-dirs",), id="that"),
        pytest.param(("racks",), id="something-else"),
    ],
)
def test_what_no_broker_can_take_is_repaired_by_hand(only):
    dirs = [Dir("/a", 100, state=LogDirState.OFFLINE), Dir("/b", 100)]
    state = make_state([[0, 1]], racks="ab", log_dirs={1: dirs}, dirs=[[None, "/a"]])

    lines = screen(state, "fix", only=only)

    shown = [line for line in lines if line.startswith(" repair")]
    assert shown == [" repair    restart broker 1 without /a, or add a broker"]


def with_failed_dir(racks, room=1000):
    """Return two partitions, of which broker 1 held one in a log dir that failed."""
    failed = [Dir("/a", 1000), Dir("/b", 1000, state=LogDirState.OFFLINE)]
    return make_state(
        [[0, 1], [1, 0]],
        racks=racks,
        size_bytes=45,
        disk_bytes=[1000, 1000, room],
        log_dirs={0: [Dir("/a", 1000)], 1: failed, 2: [Dir("/a", room)]},
        dirs=[["/a", "/b"], ["/a", "/a"]],
        isr=[[0], [1, 0]],
    )


@pytest.mark.parametrize("goal", ["fix", "rebalance"])
@pytest.mark.parametrize(
    "state",
    [
        pytest.param(with_failed_dir("aba"), id="no other rack"),
        pytest.param(with_failed_dir("abb", room=9), id="no room"),
    ],
)
def test_a_repair_that_was_tried_is_no_remedy(goal, state):
    lines = screen(state, goal)

    assert part(lines, " lacks")
    assert not [one for one in lines if one.startswith(" repair")]


def test_brokers_that_a_repair_took_as_lost_are_no_remedy_of_it():
    state = make_state([[0, 1], [0, 2]], racks="abb", states={1: BrokerState.FENCED})
    full = {"exclude_brokers_for_replicas": "2"}

    waits, lost = screen(state, "fix"), screen(state, "fix", lost="1", **full)

    assert part(waits, " repair") == (
        "start broker 1; or, if gone for good, plan fix --lost 1"
    )
    assert part(lost, " lacks")
    assert not [one for one in lost if one.startswith(" repair")]


def test_another_part_of_a_repair_is_a_remedy():
    lines = screen(with_failed_dir("aba"), "fix", only=["racks"])

    assert part(lines, " repair") == "plan fix --only log-dirs"


def test_shortfalls_are_named():
    state = make_state([[0, 1]], racks="ab")

    lines = screen(state, "remove-brokers", broker_list="1")

    assert part(lines, "Plan") == "remove-brokers 1, band 10 %: infeasible"
    assert part(lines, " lacks") == (
        "t-0 needs 2 places on brokers, 1 can be had. Add a broker to rack b."
    )
    assert part(lines, " reason") == (
        "no option helps: what lacks must be added, or waited for"
    )


def test_a_reason_is_given_beside_a_partition_without_a_source():
    failed = [Dir("/a", 1000), Dir("/b", 1000, state=LogDirState.OFFLINE)]
    state = make_state(
        [[0, 1], [1]],
        racks="aba",
        log_dirs={0: [Dir("/a", 1000)], 1: failed, 2: [Dir("/a", 1000)]},
        dirs=[["/a", "/b"], ["/b"]],
        isr=[[0], [1]],
        leaders=[0, None],
    )

    lines, softly = screen(state, "fix"), screen(state, "fix", soft=["rack"])

    assert part(lines, " lacks").startswith("t-0 needs 2 places in racks, 1 can be had")
    assert "relax the rack rule with --soft rack" in part(lines, " lacks")
    assert part(lines, " reason") == (
        "cannot be kept: replicas spread over racks as evenly as they allow; for the "
        "rest no option helps: what lacks must be added, or waited for"
    )
    assert part(softly, " lacks").startswith("t-1 has no live replica in sync")
    assert part(softly, " copies").startswith("1 replica")


def test_a_shortfall_that_no_rule_causes_is_shown():
    state = make_state(
        [[0, 1], [1, 2], [2, 0], [0, 1]], racks="abc", size_bytes=30, disk_bytes=100
    )

    lines = screen(state, "set-replication-factor", replication_factor=4)

    assert "t-0 needs 4 places on brokers, 3 can be had" in " ".join(
        line[11:] for line in lines if line.startswith(" lacks")
    )


REASONS = [
    pytest.param(
        make_state([[0], [0], [1], [1]], racks="ab", size_bytes=45_000,
                   disk_bytes=100_000),
        {},
        "All brokers together (0-1) would have to hold 180.00 kB of disk and may hold "
        "160.00 kB. Raise --capacity-threshold disk=0.9.",
        "cannot be kept: no broker over 80% of its disk",
        id="disk",
    ),
    pytest.param(
        make_state([[0, 2], [1, 2]], racks="aab", size_bytes=30_000,
                   disk_bytes=[200_000, 200_000, 50_000]),
        {},
        "Broker 2 is alone in rack b: it would have to hold 60.00 kB of disk and may "
        "hold 40.00 kB. Add a broker with 62.5 kB of disk to rack b or relax the rack "
        "rule with --soft rack.",
        "cannot be kept together: no broker over 80% of its disk; replicas spread over "
        "racks as evenly as they allow",
        id="disk-of-a-rack",
    ),
    pytest.param(
        make_state([[0, 1], [1, 0]], racks="abc", size_bytes=30_000,
                   disk_bytes=[200_000, 200_000, 20_000]),
        {"goal": "remove-brokers", "broker_list": "0"},
        "Broker 2 is alone in rack c: it would have to hold 60.00 kB of disk and may "
        "hold 16.00 kB. Add a broker with 92.5 kB of disk to rack c.",
        "cannot be kept: no broker over 80% of its disk",
        id="no-room",
    ),
    pytest.param(
        make_state([[0], [0], [1]], racks="ab"),
        {"goal": "remove-brokers", "broker_list": "0", "max_moves": 1},
        "2 replicas must be copied, and --max-moves allows 1. Raise --max-moves to 2.",
        "cannot be kept: at most 1 replica copied",
        id="max-moves",
    ),
    pytest.param(
        make_state([[0], [0], [1]], racks="ab", size_bytes=1000),
        {"goal": "remove-brokers", "broker_list": "0", "max_bytes": "1kB"},
        "2 kB must be copied, and --max-bytes allows 1 kB. Raise --max-bytes to 2kB.",
        "cannot be kept: at most 1 kB copied",
        id="max-bytes",
    ),
    pytest.param(
        make_state([[0, 1], [0, 1]], racks="ab"),
        {"goal": "demote", "broker_list": "0", "exclude_brokers_for_leaders": "1"},
        "t-0 keeps its leader: no other live replica that may lead is in sync. Leave "
        "out --exclude-brokers-for-leaders.",
        "cannot be kept: no leaders for broker 1",
        id="no-other-leader",
    ),
    pytest.param(
        make_state([[0], [1]], racks="ab", size_bytes=[50_000_950_000, 750 * 10**9],
                   disk_bytes=10**12),
        {"goal": "replace-broker",
         "broker": ("0",), "with_broker": ("1",)},
        "t-0: broker 1 would carry 800.001 GB of disk and may carry 800 GB. Raise "
        "--capacity-threshold disk=0.85.",
        "cannot be kept: no broker over 80% of its disk",
        id="replaced-by-a-full-broker",
    ),
    pytest.param(
        make_state([[0], [1]], racks="ab"),
        {"goal": "remove-brokers", "broker_list": "0",
         "exclude_brokers_for_leaders": "1"},
        "t-0 would have no leader: no broker that it may lie on may lead. Add a broker "
        "to rack a or leave out --exclude-brokers-for-leaders.",
        "cannot be kept: no leaders for broker 1",
        id="no-leader-at-all",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("state", "options", "lacks", "reason"), REASONS)
def test_reasons_are_listed(state, options, lacks, reason):
    lines = screen(state, **options)

    assert part(lines, " lacks") == lacks
    assert part(lines, " reason") == reason


@pytest.mark.parametrize(
    ("state", "text"),
    [
        pytest.param(
            make_state([], racks="", cluster_id=None),
            "0 brokers, 0 racks, 0 partitions, 0 B",
            id="empty",
        ),
        pytest.param(
            make_state([], racks="aab"),
            "3 brokers, 2 racks, 0 partitions, 0 B",
            id="no-partitions",
        ),
        pytest.param(
            make_state([[0]]),
            "1 broker, racks unknown, 1 partition RF 1, sizes unknown",
            id="unknown",
        ),
        pytest.param(
            make_state([[0, 1], [1]], racks="a-", size_bytes=5),
            "2 brokers, 1 rack (1 broker without), 2 partitions RF 1-2, 15 B",
            id="some-racks",
        ),
    ],
)
def test_headline(state, text):
    assert headline(planned(state).plan) == text


def test_an_empty_cluster_has_a_screen():
    lines = screen(make_state([], racks=""))

    assert lines == [
        "Wrong      nothing. Racks ok, 0 offline.",
        "Plan       rebalance, band 10 %: nothing-to-do",
        " copies    none",
        " leaders   none change",
        "Checked    by separate code: 17 rules: ok",
    ]


def test_without_sizes_no_bytes_are_spoken_of():
    state = make_state([[0], [0], [0], [0]], racks="ab")

    lines = screen(state)

    assert part(lines, " copies") == (
        "2 replicas; proven: no plan can move under 2 replicas"
    )
    assert not [line for line in lines if line.startswith(" time")]


def test_time_and_fullest_disk():
    hour = 3600 * 50_000_000
    state = make_state([[0], [0]], racks="ab", size_bytes=hour, disk_bytes=4 * hour)

    text = part(screen(state), " time")

    assert text == "1 h 00 min at 50 MB/s per broker; fullest disk: b0 50 %, as now"


@pytest.mark.parametrize(
    ("racks", "text"),
    [
        pytest.param("abc", "any broker: yes. Any rack: yes", id="racks"),
        pytest.param("aa", "any broker: yes. Any rack: no, 1 offline", id="one-rack"),
        pytest.param("--", "any broker: yes. Racks unknown.", id="unknown"),
        pytest.param(
            "a-", "any broker: yes. Any rack that is known: yes", id="known-in-part"
        ),
    ],
)
def test_what_a_plan_survives(racks, text):
    assert part(screen(make_state([[0, 1]], racks=racks)), "Survives").startswith(text)


@pytest.mark.parametrize(
    ("lists", "text"),
    [
        pytest.param([], "nothing", id="no-partitions"),
        pytest.param([[0]], "nothing", id="fewer-replicas-than-brokers"),
        pytest.param([[0], [0]], "2 brokers empty", id="two-on-one"),
    ],
)
def test_brokers_are_empty_where_others_hold_more_than_one_replica(lists, text):
    state = make_state(lists, ids=[0, 1, 2], racks="abc")

    assert part(screen(state), "Wrong").startswith(text)


def test_a_loss_that_stops_producers_is_said():
    state = make_state([[0, 1], [1, 2], [2, 0]], racks="abc", min_isr=2)

    text = part(screen(state), "Survives")

    assert text == (
        "any broker: no, acks=all refused (2 below min ISR). Any rack: no, acks=all "
        "refused (1 at min ISR, 2 below)."
    )


def test_partitions_that_refuse_producers_already_are_said_before_any_loss():
    state = make_state(
        {"a": [[0, 1, 2]], "b": [[0, 1], [1, 2]]}, racks="abc", min_isr=[2, 3]
    )

    text = part(screen(state), "Survives")

    assert text == (
        "2 partitions below min ISR already, with no loss. Of the others any broker: "
        "yes. Any rack: yes (1 at min ISR, 0 below)."
    )


def test_groups_of_brokers():
    state = make_state(
        [[0, 1]],
        ids=[0, 1, 2, 3, 5, 7, 9, 11],
        racks="abcdefgh",
        states={9: BrokerState.NEW, 11: BrokerState.FENCED},
    )

    plan = planned(state, "remove-brokers", broker_list="0").plan

    groups = {
        name: np.flatnonzero(chosen).tolist() for name, chosen in broker_groups(plan)
    }
    assert groups == {
        "1-3,5,7": [1, 2, 3, 4, 5],
        "9 new": [6],
        "0 leave": [0],
        "11 off": [7],
    }


def test_many_cut_files_are_counted(tmp_path):
    names = ["moves.csv", *(f"reassignment-{n:03}.json" for n in range(1, 40))]

    (line,) = files_lines(tmp_path.relative_to(tmp_path) / "p", names)

    assert line == "Files      p/: moves.csv, and 39 parts of long files"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (bytes_text(0), "0 B"),
        (bytes_text(999), "999 B"),
        (bytes_text(999.6), "1 kB"),
        (bytes_text(150_000, 2), "150 kB"),
        (bytes_text(1_283_000_000_000, 5), "1.283 TB"),
        (bytes_text(1_283_000_000_000, 5, is_padded=True), "1.2830 TB"),
        (bytes_text(12, 5, is_padded=True), "12 B"),
        (bytes_text(5e18), "5 EB"),
        (bytes_text(5e22), "50000 EB"),
        (duration_text(0), "0 s"),
        (duration_text(89.4), "89 s"),
        (duration_text(90), "2 min"),
        (duration_text(3599), "1 h 00 min"),
        (duration_text(8580), "2 h 23 min"),
        (duration_text(48 * 3600), "2 d 0 h"),
        (percent_text(0), "0 %"),
        (percent_text(0.00015), "0.015 %"),
        (percent_text(1e-6), "0.0001 %"),
        (percent_text(3e-8), "<0.0001 %"),
        (percent_text(0.0999), "10 %"),
        (percent_text(0.814), "81 %"),
        (percent_text(12.5), "1250 %"),
        (ids_text([]), ""),
        (ids_text([1, 2, 3, 7, 9, 10]), "1-3,7,9-10"),
        (span_text(1.2, 1.4, " %"), "1 %"),
        (span_text(1, 4), "1-4"),
        (plural(0, "broker"), "0 brokers"),
        (plural(1, "broker"), "1 broker"),
    ],
)
def test_amounts(text, expected):
    assert text == expected


def test_a_number_keeps_its_unit():
    for width in range(12, 60):
        lines = wrapped("the disk is 81 % full, 1.2 TB in 3 h 20 min at 5 MB/s", width)
        assert not [line for line in lines if line.startswith(("%", "TB", "h ", "MB"))]
        assert " ".join(lines).startswith("the disk is 81 % full")


def test_long_texts_stand_under_their_label():
    lines = labelled("Label", "word " * 40)

    assert all(len(line) <= SCREEN_WIDTH for line in lines)
    assert [line[:11] for line in lines] == ["Label      "] + [" " * 11] * (
        len(lines) - 1
    )


def test_commands_go_on_where_they_are_long():
    lines = command_lines("Next", ["tool", "a b", *["word" * 5] * 4])

    assert lines[0].startswith("Next       tool 'a b' ")
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert not lines[-1].endswith("\\")
    assert max(map(len, lines)) <= SCREEN_WIDTH
