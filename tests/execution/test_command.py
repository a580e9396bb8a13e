"""`apply` as an operator calls it: the preview, and every reason not to start."""

import json
from pathlib import Path

import pytest

from planner.execution.apply_records import ApplyPreviewRecord
from planner.execution.run.run_lock import run_lock
from support.commands import run

MB = 10**6
TOPIC_ID = "tsqI6n7kjqos8KYa3Mjy8w"


def partition(number: int, *replicas: int, **more) -> dict:
    return {
        "partition": number,
        "replicas": list(replicas),
        "size_bytes": 10 * MB,
    } | more


def cluster(folder: Path, *partitions: dict, free: int = 1000 * MB, **more) -> Path:
    """Write a cluster of brokers 1 to 4, each with one log dir."""
    brokers = [
        {
            "id": b,
            "log_dirs": [
                {"path": "/d", "size_bytes": 4000 * MB, "usable_bytes": free}
                | more.get("log_dir", {})
            ],
        }
        | more.get("brokers", {}).get(b, {})
        for b in (1, 2, 3, 4)
    ]
    topic = {
        "name": "t",
        "topic_id": more.get("topic_id", TOPIC_ID),
        "configs": {"min.insync.replicas": more.get("min_isr", "1")},
        "partitions": list(partitions),
    }
    path = folder / "now.json"
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": more.get("cluster_id", "one"),
        "brokers": brokers,
        "topics": [topic],
    }
    path.write_text(json.dumps(document))
    return path


def plan(folder: Path, *moves: tuple[list[int], list[int]]) -> Path:
    """Write a plan folder from the lists before and after."""
    path = folder / "plan"
    path.mkdir()
    for name, side in (("rollback.json", 0), ("reassignment.json", 1)):
        entries = [
            {"topic": "t", "partition": n, "replicas": lists[side]}
            for n, lists in enumerate(moves)
        ]
        (path / name).write_text(json.dumps({"version": 1, "partitions": entries}))
    document = {
        "format": "kafka-planner/plan",
        "version": 1,
        "goal": "rebalance",
        "snapshot": {"cluster_id": "one"},
        "topic_ids": {"t": TOPIC_ID},
        "settings": {},
    }
    (path / "plan.json").write_text(json.dumps(document))
    return path


MOVE = ([1, 2], [1, 3])


def preview(capsys, *words):
    outcome = run(capsys, "apply", *words, "--format", "json")
    document = outcome.document
    assert (
        ApplyPreviewRecord.model_validate_json(json.dumps(document)).model_dump(
            mode="json"
        )
        == document
    )
    assert outcome.code == (0 if document["ready"] else 3)
    return document


def rules(document: dict, *, ignored: bool = False) -> list[str]:
    return [b["rule"] for b in document["blockers"] if b["ignored"] is ignored]


def test_a_preview_says_stages_bytes_and_time(capsys, tmp_path):
    now = cluster(tmp_path, partition(0, 1, 2), partition(1, 1, 2))
    folder = plan(tmp_path, MOVE, ([1, 2], [2, 1]))

    found = preview(capsys, folder, "--snapshot", now, "--throttle", "1MB/s")

    kinds = [stage["kind"] for stage in found["stages"]]
    assert kinds == ["copies", "order", "election"]
    copies = found["stages"][0]
    assert (copies["partitions"], copies["copies"], copies["bytes"]) == (1, 1, 10 * MB)
    assert found["seconds"] == pytest.approx(10)
    least = {
        disk["broker"]: disk["least_free_bytes"]
        for disk in found["disks"]
        if disk["log_dir"] is None
    }
    assert least == {1: 1000 * MB, 2: 1000 * MB, 3: 990 * MB, 4: 1000 * MB}
    assert rules(found) == []


def test_the_screen_ends_with_what_stops_it(capsys, tmp_path):
    now = cluster(tmp_path, partition(0, 1, 2))
    outcome = run(capsys, "apply", plan(tmp_path, MOVE), "--snapshot", now)

    assert outcome.code == 0
    assert outcome.out.startswith('ready: rebalance on "one", plan id ')
    assert "Stops it   nothing" in outcome.out
    assert "nothing has been changed" in outcome.out


