"""What can finish, what cannot and why, which waves are complete, what is left."""

import pytest

from placement.model.cluster import BrokerState, ClusterState, LogDirState
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.verify import Overall, Status, Verification, verify
from support.clusters import Dir, make_state

FENCED = BrokerState.FENCED
DEAD = BrokerState.DEAD


def plan(*replicas: list[int], dirs=None, first: int = 0) -> ReassignmentFile:
    count = len(replicas)
    return ReassignmentFile(
        ("t",) * count,
        tuple(range(first, first + count)),
        tuple(map(tuple, replicas)),
        tuple(dirs) if dirs else (None,) * count,
    )


def moving(replicas: list[int], **changes) -> ClusterState:
    """Build a cluster with one partition that moves from 1,2 to 3,4."""
    usual = {"adding": [[3, 4]], "removing": [[1, 2]], "isr": [[1, 2]]}
    return make_state([replicas], ids=range(6), **(usual | changes))


def said(outcome: Verification) -> list[tuple[str, str]]:
    return [(finding.rule, finding.message) for finding in outcome.findings]


def commands(outcome: Verification) -> str:
    return "\n".join(command for step in outcome.left for command in step.commands)


def test_a_copy_that_can_finish_is_waited_for():
    outcome = verify(moving([3, 4, 1, 2]), plan([3, 4]))

    [move] = outcome.moving
    assert (move.can_finish, move.why) == (True, ())
    assert said(outcome) == [("in-progress", "t-0: adding 3,4; removing 1,2")]
    assert "--verify" in commands(outcome)
    assert "--cancel" not in commands(outcome)


@pytest.mark.parametrize(
    ("state", "rule", "why"),
    [
        pytest.param(
            moving([3, 4, 1, 2], states={3: FENCED}),
            "waits",
            "waits for broker 3, fenced",
            id="destination-fenced",
        ),
        pytest.param(
            moving([3, 4, 1, 2], states={4: DEAD}),
            "waits",
            "waits for broker 4, dead",
            id="destination-dead",
        ),
        pytest.param(
            moving(
                [3, 4, 1, 2],
                states={1: FENCED, 2: FENCED},
                isr=[[1]],
                leaders=[None],
            ),
            "no-source",
            "no live replica in sync to copy from; last copies: broker 1, fenced",
            id="no-source",
        ),
        pytest.param(
            moving(
                [3, 4, 1, 2],
                states={1: FENCED, 2: FENCED},
                isr=[[]],
                elr=[[2]],
                leaders=[None],
            ),
            "no-source",
            "no live replica in sync to copy from; last copies: broker 2, fenced",
            id="last-copy-in-the-elr",
        ),
        pytest.param(
            moving(
                [3, 4, 1, 2],
                log_dirs={3: [Dir("/a", state=LogDirState.OFFLINE), Dir("/b")]},
            ),
            "waits",
            "waits for log dir /a of broker 3, offline",
            id="target-log-dir-offline",
        ),
        pytest.param(
            make_state(
                [[1, 2]],
                removing=[[2]],
                isr=[[2]],
                leaders=[2],
            ),
            "waits",
            "waits for a replica that stays to be in sync: broker 1",
            id="nothing-that-stays-is-in-sync",
        ),
        pytest.param(
            moving([1, 2, 3, 4], removing=[[3, 4]]),
            "stuck",
            "adds and removes brokers 3,4: it never ends",
            id="adds-and-removes-the-same",
        ),
    ],
)
def test_a_copy_that_cannot_finish_says_why(state: ClusterState, rule: str, why: str):
    outcome = verify(state, plan([3, 4], dirs=[("/a", None)]))

    [move] = outcome.moving
    assert (move.can_finish, why in move.why) == (False, True)
    found = [one for one in said(outcome) if one[0] == rule]
    assert [why in message for _, message in found] == [True]
    assert not outcome.is_done


def test_what_is_not_live_but_copied_already_holds_nothing_up():
    outcome = verify(
        moving([3, 4, 1, 2], states={2: FENCED}, isr=[[1, 3]]), plan([3, 4])
    )

    assert outcome.moving[0].can_finish


def test_a_stuck_partition_names_the_command_that_frees_it():
    outcome = verify(moving([1, 2, 3, 4], removing=[[3, 4]]), plan([3, 4]))

    [finding] = outcome.findings
    assert finding.rule == "stuck"
    assert "--cancel" in outcome.left[0].commands[0]


def test_forty_partitions_that_wait_for_one_broker_are_one_finding():
    rows = [[3, 1, 2]] * 40
    state = make_state(
        rows,
        adding=[[3]] * 40,
        removing=[[2]] * 40,
        states={3: FENCED},
        isr=[[1, 2]] * 40,
    )

    outcome = verify(state, plan(*[[3, 1]] * 40))

    [finding] = outcome.findings
    assert (finding.rule, finding.count) == ("waits", 40)
    assert finding.message == (
        "40 partitions wait for broker 3, fenced: t-0, t-1, t-2 …"
    )
    assert (finding.where.topic, finding.where.partition) == ("t", None)
    assert finding.where.broker == 3
    assert len(outcome.moving) == 40


@pytest.mark.parametrize(
    ("now", "before", "message"),
    [
        pytest.param(
            [2, 1, 3], [2, 3, 1], "those of before in another order", id="after-cancel"
        ),
        pytest.param([0, 4], None, "replicas are 0,4, not 4,0", id="of-the-plan"),
    ],
)
def test_the_same_replicas_in_another_order_are_known(now, before, message: str):
    rollback = None if before is None else plan(before)

    outcome = verify(make_state([now], ids=range(6)), plan([4, 0]), rollback=rollback)

    [finding] = outcome.findings
    assert finding.rule == "other-order"
    assert message in finding.message
    assert outcome.overall is Overall.DIFFERS


