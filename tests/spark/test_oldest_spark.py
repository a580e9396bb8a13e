"""Scores, trends and plans on the oldest Spark that is supported."""

from pathlib import Path

import pytest

from support.other_spark import OLDEST, outcomes_on

pytestmark = pytest.mark.spark
FILES = ("test_scores", "test_trends", "test_plans", "test_scenarios", "test_ingest")


@pytest.mark.no_cover
def test_scores_trends_and_plans_on_the_oldest_spark(pytestconfig):
    files = [f"tests/spark/{name}.py" for name in FILES]
    root = Path(pytestconfig.rootpath)

    outcomes = outcomes_on(OLDEST, files, root, {})

    assert len(outcomes) > 50
    assert {name: text for name, text in outcomes.items() if text is not None} == {}