def test_a_cancelled_move_is_asked_for_again(capsys, tmp_path):
    # Kafka leaves what is kept of the target, and then the rest of the old list.
    now = cluster(tmp_path, partition(0, 2, 1), partition(1, 2, 1))

    found = preview(
        capsys, plan(tmp_path, ([1, 2], [3, 2]), ([1, 2], [1, 3])), "--snapshot", now
    )

    # The second one would be [1, 2]: another tool has changed its order.
    assert (found["stages"][0]["partitions"], rules(found)) == (1, ["drifted"])


def test_a_finished_plan_has_no_stage(capsys, tmp_path):
    found = preview(
        capsys,
        plan(tmp_path, MOVE),
        "--snapshot",
        cluster(tmp_path, partition(0, 1, 3)),
    )

    assert (found["stages"], found["completed"], found["ready"]) == ([], 1, True)


def test_a_plan_that_was_started_shows_what_is_left(capsys, tmp_path):
    now = cluster(
        tmp_path,
        partition(0, 1, 3),
        partition(1, 1, 3, 2, adding_replicas=[3], removing_replicas=[2], isr=[1, 2]),
        partition(2, 1, 2),
    )
    path = plan(tmp_path, MOVE, MOVE, MOVE)
    found = preview(capsys, path, "--snapshot", now)

    assert (found["completed"], found["in_progress"]) == (1, 1)
    # What runs already is waited for, in its turn.
    assert [stage["partitions"] for stage in found["stages"]] == [2]
    # The journal beside the plan knows of no run: there may be another one.
    assert rules(found) == ["reassigning"]

    (path / "journal.jsonl").write_text('{"event": "started"}\n')
    assert rules(preview(capsys, path, "--snapshot", now)) == []


BLOCKED = {
    "broker-not-live": ([partition(0, 1, 2)], {"brokers": {3: {"state": "fenced"}}}),
    "no-source": ([partition(0, 1, 2, isr=[], leader=None)], {}),
    "cordoned": ([partition(0, 1, 2)], {"log_dir": {"state": "cordoned"}}),
    "disk-full": ([partition(0, 1, 2)], {"free": 9 * MB}),
    "drifted": ([partition(0, 1, 4)], {}),
    "reassigning": (
        [
            partition(0, 1, 2),
            partition(
                9, 1, 4, 2, adding_replicas=[4], removing_replicas=[2], isr=[1, 2]
            ),
        ],
        {},
    ),
    "under-min-isr": ([partition(0, 1, 2), partition(9, 1, 4, isr=[], leader=1)], {}),
    "leaderless": ([partition(0, 1, 2), partition(9, 1, 4, isr=[], leader=None)], {}),
    "throttled": (
        [partition(0, 1, 2)],
        {"brokers": {2: {"configs": {"leader.replication.throttled.rate": "1000"}}}},
    ),
}


@pytest.mark.parametrize("rule", BLOCKED)
def test_every_reason_not_to_start_is_named(capsys, tmp_path, rule):
    partitions, more = BLOCKED[rule]
    folder, now = plan(tmp_path, MOVE), cluster(tmp_path, *partitions, **more)

    found = preview(capsys, folder, "--snapshot", now)

    assert rule in rules(found)
    [blocker] = [b for b in found["blockers"] if b["rule"] == rule]
    assert blocker["count"] == 1 or rule == "cordoned"
    assert blocker["remedy"]


FENCED = {"brokers": {2: {"state": "fenced"}}, "min_isr": "2"}


