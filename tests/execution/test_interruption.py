"""Ctrl-C and SIGTERM at every stage: what still runs is said, and all goes on."""

import os
import signal
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from execution.simulated_runs import job, kinds, make_cluster, throttles, write_plan
from execution.test_creation import more_partitions, new_topic
from planner.cli.run import carry_out as module
from planner.execution.run.controls import ControlFile, Controls, control_path
from planner.execution.run.journal import read_journal
from planner.execution.run.run import Job, run
from planner.execution.simulation.simulated_admin import SimulatedAdmin
from planner.execution.undo.cancel import towards
from planner.execution.undo.rollback import roll_back
from planner.plan.input.plan_input import read_plan
from support.commands import run as run_command

SERVER = ("--bootstrap-server", "k1:1")
BEFORE = [(1, 2), (2, 1), (1, 2)]
AFTER = [(1, 3), (3, 1), (2, 1)]
DIRS = {
    "reassignment.json": [["/b", "any"], ["/b", "any"]],
    "rollback.json": [["/a", "/a"], ["/a", "/a"]],
}
QUIET = SimpleNamespace(quiet=False, allow_partial=False, open=nullcontext)


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def interrupt(request):
    """Return a function that interrupts this process, also where a shell ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: os.kill(os.getpid(), request.param)
    signal.signal(signal.SIGINT, before)


class Watched(SimulatedAdmin):
    """A cluster that interrupts the planner once, at a request that it names."""

    at = staticmethod(lambda *_: False)
    act = staticmethod(lambda: None)

    def watch(self, at, act) -> None:
        self.at, self.act = at, act

    def _look(self, name: str) -> None:
        if self.at(self, name):
            self.at = lambda *_: False
            self.act()

    def __getattribute__(self, name):
        found = super().__getattribute__(name)
        if name not in REQUESTS:
            return found

        def watched(*args, **options):
            answer = found(*args, **options)
            self._look(name)
            return answer

        return watched


REQUESTS = frozenset({
    "snapshot", "reassign", "move_replicas", "create", "elect", "set_configs", "sleep",
})  # fmt: skip


def planned(folder: Path, before, after, written=None, **more) -> tuple[Watched, Path]:
    """Return a cluster and a plan, whose files may have log dirs."""
    first = make_cluster(before, **more).snapshot()
    plan = write_plan(folder, before, after, written)
    return Watched(first, rate_bytes_per_s=10**9), plan


def copies(folder):
    return planned(folder, BEFORE, AFTER)


def inside(folder):
    return planned(folder, BEFORE[:2], BEFORE[:2], DIRS, dirs=("/a", "/b"))


def order(folder):
    return planned(folder, [(1, 2)], [(2, 1)])


def created(write):
    def make(folder):
        cluster = Watched(make_cluster(BEFORE).snapshot())
        return cluster, write(folder, cluster)

    return make


def paused(folder):
    cluster, plan = copies(folder)
    controls = ControlFile(control_path(plan / "journal.jsonl"))
    cluster.lines = plan / "journal.jsonl"
    cluster.pause = lambda: controls.write(Controls(is_paused=True))
    return cluster, plan


def is_paused(cluster, name):
    if name == "reassign":
        cluster.pause()
    return name == "sleep" and not cluster.reassignments() and cluster.now_s() > 15


STAGES = {
    "the first look": (copies, lambda _, name: name == "snapshot", (0, 0)),
    "throttles": (copies, lambda _, name: name == "set_configs", (0, 0)),
    "a request for copies": (copies, lambda _, name: name == "reassign", (2, 0)),
    "copies": (
        copies, lambda c, name: name == "sleep" and bool(c.reassignments()), (2, 0)
    ),
    "a request between log dirs": (
        inside, lambda _, name: name == "move_replicas", (0, 2)
    ),
    "moves between log dirs": (
        inside, lambda c, name: name == "sleep" and c.now_s() > 2, (0, 2)
    ),
    "the order of lists": (order, lambda _, name: name == "reassign", (0, 0)),
    "an election": (order, lambda _, name: name == "elect", (0, 0)),
    "the clean-up": (
        copies, lambda c, name: name == "set_configs" and c.now_s() > 15, (0, 0)
    ),
    "the verification": (
        copies, lambda c, name: name == "snapshot" and c.now_s() > 15, (0, 0)
    ),
    "a pause": (paused, is_paused, (0, 0)),
    "a new topic": (created(new_topic), lambda _, name: name == "create", (0, 0)),
    "more partitions": (
        created(more_partitions), lambda _, name: name == "create", (0, 0)
    ),
}  # fmt: skip


def carried_out(monkeypatch, one: Job, cluster: SimulatedAdmin, begin=run):
    """Carry a plan out as the command does, and return its exit code."""
    monkeypatch.setattr(module, "LiveCluster", lambda *_, **__: cluster)
    monkeypatch.setattr(module, "rights_lacking", lambda *_: ())
    return module.carry_out(one, QUIET, begin, is_json=True)


def named(plan: Path, command: str) -> Job:
    words = f"kafka-planner {command} plan --bootstrap-server k1:1"
    return replace(job(plan), command=words)


def what_runs(cluster: SimulatedAdmin, plan: Path) -> tuple[int, int]:
    """Return the reassignments and the moves between log dirs of a plan now."""
    moving = len(towards(read_plan(plan), cluster.reassignments()))
    keys = [(("t", n), b) for n in range(3) for b in range(1, 6)]
    dirs = cluster.log_dirs(keys).values()
    return moving, sum(len(one.future) for one in dirs)


@pytest.mark.not_quick
@pytest.mark.parametrize("stage", STAGES)
def test_an_interruption_says_what_runs_and_the_same_command_goes_on(
    tmp_path, monkeypatch, capsys, stage, interrupt
):
    make, at, expected = STAGES[stage]
    cluster, plan = make(tmp_path)
    cluster.watch(at, interrupt)
    one = named(plan, "apply")

    with pytest.raises(KeyboardInterrupt):
        carried_out(monkeypatch, one, cluster)

    said = capsys.readouterr().err.splitlines()
    assert what_runs(cluster, plan) == expected
    assert said[-3:] == [text_of(expected, throttles(cluster)), *COMMANDS]
    assert list(read_journal(one.journal))[-1]["event"] == "interrupted"
    assert carried_out(monkeypatch, one, cluster) == 0
    assert '"status": "completed"' in capsys.readouterr().out.splitlines()[-1]
    assert throttles(cluster) == {}


COMMANDS = [
    "to go on:   kafka-planner apply plan --bootstrap-server k1:1 --yes",
    "to stop:    kafka-planner cancel plan --bootstrap-server k1:1 --yes",
]


def text_of(running: tuple[int, int], limits) -> str:
    moving, dirs = running
    if moving or dirs:
        what = f"{moving} reassignments" if moving else f"{dirs} moves between log dirs"
        end = "with their throttles" if limits else "without a throttle"
        return f"interrupted: {what} of the plan go on inside Kafka, {end}"
    left = "; throttles of the run are left" if limits else ""
    return f"interrupted: nothing of the plan runs inside Kafka{left}"


@pytest.mark.parametrize("phase", ["cancel", "copies"])
def test_a_rollback_that_is_interrupted_names_its_own_command(
    tmp_path, monkeypatch, capsys, phase, interrupt
):
    cluster, plan = copies(tmp_path)
    running = run(job(plan), cluster)
    until = "admitted" if phase == "cancel" else "finished"
    next(event for event in running if event.event == until)
    running.close()
    seen = []

    def at(one, name):
        seen.append(name)
        is_cancelled = name == "reassign" and not one.reassignments()
        return (
            is_cancelled
            if phase == "cancel"
            else name == "sleep" and (bool(one.reassignments()) and "reassign" in seen)
        )

    cluster.watch(at, interrupt)
    one = named(plan, "rollback")

    def begin(one, cluster):
        return roll_back(one, cluster, lambda _: None)

    with pytest.raises(KeyboardInterrupt):
        carried_out(monkeypatch, one, cluster, begin)

    said = capsys.readouterr().err.splitlines()
    assert said[-2:] == [COMMANDS[0].replace("apply", "rollback"), COMMANDS[1]]
    assert carried_out(monkeypatch, one, cluster, begin) == 0
    assert '"status": "rolled-back"' in capsys.readouterr().out.splitlines()[-1]
    assert throttles(cluster) == {}


def test_a_cancel_that_is_interrupted_goes_on(tmp_path, monkeypatch, capsys, interrupt):
    cluster, plan = copies(tmp_path)
    running = run(job(plan), cluster)
    next(event for event in running if event.event == "admitted")
    running.close()
    cluster.watch(lambda _, name: name == "reassign", interrupt)
    source = "planner.cli.common.cluster_source.ClusterSource.open"
    live = "planner.execution.cluster.live_cluster.LiveCluster"
    monkeypatch.setattr(source, lambda _: nullcontext())
    monkeypatch.setattr(live, lambda *_, **__: cluster)
    words = ("cancel", plan, *SERVER, "--yes")

    first = run_command(capsys, *words)
    again = run_command(capsys, *words)

    assert first.code == 130
    said = first.err.splitlines()
    assert said[-2].startswith("interrupted: nothing of the plan runs inside Kafka")
    assert (
        said[-1] == f"to go on:   kafka-planner cancel {plan} {' '.join(SERVER)} --yes"
    )
    assert again.code == 0
    assert throttles(cluster) == {}


def test_a_cluster_that_is_silent_leaves_the_number_unknown(
    tmp_path, monkeypatch, capsys, interrupt
):
    cluster, plan = copies(tmp_path)

    def at(one, name):
        if name != "reassign":
            return False
        one.network.cut(1000)
        return True

    cluster.watch(at, interrupt)
    with pytest.raises(KeyboardInterrupt):
        carried_out(monkeypatch, named(plan, "apply"), cluster)

    said = capsys.readouterr().err.splitlines()
    assert "what of the plan runs inside Kafka is unknown" in said[-3]
    assert said[-2:] == COMMANDS


def test_exit_codes_tell_done_paused_rolled_back_and_unknown(tmp_path, monkeypatch):
    cluster, plan = copies(tmp_path)
    short = replace(job(plan, max_duration_s=5.0), command="kafka-planner apply plan")
    assert carried_out(monkeypatch, short, cluster) == 3
    assert carried_out(monkeypatch, named(plan, "apply"), cluster) == 0

    def begin(one, cluster):
        return roll_back(one, cluster, lambda _: None)

    assert carried_out(monkeypatch, named(plan, "rollback"), cluster, begin) == 0

    cluster, plan = copies(tmp_path / "..")
    impatient = replace(job(plan, patience_s=60.0), command="kafka-planner apply plan")
    cluster.watch(
        lambda one, name: name == "reassign" and one.network.cut(10_000), lambda: None
    )
    assert carried_out(monkeypatch, impatient, cluster) == 6
    assert kinds(run(job(plan), make_cluster(BEFORE)))["done"] == 1
