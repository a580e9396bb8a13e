"""
Draw the small clusters of the corpus, once, into a file.

``PYTHONPATH=tests python -m golden.draw``

The file is part of the corpus: a change of the generators or of hypothesis changes no
case. Each cluster is a snapshot document of up to 12 brokers and 160 partitions.
"""

import gzip
import json
from random import Random
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from fuzz.grown import TROUBLE, Grower, Size
from golden.drawn_cases import CLUSTERS
from placement.model.cluster import UNKNOWN, ClusterState
from planner.snapshot import Snapshot
from support.clusters import clusters

GROWN, WILD = 44, 6
"""Clusters with a skewed load, and clusters whose values are drawn one by one."""
SEED = 20_261_127
HOSTS, SETS = 4, 5
"""One cluster in so many has brokers that share hosts, or brokers in sets."""


def grown_cluster(number: int) -> dict[str, Any]:
    """Return the document of one cluster with a skewed load."""
    draws = Random(f"{SEED} {number}")
    # Each kind of trouble in turn, and each other kind in one cluster of five.
    kinds = {kind for kind in TROUBLE if draws.random() < 0.2}
    kinds.add(TROUBLE[number % len(TROUBLE)])
    topics = draws.randint(1, 4)
    size = Size(
        brokers=draws.randint(3, 10),
        topics=topics,
        partitions=draws.randint(3, 160 // topics if number % 4 == 0 else 12),
        num_new=draws.choice([0, 0, 1, 2]),
    )
    state = Grower(draws.randrange(2**32), size, frozenset(kinds)).state()
    document = _document(state)
    if number % HOSTS == 1:
        _group(document, "host", ["h0", "h1", "h2"])
    if number % SETS == 2:
        _group(document, "broker_set", ["gold", "gold", "silver", "gold"])
    return document


def _document(state: ClusterState) -> dict[str, Any]:
    """Return a snapshot whose log dirs, if there are any, determine the disk space."""
    if len(state.log_dirs):
        unknown = np.full(state.num_brokers, UNKNOWN, dtype=np.int64)
        state = state.with_brokers(disk_bytes=unknown)
    return Snapshot.from_state(state).to_document()


def _group(document: dict[str, Any], key: str, names: list[str]) -> None:
    for row, broker in enumerate(document["brokers"]):
        broker[key] = names[row % len(names)]


def wild_clusters() -> list[dict[str, Any]]:
    """Return the documents of clusters whose values are drawn one by one."""
    found: list[str] = []

    @seed(SEED)
    @settings(
        max_examples=10 * WILD,
        database=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(clusters(min_brokers=3, max_partitions=12, reassigning=True), st.none())
    def every(state: Any, _: None) -> None:
        if state.num_partitions:
            found.append(json.dumps(_document(state)))

    every()
    different = list(dict.fromkeys(found))
    spread = different[:: len(different) // WILD][:WILD]
    return [json.loads(text) for text in spread]


def main() -> None:
    """Write all clusters, one document a line."""
    documents = [*map(grown_cluster, range(GROWN)), *wild_clusters()]
    lines = "".join(
        json.dumps(each, separators=(",", ":")) + "\n" for each in documents
    )
    CLUSTERS.write_bytes(gzip.compress(lines.encode(), mtime=0))


if __name__ == "__main__":
    main()
