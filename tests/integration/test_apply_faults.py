"""Faults around a run: the network, other tools, topics, another planner, signals."""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient

from integration.kafka.cluster import Cluster, wait_until
from integration.lossy import ALTER_REASSIGNMENTS, Loss, LossyBroker
from integration.messages import Messages
from integration.planner import COMMAND, run_here
from integration.runs import (
    cancelled,
    carried_out,
    completed,
    connected,
    follow,
    fresh,
    job_of,
    plan_folder,
    requested,
)
from integration.shell import throttles
from integration.steps import create, replicas_of, write_plan
from integration.wire import Wire
from planner.errors import BadInputError, ClusterUnavailableError
from planner.execution.run import run as run_module
from planner.execution.run.controls import ControlFile, control_path
from planner.execution.run.journal import Journal, journal_path, utc_now
from planner.execution.run.run import run
from planner.execution.run.run_choices import RunChoices

pytestmark = pytest.mark.kafka

BEFORE = [[1, 2], [2, 1], [1, 2]]
LISTS = {0: [1, 3], 1: [3, 1], 2: [2, 3]}
AFTER = list(LISTS.values())
NUMBERS = count(1)
"""Numbers of topics: each trial has its own."""


@dataclass(frozen=True, slots=True)
class Trial:
    """
    A topic with messages, and a plan that moves each of its partitions.

    Parameters
    ----------
    cluster, topic, plan, messages
        Parts of the trial.
    throttles
        Throttles in force before.
    """

    cluster: Cluster
    topic: str
    plan: Path
    messages: Messages
    throttles: list[str]

    @property
    def replicas(self) -> list[list[int]]:
        return replicas_of(self.cluster, self.topic)

    def carried_out(self, **options: Any) -> Any:
        """Carry the plan out slowly, and return its last event."""
        return carried_out(self.plan, self.cluster.bootstrap, **options)[-1]

    def hurry(self) -> None:
        """Finish the copies under way at once."""
        ControlFile(control_path(journal_path(self.plan))).set(["throttle=50MB/s"])

    def check(self) -> None:
        """Look for messages that are lost, and throttles that are left."""
        self.messages.check()
        assert throttles(self.cluster, until=self.throttles) == self.throttles


@pytest.fixture
def trial(slow_cluster: Cluster, tmp_path) -> Iterator[Trial]:
    topic = f"fault-{next(NUMBERS)}"
    create(slow_cluster, topic, BEFORE)
    messages = Messages(slow_cluster.bootstrap, topic, len(BEFORE)).write(20)
    plan = plan_folder(slow_cluster, tmp_path, topic, LISTS)
    found = Trial(slow_cluster, topic, plan, messages, throttles(slow_cluster))
    with messages:
        yield found


# -- the network between planner and cluster -------------------------------------


def test_a_network_that_is_cut_longer_than_every_timeout(trial: Trial):
    with Wire(trial.cluster) as wire, connected(wire.bootstrap, *wire.resolve) as here:
        events = follow(job_of(trial.plan), here, {"admitted": lambda: wire.cut_for(9)})

    assert events[-1].status == "completed"
    assert any("trying again" in e.reason for e in events if e.event == "stuck")
    assert trial.replicas == AFTER
    assert sorted(requested(trial.plan)) == [(trial.topic, n) for n in LISTS]
    trial.check()


def test_a_network_that_does_not_come_back_ends_a_run_that_the_next_one_resumes(
    trial: Trial,
):
    choices = RunChoices(patience_s=1.0, poll_s=0.2)
    with (
        Wire(trial.cluster) as wire,
        connected(wire.bootstrap, *wire.resolve) as here,
        pytest.raises(ClusterUnavailableError),
    ):
        follow(job_of(trial.plan, choices=choices), here, {"admitted": wire.cut})
    completed(trial.plan, trial.cluster.bootstrap)

    assert trial.replicas == AFTER
    assert sorted(requested(trial.plan)) == [(trial.topic, n) for n in LISTS]
    trial.check()


def test_a_slow_network(trial: Trial):
    with Wire(trial.cluster) as wire, connected(wire.bootstrap, *wire.resolve) as here:
        wire.delay_s = 0.1
        events = follow(job_of(trial.plan), here, {"admitted": trial.hurry})

    assert events[-1].status == "completed"
    assert trial.replicas == AFTER
    trial.check()


