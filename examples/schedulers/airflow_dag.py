"""
A nightly DAG of Airflow 3: dumps into a fleet, scores, trends, an overview, plans.

Put it into the DAGs folder of workers that have ``kafka-planner[spark]`` and Java. What
the command line ends with says whether another try can help: 75 (a machine that Spark
runs on failed) and 5 (nobody answered) are tried again; anything else fails at once.
"""

import os
import subprocess
from datetime import datetime, timedelta

from airflow.sdk import dag, task
from airflow.sdk.exceptions import AirflowException, AirflowFailException

ROOT = os.environ.get("KAFKA_FLEET", "/data/kafka")
AGAIN = {5, 75}
STEPS = {
    "ingest": ["fleet", "ingest", f"{ROOT}/dumps", "-o", f"{ROOT}/fleet"],
    # Days before stay as they are; a run of the past scores its own day.
    "score": [
        *("fleet", "score", f"{ROOT}/fleet", "-o", f"{ROOT}/scores"),
        *("--since", "{{ ds }}", "--until", "{{ ds }}"),
        *("--fail-on", "offline_partitions > 0 or under_min_isr > 0"),
    ],
    "trends": [
        *("fleet", "trends", f"{ROOT}/scores", "-o", f"{ROOT}/trends"),
        *("--since", "90d"),
    ],
    "overview": [
        *("fleet", "overview", f"{ROOT}/fleet", "-o", f"{ROOT}/overview"),
        *("--trends", f"{ROOT}/trends", "--fail-on", "days_until_full < 14"),
    ],
    "plan": ["fleet", "plan", f"{ROOT}/fleet", "-o", f"{ROOT}/plans"],
}
AFTER = {"score": "ingest", "trends": "score", "overview": "trends", "plan": "ingest"}
# What was scored is worth a trend whether a condition holds or not.
WHATEVER = {"trends", "overview", "plan"}


def run_step(words: list[str]) -> None:
    """Run a command of kafka-planner; its last line on stderr says what was wrong."""
    done = subprocess.run(  # noqa: S603 - the words are those above
        ["kafka-planner", *words],  # noqa: S607 - as installed for the worker
        check=False,
        stderr=subprocess.PIPE,
        text=True,
    )
    print(done.stderr)
    message = f"exit code {done.returncode}"
    if done.returncode in AGAIN:
        raise AirflowException(message)
    if done.returncode:
        raise AirflowFailException(message)


@dag(
    schedule="@daily",
    start_date=datetime(2026, 11, 1),
    catchup=False,
    max_active_runs=1,  # one job at a time writes to a fleet
    default_args={"retries": 3, "retry_delay": timedelta(minutes=10)},
)
def kafka_fleet():
    made = {}
    for name, words in STEPS.items():
        rule = "all_done" if name in WHATEVER else "all_success"
        step = task(run_step, task_id=name, trigger_rule=rule)
        made[name] = step(words)
    for name, before in AFTER.items():
        made[before] >> made[name]


kafka_fleet()
