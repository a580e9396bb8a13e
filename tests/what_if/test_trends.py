"""Growth from the trends of a fleet."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from planner.errors import BadInputError
from planner.fleet.cluster_trends import SCHEMA
from planner.what_if.growth_trends import COLUMNS, read_trends
from support.commands import run
from support.plans import skewed_document, write_document


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    folder.mkdir()
    parquet.write_table(pa.Table.from_pylist(list(rows)), folder / "part.parquet")
    return folder


def row(topic: str, resource: str, value: float, growth: float, **more: Any) -> Any:
    return {
        "cluster_id": "skewed",
        "level": "topic",
        "topic": topic,
        "resource": resource,
        "value": value,
        "growth_per_day": growth,
    } | more


def test_the_columns_are_those_of_trends():
    assert set(COLUMNS) <= set(SCHEMA.names)


def test_traffic_takes_bytes_along(tmp_path: Path):
    folder = written(
        tmp_path / "trends",
        row("a", "in", 100.0, 1.0),
        row("a", "disk", 1000.0, 30.0),
        row("b", "disk", 0.0, 1.0),
        row("c", "disk", 1000.0, 30.0, cluster_id="other"),
        row("a", "disk", 1.0, 1.0, level="broker"),
    )

    for path in (folder, tmp_path):
        assert read_trends(path, "skewed") == {"a": (0.0, 0.01, pytest.approx(0.02))}


def test_what_is_no_folder_of_trends_is_refused(tmp_path: Path):
    for path in (tmp_path / "none", written(tmp_path / "t", row("a", "in", 1.0, 1.0))):
        with pytest.raises(BadInputError):
            read_trends(path, "elsewhere")


def test_scenarios_last_by_trends(capsys, tmp_path: Path):
    snapshot = write_document(skewed_document(), tmp_path / "s.json")
    folder = written(tmp_path / "t", row("a", "disk", 1000.0, 50.0))
    file = tmp_path / "s.toml"
    file.write_text('[[scenarios]]\nname = "s"\nthen = "nothing"\n')

    options = ("--trends", folder, "--format", "json")
    outcome = run(capsys, "what-if", snapshot, file, *options)
    both = run(capsys, "what-if", snapshot, file, *options, "--growth", "5%/day")

    assert outcome.document["today"]["full"]["resource"] == "disk"
    assert both.code == 2
