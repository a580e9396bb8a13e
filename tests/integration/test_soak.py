"""
Faults that take long: random ones again and again, long cuts, a bigger cluster.

``SOAK_MINUTES`` and ``SOAK_SEED`` say how long random faults are drawn, and which.
"""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, TopicPartition

from benchmarks.moving import SMOKE, measure
from integration.conftest import SLOW_COPIES
from integration.kafka.cluster import CONTROLLER, Cluster, wait_until
from integration.kafka_tool_output import printed_brokers
from integration.killed import Doomed, Moment, Task, events_of
from integration.messages import Messages
from integration.runs import (
    carried_out,
    completed,
    connected,
    follow,
    job_of,
    plan_folder,
)
from integration.shell import throttles
from integration.steps import create, replicas_of
from integration.wire import Wire
from planner.execution.cluster.live_cluster import LiveCluster
from planner.execution.run.run import run
from planner.execution.run.run_choices import RunChoices
from planner.kafka.client.client_session import open_cluster

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.soak,
    # The producer leaves sockets to a dead broker to the garbage collector.
    pytest.mark.filterwarnings("ignore:Exception ignored in. <socket"),
]

MINUTES = float(os.environ.get("SOAK_MINUTES", "4"))
SEED = int(os.environ.get("SOAK_SEED", "1"))
BROKERS = range(1, 7)
CONTROLLERS = (CONTROLLER, CONTROLLER + 1, CONTROLLER + 2)
FAST = 50_000_000
PATIENT = RunChoices(broker_grace_s=20.0, patience_s=120.0, poll_s=0.2)
NUMBERS = count(1)


@pytest.fixture(scope="module")
def big(libs, archive, tmp_path_factory) -> Iterator[Cluster]:
    """Six brokers and three controllers; broker 6 and the controllers may be killed."""
    base = tmp_path_factory.mktemp("big") / "kafka"
    options = {
        "num_brokers": len(BROKERS),
        "num_controllers": len(CONTROLLERS),
        "archive": archive,
        "config": SLOW_COPIES,
    }
    with Cluster(libs, base, **options) as cluster:
        yield cluster


def wait_until_well(cluster: Cluster) -> None:
    """Wait until no broker is fenced, and every replica is in sync."""
    wait_until(
        lambda: (
            all(
                state != "fenced"
                for _, state in printed_brokers(cluster.endpoints()).values()
            )
            and not cluster.topics("--describe", "--under-replicated-partitions")
        ),
        "every broker to be well",
        timeout_s=120,
    )


def active_controller(cluster: Cluster) -> int:
    """Return the controller that leads."""
    lines = cluster.quorum("--status").splitlines()
    (found,) = [line for line in lines if line.startswith("LeaderId:")]
    return int(found.split()[1])


def drawn_moves(
    draw: random.Random, number: int
) -> tuple[list[list[int]], list[list[int]]]:
    """Draw lists before and after, with one new replica or another order, or both."""
    before = [draw.sample(BROKERS, 2) for _ in range(number)]
    after = []
    for kept, left in before:
        new = draw.choice([broker for broker in BROKERS if broker != kept])
        after.append(draw.sample([kept, new], 2) if new != left else [left, kept])
    return before, after


@dataclass(frozen=True, slots=True)
class Trial:
    """A topic with messages, and a plan that gives each partition a drawn list."""

    cluster: Cluster
    topic: str
    plan: Path
    messages: Messages
    throttles: list[str]
    before: list[list[int]]
    after: list[list[int]]

    def check(self, lists: list[list[int]]) -> None:
        """Look at the lists, the messages, the throttles, and what is under way."""
        assert replicas_of(self.cluster, self.topic) == lists
        self.messages.check()
        assert throttles(self.cluster, until=self.throttles) == self.throttles
        with KafkaAdminClient(bootstrap_servers=self.cluster.bootstrap) as admin:
            assert admin.list_partition_reassignments() == {}


