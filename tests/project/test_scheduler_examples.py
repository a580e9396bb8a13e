"""Jobs for schedulers: their commands are ours, and exit codes do what they say."""

import json
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml

from planner.cli.main import build_command
from planner.errors import BadInputError
from planner.fleet.snapshot_selection import read_selection
from planner.score.fail_on import parse_conditions

FOLDER = Path(__file__).parents[2] / "examples" / "schedulers"
JOB = "ingest_fleet.py"


class Retried(Exception):  # noqa: N818 - stands for Airflow's own
    """Airflow tries again."""


class Failed(Exception):  # noqa: N818 - stands for Airflow's own
    """Airflow does not."""


class Step:
    """A task of Airflow's, as far as a DAG puts tasks in order."""

    def __rshift__(self, other):
        return other


@pytest.fixture
def dag(monkeypatch):
    """The example, with what it takes from Airflow."""
    sdk, exceptions = ModuleType("airflow.sdk"), ModuleType("airflow.sdk.exceptions")
    sdk.dag = lambda **_: lambda make: make
    sdk.task = lambda _, **__: lambda _words: Step()
    exceptions.AirflowException, exceptions.AirflowFailException = Retried, Failed
    monkeypatch.setitem(sys.modules, "airflow", ModuleType("airflow"))
    monkeypatch.setitem(sys.modules, "airflow.sdk", sdk)
    monkeypatch.setitem(sys.modules, "airflow.sdk.exceptions", exceptions)
    return SimpleNamespace(**runpy.run_path(str(FOLDER / "airflow_dag.py")))


def test_every_step_is_a_command_of_ours(dag):
    for words in dag.STEPS.values():
        command, name, *rest = words
        found = build_command().commands[command].commands[name]
        # Refuses what no option takes, and runs nothing.
        given = found.make_context(name, list(rest)).params
        day = {"{{ ds }}": "2026-11-21"}
        since, until = (
            day.get(given[n], given[n]) if given.get(n) else None
            for n in ("since", "until")
        )
        read_selection(since, until)
    assert set(dag.AFTER) | set(dag.AFTER.values()) == set(dag.STEPS)


@pytest.mark.parametrize(
    ("code", "raised"),
    [(0, None), (75, Retried), (5, Retried), (1, Failed), (2, Failed), (3, Failed)],
)
def test_exit_codes_are_tried_again_or_not(dag, monkeypatch, code, raised):
    def run(words, **_):
        assert words == ["kafka-planner", "fleet"]
        return SimpleNamespace(returncode=code, stderr="")

    monkeypatch.setattr(subprocess, "run", run)

    if raised is None:
        dag.run_step(["fleet"])
    else:
        with pytest.raises(raised, match=str(code)):
            dag.run_step(["fleet"])


def test_conditions_of_the_steps_are_read(dag):
    asked = dag.STEPS["score"][-1]

    assert parse_conditions([asked])
    with pytest.raises(BadInputError):
        parse_conditions([asked.replace("offline", "ofline")])


def test_jobs_of_platforms_give_the_script_what_it_takes():
    bundle = yaml.safe_load((FOLDER / "databricks.yml").read_text())
    (task,) = bundle["resources"]["jobs"]["kafka_fleet"]["tasks"]
    flow = json.loads((FOLDER / "emr_job_flow.json").read_text())
    (step,) = flow["Steps"]
    script = FOLDER.parent / "spark" / JOB

    on_databricks = task["spark_python_task"]
    words = step["HadoopJarStep"]["Args"]
    at = next(n for n, word in enumerate(words) if word.endswith(JOB))
    assert script.exists()
    assert on_databricks["python_file"].endswith(JOB)
    given = (on_databricks["parameters"], words[at + 1 :])
    names = [[Path(each).name for each in listed] for listed in given]
    assert names == [["dumps", "fleet", "scores"]] * 2
