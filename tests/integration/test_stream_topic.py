"""Dumps that arrive in a topic count exactly once, though the driver is killed."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from kafka import KafkaProducer

from integration.steps import create
from planner.fleet.fleet_store import Store
from support.dumps import small_json, take_all
from support.lake.parts import jars_of
from support.lake.sessions import UNVERIFIED
from support.other_spark import OLDEST, pyspark_folder
from support.scores import by_place, differences, in_memory
from support.snapshots import small_document
from support.spark import JVM, snapshot

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
JOB = ROOT / "examples" / "spark" / "stream_dumps.py"
POM = ROOT / "tests" / "support" / "stream" / "pom.xml"
TOPIC = "dumps"
DAYS = [f"2026-11-2{n}T08:00:00Z" for n in (1, 2, 3)]


@pytest.fixture
def environment(tmp_path):
    """Environment of a driver on another Spark, which has the connector."""
    chosen = {
        "spark.jars": ",".join(map(str, jars_of(POM))),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "600m",
        "spark.driver.defaultJavaOptions": f"{JVM} {UNVERIFIED}",
        # Compiling queries takes longer than running them on a few rows.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    lines = "".join(f"{name} {value}\n" for name, value in chosen.items())
    (tmp_path / "spark-defaults.conf").write_text(lines)
    path = (str(pyspark_folder(OLDEST)), os.environ.get("PYTHONPATH", ""))
    own = {"SPARK_CONF_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(path)}
    return os.environ | own


def send(cluster, *messages):
    with KafkaProducer(bootstrap_servers=cluster.bootstrap) as producer:
        for key, value in messages:
            producer.send(TOPIC, key=key, value=value).get(60)


def files_in(folder):
    """The files of a folder, without those that a kill left half written."""
    found = (path for path in folder.rglob("*") if path.name[0] not in "._")
    return [path for path in found if path.is_file()]


def test_a_killed_driver_takes_each_dump_in_once(shared_cluster, environment, tmp_path):
    names = ("dumps", "fleet", "scores", "state")
    dumps, fleet, scores, _ = places = [tmp_path / name for name in names]
    options = ["--topic", TOPIC, "--bootstrap", shared_cluster.bootstrap, "--once"]

    def start():
        return subprocess.Popen(
            [sys.executable, JOB, *places, *options],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    documents = [small_json(cluster_id="a", taken_at=day).encode() for day in DAYS]
    rates = b"topic,partition,in_bytes_per_s\norders,1,7.5\n"
    create(shared_cluster, TOPIC, [[1], [2]])
    send(
        shared_cluster,
        (b"a/1/s.json", b"{}"),
        (b"a/1/s.json", documents[0]),
        (b"a/1/rates.csv", rates),
        (b"../out-of-place", documents[1]),
        (b"a/gone", None),
    )

    killed, moment = start(), random.Random(28).randint(4, 8)
    while len(files_in(dumps)) + len(files_in(fleet)) < moment:
        assert killed.poll() is None, killed.communicate()[0][-4000:]
        time.sleep(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    send(shared_cluster, (None, documents[2]))
    again = start()
    said, _ = again.communicate(timeout=600)

    assert again.returncode == 0, said[-4000:]
    found = {str(f.relative_to(dumps)): f.read_bytes() for f in files_in(dumps)}
    kept = [found.pop(name) for name in ("a/1/s.json", "a/1/rates.csv")]
    assert kept == [documents[0], rates]
    assert sorted(found.values()) == documents[1:]
    assert all(name.startswith(f"{TOPIC}-") for name in found)
    take_all(dumps, tmp_path / "expected")
    expected = Store(str(tmp_path / "expected")).visible().snapshots
    assert len(expected) == len(DAYS)
    assert Store(str(fleet)).visible().snapshots == expected
    topics = small_document()["topics"]
    topics[0]["partitions"][1]["in_bytes_per_s"] = 7.5
    rated = snapshot("a", DAYS[0], topics=topics)
    snapshots = [rated, *(snapshot("a", day) for day in DAYS[1:])]
    scored = pq.read_table(scores / "scores")
    assert differences(in_memory(snapshots), by_place(scored)) == []