def test_what_a_cancel_left_is_copied_with_a_throttle_and_another_order_without():
    cancelled = verify(
        make_state([[2, 1]], ids=range(6)), plan([3, 4]), rollback=plan([1, 2])
    )
    arrived = verify(
        make_state([[4, 3]], ids=range(6)), plan([3, 4]), rollback=plan([1, 2])
    )

    assert "--execute --throttle BYTES_PER_S" in commands(cancelled)
    assert "--throttle" not in commands(arrived)


def test_the_replicas_of_a_wave_in_another_order_are_known():
    outcome = verify(
        make_state([[1, 3]], ids=range(6)),
        plan([3, 4]),
        rollback=plan([1, 2]),
        waves=[plan([3, 1]), plan([3, 4])],
    )

    [finding] = outcome.findings
    assert finding.rule == "other-order"
    assert "replicas are 1,3, those of a wave in another order (3,1)" in finding.message
    assert "as after a cancel" in finding.message


TWO_WAVES = [plan([3, 1], [1, 2]), plan([3, 4])]


@pytest.mark.parametrize(
    ("state", "waves", "overall"),
    [
        pytest.param(
            make_state([[1, 2], [0, 2]], ids=range(6)),
            ["not-started", "not-started"],
            Overall.NOT_STARTED,
            id="before",
        ),
        pytest.param(
            make_state([[3, 1], [1, 2]], ids=range(6)),
            ["completed", "not-started"],
            Overall.IN_PROGRESS,
            id="after-the-first",
        ),
        pytest.param(
            make_state([[3, 1], [0, 2]], ids=range(6)),
            ["in-progress", "not-started"],
            Overall.IN_PROGRESS,
            id="first-half-done",
        ),
        pytest.param(
            make_state(
                [[3, 4, 1], [1, 2]], ids=range(6), adding=[[4], []], removing=[[1], []]
            ),
            ["completed", "in-progress"],
            Overall.IN_PROGRESS,
            id="in-the-second",
        ),
        pytest.param(
            make_state([[3, 4], [1, 2]], ids=range(6)),
            ["completed", "completed"],
            Overall.COMPLETED,
            id="after-the-last",
        ),
        pytest.param(
            make_state([[5, 4], [1, 2]], ids=range(6)),
            ["differs", "differs"],
            Overall.DIFFERS,
            id="moved-by-somebody-else",
        ),
    ],
)
def test_waves_that_are_complete_are_named(state, waves: list[str], overall: Overall):
    outcome = verify(
        state,
        plan([3, 4], [1, 2]),
        rollback=plan([1, 2], [0, 2]),
        waves=TWO_WAVES,
    )

    assert [wave.status.value for wave in outcome.waves] == waves
    assert [wave.number for wave in outcome.waves] == [1, 2]
    assert outcome.overall is overall


def test_a_list_between_two_waves_is_no_difference():
    outcome = verify(
        make_state([[3, 1], [1, 2]], ids=range(6)),
        plan([3, 4], [1, 2]),
        rollback=plan([1, 2], [0, 2]),
        waves=TWO_WAVES,
    )

    assert outcome.statuses == (Status.IN_PROGRESS, Status.COMPLETED)
    assert outcome.left[0].message.startswith("run wave 2 of 2")


def test_what_is_not_started_is_to_be_started_with_a_throttle():
    outcome = verify(
        make_state([[1, 2]], ids=range(6)), plan([3, 4]), rollback=plan([1, 2])
    )

    assert outcome.overall is Overall.NOT_STARTED
    assert "--execute --throttle BYTES_PER_S" in commands(outcome)


def test_a_dead_broker_in_a_present_list_forbids_kafkas_throttle():
    state = make_state([[1, 2]], ids=range(6), states={2: DEAD})

    outcome = verify(state, plan([1, 4]), rollback=plan([1, 2]))

    assert "--throttle" not in commands(outcome)
    assert "broker 2 is not live" in outcome.left[0].message


def test_a_change_of_order_takes_no_throttle():
    outcome = verify(
        make_state([[1, 2]], ids=range(6)), plan([2, 1]), rollback=plan([1, 2])
    )

    assert outcome.overall is Overall.NOT_STARTED
    assert "--execute" in commands(outcome)
    assert "--throttle" not in commands(outcome)


def test_a_partition_with_one_of_two_log_dirs_moved_is_in_progress():
    dirs = {1: [Dir("/a"), Dir("/b")], 2: [Dir("/a"), Dir("/b")]}
    state = make_state([[1, 2]], log_dirs=dirs, dirs=[["/b", "/a"]])

    outcome = verify(
        state,
        plan([1, 2], dirs=[("/b", "/b")]),
        rollback=plan([1, 2], dirs=[("/a", "/a")]),
    )

    assert outcome.statuses == (Status.IN_PROGRESS,)


def test_nothing_is_left_of_a_completed_plan():
    assert verify(make_state([[1, 2]]), plan([1, 2])).left == ()


def test_a_new_partition_that_is_not_there_is_not_started():
    outcome = verify(make_state([[1, 2]]), plan([2, 1], first=7), creates=True)

    assert outcome.overall is Overall.NOT_STARTED
