"""Jobs that write tables and are killed, with their JVM, while others read."""

import os
import random
import shutil
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
from support.lake.tables import commits_of, find_tables, rows_of, scores_of
from support.profile import sampled
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
TABLES = ("brokers", "log_dirs", "topics", "partitions", "clusters")
MOST_FILES = 30
"""A job writes more files than that."""
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

warehouse, dumps, fleet, ingested, scored = sys.argv[1:]
lake = start_session(master="local[1]", conf=lake_conf(Path(warehouse)))
for schema in (ingested, scored):
    lake.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")

def ingest():
    ingest_dumps(lake, dumps, f"table:{ingested}")

def score():
    score_folder(lake, fleet, ScoreRequest(), f"table:{scored}", again=False)

jobs = [threading.Thread(target=job) for job in (ingest, score)]
for job in jobs:
    job.start()
for job in jobs:
    job.join()
"""


class Job:
    """A process that writes into schemas, and is killed when it has written enough."""

    def __init__(self, trial, files):
        self.trial, self.files, self.log = trial, files, trial.folder / "log"
        places = (trial.warehouse, trial.dumps, trial.fleet, *trial.schemas)
        with self.log.open("w") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "-c", JOB, *places],
                stdout=stream,
                stderr=stream,
                start_new_session=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            )
        self.killer = threading.Thread(target=self._kill)
        self.killer.start()

    def _kill(self):
        while self.process.poll() is None and self.trial.files() < self.files:
            time.sleep(0.02)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def moments(self):
        """Yield while the job runs, a few times, each time that it has written."""
        first = seen = self.trial.files()
        step = max((self.files - first) // READS, 1)
        while self.process.poll() is None:
            if self.trial.files() >= seen + step:
                seen = self.trial.files()
                yield
            time.sleep(0.05)
        self.killer.join()
        assert self.process.returncode == -signal.SIGKILL, self.log.read_text()[-4000:]
        yield


def arrow(lake, table, contract):
    columns = contract.columns
    return lake.table(table).select(*columns.names).toArrow().cast(columns)


def tables_in(folder):
    """The rows of a fleet by table, as files of it have them."""
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
    return by_place(scores_of(lake, schema))


class Trial:
    """Dumps that are taken in, and a fleet that is scored, each into one schema."""

    def __init__(self, lake, folder, schemas):
        self.lake, self.folder, self.schemas = lake, folder, schemas
        self.warehouse = Path(os.environ[INSIDE])
        self.dumps, self.fleet = folder / "dumps", folder / "fleet"
        self.seen, self.scored = [], []
        for number, day in enumerate(DAYS):
            document = small_json(cluster_id="a", taken_at=day)
            put(self.dumps, f"a/{number}/s.json", document)
        take_all(self.dumps, self.fleet)
        for schema in schemas:
            lake.sql(f"CREATE SCHEMA {schema}")

    def files(self):
        """Count the files that jobs have written."""
        names = [schema.rpartition(".")[2] for schema in self.schemas]
        folders = (each for name in names for each in self.warehouse.glob(f"*/{name}*"))
        found = (path for folder in folders for path in folder.rglob("*.*"))
        return sum(not path.name.startswith(".") for path in found)

    def read(self):
        for schema in self.schemas:
            find_tables(self.lake, self.warehouse, schema)
        ingested, scored = self.schemas
        self.seen.append(sizes_in(self.lake, ingested))
        if self.lake.catalog.tableExists(f"{scored}.scores"):
            self.scored.append(scores_in(self.lake, scored))

    def complete(self):
        from planner.spark.command import score_folder
        from planner.spark.ingest.dump_ingest import ingest_dumps

        self._remove_leftovers()
        ingested, scored = (f"table:{schema}" for schema in self.schemas)
        ingest_dumps(self.lake, str(self.dumps), ingested)
        score_folder(self.lake, str(self.fleet), ScoreRequest(), scored, again=False)

    def _remove_leftovers(self):
        """Remove folders of Delta tables without a commit, as docs/fleets.md says."""
        for log in self.warehouse.glob("delta/killed*/*/_delta_log"):
            if not any(log.glob("*.json")):
                shutil.rmtree(log.parent)

    def check(self):
        """Compare all tables with those of a job that nothing disturbs."""
        ingested, scored = self.schemas
        for name, rows in tables_in(self.fleet).items():
            found = arrow(self.lake, f"{ingested}.{name}", FLEETS[name])
            assert in_order(found) == in_order(rows)
        dumps = [row["dump"] for row in rows_of(self.lake, f"{ingested}.ingested")]
        assert len(dumps) == len(set(dumps)) == len(DAYS)
        for table in (f"{ingested}.brokers", f"{ingested}.commits", f"{scored}.scores"):
            # Snapshots are claimed, and listed in the end.
            commits = 2 if table.endswith(".commits") else 1
            assert len(commits_of(self.lake, table)) == commits


@pytest.mark.parametrize(
    "kinds", sampled([[*FORMATS], [*reversed(FORMATS)]]), ids="-".join
)
def test_no_kill_leaves_half_of_a_commit(lake, tmp_path, kinds):
    schemas = [f"{FORMATS[kind]}.killed_{n}" for n, kind in enumerate(kinds)]
    expected = in_memory([snapshot("a", day) for day in DAYS])
    trial = Trial(lake, tmp_path, schemas)

    job = Job(trial, random.Random(str(kinds)).randint(1, MOST_FILES))
    for _ in job.moments():
        trial.read()
    trial.complete()
    trial.read()

    trial.check()
    assert trial.seen[-1] == whole_sizes()
    assert all(sizes == whole_sizes() for sizes in filter(None, trial.seen))
    assert trial.scored
    assert differences(expected, trial.scored[-1]) == []
    assert all(not differences(expected, each) for each in filter(None, trial.scored))