def drawn_trial(
    cluster: Cluster, folder: Path, draw: random.Random, partitions: int, messages: int
) -> Trial:
    wait_until_well(cluster)
    topic = f"soak-{next(NUMBERS)}"
    before, after = drawn_moves(draw, partitions)
    create(cluster, topic, before)
    written = Messages(cluster.bootstrap, topic, partitions).write(messages)
    plan = plan_folder(cluster, folder / topic, topic, dict(enumerate(after)))
    return Trial(cluster, topic, plan, written, throttles(cluster), before, after)


# -- random faults ---------------------------------------------------------------


class Faults:
    """Faults to draw from; each ends by itself, and leaves the cluster whole."""

    def __init__(self, trial: Trial, draw: random.Random, doomed: Doomed) -> None:
        self._trial, self._draw, self._doomed = trial, draw, doomed
        self._cluster = trial.cluster

    @property
    def all(self) -> list[Callable[[], None]]:
        return [
            self.planner_killed,
            self.planner_interrupted,
            self.broker_killed,
            self.controller_killed,
            self.network_cut,
            self.move_cancelled_by_another_tool,
        ]

    def planner_killed(self) -> None:
        """Kill the planner at some line of its journal."""
        task: Task = self._draw.choice(["apply", "apply", "cancel", "rollback"])
        when = self._draw.choice(["before", "after"])
        moment = Moment(when, nth=self._draw.randint(1, 20))
        plan, bootstrap = self._trial.plan, self._cluster.bootstrap
        rate = self._draw.choice([60_000, FAST])
        self._doomed.run(task, plan, bootstrap, rate, moment)

    def planner_interrupted(self) -> None:
        """Send a signal to `rollback` at some line of its journal."""
        where = ("--bootstrap-server", self._cluster.bootstrap)
        words = ["rollback", str(self._trial.plan), *where, "--yes"]
        moment = Moment("before", nth=self._draw.randint(1, 12))
        sign = self._draw.choice([signal.SIGINT, signal.SIGTERM])
        said = self._trial.plan.parent / "said"
        status = self._doomed.command(words, said, moment, sign)
        assert os.waitstatus_to_exitcode(status) in {0, 3, 130}, said.read_text()

    def broker_killed(self) -> None:
        """Kill a broker while copies run, and start it again."""
        node = self._draw.choice(BROKERS)

        def restart() -> None:
            self._cluster.kill(node)
            self._cluster.start_node(node)

        self._run(restart)

    def controller_killed(self) -> None:
        """Kill the active controller while copies run, and start it again."""

        def restart() -> None:
            node = active_controller(self._cluster)
            self._cluster.kill(node)
            self._cluster.start_node(node)

        self._run(restart)

    def network_cut(self) -> None:
        """Cut the planner off for some seconds."""
        with (
            Wire(self._cluster) as wire,
            connected(wire.bootstrap, *wire.resolve) as here,
        ):
            seconds = self._draw.uniform(2, 12)
            self._follow(here, lambda: wire.cut_for(seconds))

    def move_cancelled_by_another_tool(self) -> None:
        """Cancel whatever moves, as another tool would."""

        def interfere() -> None:
            with KafkaAdminClient(bootstrap_servers=self._cluster.bootstrap) as admin:
                moving: dict[TopicPartition, object] = (
                    admin.list_partition_reassignments()
                )
                if moving:
                    admin.alter_partition_reassignments(dict.fromkeys(moving))

        self._run(interfere)

    def _run(self, act: Callable[[], None]) -> None:
        with connected(self._cluster.bootstrap) as here:
            self._follow(here, act)

    def _follow(self, here: LiveCluster, act: Callable[[], None]) -> None:
        """Carry the plan out, and act once copies have begun."""
        job = job_of(self._trial.plan, rate=100_000, choices=PATIENT)
        has_acted = False
        for event in run(job, here):
            if event.event in {"admitted", "progress"} and not has_acted:
                has_acted = True
                act()


