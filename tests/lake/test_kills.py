"""Jobs that write tables and are killed, with their JVM, while others read."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from planner.errors import BadInputError
from planner.fleet.contracts.fleet_contracts import FLEETS
from planner.fleet.fleet_store import Store
from planner.score.make_score import ScoreRequest
from support.dumps import put, small_json, take_all
from support.lake.sessions import FORMATS, INSIDE
from support.lake.tables import commits_of, find_tables, rows_of
from support.scores import by_place, differences, in_memory
from support.snapshots import small_document
from support.spark import snapshot

pytestmark = [
    pytest.mark.lake,
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
DAYS = ("2026-11-21T08:00:00Z", "2026-11-22T08:00:00Z")
SCHEMAS = [f"{catalog}.killed" for catalog in FORMATS.values()]
TABLES = ("brokers", "log_dirs", "topics", "partitions", "clusters")
READS = 2
"""How often a reader looks during a job, besides once at its end."""
JOB = """
import sys
import threading
from pathlib import Path

from planner.score.make_score import ScoreRequest
from planner.spark import ingest_dumps, start_session
from planner.spark.command import score_folder
from support.lake.sessions import lake_conf
from support.lake.tables import find_tables

command, warehouse, dumps, *schemas = sys.argv[1:]
lake = start_session(master="local[1]", conf=lake_conf(Path(warehouse)))

def run(schema):
    lake.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    find_tables(lake, Path(warehouse), schema)
    place = f"table:{schema}"
    if command == "ingest":
        ingest_dumps(lake, dumps, place)
    else:
        score_folder(lake, place, ScoreRequest(), place, again=False)

jobs = [threading.Thread(target=run, args=[schema]) for schema in schemas]
for job in jobs:
    job.start()
for job in jobs:
    job.join()
"""


def files_in(warehouse):
    return sum(
        not path.name.startswith(".")
        for schema in warehouse.glob("*/killed*")
        for path in schema.rglob("*.*")
    )


class Job:
    """A process that writes into both schemas, and is killed at a moment."""

    def __init__(self, command, warehouse, dumps, log, files):
        self.warehouse, self.log, self.files = warehouse, log, files
        with log.open("w") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "-c", JOB, command, warehouse, dumps, *SCHEMAS],
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
        self.killer = threading.Thread(target=self._kill)
        self.killer.start()

    def _kill(self):
        while self.process.poll() is None and files_in(self.warehouse) < self.files:
            time.sleep(0.01)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def moments(self):
        """Yield while the job runs, a few times, each time that it has written."""
        first = seen = files_in(self.warehouse)
        step = max((self.files - first) // READS, 1)
        while self.process.poll() is None:
            if files_in(self.warehouse) >= seen + step:
                seen = files_in(self.warehouse)
                yield
            time.sleep(0.05)
        self.killer.join()
        assert self.process.returncode == -signal.SIGKILL, self.log.read_text()[-4000:]
        yield


def arrow(lake, table, contract):
    columns = contract.columns
    return lake.table(table).select(*columns.names).toArrow().cast(columns)


def without_spark(dumps, folder):
    """The rows of a fleet by table, taken in without Spark."""
    take_all(dumps, folder)
    visible = Store(str(folder)).visible()
    return {
        name: pa.concat_tables(
            pq.read_table(folder / file).select(FLEETS[name].columns.names)
            for file in visible.files(name)
        ).cast(FLEETS[name].columns)
        for name in TABLES
    }


def whole_sizes():
    """Days and sizes of all partitions, if the snapshots are whole."""
    (topic,) = small_document()["topics"]
    sizes = [each["size_bytes"] for each in topic["partitions"]]
    return sorted((int(day[8:10]), size) for day in DAYS for size in sizes)


def in_order(table):
    return sorted(map(repr, table.to_pylist()))


def sizes_in(lake, schema):
    """Days and sizes of the partitions that a reader of the fleet sees."""
    from planner.spark import open_fleet

    try:
        rows = open_fleet(lake, f"table:{schema}").partitions.collect()
    except BadInputError:
        return []
    return sorted((row["taken_at"].day, row["size_bytes"]) for row in rows)


def scores_in(lake, schema):
    lake.catalog.refreshTable(f"{schema}.scores")
    return by_place(lake.table(f"{schema}.scores").drop("version").toArrow())


class Trial:
    """A fleet and its scores in both formats, that jobs write and a reader reads."""

    def __init__(self, lake, folder):
        self.lake, self.folder, self.dumps = lake, folder, folder / "dumps"
        self.warehouse = Path(os.environ[INSIDE])
        self.seen, self.scored = [], []
        for number, day in enumerate(DAYS):
            document = small_json(cluster_id="a", taken_at=day)
            put(self.dumps, f"a/{number}/s.json", document)
        self.expected = in_memory([snapshot("a", day) for day in DAYS])
        for schema in SCHEMAS:
            lake.sql(f"CREATE SCHEMA {schema}")

    def kill(self, command, files):
        """Kill a job when it has written so many files, and read meanwhile."""
        files += files_in(self.warehouse)
        log = self.folder / "log"
        job = Job(command, self.warehouse, self.dumps, log, files)
        for _ in job.moments():
            self.read(command)

    def read(self, command):
        for schema in SCHEMAS:
            find_tables(self.lake, self.warehouse, schema)
            if command == "ingest":
                self.seen.append(sizes_in(self.lake, schema))
            elif self.lake.catalog.tableExists(f"{schema}.scores"):
                self.scored.append(scores_in(self.lake, schema))

    def complete(self, command):
        from planner.spark.command import score_folder
        from planner.spark.ingest.dump_ingest import ingest_dumps

        for schema in SCHEMAS:
            place = f"table:{schema}"
            if command == "ingest":
                ingest_dumps(self.lake, str(self.dumps), place)
            else:
                score_folder(self.lake, place, ScoreRequest(), place, again=False)
        self.read(command)

    def check(self):
        """Compare all tables with those of a job that nothing disturbs."""
        undisturbed = without_spark(self.dumps, self.folder / "fleet")
        for schema in SCHEMAS:
            for name, rows in undisturbed.items():
                found = arrow(self.lake, f"{schema}.{name}", FLEETS[name])
                assert in_order(found) == in_order(rows)
            assert differences(self.expected, scores_in(self.lake, schema)) == []
            for name in ("brokers", "commits", "scores"):
                assert len(commits_of(self.lake, f"{schema}.{name}")) == 1
            assert len(rows_of(self.lake, f"{schema}.ingested")) == len(DAYS)


def test_no_kill_leaves_half_of_a_commit(lake, tmp_path):
    draw, trial = random.Random(28), Trial(lake, tmp_path)

    for command, most in (("ingest", 40), ("score", 12)):
        trial.kill(command, files=draw.randint(1, most))
        trial.complete(command)

    trial.check()
    assert trial.seen[-len(SCHEMAS) :] == [whole_sizes()] * len(SCHEMAS)
    assert all(sizes == whole_sizes() for sizes in filter(None, trial.seen))
    assert len(trial.scored) >= len(SCHEMAS)
    for found in filter(None, trial.scored):
        assert differences(trial.expected, found) == []
