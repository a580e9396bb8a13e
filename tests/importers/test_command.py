"""`snapshot import` as it is run."""

import os
import re
import threading

import pytest

from planner.snapshot import read_snapshot
from planner.snapshot.importers import merge
from planner.snapshot.importers.kafka_tools.kafka_cluster import read_endpoints
from planner.snapshot.importers.kafka_tools.kafka_log_dirs import read_log_dirs
from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from support.commands import run
from support.samples import SAMPLES, sample

TOPICS = SAMPLES / "topics-describe.txt"
GIVEN = ("--topics", TOPICS, "--log-dirs", SAMPLES / "log-dirs-describe.txt")
PROBLEM = re.compile(r"^  - (.*?): (.*)$", re.MULTILINE)
ENDPOINTS = ("--list-endpoints", SAMPLES / "cluster-list-endpoints.txt")


@pytest.mark.parametrize("name", ["s.json", "s.json.gz", "s"])
def test_the_snapshot_is_written(capsys, tmp_path, name):
    output = tmp_path / name

    outcome = run(capsys, "snapshot", "import", *GIVEN, *ENDPOINTS, "-o", output)

    assert outcome.code == 0
    assert outcome.out == ""
    assert "6 brokers, 5 topics, 16 partitions" in outcome.err
    expected = merge(
        [
            sample(read_topics, "topics-describe.txt"),
            sample(read_log_dirs, "log-dirs-describe.txt"),
            sample(read_endpoints, "cluster-list-endpoints.txt"),
        ]
    )
    assert read_snapshot(output).equals(expected.snapshot)


def test_kinds_of_files_are_recognised_by_their_contents(capsys, tmp_path):
    named, output = tmp_path / "named.json", tmp_path / "s.json"
    run(capsys, "snapshot", "import", *GIVEN, *ENDPOINTS, "-o", named)
    pasted = tmp_path / "pasted"
    pasted.write_text(f"$ kafka-topics.sh --describe\n{TOPICS.read_text()}")
    files = (pasted, GIVEN[3], ENDPOINTS[1])

    outcome = run(capsys, "snapshot", "import", *files, "-o", output)

    assert outcome.code == 0
    assert read_snapshot(output).equals(read_snapshot(named))
    assert f"{pasted}: read as --topics" in outcome.err
    assert f"{GIVEN[3]}: read as --log-dirs" in outcome.err


def test_recognised_files_and_named_ones_are_read_together(capsys, tmp_path):
    named, output = tmp_path / "named.json", tmp_path / "s.json"
    run(capsys, "snapshot", "import", *GIVEN, *ENDPOINTS, "-o", named)

    given = (TOPICS, *GIVEN[2:], *ENDPOINTS, "--quiet")
    outcome = run(capsys, "snapshot", "import", *given, "-o", output)

    assert (outcome.code, outcome.err) == (0, "")
    assert read_snapshot(output).equals(read_snapshot(named))


def test_a_pipe_is_read_once(capsys, tmp_path):
    named, output = tmp_path / "named.json", tmp_path / "s.json"
    run(capsys, "snapshot", "import", *GIVEN, "-o", named)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[TOPICS.read_bytes()])
    writer.start()

    outcome = run(capsys, "snapshot", "import", pipe, GIVEN[3], "-o", output)

    writer.join()
    assert outcome.code == 0
    assert read_snapshot(output).equals(read_snapshot(named))


def test_every_file_of_an_unknown_kind_is_named(capsys, tmp_path):
    diary, gone, done = (tmp_path / name for name in ("diary", "gone", "s.json"))
    diary.write_text("dear diary\n")
    run(capsys, "snapshot", "import", *GIVEN, "-o", done)
    listed = tmp_path / "list"
    listed.write_text("Current partition reassignments:\na-0: replicas: 1.\n")

    outcome = run(
        capsys, "snapshot", "import", diary, gone, done, listed, "-o", tmp_path / "x"
    )

    assert outcome.code == 2
    by_file = dict(PROBLEM.findall(outcome.err))
    assert "must be the output of a tool that is known" in by_file[str(diary)]
    assert "--topics FILE" in by_file[str(diary)]
    assert "No such file" in by_file[str(gone)]
    assert "is a snapshot already" in by_file[str(done)]
    assert "take kafka-topics --describe" in by_file[str(listed)]
    assert not (tmp_path / "x").exists()


def test_the_same_files_give_the_same_bytes(capsys, tmp_path):
    for name in ("a.json", "b.json"):
        run(capsys, "snapshot", "import", *GIVEN, "-o", tmp_path / name)

    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_json_says_sources_and_notes(capsys, tmp_path):
    output = tmp_path / "s.json"

    outcome = run(
        capsys, "snapshot", "import", *GIVEN, "-o", output, "--format", "json"
    )

    document = outcome.document
    assert (document["brokers"], document["partitions"]) == (6, 16)
    assert [one["kind"] for one in document["sources"]] == [
        "kafka-topics --describe",
        "kafka-log-dirs --describe",
    ]
    assert "racks of 6 of 6 brokers" in document["notes"][-1]
    assert outcome.err == ""


def test_what_the_caller_says_is_kept(capsys, tmp_path):
    output = tmp_path / "s.json"
    said = ("--cluster-id", "c", "--taken-at", "2026-11-21T08:00:00Z", "--quiet")

    outcome = run(capsys, "snapshot", "import", *GIVEN, *said, "-o", output)

    assert (outcome.code, outcome.err) == (0, "")
    snapshot = read_snapshot(output)
    assert snapshot.cluster_id == "c"
    assert snapshot.taken_at == "2026-11-21T08:00:00Z"


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        pytest.param(("--topics", "nosuch"), "No such file", id="no-file"),
        pytest.param(("--topics", SAMPLES), "directory", id="a-folder"),
        pytest.param(
            ENDPOINTS, "list the replicas of the partitions", id="no-placement"
        ),
        pytest.param((), "list the replicas of the partitions", id="nothing"),
        pytest.param(("--log-dirs", TOPICS), "--topics takes", id="mixed-up"),
        pytest.param(
            (*GIVEN, "--taken-at", "yesterday"), "ISO 8601", id="taken-yesterday"
        ),
        pytest.param(
            (
                *GIVEN,
                "--cluster-id",
                "x",
                "--list-endpoints",
                SAMPLES / "cluster-id.txt",
            ),
            "must agree with command line",
            id="two-cluster-ids",
        ),
    ],
)
def test_nothing_is_written_of_bad_input(capsys, tmp_path, options, rule):
    output = tmp_path / "s.json"

    outcome = run(capsys, "snapshot", "import", *options, "-o", output)

    assert outcome.code == 2
    assert rule in outcome.err
    assert not output.exists()
    assert list(tmp_path.iterdir()) == []


def test_every_file_is_looked_at_before_any_is_refused(capsys, tmp_path):
    bad = ("--topics", SAMPLES / "topics-list.txt", "--kcat", TOPICS, "--rates", "no")

    outcome = run(
        capsys, "snapshot", "import", *bad, "-o", tmp_path / "s", "--format", "json"
    )

    files = [problem["file"] for problem in outcome.document["problems"]]
    assert (outcome.code, len(files)) == (2, 3)


def test_an_output_is_needed(capsys):
    outcome = run(capsys, "snapshot", "import", *GIVEN)

    assert outcome.code == 2
    assert "-o" in outcome.err