@pytest.mark.parametrize("loss", ["request", "answer", "connection"])
def test_the_answer_to_a_request_is_lost(trial: Trial, loss: Loss):
    ports = trial.cluster.ports.values()
    brokers = [LossyBroker(port, ALTER_REASSIGNMENTS, loss) for port in ports]

    def repair() -> None:
        for broker in brokers:
            broker.repair()

    with brokers[0], brokers[1], brokers[2]:
        servers = ",".join(broker.options[1] for broker in brokers)
        resolve = [broker.options[3] for broker in brokers]
        with connected(servers, *resolve) as here:
            events = follow(job_of(trial.plan), here, {"stuck": repair})

    assert sum(broker.lost for broker in brokers)
    assert events[-1].status == "completed"
    assert trial.replicas == AFTER
    trial.check()


# -- other tools -----------------------------------------------------------------


def moved_by_another_tool(trial: Trial, replicas: dict[int, list[int]]) -> Path:
    """Reassign partitions of the plan by Kafka's own tool."""
    file = write_plan(trial.plan.parent / "other.json", trial.topic, replicas)
    named = ("--reassignment-json-file", str(file))
    trial.cluster.reassign("--execute", "--additional", *named)
    return file


def test_another_tool_has_moved_a_partition_before(trial: Trial):
    moved_by_another_tool(trial, {0: [2, 3]})
    wait_until(lambda: trial.replicas[0] == [2, 3], "the other tool's move")

    event = trial.carried_out()

    assert event.status == "stopped"
    assert [one.rule for one in event.blockers] == ["drifted"]
    assert trial.replicas[1:] == BEFORE[1:]

    rest = trial.carried_out(allow_drift=True, rate=50_000_000)

    assert (rest.status, rest.completed) == ("stopped", 2), rest
    assert trial.replicas == [[2, 3], *AFTER[1:]]
    trial.check()


def test_another_tool_moves_a_partition_of_the_plan_meanwhile(trial: Trial):
    def interfere() -> None:
        moved_by_another_tool(trial, {0: [2, 3]})
        trial.hurry()

    event = trial.carried_out(at={"admitted": interfere})

    assert event.status == "stopped"
    (aside,) = event.set_aside
    assert aside.startswith(f"{trial.topic}-0: another tool")
    assert trial.replicas == [[2, 3], *AFTER[1:]]
    trial.check()


def test_another_tool_cancels_a_move_of_the_plan(trial: Trial):
    file = write_plan(trial.plan.parent / "other.json", trial.topic, {0: LISTS[0]})
    named = ("--reassignment-json-file", str(file), "--preserve-throttles")

    def interfere() -> None:
        trial.cluster.reassign("--cancel", *named)
        trial.hurry()

    event = trial.carried_out(at={"admitted": interfere})

    assert event.status == "stopped"
    (aside,) = event.set_aside
    assert aside.startswith(f"{trial.topic}-0: another tool")
    assert trial.replicas == [BEFORE[0], *AFTER[1:]]
    completed(trial.plan, trial.cluster.bootstrap)
    assert trial.replicas == AFTER
    trial.check()


# -- topics ----------------------------------------------------------------------


@pytest.fixture
def admin(slow_cluster: Cluster) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=slow_cluster.bootstrap) as client:
        yield client


@pytest.fixture
def doomed(slow_cluster: Cluster, tmp_path) -> Trial:
    """Return a trial with a second topic, whose partition waits for the first one."""
    topic = f"fault-{next(NUMBERS)}"
    create(slow_cluster, topic, BEFORE)
    Messages(slow_cluster.bootstrap, topic, len(BEFORE)).write(20)
    plan = plan_folder(slow_cluster, tmp_path / "doomed", topic, LISTS)
    messages = Messages(slow_cluster.bootstrap, topic, len(BEFORE))
    return Trial(slow_cluster, topic, plan, messages, throttles(slow_cluster))


def test_a_topic_is_deleted_meanwhile(doomed: Trial, admin: KafkaAdminClient):
    event = doomed.carried_out(
        at={"admitted": lambda: admin.delete_topics([doomed.topic])}
    )

    assert event.status == "stopped"
    assert sorted(event.set_aside) == [
        f"{doomed.topic}-{number}: it does not exist" for number in LISTS
    ]
    assert throttles(doomed.cluster, until=doomed.throttles) == doomed.throttles


def test_a_topic_is_deleted_and_created_again_meanwhile(
    doomed: Trial, admin: KafkaAdminClient
):
    def again() -> None:
        admin.delete_topics([doomed.topic])
        create(doomed.cluster, doomed.topic, BEFORE)

    event = doomed.carried_out(at={"admitted": again})

    assert event.status == "stopped"
    reason = "its topic was deleted and created again"
    assert sorted(event.set_aside) == [
        f"{doomed.topic}-{number}: {reason}" for number in LISTS
    ]
    assert doomed.replicas == BEFORE
    assert throttles(doomed.cluster, until=doomed.throttles) == doomed.throttles


