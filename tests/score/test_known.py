"""Missing capacities and loads are null in the output, not a default value."""

from datetime import UTC, datetime

import numpy as np
import pytest

from placement.model.load import RESOURCES, Resource
from placement.score.cluster_score import score_cluster
from placement.score.known_loads import known_loads, known_rack_loads
from planner.score.make_score import score_snapshot
from planner.score.score_document import score_document
from planner.score.score_tables import score_table
from planner.snapshot import Snapshot
from support.clusters import make_state

DISK = RESOURCES.index(Resource.DISK)
COUNTS = [RESOURCES.index(r) for r in (Resource.REPLICAS, Resource.LEADERS)]


def test_a_rack_has_the_capacities_of_its_brokers_and_no_other():
    state = make_state(
        [[0, 2], [1, 3]],
        racks="aabb",
        size_bytes=10,
        disk_bytes=[100, 200, 300, -1],
    )
    score = score_cluster(state)

    racks = known_rack_loads(state, score.placed, score.racks)
    brokers = known_loads(state, score.placed)

    # One broker of rack b lacks a capacity, so the score counts all as equal.
    assert racks["capacity"][0, DISK] == 300
    assert racks["use"][0, DISK] == 20 / 300
    assert np.isnan(racks["capacity"][1, DISK])
    assert np.isnan(racks["capacity"][:, COUNTS]).all()
    assert brokers["capacity"][:3, DISK].tolist() == [100, 200, 300]
    assert np.isnan(brokers["capacity"][3, DISK])
    assert np.isnan(brokers["load"][:, RESOURCES.index(Resource.OUT)]).all()


FIGURES = {
    "total",
    "mean_use",
    "max_use",
    "min_use",
    "max_deviation",
    "max_over_mean",
    "cv",
    "gini",
    "jain",
    "brokers_out_of_band",
    "brokers_over_threshold",
}


DOCUMENT = {
    "format": "kafka-planner/snapshot",
    "version": 1,
    "brokers": [{"id": 1, "rack": "a"}, {"id": 2, "rack": "b"}],
    "topics": [
        {
            "name": "orders",
            "partitions": [
                {"partition": 0, "replicas": [1, 2], "leader": 1, "size_bytes": 15}
            ],
        }
    ],
}


@pytest.mark.parametrize("resource", ["in", "out", "cpu"])
def test_figures_of_an_unknown_load_are_unknown(resource):
    scored = score_snapshot(Snapshot.from_document(DOCUMENT), now=datetime.now(UTC))

    document, table = score_document(scored), score_table([scored])

    assert document["resources"][resource]["known_fraction"] == 0
    assert {document["resources"][resource][name] for name in FIGURES} == {None}
    assert document["resources"]["disk"]["total"] == 30
    topic = document["by_topic"][0]["resources"]
    assert {v for k, v in topic[resource].items() if k != "known_fraction"} == {None}
    rows = [row for row in table.to_pylist() if row["resource"] == resource]
    assert {row[name] for row in rows for name in FIGURES} == {None}
    disk = [row for row in table.to_pylist() if row["resource"] == "disk"]
    totals = {row["level"]: row["total"] for row in disk if row["total"] is not None}
    assert totals == {"cluster": 30, "rack": 15, "topic": 30}


@pytest.mark.parametrize("resource", ["replicas", "leaders"])
@pytest.mark.parametrize("most", [None, 50])
def test_counts_have_a_use_only_where_brokers_have_a_most(resource, most):
    # Their shares go by disk capacity, which is no capacity of counts.
    brokers = [
        {"id": broker, "rack": rack, "disk_bytes": disk, "max_replicas": most}
        for broker, rack, disk in ((1, "a", 100), (2, "b", 300))
    ]
    partitions = [{"partition": n, "replicas": [1 + n % 2]} for n in range(4)]
    topics = [{"name": "t", "partitions": partitions}]
    document = {**DOCUMENT, "brokers": brokers, "topics": topics}
    scored = score_snapshot(Snapshot.from_document(document), now=datetime.now(UTC))

    found = score_document(scored)

    figures, first = found["resources"][resource], found["by_broker"][0][resource]
    racks = score_table([scored]).to_pylist()
    of_racks = {
        row["max_use"]
        for row in racks
        if row["level"] == "rack" and row["resource"] == resource
    }
    target, use = (1.0, None) if most is None else (2.0, 2 / 50)
    assert (first["load"], first["target"]) == (2.0, target)
    assert (first["capacity"], first["use"]) == (most, use)
    assert (figures["max_use"], of_racks) == (use, {use})
    assert figures["total"] == 4