@pytest.mark.parametrize(
    ("partitions", "moves", "more", "blocked"),
    [
        pytest.param([partition(0, 1, 2, isr=[1])], [MOVE], FENCED, [], id="repaired"),
        pytest.param(
            [partition(0, 1, 2, isr=[1]), partition(1, 1, 2, isr=[1])],
            [MOVE],
            FENCED,
            ["under-min-isr"],
            id="another",
        ),
        pytest.param(
            [partition(0, 1, 4, isr=[1])],
            [([1, 4], [1, 3])],
            {"min_isr": "3"},
            [],
            id="as many as a list of two can have",
        ),
        pytest.param(
            [partition(0, 1, 2, 4, isr=[1])],
            [([1, 2, 4], [1, 3, 4])],
            FENCED | {"min_isr": "3"},
            ["under-min-isr"],
            id="repaired in part",
        ),
        pytest.param(
            [partition(0, 1)], [([1], [1, 3])], {"min_isr": "2"}, [], id="grows"
        ),
        pytest.param(
            [partition(0, 1, 3), partition(1, 2, isr=[2], leader=None)],
            [([1, 3], [1, 4])],
            FENCED,
            ["leaderless"],
            id="named once",
        ),
        pytest.param(
            [partition(0, 1), partition(1, 3)],
            [([1], [2])],
            {"min_isr": "2"},
            [],
            id="a factor below",
        ),
    ],
)
def test_a_plan_is_no_reason_against_its_own_repair(
    capsys, tmp_path, partitions, moves, more, blocked
):
    folder, now = plan(tmp_path, *moves), cluster(tmp_path, *partitions, **more)

    assert rules(preview(capsys, folder, "--snapshot", now)) == blocked


@pytest.mark.parametrize(
    "rule", ["reassigning", "under-min-isr", "leaderless", "throttled"]
)
def test_what_does_not_touch_the_plan_may_be_ignored(capsys, tmp_path, rule):
    partitions, more = BLOCKED[rule]
    folder, now = plan(tmp_path, MOVE), cluster(tmp_path, *partitions, **more)

    found = preview(capsys, folder, "--snapshot", now, "--ignore", rule)

    assert rule in rules(found, ignored=True)
    assert rule not in rules(found)


@pytest.mark.parametrize("rule", ["disk-full", "no-source", "broker-not-live", "x"])
def test_what_would_break_the_plan_may_not_be_ignored(capsys, tmp_path, rule):
    now = cluster(tmp_path, partition(0, 1, 2))
    folder = plan(tmp_path, MOVE)

    outcome = run(capsys, "apply", folder, "--snapshot", now, "--ignore", rule)

    assert outcome.code == 2
    assert "--ignore" in outcome.err


def test_room_is_that_of_the_log_dir_that_the_plan_names(capsys, tmp_path):
    dirs = [
        {"path": path, "size_bytes": 4000 * MB, "usable_bytes": free}
        for path, free in (("/a", 9 * MB), ("/b", 900 * MB))
    ]
    now = cluster(tmp_path, partition(0, 1, 2), brokers={3: {"log_dirs": dirs}})
    folder = plan(tmp_path, MOVE)
    entry = {"topic": "t", "partition": 0, "replicas": [1, 3]}
    for path, blocked in (("/a", ["disk-full"]), ("/b", [])):
        listed = [entry | {"log_dirs": ["any", path]}]
        document = {"version": 1, "partitions": listed}
        (folder / "reassignment.json").write_text(json.dumps(document))

        assert rules(preview(capsys, folder, "--snapshot", now)) == blocked


@pytest.mark.parametrize("state", ["offline", "cordoned"])
def test_a_log_dir_that_takes_no_replica_has_no_room(capsys, tmp_path, state):
    closed = {"path": "/a", "size_bytes": 4000 * MB, "usable_bytes": 3000 * MB}
    small = {"path": "/b", "size_bytes": 4000 * MB, "usable_bytes": 9 * MB}
    dirs = [closed | {"state": state}, small]
    now = cluster(tmp_path, partition(0, 1, 2), brokers={3: {"log_dirs": dirs}})

    found = preview(capsys, plan(tmp_path, MOVE), "--snapshot", now)

    assert rules(found) == ["disk-full"]


def test_without_log_dirs_room_is_what_the_load_leaves_of_the_capacity(
    capsys, tmp_path
):
    known = {3: {"log_dirs": [], "disk_bytes": 15 * MB}}
    lists = [partition(0, 1, 2), partition(1, 1, 3)]
    now = cluster(tmp_path, *lists, brokers=known)
    folder = plan(tmp_path, MOVE, ([1, 3], [1, 3]))

    found = preview(capsys, folder, "--snapshot", now)

    [disk] = [one for one in found["disks"] if one["broker"] == 3]
    assert (disk["log_dir"], disk["free_bytes"]) == (None, 5 * MB)
    assert rules(found) == ["disk-full"]


