"""
A nightly job for spark-submit: raw dumps into a fleet, then the scores of what is new.

Run::

    spark-submit --py-files kafka_planner.zip ingest_fleet.py DUMPS FLEET SCORES

DUMPS holds ``CLUSTER/TIME/files``. All three are paths that every executor sees. Run it
as often as you like: what was taken in and scored is not touched again.
"""

import sys

from planner.score import ScoreRequest
from planner.spark import ingest_dumps, start_session
from planner.spark.command import score_folder

dumps, fleet, scores = sys.argv[1:]
spark = start_session()

taken = ingest_dumps(spark, dumps, fleet)
print(f"{len(taken.receipts)} new dumps, {taken.refused} refused")
if taken.rejects:
    print(f"{taken.rejects} rows in {fleet}/rejects say why")

scored = score_folder(spark, fleet, ScoreRequest(), scores, again=False)
for document in scored.documents:
    disk = document["resources"]["disk"]
    print(f"{document['cluster_id']}: disk {disk['max_over_mean']:.2f} x mean at most")
