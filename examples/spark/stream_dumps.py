"""
A streaming job for spark-submit: dumps are taken in and scored as they arrive.

Run::

    spark-submit --py-files kafka_planner.zip stream_dumps.py DUMPS FLEET SCORES STATE

DUMPS holds ``CLUSTER/TIME/files``; STATE is the checkpoint of the stream. FLEET and
SCORES are folders, or ``table:CATALOG.SCHEMA``. Spark calls `take_in` again with a
batch that was cut off, by a kill or a lost machine; a dump that has its receipt is not
read again, and a snapshot with scores is not scored again: each counts exactly once.

With ``--topic TOPIC --bootstrap HOST:PORT`` the dumps arrive in a topic of Kafka, and
are written to DUMPS first. A message is one file: its key is the path of the file,
``CLUSTER/TIME/FILE``, its value the content. Spark needs its connector for that::

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:VERSION …

``--once`` ends with what is there; without it the stream goes on.
"""

import argparse

from planner.fleet.fleet_store import Store
from planner.score import ScoreRequest
from planner.spark import ingest_dumps, start_session
from planner.spark.command import score_folder

parser = argparse.ArgumentParser()
for place in ("dumps", "fleet", "scores", "state"):
    parser.add_argument(place)
parser.add_argument("--topic")
parser.add_argument("--bootstrap", default="localhost:9092")
parser.add_argument("--once", action="store_true")
asked = parser.parse_args()
dumps, fleet, scores = asked.dumps, asked.fleet, asked.scores
FILES = "path string, modificationTime timestamp, length long, content binary"


def take_in(arrived, number):
    """Take in what a batch brings; the content of dumps is read by tasks."""
    if arrived.isEmpty():
        return
    spark = arrived.sparkSession
    if asked.topic and not arrived.mapInArrow(write_files, "name string").count():
        return
    taken = ingest_dumps(spark, dumps, fleet)
    scored = score_folder(spark, fleet, ScoreRequest(), scores, again=False)
    found = f"{len(taken.receipts)} dumps, {len(scored.documents)} snapshots scored"
    print(f"batch {number}: {found}, {taken.refused} refused", flush=True)


def write_files(batches):
    """Write messages as files of dumps; one that has the content stays as it is."""
    folder = Store(dumps)
    for batch in batches:
        for message in batch.to_pylist():
            name = name_of(message)
            try:
                is_there = folder.read(name) == message["value"]
            except FileNotFoundError:
                is_there = False
            if not is_there:
                folder.write(name, message["value"])
        yield batch.select(["topic"]).rename_columns(["name"])


def name_of(message):
    """Return the path of a message's file: its key, or its place if that is no path."""
    key = (message["key"] or b"").decode("utf-8", errors="replace")
    is_path = all(part and part[0] not in "._" for part in key.split("/"))
    offset = f"{message['topic']}-{message['partition']}-{message['offset']}"
    return key if is_path else offset


def files_arriving(spark):
    """Return a stream of the files below the folder of dumps."""
    reader = spark.readStream.format("binaryFile").schema(FILES)
    return reader.option("recursiveFileLookup", "true").load(dumps).select("path")


def messages_arriving(spark):
    """Return a stream of the messages of the topic, from the first one on."""
    reader = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", asked.bootstrap)
        .option("subscribe", asked.topic)
        .option("startingOffsets", "earliest")
    )
    columns = ("topic", "partition", "offset", "key", "value")
    return reader.load().select(*columns).where("value IS NOT NULL")


arriving = (messages_arriving if asked.topic else files_arriving)(start_session())
# A batch every minute: the files of one dump seldom arrive in one moment.
when = {"availableNow": True} if asked.once else {"processingTime": "1 minute"}
writer = arriving.writeStream.foreachBatch(take_in)
writer = writer.option("checkpointLocation", asked.state)
writer.trigger(**when).start().awaitTermination()
