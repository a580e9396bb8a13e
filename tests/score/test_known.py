"""Capacities that are not given are unknown, and never a value that stands in."""

import numpy as np

from placement.load import RESOURCES, Resource
from placement.score.cluster import score_cluster
from placement.score.known import known_loads, known_rack_loads
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