def test_a_topic_grows_meanwhile(trial: Trial):
    def grow() -> None:
        trial.cluster.topics("--alter", "--topic", trial.topic, "--partitions", "5")
        trial.hurry()

    event = trial.carried_out(at={"admitted": grow})

    assert event.status == "completed"
    assert trial.replicas[: len(AFTER)] == AFTER
    trial.check()


# -- another planner, and the operator --------------------------------------------


def test_a_second_run_of_a_plan_is_refused_by_the_lock(trial: Trial):
    def second() -> None:
        with pytest.raises(BadInputError) as raised:
            trial.carried_out()
        assert "is held by process" in str(raised.value.problems)
        trial.hurry()

    event = trial.carried_out(at={"admitted": second})

    assert event.status == "completed"
    trial.check()


def test_a_second_run_from_another_folder_is_refused_by_what_is_moving(trial: Trial):
    def second() -> None:
        elsewhere = shutil.copytree(
            trial.plan, trial.plan.with_name("elsewhere"), ignore=_without_journal
        )
        event = carried_out(elsewhere, trial.cluster.bootstrap)[-1]
        assert event.status == "stopped"
        assert "reassigning" in {one.rule for one in event.blockers}
        trial.hurry()

    event = trial.carried_out(at={"admitted": second})

    assert event.status == "completed"
    assert trial.replicas == AFTER
    trial.check()


def test_a_run_goes_on_from_another_folder_if_the_operator_says_so(trial: Trial):
    with connected(trial.cluster.bootstrap) as here:
        for event in run(job_of(trial.plan), here):
            if event.event == "admitted":
                break
    elsewhere = shutil.copytree(
        trial.plan, trial.plan.with_name("elsewhere"), ignore=_without_journal
    )
    done = completed(elsewhere, trial.cluster.bootstrap, ignore=("reassigning",))[-1]
    cancelled(trial.plan, trial.cluster.bootstrap)

    # The throttles of the first run are not of this one's journal.
    assert any("throttle" in finding for finding in done.findings)
    assert trial.replicas == AFTER
    trial.check()


def _without_journal(_: str, names: list[str]) -> list[str]:
    return [name for name in names if "journal" in name]


@pytest.mark.parametrize("hours", [-24, 24], ids=["back", "on"])
def test_the_clock_jumps(trial: Trial, monkeypatch, hours: int):
    calls = count()

    def jumping() -> datetime:
        return utc_now() + timedelta(hours=hours * next(calls))

    monkeypatch.setattr(run_module, "Journal", partial(Journal, now=jumping))
    event = trial.carried_out(at={"admitted": trial.hurry})

    assert event.status == "completed"
    assert trial.replicas == AFTER
    trial.check()


@pytest.mark.parametrize(
    ("sign", "is_cancelled"),
    [
        pytest.param(signal.SIGINT, False, id="ctrl-c-and-apply"),
        pytest.param(signal.SIGTERM, True, id="sigterm-and-cancel"),
    ],
)
def test_a_signal_ends_a_run(trial: Trial, sign: signal.Signals, is_cancelled: bool):
    where = ("--bootstrap-server", trial.cluster.bootstrap, "--format", "json")
    seen = run_here("apply", trial.plan, *where, "--throttle", "50KB/s").document
    options = ("--yes", "--plan-id", seen["plan_id"], "--throttle", "50KB/s")
    process = subprocess.Popen(
        [str(COMMAND), "apply", str(fresh(trial.plan)), *where, *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        if json.loads(line)["event"] == "admitted":
            process.send_signal(sign)
    code, said = process.wait(60), process.stderr.read()
    process.stdout.close()
    process.stderr.close()

    assert code == 130
    assert "3 reassignments of the plan go on inside Kafka" in said
    assert "--yes" in said.partition("to go on:")[2].splitlines()[0]
    assert "kafka-planner cancel" in said.partition("to stop:")[2].splitlines()[0]
    if is_cancelled:
        cancelled(trial.plan, trial.cluster.bootstrap)
        assert throttles(trial.cluster, until=trial.throttles) == trial.throttles
        # A cancelled reassignment leaves the brokers of before, in another order.
        for found, before, after in zip(trial.replicas, BEFORE, AFTER, strict=True):
            assert sorted(found) in (sorted(before), sorted(after))
    completed(trial.plan, trial.cluster.bootstrap)
    assert trial.replicas == AFTER
    trial.check()
