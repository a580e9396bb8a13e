"""Tables of Delta Lake and Iceberg, written through Spark Connect."""

import subprocess
import sys

import pytest

from planner.fleet.append import append
from planner.fleet.fleet_store import Store
from support.lake.sessions import FORMATS, PORT
from support.lake.tables import commits_of, rows_of, scores_of
from support.scores import by_place, differences, in_memory
from support.spark import snapshot

pytestmark = [
    pytest.mark.lake,
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
DAY = "2026-11-21T08:00:00Z"
JOB = """
import sys

from planner.cli.main import run

address, fleet, *places = sys.argv[1:]
for place in places:
    sys.argv = ["", "fleet", "score", fleet, "-o", place, "--master", address]
    try:
        run()
    except SystemExit as ended:
        print("ended", ended.code, flush=True)
"""


@pytest.fixture
def address(lake):
    """Address of a server of Spark Connect on the session of the tests."""
    if lake is None:
        yield ""
        return
    pytest.importorskip("grpc", reason="the client of Spark Connect: pyspark[connect]")
    service = lake._jvm.org.apache.spark.sql.connect.service.SparkConnectService
    service.start(lake._jsc.sc())
    yield f"sc://127.0.0.1:{lake.conf.get(PORT)}"
    service.stop(lake._jvm.scala.Option.empty(), lake._jvm.scala.Option.empty())


def test_scores_are_merged_through_connect(lake, address, tmp_path):
    whole, fleet = snapshot("a", DAY), tmp_path / "fleet"
    append(whole, Store(str(fleet)))
    schemas = [f"{catalog}.connect" for catalog in FORMATS.values()]
    for schema in schemas:
        lake.sql(f"CREATE SCHEMA {schema}")

    places = [f"table:{schema}" for schema in schemas]
    done = subprocess.run(
        [sys.executable, "-c", JOB, address, fleet, *places],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.count("ended 0") == len(schemas), done.stderr
    for schema in schemas:
        scores = scores_of(lake, schema)
        assert not differences(in_memory([whole]), by_place(scores))
        assert [row["cluster_id"] for row in rows_of(lake, f"{schema}.done")] == ["a"]
        assert len(commits_of(lake, f"{schema}.scores")) == 1
