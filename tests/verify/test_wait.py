"""`verify --wait`: looks until nothing moves that can finish."""

import json
from pathlib import Path

import pytest

from planner.errors import ClusterUnavailableError
from planner.plan.input.plan_input import read_plan
from planner.snapshot import Snapshot
from planner.verify.wait_for_copies import MOST_FAILURES, Clock, wait_for_copies
from planner.verify.whole_plan import verify_read
from support.commands import run

MB = 10**6


def cluster(copied: int | None, *, state: str = "alive") -> Snapshot:
    """Return a cluster whose partition moves from broker 2 to 3; `None`: it has."""
    moving = {
        "replicas": [1, 3, 2],
        "adding_replicas": [3],
        "removing_replicas": [2],
        "isr": [1, 2],
        "replica_bytes": [100 * MB, copied, 100 * MB],
    }
    done = {"replicas": [1, 3], "isr": [1, 3]}
    partition = {"partition": 0, "leader": 1, "size_bytes": 100 * MB}
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [{"id": 1}, {"id": 2}, {"id": 3, "state": state}],
        "topics": [
            {
                "name": "t",
                "partitions": [partition | (done if copied is None else moving)],
            }
        ],
    }
    return Snapshot.from_document(document)


@pytest.fixture
def plan(tmp_path):
    entry = {"topic": "t", "partition": 0, "replicas": [1, 3]}
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"version": 1, "partitions": [entry]}))
    return read_plan(path)


def waited(plan, *looks: Snapshot | Exception):
    """Wait on a series of looks: the outcome, and what was said."""
    seconds, left, said = [0.0], list(looks), []

    def look():
        now = left.pop(0)
        if isinstance(now, Exception):
            raise now
        return now, verify_read(plan, now)

    def sleep(s: float) -> None:
        seconds[0] += s

    clock = Clock(now_s=lambda: seconds[0], sleep=sleep)
    _, outcome = wait_for_copies(look, clock, said.append)
    assert not left
    return outcome, said


def test_it_waits_until_the_plan_is_done(plan):
    outcome, said = waited(plan, cluster(0), cluster(50 * MB), cluster(None))

    assert outcome.is_done
    assert said == [
        "1 partition being moved, 100 MB left",
        "1 partition being moved, 50 MB left, 10 MB/s, about 5 s",
    ]


def test_a_move_that_cannot_finish_ends_the_wait(plan):
    outcome, said = waited(plan, cluster(0), cluster(10 * MB, state="fenced"))

    assert not outcome.is_done
    assert not outcome.moving[0].can_finish
    assert len(said) == 1


def test_a_plan_that_does_not_move_ends_it_at_once(plan):
    outcome, said = waited(plan, cluster(None))

    assert (outcome.is_done, said) == (True, [])


def test_progress_that_does_not_change_is_said_once(plan):
    _, said = waited(plan, *[cluster(5 * MB)] * 3, cluster(None))

    assert said == ["1 partition being moved, 95 MB left"]


def test_a_cluster_that_is_away_for_a_while_is_asked_again(plan):
    away = [ClusterUnavailableError("no broker answers")] * (MOST_FAILURES - 1)

    outcome, said = waited(plan, cluster(0), *away, cluster(None))

    assert outcome.is_done
    assert said[1] == "no broker answers; trying again"


def test_a_cluster_that_stays_away_is_an_error(plan):
    away = [ClusterUnavailableError("no broker answers")] * MOST_FAILURES

    with pytest.raises(ClusterUnavailableError):
        waited(plan, cluster(0), *away)


def test_a_cluster_that_was_never_there_is_an_error_at_once(plan):
    with pytest.raises(ClusterUnavailableError):
        waited(plan, ClusterUnavailableError("no broker answers"))


def test_a_snapshot_is_not_waited_for(capsys, tmp_path: Path):
    outcome = run(
        capsys, "verify", tmp_path / "p", "--snapshot", tmp_path / "s.json", "--wait"
    )

    assert outcome.code == 2
    assert "--wait" in outcome.err
