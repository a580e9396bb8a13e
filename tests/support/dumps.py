"""Folders of raw dumps, as cron jobs leave them."""

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from planner.fleet.dumps.dump_intake import Intake, dumps_in, ingest_dump
from planner.fleet.fleet_store import Store
from support.snapshots import small_document

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
RATES = "topic,partition,in_bytes_per_s,out_bytes_per_s\n"


def put(folder: Path, name: str, content: str | bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def small_json(**changes: Any) -> str:
    return json.dumps(small_document(**changes))


def rates_parquet(rows: list[dict[str, Any]]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


def mixed_dumps(folder: Path) -> None:
    """Make dumps of all kinds, whole and broken."""
    tools = {
        "topics.txt": "topics-describe.txt",
        "log-dirs.txt": "log-dirs-describe.txt",
        "endpoints.txt": "cluster-list-endpoints.txt",
    }
    for name, sample in tools.items():
        content = (SAMPLES / sample).read_bytes()
        put(folder, f"tools/2026-11-20T08-00-00Z/{name}", content)
    rates = f"{RATES}big,0,1000,2000\nbig,1,many,1\nnone,0,1,1\norders,0,5,\n"
    put(folder, "tools/2026-11-20T08-00-00Z/rates.csv", rates)
    put(folder, "tools/2026-11-20T08-00-00Z/notes.md", "dear diary\n")
    put(folder, "snap/2026-11-21/s.json", small_json(cluster_id=None))
    put(
        folder,
        "snap/2026-11-21/r.parquet",
        rates_parquet(
            [
                {"topic": "orders", "partition": 1, "in_bytes_per_s": 7.5},
                {"topic": "orders", "partition": 0, "in_bytes_per_s": -1.0},
            ]
        ),
    )
    put(folder, "snap/2026-11-22.json", small_json(cluster_id=None))
    put(folder, "broken/2026-11-21/s.json", small_json()[:-40])
    put(folder, "undated/latest/s.json", small_json())
    # Says that it is the cluster and time of another dump.
    copy = small_json(cluster_id="snap", taken_at="2026-11-22T00:00:00Z")
    put(folder, "zz-copy/2026-11-22/s.json", copy)


def take_all(folder: Path, fleet: Path) -> list[Any]:
    """Take dumps in, without Spark."""
    source, target = Store(str(folder)), Store(str(fleet))
    intake = Intake(target)
    taken = [ingest_dump(dump, source, target) for dump in intake.new(dumps_in(source))]
    return intake.settle(taken)


def rejects_in(fleet: Path) -> list[dict[str, Any]]:
    """Return every reject of a fleet, by dump, file and place."""
    rows = [
        row
        for path in sorted((fleet / "rejects").glob("*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]
    return sorted(rows, key=lambda row: (row["dump"], row["file"], row["place"]))


def files_of(fleet: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(fleet)): path.read_bytes()
        for path in sorted(fleet.rglob("*"))
        if path.is_file()
    }
