"""The same plan for the same cluster at the sizes that the compiled search is for."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from placement.operations.descriptor import name_of
from placement.operations.remove_brokers import RemoveBrokers
from placement.synthetic import SIZES, make_instance
from planner.snapshot import Snapshot, write_snapshot
from planner.text.format import ids_text
from support.plans import contents
from support.profile import sampled

COMMAND = Path(sys.executable).with_name("kafka-planner")
ONE = {"PYTHONHASHSEED": "1", "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
TWO = {"PYTHONHASHSEED": "2", "NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}


def planned(goal: list[str], snapshot: Path, output: Path, settings: dict[str, str]):
    run("plan", *goal, str(snapshot), "--band", "0.05", "-o", str(output), **settings)
    return contents(output)


def run(*words: str, **settings: str) -> str:
    done = subprocess.run(
        [COMMAND, *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | settings,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def shuffle_rows(folder: Path) -> None:
    """Bring every table of a snapshot into another order of rows."""
    rng = np.random.default_rng(1)
    for path in sorted(folder.glob("*.parquet")):
        table = pq.read_table(path)
        pq.write_table(table.take(pa.array(rng.permutation(len(table)))), path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "size"), sampled([("c", "M"), ("a", "M"), ("b", "L")]), ids="-".join
)
def test_a_plan_depends_on_the_cluster_alone(family: str, size: str, tmp_path: Path):
    instance = make_instance(family, SIZES[size], seed=11, band=0.05)
    operation = instance.operation
    goal = [name_of(operation)]
    if isinstance(operation, RemoveBrokers):
        goal += ["--broker-list", ids_text(sorted(operation.broker_ids))]
    snapshot = tmp_path / "snapshot"
    write_snapshot(Snapshot.from_state(instance.state), snapshot)
    first = planned(goal, snapshot, tmp_path / "one", ONE)
    run(
        "snapshot",
        "apply",
        str(tmp_path / "one"),
        str(snapshot),
        "-o",
        str(tmp_path / "after"),
    )

    shuffle_rows(snapshot)
    second = planned(goal, snapshot, tmp_path / "two", TWO)
    again = run(
        "plan", *goal, str(tmp_path / "after"), "--band", "0.05", "--format", "json"
    )

    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []
    assert '"nothing-to-do"' in again
