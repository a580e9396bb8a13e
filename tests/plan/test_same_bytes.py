"""The same input gives the same plan folder, to the byte."""

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.run import solves_counted
from planner.plan.folder.plan_folder import write_plan
from planner.snapshot import Snapshot, read_snapshot, write_snapshot
from support.plans import contents, planned_for, skewed_document, write_document
from support.profile import crossed

COMMAND = Path(sys.executable).with_name("kafka-planner")
GOALS = {
    "rebalance": {},
    "add-brokers": {},
    "remove-brokers": {"broker_list": "2"},
}


@pytest.fixture(scope="module")
def document():
    return skewed_document(num_brokers=7, num_partitions=40)


@pytest.fixture(scope="module")
def expected(document, tmp_path_factory):
    """The folder of each goal, written from the document as it is."""
    folder = tmp_path_factory.mktemp("expected")
    for goal, options in GOALS.items():
        write_plan(planned_for(document, goal, **options).plan, folder / goal)
    return {goal: contents(folder / goal) for goal in GOALS}


PROCESSES = pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}, id="hash-0"),
        pytest.param({"PYTHONHASHSEED": "1", "NUMBA_NUM_THREADS": "1"}, id="hash-1"),
        pytest.param(
            {
                "PYTHONHASHSEED": "random",
                "NUMBA_NUM_THREADS": "2",
                "OMP_NUM_THREADS": "2",
            },
            id="hash-random",
        ),
    ],
)


@pytest.mark.slow
@PROCESSES
def test_whatever_the_process(settings, document, expected, tmp_path):
    snapshot = write_document(document, tmp_path / "s.json")

    planned_apart(["add-brokers", snapshot], tmp_path / "p", settings)

    assert contents(tmp_path / "p") == expected["add-brokers"]


def planned_apart(words, output, settings):
    """Plan in a process of its own."""
    done = subprocess.run(
        [COMMAND, "plan", *words, "-o", output],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | settings,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A small cluster, and the folder of its plan, which CP-SAT had a part in."""
    document = skewed_document(num_brokers=5, num_partitions=14, seed=3)
    folder = tmp_path_factory.mktemp("solved") / "p"
    with solves_counted() as solves:
        planned = planned_for(document, "rebalance", effort="exact")
    assert solves
    write_plan(planned.plan, folder)
    return document, contents(folder)


@pytest.mark.slow
@PROCESSES
def test_what_cp_sat_decides_too(settings, solved, tmp_path):
    document, plan = solved
    snapshot = write_document(document, tmp_path / "s.json")

    words = ["rebalance", snapshot, "--effort", "exact"]
    planned_apart(words, tmp_path / "p", settings)

    assert contents(tmp_path / "p") == plan


def shuffled(document, seed):
    """Return the same cluster with its rows in another order."""
    rng = random.Random(seed)
    copy = json.loads(json.dumps(document))
    rng.shuffle(copy["brokers"])
    rng.shuffle(copy["topics"])
    for broker in copy["brokers"]:
        rng.shuffle(broker["log_dirs"])
    for topic in copy["topics"]:
        rng.shuffle(topic["partitions"])
    return copy


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"PLAIN_ITEMS": 0}, id="compiled"),
        pytest.param({"PLAIN_ITEMS": 10**6, "FEW_ITEMS": 10**6}, id="plain"),
        pytest.param(
            # From some step on, and for some stages only.
            {
                "PLAIN_ITEMS": 10**6,
                "FEW_ITEMS": 0,
                "PLAIN_STEPS": 3,
                "is_running": lambda _: False,
            },
            id="from-plain-to-compiled",
        ),
    ],
)
def test_whether_compiled_or_not(
    settings, goal, document, expected, tmp_path, monkeypatch
):
    for name, value in settings.items():
        monkeypatch.setattr(f"placement.core.search.compilation.{name}", value)

    write_plan(planned_for(document, goal, **GOALS[goal]).plan, tmp_path / "p")

    assert contents(tmp_path / "p") == expected[goal]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "goal"), crossed([1, 2], GOALS))
def test_whatever_the_order_of_rows(seed, goal, document, expected, tmp_path):
    other = shuffled(document, seed)
    assert json.dumps(other) != json.dumps(document)

    write_plan(planned_for(other, goal, **GOALS[goal]).plan, tmp_path / "p")

    assert contents(tmp_path / "p") == expected[goal]


def shuffle_tables(folder):
    """Write every Parquet table with its rows turned around."""
    import pyarrow.parquet as pq

    for path in folder.glob("*.parquet"):
        table = pq.read_table(path)
        pq.write_table(table.take(list(range(len(table)))[::-1]), path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("s.json", id="json"),
        pytest.param("s.json.gz", id="gzip"),
        pytest.param("s", id="parquet"),
        pytest.param("reversed", id="parquet-reversed"),
    ],
)
def test_whatever_the_form_of_the_snapshot(name, document, expected, tmp_path):
    write_snapshot(Snapshot.from_document(document), tmp_path / name)
    if name == "reversed":
        shuffle_tables(tmp_path / name)
    back = read_snapshot(tmp_path / name).to_document()

    write_plan(planned_for(back, "rebalance").plan, tmp_path / "p")

    assert contents(tmp_path / "p") == expected["rebalance"]


@pytest.mark.slow
def test_nothing_of_the_machine_stands_in_a_plan(document, expected, tmp_path):
    text = "".join(data.decode() for data in expected["rebalance"].values())

    without_snapshot_time = text.replace(document["taken_at"], "")
    without_log_dirs = re.sub(r"/d[12]\b", "", without_snapshot_time)
    assert str(tmp_path.parent) not in text
    assert not re.search(r"\d{4}-\d\d-\d\d|\d\d:\d\d", without_snapshot_time)
    without_rates = without_log_dirs.replace("MB/s", "")
    assert "/" not in without_rates.replace("kafka-planner/plan", "")
    assert "seconds" not in text
