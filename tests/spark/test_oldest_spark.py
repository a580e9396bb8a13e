"""Scores, trends and plans on the oldest Spark that is supported."""

from pathlib import Path

import pytest

from support.other_spark import OLDEST, outcomes_on
from support.profile import IS_THOROUGH

pytestmark = pytest.mark.spark
FILES = ("test_scores", "test_trends", "test_plans", "test_scenarios", "test_ingest")
ONE_EACH = (
    "test_local_rows.py::test_tables_in_memory_are_collected_without_a_job",
    "test_scores.py::test_random_fleets_are_scored_as_in_memory",
    "test_scores.py::test_a_folder_is_read_by_spark_alone",
    "test_scores.py::test_a_folder_is_read_by_the_tasks_themselves",
    "test_scores.py::test_tables_of_a_catalog_are_scored_as_well",
    "test_trends.py::test_trends_on_spark_are_the_same",
    "test_plans.py::test_a_sweep_is_planned_as_each_cluster_alone",
    "test_scenarios.py::test_each_scenario_of_each_cluster_is_that_of_what_if",
    "test_ingest.py::test_spark_takes_in_what_one_process_would",
)
"""A test of each way into Spark; all tests of `FILES` run at night."""


def test_scores_trends_and_plans_on_the_oldest_spark(pytestconfig):
    chosen = [f"{name}.py" for name in FILES] if IS_THOROUGH else ONE_EACH
    root = Path(pytestconfig.rootpath)

    outcomes = outcomes_on(OLDEST, [f"tests/spark/{name}" for name in chosen], root, {})

    assert len(outcomes) >= (50 if IS_THOROUGH else len(ONE_EACH))
    assert {name: text for name, text in outcomes.items() if text is not None} == {}
