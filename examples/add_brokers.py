"""
Fill three new brokers of a small cluster, and see that no plan could move less.

Prints::

    3 copies; no plan needs under 3
    replicas on brokers 1 to 6, before: [2, 2, 2, 0, 0, 0]
    replicas on brokers 1 to 6, after: [1, 1, 1, 1, 1, 1]
"""

import numpy as np

from placement.draft.draft import Settings
from placement.model.load import Resource
from placement.operations.add_brokers import AddBrokers
from placement.planning.plan import plan
from planner.snapshot.snapshot_document import Snapshot

cluster = Snapshot.from_document(
    {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [{"id": broker} for broker in (1, 2, 3)]
        + [{"id": broker, "state": "new"} for broker in (4, 5, 6)],
        "topics": [
            {
                "name": "orders",
                "partitions": [
                    {"partition": 0, "replicas": [1, 2, 3]},
                    {"partition": 1, "replicas": [2, 3, 1]},
                ],
            }
        ],
    }
).to_state()

planned = plan(cluster, AddBrokers(), Settings(resources=(Resource.REPLICAS,)))
copies = planned.solution.certificate.moves
print(f"{copies.value} copies; no plan needs under {copies.lower_bound}")

for when, state in (("before", cluster), ("after", planned.reassignment.after())):
    num_on = np.bincount(state.replicas.broker_idx, minlength=state.num_brokers)
    print(f"replicas on brokers 1 to 6, {when}: {num_on.tolist()}")
