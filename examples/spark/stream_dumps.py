"""
A streaming job for spark-submit: dumps are taken in and scored as they arrive.

Run::

    spark-submit --py-files kafka_planner.zip stream_dumps.py DUMPS FLEET SCORES STATE

DUMPS holds ``CLUSTER/TIME/files``; STATE is the checkpoint of the stream. FLEET and
SCORES are folders, or ``table:CATALOG.SCHEMA``. Spark calls `take_in` again with a
batch that was cut off, by a kill or a lost machine; a dump that has its receipt is not
read again, and a snapshot with scores is not scored again: each counts exactly once.

``--once`` as the last word ends with what is there; without it the stream goes on.
"""

import sys

from planner.score import ScoreRequest
from planner.spark import ingest_dumps, start_session
from planner.spark.command import score_folder

dumps, fleet, scores, state, *once = sys.argv[1:]
FILES = "path string, modificationTime timestamp, length long, content binary"


def take_in(files, number):
    """Take in the dumps that a batch has files of; their content is read by tasks."""
    if files.isEmpty():
        return
    spark = files.sparkSession
    taken = ingest_dumps(spark, dumps, fleet)
    scored = score_folder(spark, fleet, ScoreRequest(), scores, again=False)
    found = f"{len(taken.receipts)} dumps, {len(scored.documents)} snapshots scored"
    print(f"batch {number}: {found}, {taken.refused} refused", flush=True)


arriving = (
    start_session()
    .readStream.format("binaryFile")
    .schema(FILES)
    .option("recursiveFileLookup", "true")
    .load(dumps)
    .select("path")
)
# A batch every minute: the files of one dump seldom arrive in one moment.
when = {"availableNow": True} if once else {"processingTime": "1 minute"}
writer = arriving.writeStream.foreachBatch(take_in).option("checkpointLocation", state)
writer.trigger(**when).start().awaitTermination()