def test_drifted_partitions_are_left_out_on_demand(capsys, tmp_path):
    now = cluster(tmp_path, partition(0, 1, 4), partition(1, 1, 2))
    folder = plan(tmp_path, MOVE, MOVE)

    found = preview(capsys, folder, "--snapshot", now, "--allow-drift")

    assert rules(found, ignored=True) == ["drifted"]
    assert [stage["partitions"] for stage in found["stages"]] == [1]


def test_a_topic_made_again_has_drifted(capsys, tmp_path):
    now = cluster(tmp_path, partition(0, 1, 2), topic_id="ni7FZx_POS1UQWEA3Xml3w")

    found = preview(capsys, plan(tmp_path, MOVE), "--snapshot", now)

    assert rules(found) == ["drifted"]
    assert found["stages"] == []


def test_a_plan_of_another_cluster_is_bad_input(capsys, tmp_path):
    now = cluster(tmp_path, partition(0, 1, 2), cluster_id="two")

    outcome = run(capsys, "apply", plan(tmp_path, MOVE), "--snapshot", now)

    assert outcome.code == 2
    assert "two" in outcome.err


def test_several_new_replicas_at_once_need_waves(capsys, tmp_path):
    now = cluster(tmp_path, partition(0, 1, 2))
    folder = plan(tmp_path, ([1, 2], [3, 4]))

    assert rules(preview(capsys, folder, "--snapshot", now)) == ["needs-waves"]


def test_a_file_alone_has_no_record_of_the_lists_before(capsys, tmp_path):
    now = cluster(tmp_path, partition(0, 1, 2))
    file = plan(tmp_path, MOVE) / "reassignment.json"

    found = preview(capsys, file, "--snapshot", now)
    assert rules(found) == ["no-record"]
    found = preview(capsys, file, "--snapshot", now, "--ignore", "no-record")
    assert found["ready"]


def test_the_plan_id_is_that_of_the_requests(capsys, tmp_path):
    folder = plan(tmp_path, MOVE, MOVE)
    both = cluster(tmp_path, partition(0, 1, 2), partition(1, 1, 2))
    first = preview(capsys, folder, "--snapshot", both)
    again = preview(capsys, folder, "--snapshot", both, "--throttle", "1MB/s")
    one = cluster(tmp_path, partition(0, 1, 3), partition(1, 1, 2))
    left = preview(capsys, folder, "--snapshot", one)

    assert first["plan_id"] == again["plan_id"] != left["plan_id"]


def test_the_plan_id_stays_while_partitions_grow(capsys, tmp_path):
    folder = plan(tmp_path, MOVE, MOVE)
    ids = set()
    for size in (5 * MB, 20 * MB):
        grown = partition(1, 1, 2, size_bytes=size)
        now = cluster(tmp_path, partition(0, 1, 2), grown)
        ids.add(preview(capsys, folder, "--snapshot", now)["plan_id"])

    assert len(ids) == 1


def test_bad_options_are_named_at_once(capsys, tmp_path):
    now = cluster(tmp_path, partition(0, 1, 2))
    folder = plan(tmp_path, MOVE)

    outcome = run(
        capsys,
        *("apply", folder, "--snapshot", now, "--throttle", "fast", "--ignore", "x"),
        *("--format", "json"),
    )

    assert outcome.code == 2
    places = [problem["place"] for problem in outcome.document["problems"]]
    assert places == ["--ignore", "--throttle"]


def test_controls_are_for_a_run_that_is_under_way(capsys, tmp_path):
    folder = plan(tmp_path, MOVE)
    (folder / "journal.jsonl").write_text('{"event": "ended"}\n')

    refused = run(capsys, "apply", folder, "--set", "pause")
    assert refused.code == 2
    assert "needs a run of the plan on this machine" in refused.err

    with run_lock(folder / "journal.jsonl"):
        taken = run(capsys, "apply", folder, "--set", "pause")
    assert taken.code == 0
    assert taken.out.startswith("set: paused")