def test_random_faults_again_and_again(big: Cluster, tmp_path):
    print(f"SOAK_SEED={SEED} SOAK_MINUTES={MINUTES:g}")  # noqa: T201 - to repeat it
    draw, ends_s = random.Random(SEED), time.monotonic() + 60 * MINUTES
    counts: dict[str, int] = {}
    with Doomed() as doomed:
        while time.monotonic() < ends_s:
            trial = drawn_trial(big, tmp_path, draw, draw.randint(1, 6), 20)
            with trial.messages:
                for _ in range(draw.randint(1, 3)):
                    fault = draw.choice(Faults(trial, draw, doomed).all)
                    print(trial.topic, fault.__name__, flush=True)  # noqa: T201
                    fault()
                    counts[fault.__name__] = counts.get(fault.__name__, 0) + 1
                    wait_until_well(big)
                task: Task = draw.choice(["apply", "rollback"])
                with connected(big.bootstrap) as cluster:
                    last = list(events_of(task, trial.plan, FAST, cluster))[-1]
            assert last.status in {"completed", "rolled-back"}, last
            trial.check(trial.after if task == "apply" else trial.before)
    print(counts)  # noqa: T201 - what ran
    assert counts


# -- long ones -------------------------------------------------------------------


def test_a_cut_of_minutes_with_the_time_outs_of_the_command(big: Cluster, tmp_path):
    trial = drawn_trial(big, tmp_path, random.Random(SEED), 6, 40)
    with trial.messages, Wire(big) as wire:
        client = open_cluster(
            wire.bootstrap, None, resolve=wire.resolve, timeout_s=30.0, note=print
        )
        job = job_of(trial.plan, choices=PATIENT)
        with client:
            cut = {"admitted": lambda: wire.cut_for(100)}
            events = follow(job, LiveCluster(client), cut)

    assert events[-1].status == "completed", events[-1]
    trial.check(trial.after)


def test_the_controller_is_killed_and_another_one_takes_over(big: Cluster, tmp_path):
    trial = drawn_trial(big, tmp_path, random.Random(SEED + 1), 12, 20)
    was: list[int] = []

    def kill() -> None:
        was.append(active_controller(big))
        big.kill(was[0])

    with trial.messages:
        event = carried_out(
            trial.plan, big.bootstrap, {"admitted": kill}, choices=PATIENT
        )[-1]
        now = active_controller(big)
        big.start_node(was[0])

    assert event.status == "completed", event
    assert now in set(CONTROLLERS) - set(was)
    trial.check(trial.after)


def test_many_partitions_while_brokers_come_and_go(big: Cluster, tmp_path):
    draw = random.Random(SEED + 2)
    trial = drawn_trial(big, tmp_path, draw, 60, 10)
    is_over = threading.Event()

    def come_and_go() -> None:
        while not is_over.wait(5):
            node = draw.choice(BROKERS)
            big.kill(node)
            is_over.wait(5)
            big.start_node(node)

    thread = threading.Thread(target=come_and_go)
    with trial.messages:
        thread.start()
        try:
            event = carried_out(
                trial.plan, big.bootstrap, rate=100_000, choices=PATIENT
            )[-1]
        finally:
            is_over.set()
            thread.join()
        wait_until_well(big)
        # Throttles of a broker that was down in the end are left, and named.
        is_left = throttles(big) != trial.throttles
        assert is_left is bool(event.throttles_left) or event.still_running, event
        completed(trial.plan, big.bootstrap)

    trial.check(trial.after)


def test_every_message_is_noted_while_a_plan_is_carried_out(big: Cluster, tmp_path):
    wait_until_well(big)

    notes, phases = measure(big, tmp_path, SMOKE)

    conditions = ["nothing moves", "throttled", "nothing moves", "no throttle"]
    assert [one.condition for one in phases] == conditions
    began, ended = phases[0].began_s, phases[-1].ended_s
    due = {
        kind: {at for at in rows[:, 0].tolist() if began <= at < ended}
        for kind, rows in notes.items()
    }
    # All that was acknowledged was read, but for what was under way in the end.
    assert due["produced"]
    assert len(due["produced"] - due["consumed"]) <= SMOKE.messages_per_s
