"""What has become of a plan, by tiny clusters."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.model.cluster import ClusterState, LogDirState
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.throttles import BROKER_THROTTLES, LOG_DIR_RATE, TOPIC_THROTTLES
from planner.verify import Overall, Status, verify
from support.clusters import Dir, clusters, make_state

COMPLETED, IN_PROGRESS, NOT_STARTED, SUPERSEDED, DIFFERS = Status


def plan(*replicas: list[int], dirs=None, topic: str = "t") -> ReassignmentFile:
    count = len(replicas)
    return ReassignmentFile(
        (topic,) * count,
        tuple(range(count)),
        tuple(map(tuple, replicas)),
        tuple(dirs) if dirs else (None,) * count,
    )


@pytest.mark.parametrize(
    ("state", "target", "before", "status"),
    [
        pytest.param(make_state([[1, 2]]), [1, 2], None, COMPLETED, id="equal"),
        pytest.param(make_state([[1, 2]]), [2, 1], None, DIFFERS, id="other-order"),
        pytest.param(make_state([[1, 2]]), [1, 2, 0], None, DIFFERS, id="one-missing"),
        pytest.param(make_state([[1, 2]]), [0, 1], [1, 2], NOT_STARTED, id="as-before"),
        pytest.param(
            make_state([[1, 2]]), [0, 1], [2, 1], DIFFERS, id="neither-before-nor-after"
        ),
        pytest.param(
            make_state([[1, 2]]), [1, 2], [1, 2], COMPLETED, id="before-and-after-alike"
        ),
        pytest.param(
            make_state([[4, 5, 1, 2]], adding=[[4, 5]], removing=[[1, 2]]),
            [4, 5],
            [1, 2],
            IN_PROGRESS,
            id="moving-here",
        ),
        pytest.param(
            make_state([[4, 5, 1, 2]], adding=[[4, 5]], removing=[[1, 2]]),
            [5, 4],
            [1, 2],
            SUPERSEDED,
            id="moving-here-in-another-order",
        ),
        pytest.param(
            make_state([[4, 5, 1, 2]], adding=[[4, 5]], removing=[[1, 2]]),
            [3, 4],
            [1, 2],
            SUPERSEDED,
            id="moving-elsewhere",
        ),
        pytest.param(
            make_state([[4, 5, 3]], adding=[[3]]),
            [4, 5, 3],
            [4, 5],
            IN_PROGRESS,
            id="growing",
        ),
        pytest.param(
            make_state([[4, 5, 3]], removing=[[3]]),
            [4, 5],
            None,
            IN_PROGRESS,
            id="shrinking",
        ),
        pytest.param(
            make_state([[4, 5, 3]], removing=[[3]]),
            [4, 5, 3],
            None,
            SUPERSEDED,
            id="shrinking-below-the-target",
        ),
        pytest.param(make_state({"u": [[1]]}), [1], None, DIFFERS, id="topic-gone"),
        pytest.param(
            make_state([[1]], partitions=[3]), [1], None, DIFFERS, id="partition-gone"
        ),
        pytest.param(make_state([[1]]), [], None, DIFFERS, id="no-replicas-asked-for"),
    ],
)
def test_a_partition_has_one_status(
    state: ClusterState, target: list[int], before: list[int] | None, status: Status
):
    rollback = None if before is None else plan(before)

    outcome = verify(state, plan(target), rollback=rollback)

    assert outcome.statuses == (status,)
    rules = [finding.rule for finding in outcome.findings]
    if status is DIFFERS and rules == ["other-order"]:
        assert any(sorted(one or []) == [1, 2] for one in (target, before))
    else:
        assert rules == (
            [] if status is COMPLETED else [status.value.replace("_", "-")]
        )


MIXED = make_state(
    [[1, 2], [4, 5, 1, 2], [1, 2], [1, 2]],
    adding=[[], [4, 5], [], []],
    removing=[[], [1, 2], [], []],
)


@pytest.mark.parametrize(
    ("targets", "overall"),
    [
        pytest.param([], Overall.COMPLETED, id="nothing-asked-for"),
        pytest.param([[1, 2]], Overall.COMPLETED, id="all-completed"),
        pytest.param([[4, 5]], Overall.NOT_STARTED, id="none-started"),
        pytest.param([[4, 5], [4, 5]], Overall.IN_PROGRESS, id="some-not-started"),
        pytest.param([[1, 2], [4, 5]], Overall.IN_PROGRESS, id="half-done"),
        pytest.param(
            [[1, 2], [4, 5], [1, 2], [4, 5]], Overall.IN_PROGRESS, id="half-started"
        ),
        pytest.param([[2, 1], [5, 4]], Overall.DIFFERS, id="superseded"),
    ],
)
def test_the_whole_plan_has_one_status(targets: list[list[int]], overall: Overall):
    rollback = plan([1, 2], [1, 2], [1, 2], [1, 2])

    outcome = verify(MIXED, plan(*targets), rollback=rollback)

    assert outcome.overall is overall
    assert outcome.is_done == (overall is Overall.COMPLETED)


def test_without_the_lists_before_nothing_is_known_to_be_not_started():
    assert verify(make_state([[1, 2]]), plan([4, 5])).overall is Overall.DIFFERS


def test_a_leader_that_is_not_the_preferred_one_does_not_undo_the_plan():
    outcome = verify(make_state([[1, 2]], leaders=[2]), plan([1, 2]))

    [finding] = outcome.findings
    assert finding.rule == "leader-not-preferred"
    assert finding.message == "t-0: led by broker 2, preferred is broker 1"
    assert outcome.is_done


def test_a_partition_without_a_leader_is_said():
    outcome = verify(make_state([[1, 2]], leaders=[None]), plan([1, 2]))

    assert "led by no broker" in outcome.findings[0].message


def on_dirs(now: str | None, future: str | None, **changes) -> ClusterState:
    dirs = {1: [Dir("/d1"), Dir("/d2", **changes), Dir("/d3")]}
    return make_state(
        [[1, 2]], log_dirs=dirs, dirs=[[now, None]], future_dirs=[[future, None]]
    )


@pytest.mark.parametrize(
    ("state", "status", "said"),
    [
        pytest.param(on_dirs("/d2", None), COMPLETED, None, id="there"),
        pytest.param(
            on_dirs("/d1", "/d2"), IN_PROGRESS, "still being moved", id="on-its-way"
        ),
        pytest.param(
            on_dirs("/d1", None), NOT_STARTED, "is not being moved", id="as-before"
        ),
        pytest.param(
            on_dirs("/d3", None), DIFFERS, "is not being moved", id="elsewhere"
        ),
        pytest.param(
            on_dirs("/d1", "/d3"),
            SUPERSEDED,
            "to log dir /d3 instead",
            id="going-wrong",
        ),
        pytest.param(
            on_dirs("/d2", "/d3"), SUPERSEDED, "to log dir /d3 instead", id="going-away"
        ),
        pytest.param(on_dirs(None, None), COMPLETED, "is not known", id="not-known"),
        pytest.param(
            on_dirs("/d2", None, state=LogDirState.OFFLINE),
            COMPLETED,
            "is offline",
            id="offline",
        ),
    ],
)
def test_a_log_dir_that_is_not_as_planned_speaks_against_it(
    state: ClusterState, status: Status, said: str | None
):
    before = plan([1, 2], dirs=[("/d1", None)])
    outcome = verify(state, plan([1, 2], dirs=[("/d2", None)]), rollback=before)

    assert outcome.statuses == (status,)
    assert outcome.is_done == (said is None)
    messages = [f.message for f in outcome.findings if f.rule == "log-dir"]
    assert [said in message for message in messages] == ([] if said is None else [True])


def test_any_log_dir_will_do_where_the_plan_names_none():
    assert verify(on_dirs("/d1", None), plan([1, 2], dirs=[(None, None)])).is_done


RATES = [("broker", "1", key, "1000") for key in BROKER_THROTTLES]
LISTS = [("topic", "t", key, "0:1,0:2") for key in TOPIC_THROTTLES]


@pytest.mark.parametrize(
    ("throttle", "key"), [pytest.param(one, one[2], id=one[2]) for one in RATES + LISTS]
)
def test_a_throttle_left_behind_speaks_against_a_completed_plan(throttle, key: str):
    outcome = verify(make_state([[1, 2]]), plan([1, 2]), throttles=[throttle])

    assert [finding.rule for finding in outcome.findings] == ["throttle-left"]
    assert key in outcome.findings[0].message
    assert outcome.overall is Overall.COMPLETED
    assert not outcome.is_done


def left(state: ClusterState, throttles) -> set[str]:
    outcome = verify(state, plan([1, 2]), throttles=throttles)
    steps = [step for step in outcome.left if step.message.startswith("remove")]
    commands = [command for step in steps for command in step.commands]
    rules = [finding.rule for finding in outcome.findings]
    assert bool(commands) == ("throttle-left" in rules)
    return {key for one in commands for key in one.split(" ")[-1].split(",")}


def test_throttles_that_serve_a_copy_are_not_left_behind():
    moving = make_state([[1, 2], [0, 1]], adding=[[], [0]])
    other = make_state({"t": [[1, 2]], "u": [[0, 1]]}, adding=[[], [0]])
    copying = make_state(
        [[1, 2]],
        log_dirs={1: [Dir("/a"), Dir("/b")]},
        dirs=[["/a", None]],
        future_dirs=[["/b", None]],
    )

    assert left(moving, RATES + LISTS) == {LOG_DIR_RATE}
    assert left(other, RATES + LISTS) == {LOG_DIR_RATE, *TOPIC_THROTTLES}
    assert left(copying, RATES) == set(BROKER_THROTTLES) - {LOG_DIR_RATE}


def test_throttles_of_other_topics_are_none_of_the_plans():
    state = make_state({"t": [[1, 2]], "u": [[1, 2]]})

    assert not left(state, [("topic", "u", TOPIC_THROTTLES[0], "*")])


def test_a_default_of_all_brokers_has_no_broker():
    state = make_state([[1, 2]])

    outcome = verify(
        state, plan([1, 2]), throttles=[("cluster", "", BROKER_THROTTLES[0], "9" * 99)]
    )

    assert outcome.findings[0].where.broker is None
    assert "--entity-default" in outcome.left[0].commands[0]
    assert len(outcome.findings[0].message) < 150


def test_the_document_is_json_with_every_count():
    document = verify(MIXED, plan([1, 2], [4, 5])).to_dict()

    assert json.loads(json.dumps(document)) == document
    assert document["status"] == "in-progress"
    assert document["partitions"] == {
        "completed": 1,
        "in_progress": 1,
        "not_started": 0,
        "superseded": 0,
        "differs": 0,
    }


@given(clusters(reassigning=True), st.data())
def test_every_entry_is_counted_once_and_as_a_person_would(state: ClusterState, data):
    ids = state.brokers.ids.tolist()
    names = [(t, p) for t in [*state.topics.names, "gone"] for p in range(3)]
    lists = st.lists(st.sampled_from(ids), unique=True, max_size=3)
    current = {
        state.name_of(row): state.brokers_of(row) for row in range(state.num_partitions)
    }
    targets = [
        data.draw(lists | st.just(current.get(f"{topic}-{number}", [])))
        for topic, number in names
    ]
    file = ReassignmentFile(
        tuple(topic for topic, _ in names),
        tuple(number for _, number in names),
        tuple(map(tuple, targets)),
        (None,) * len(names),
    )

    outcome = verify(state, file)

    moving = {
        state.name_of(row)
        for row, is_moving in enumerate(state.is_reassigning)
        if is_moving
    }
    assert sum(outcome.counts.values()) == len(names)
    for (topic, number), target, status in zip(
        names, targets, outcome.statuses, strict=True
    ):
        key = f"{topic}-{number}"
        is_done = key in current and key not in moving and current[key] == target
        assert (status is COMPLETED) == is_done
        assert (status in {IN_PROGRESS, SUPERSEDED}) == (key in moving)
