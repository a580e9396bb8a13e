"""Journal of `elect`: each request is on disk before it is sent."""

import json
from pathlib import Path

import pytest

from elect.test_hold import Controller, client_of
from planner.execution.run.journal import read_journal
from planner.execution.run.run_lock import run_lock
from planner.kafka.client import client_session
from planner.kafka_files.election_file import read_election_file
from planner.kafka_files.reassignment_file import format_election
from support.commands import run

KEYS = [("t", 0), ("t", 1)]


class Watched(Controller):
    """A controller that reads the journal as soon as it is asked."""

    journal: Path
    lines_before: int | None = None

    def elect_leaders(self, *args, **options):
        self.lines_before = len(list(read_journal(self.journal)))
        return super().elect_leaders(*args, **options)


@pytest.fixture
def controller(monkeypatch, tmp_path) -> Watched:
    found = Watched(2, codes=(0, 80))
    found.journal = tmp_path / "journal.jsonl"
    monkeypatch.setattr(
        client_session, "open_cluster", lambda *_, **__: client_of(found)
    )
    return found


def plan_folder(folder: Path) -> Path:
    path = folder / "preferred-election.json"
    path.write_text(format_election(KEYS))
    assert read_election_file(folder) == KEYS
    return folder


WORDS = ("elect", "--election-type", "preferred", "--bootstrap-server", "k1:1")


@pytest.mark.parametrize("is_folder", [False, True])
def test_requests_and_answers_are_in_the_journal(
    controller, capsys, tmp_path, is_folder
):
    which = ("--path-to-json-file", plan_folder(tmp_path))
    if not is_folder:
        which = ("--all-topic-partitions", "--journal", controller.journal)

    outcome = run(capsys, *WORDS, *which, "--yes", "--format", "json")

    assert outcome.code == 3
    request, answer = read_journal(controller.journal)
    assert controller.lines_before == 1
    assert (request["event"], request["kind"]) == ("request", "election")
    assert request["election"] == "preferred"
    assert request["partitions"] == [list(key) for key in KEYS]
    assert answer["event"] == "answer"
    assert len(answer["refused"]) == 1
    assert answer["refused"][0].startswith("t-1: preferred-not-available")


def test_a_preview_writes_nothing_and_a_second_election_requests_nothing(
    controller, capsys, tmp_path
):
    controller.codes = ()
    which = ("--path-to-json-file", plan_folder(tmp_path))
    run(capsys, *WORDS, *which)
    assert not controller.journal.exists()

    first = run(capsys, *WORDS, *which, "--yes")
    again = run(capsys, *WORDS, *which, "--yes")

    assert (first.code, again.code) == (0, 0)
    assert controller.asked == [[0, 1]]
    assert len(controller.journal.read_text().splitlines()) == 2


def test_a_run_of_the_plan_keeps_an_election_out(controller, capsys, tmp_path):
    which = ("--path-to-json-file", plan_folder(tmp_path))
    with run_lock(controller.journal):
        outcome = run(capsys, *WORDS, *which, "--yes", "--format", "json")

    assert outcome.code == 2
    assert "another run of this plan" in json.dumps(outcome.document)
    assert controller.asked == []
