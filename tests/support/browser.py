"""Chromium for tests that look at pages, and pages whose names are hostile."""

import csv
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pyarrow import parquet

from placement.draft.draft import Settings
from planner.fleet.cluster_overview import SCHEMA, overview_row
from planner.snapshot import Snapshot
from support.snapshots import small_document

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Commands of browsers that Playwright drives as Chromium."""
MISSING = (
    "Chromium is missing: install your system's package (on Debian and Ubuntu: "
    "chromium)"
)
SCRIPT = "<script>document.title='taken'</script>"
IMAGE = "</script><img src=x onerror=\"document.title='taken'\">"
HOSTILE = (
    SCRIPT,
    IMAGE,
    "{{7*7}}{% raw %}",
    '=2+3,"quoted"\nnext',
    "\u202eolleh & 'räck' 机架",
)
"""Names that are text wherever they are shown."""
# Other tests keep the machine busy; what comes late comes nevertheless.
expect.set_options(timeout=60_000)
CHROMIUM_OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser, or fail with what is missing."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.fail(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=[*CHROMIUM_OPTIONS]
        )
        yield browser
        browser.close()


class Watched:
    """A page of a file or an address: its console, and what it asks of a network."""

    def __init__(self, browser: Browser, place: Path | str, **options: Any) -> None:
        self.context: BrowserContext = browser.new_context(**options)
        self.page: Page = self.context.new_page()
        self.console: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.console.append(message.text))
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(place if isinstance(place, str) else place.as_uri())
        if options.get("java_script_enabled", True):
            # Tables of reports are built after the page was loaded.
            expect(self.page.locator(".browsed .still")).to_have_count(0)

    def __enter__(self) -> "Watched":
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


def with_hostile_topics(path: Path) -> None:
    """Rename the topics of moves.csv, as Kafka and snapshots would not let them be."""
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = [*csv.reader(file)]
    renamed = [[HOSTILE[int(topic[1:])], *rest] for topic, *rest in rows]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *renamed])


def hostile_snapshot(path: Path) -> Path:
    """Write a snapshot of skewed brokers; names that Kafka lets be any are hostile."""
    brokers = [
        {
            "id": broker,
            "rack": HOSTILE[broker % 3],
            "disk_bytes": 2 * 10**12,
            "log_dirs": [
                {"path": f"/data/{HOSTILE[0]}", "size_bytes": 10**12},
                {"path": f"/data/{HOSTILE[4]}", "size_bytes": 10**12},
            ],
        }
        for broker in range(1, 7)
    ]
    topics = [
        {
            "name": f"t{number}",
            "partitions": [
                {
                    "partition": p,
                    "replicas": [1 + p % 3, 1 + (p + 1) % 3],
                    "size_bytes": 10**10 * (1 + p),
                }
                for p in range(6)
            ],
        }
        for number in range(len(HOSTILE))
    ]
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": HOSTILE[0],
        "taken_at": "2026-11-21T08:00:00Z",
        "brokers": brokers,
        "topics": topics,
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def hostile_group(folder: Path) -> tuple[Path, Path]:
    """Write a group whose members have hostile ids, and events of it."""
    group, events = folder / "group.json", folder / "events.toml"
    document = {
        "format": "kafka-planner/group",
        "version": 1,
        "group_id": "billing",
        "topics": [{"name": "orders", "partitions": 12}],
        "members": [{"member_id": name, "topics": ["orders"]} for name in HOSTILE],
    }
    group.write_text(json.dumps(document), encoding="utf-8")
    leave = f'[[events]]\nat_s = 10\nevent = "leave"\nmember = {json.dumps(SCRIPT)}\n'
    events.write_text(f"[rates]\norders = 10\n{leave}", encoding="utf-8")
    return group, events


def hostile_fleet(folder: Path) -> Path:
    """Write an overview of clusters with hostile ids, as Spark writes it."""
    snapshot = Snapshot.from_document(small_document())
    row = overview_row(snapshot.tables(), snapshot.header(), Settings())
    taken_at = datetime(2026, 11, 21, 8, tzinfo=UTC)
    rows = [
        {
            **row,
            "cluster_id": name,
            "taken_at": taken_at,
            "max_disk_use": 0.1 * number,
            "offline_partitions": int(not number),
        }
        for number, name in enumerate(HOSTILE)
    ]
    (folder / "overview").mkdir(parents=True)
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    parquet.write_table(table, folder / "overview/part-00000.parquet")
    return folder
