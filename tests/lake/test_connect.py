"""Tables of Delta Lake and Iceberg, written through Spark Connect."""

import subprocess
import sys

import pytest

from support.dumps import put, small_json
from support.lake.sessions import FORMATS, PORT
from support.lake.tables import commits_of, rows_of
from support.scores import by_place, differences, in_memory
from support.spark import snapshot

pytestmark = [
    pytest.mark.lake,
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
DAY = "2026-11-21T08:00:00Z"
SCHEMAS = [f"{catalog}.connect" for catalog in FORMATS.values()]
JOB = """
import sys

from planner.cli.main import run

address, dumps, *places = sys.argv[1:]
for place in places:
    for words in (["ingest", dumps], ["score", place], ["score", place]):
        sys.argv = ["", "fleet", *words, "-o", place, "--master", address]
        try:
            run()
        except SystemExit as ended:
            print(words[0], ended.code, flush=True)
"""


@pytest.fixture
def address(lake):
    """Address of a server of Spark Connect on the session of the tests."""
    pytest.importorskip("grpc", reason="the client of Spark Connect: pyspark[connect]")
    service = lake._jvm.org.apache.spark.sql.connect.service.SparkConnectService
    service.start(lake._jsc.sc())
    yield f"sc://127.0.0.1:{lake.conf.get(PORT)}"
    service.stop(lake._jvm.scala.Option.empty(), lake._jvm.scala.Option.empty())


def test_a_fleet_is_taken_in_and_scored_through_connect(lake, address, tmp_path):
    put(tmp_path, "dumps/a/1/s.json", small_json(cluster_id="a", taken_at=DAY))
    for schema in SCHEMAS:
        lake.sql(f"CREATE SCHEMA {schema}")

    done = subprocess.run(
        [
            sys.executable,
            *("-c", JOB, address, tmp_path / "dumps"),
            *(f"table:{schema}" for schema in SCHEMAS),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert done.returncode == 0, done.stderr[-4000:]
    ended = [line for line in done.stdout.splitlines() if line[-2:] == " 0"]
    assert ended == ["ingest 0", "score 0", "score 0"] * len(SCHEMAS), done.stderr
    assert done.stderr.count("nothing new") == len(SCHEMAS)
    for schema in SCHEMAS:
        scores = lake.table(f"{schema}.scores").drop("version").toArrow()
        assert not differences(in_memory([snapshot("a", DAY)]), by_place(scores))
        assert [row["cluster_id"] for row in rows_of(lake, f"{schema}.done")] == ["a"]
        assert len(commits_of(lake, f"{schema}.scores")) == 1
