"""Cases on the instances that Cruise Control planned, as snapshot documents."""

import csv
import gzip
import json
from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any

from golden.case import CLUSTER, Case, cases_of_table

FOLDER = Path(__file__).parents[1] / "data" / "cruise-control"
SMALL, MEDIUM = ("S_a", "S_c", "S_d"), ("M_a", "M_c", "M_d")
MB, KB = 10**6, 10**3


def cruise_control_cases() -> Iterable[Case]:
    """Yield the cases: all operations on the small ones, one on the medium ones."""
    for name in SMALL:
        yield from _cases(name, "small")
    yield from _cases("S_a", "new")
    for name in MEDIUM:
        yield from _cases(name, "medium")


def _cases(name: str, table: str) -> Iterable[Case]:
    inputs = {CLUSTER: partial(snapshot, name)}
    return cases_of_table(f"cruise-control/{name}", f"cruise-control-{table}", inputs)


@cache
def snapshot(name: str) -> bytes:
    """Return an instance as a snapshot; rates in bytes per second, sizes in bytes."""
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": name,
        "brokers": [_broker(row) for row in _rows(f"{name}.brokers.csv")],
        "topics": [
            {"name": topic, "partitions": [_partition(list(rows)) for rows in parts]}
            for topic, parts in _topics(f"{name}.replicas.csv.gz")
        ],
    }
    return json.dumps(document).encode()


def _rows(name: str) -> list[dict[str, str]]:
    path = FOLDER / name
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _broker(row: dict[str, str]) -> dict[str, Any]:
    return {
        "id": int(row["id"]),
        "rack": row["rack"],
        "state": "new" if row["new"] == "1" else "alive",
        "disk_bytes": round(float(row["cap_disk"]) * MB),
        "in_bytes_per_s": float(row["cap_nwin"]) * KB,
        "out_bytes_per_s": float(row["cap_nwout"]) * KB,
        "cpu_cores": float(row["cap_cpu"]),
    }


def _topics(name: str) -> Iterator[tuple[str, list[list[dict[str, str]]]]]:
    """Yield each topic with the rows of each of its partitions."""
    for topic, rows in groupby(_rows(name), key=lambda row: row["topic"]):
        parts = groupby(rows, key=lambda row: row["partition"])
        yield topic, [list(replicas) for _, replicas in parts]


def _partition(rows: list[dict[str, str]]) -> dict[str, Any]:
    leader, last = rows[0], rows[-1]
    in_rate = float(leader["nwin"]) * KB
    served = float(leader["nwout"]) * KB
    brokers = [int(row["broker"]) for row in rows]
    return {
        "partition": int(leader["partition"]),
        "replicas": brokers,
        "leader": brokers[0],
        "isr": brokers,
        "size_bytes": round(float(leader["disk"]) * MB),
        "in_bytes_per_s": in_rate,
        # Their figure includes the fetches of followers.
        "out_bytes_per_s": max(served - (len(rows) - 1) * in_rate, 0.0),
        "leader_cpu_cores": float(leader["cpu"]),
        "follower_cpu_cores": float(last["cpu"]),
    }
