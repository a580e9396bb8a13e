"""`score` as a shell sees it."""

import json
import subprocess
import sys

import pytest

from planner.demo import SNAPSHOT_FILE
from planner.score.score_records import ScoreRecord
from support.commands import run
from support.plans import skewed_document, write_document
from support.snapshots import small_document


@pytest.fixture
def snap(tmp_path):
    return write_document(skewed_document(), tmp_path / "s.json")


def test_the_document_keeps_its_schema(snap, capsys):
    found = run(capsys, "score", snap, "--format", "json")

    assert (found.code, found.err) == (0, "")
    ScoreRecord.model_validate(found.document)
    assert found.document["cluster_id"] == "skewed"
    assert found.document["replicas"] == sum(
        row["replicas"] for row in found.document["by_topic"]
    )
    assert list(found.document)[:6] == [
        "cluster_id",
        "taken_at",
        "data_age_s",
        "brokers",
        "partitions",
        "replicas",
    ]


def test_several_snapshots_are_a_list(snap, tmp_path, capsys):
    small = write_document(small_document(), tmp_path / "small.json")

    found = run(capsys, "score", snap, small, "--format", "json")

    assert [each["cluster_id"] for each in found.document] == ["skewed", "small"]
    assert found.document[1]["taken_at"] is None
    assert found.document[1]["data_age_s"] is None


@pytest.mark.slow
def test_the_same_figures_stand_in_plans(snap, tmp_path, capsys):
    made = run(capsys, "plan", "rebalance", snap, "--format", "json").document

    scored = run(capsys, "score", snap, "--format", "json").document

    part = {key: scored[key] for key in made["before"]}
    assert part == made["before"]
    assert made["moves"]["bytes"] >= scored["min_bytes_to_balance"]


@pytest.mark.parametrize(
    ("conditions", "code"),
    [
        (["disk.max_use > 0"], 3),
        (["disk.max_use > 100"], 0),
        (["disk.max_use > 100", "rack >= 0"], 3),
    ],
)
def test_conditions_decide_the_exit_code(conditions, code, snap, capsys):
    options = [word for text in conditions for word in ("--fail-on", text)]

    text = run(capsys, "score", snap, *options)
    as_json = run(capsys, "score", snap, *options, "--format", "json")

    assert (text.code, as_json.code) == (code, code)
    answers = as_json.document["fail_on"]
    assert [answer["condition"] for answer in answers] == conditions
    assert any(answer["holds"] for answer in answers) == (code == 3)
    assert text.out.count("Fail on") == len(conditions)
    assert ("does not hold" in text.out) == (code == 0 or len(conditions) > 1)


def test_every_problem_is_said_at_once_and_nothing_written(tmp_path, capsys):
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine.txt").write_text("mine")

    found = run(
        capsys, "score", bad, "--fail-on", "dsk.cv>1", "-o", full, "--format", "json"
    )

    assert found.code == 2
    said = json.dumps(found.document)
    for what in ("dsk.cv", "not a folder of scores", "bad.json"):
        assert what in said
    assert [path.name for path in full.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    "options",
    [
        ["--band", "2x"],
        ["--capacity-threshold", "disk=7"],
        ["--resources", "dsk"],
    ],
)
def test_bad_options_are_refused(options, snap, capsys):
    assert run(capsys, "score", snap, *options).code == 2


def test_bands_decide_who_is_out(snap, capsys):
    def out(*options):
        found = run(capsys, "score", snap, "--format", "json", *options).document
        return found["resources"]["disk"]["brokers_out_of_band"]

    assert out("--band", "9") < out() <= out("--band", "0")


def test_screens_of_the_bundled_cluster(capsys):
    found = run(capsys, "score", SNAPSHOT_FILE)

    lines = found.out.splitlines()
    # A path stands on a line of its own, however long it is.
    assert all(len(line) <= 80 or str(SNAPSHOT_FILE) in line for line in lines)
    text = " ".join(found.out.split())
    assert "1 load over a threshold" in text
    assert "no plan brings every broker into its bands by moving under 1.215 TB" in text


def test_the_command_starts_without_the_solver(tmp_path):
    code = (
        "import sys, planner.score.score_screen, planner.score.score_tables; "
        "import planner.score.fail_on; "
        "heavy = {'numba', 'ortools', 'highspy', 'pulp', 'polars', 'pyspark'};"
        "print(sorted(heavy & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_several_screens_stand_apart(snap, capsys):
    found = run(capsys, "score", snap, snap)

    assert found.out.count("\n\nCluster") == 1
