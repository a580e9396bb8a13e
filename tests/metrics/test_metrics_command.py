"""Metrics as a shell asks for them: the format, the file, what is refused."""

import threading

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from placement.draft.draft import Settings
from planner.cli.fleet.fleet_scope import FleetScope
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from planner.fleet.cluster_overview import overview_row
from planner.metrics.metrics_file import write_metrics
from planner.metrics.openmetrics_text import overview_metrics
from planner.snapshot import Snapshot
from planner.spark.reports import fleet_overview
from support.commands import run
from support.snapshots import small_document

NAME = "kafka_planner_brokers"


def names_in(folder):
    return [path.name for path in folder.iterdir()]


def test_metrics_are_all_that_stdout_has(capsys):
    found = run(capsys, "score", SNAPSHOT_FILE, "--format", "openmetrics")

    assert (found.code, found.err) == (0, "")
    assert found.out.startswith("# TYPE kafka_planner_")
    assert found.out.endswith("\n# EOF\n")


@pytest.fixture
def overviewed(monkeypatch):
    """Let `fleet overview` find two clusters without Spark; return their rows."""
    rows = []
    for name in ("a", "b"):
        snapshot = Snapshot.from_document(small_document() | {"cluster_id": name})
        row = overview_row(snapshot.tables(), snapshot.header(), Settings())
        rows.append({**row, "cluster_id": name, "status": "ok"})
    monkeypatch.setattr(FleetScope, "session", lambda *_: None)
    monkeypatch.setattr(fleet_overview, "overview_folder", lambda *_, **__: rows)
    return rows


def test_metrics_of_a_fleet_are_all_that_stdout_has(capsys, tmp_path, overviewed):
    fleet, path = tmp_path / "fleet", tmp_path / "fleet.prom"
    words = ["fleet", "overview", fleet, "-o", tmp_path / "out"]

    found = run(capsys, *words, "--format", "openmetrics", "--metrics", path)

    assert found.code == 0, found.err
    assert found.out == overview_metrics(overviewed)
    assert found.out == path.read_text(encoding="utf-8")
    families = {each.name: each for each in text_string_to_metric_families(found.out)}
    clusters = {s.labels["kafka_cluster"] for s in families[NAME].samples}
    assert clusters == {"a", "b"}


def test_the_file_has_what_is_printed(tmp_path, capsys):
    path = tmp_path / "kafka.prom"

    printed = run(
        capsys, "score", SNAPSHOT_FILE, "--format", "openmetrics", "--metrics", path
    )
    screen = run(capsys, "score", SNAPSHOT_FILE, "--metrics", path)
    as_json = run(capsys, "score", SNAPSHOT_FILE, "--metrics", path, "--format", "json")

    assert path.read_text(encoding="utf-8") == printed.out
    assert screen.out == run(capsys, "score", SNAPSHOT_FILE).out
    assert f"wrote {path}" in screen.err
    assert as_json.document["cluster_id"] == "orders-eu"
    assert names_in(tmp_path) == ["kafka.prom"]


def test_conditions_count_with_metrics_too(tmp_path, capsys):
    path = tmp_path / "kafka.prom"

    found = run(
        capsys, "score", SNAPSHOT_FILE, "--metrics", path, "--quiet",
        "--format", "openmetrics", "--fail-on", "disk.max_use > 0.5",
    )  # fmt: skip

    assert (found.code, found.err) == (3, "")
    assert path.exists()


def test_a_reader_never_sees_a_part(tmp_path):
    path = tmp_path / "kafka.prom"
    texts = [f"# TYPE {NAME} gauge\n{NAME} {n}\n" * 20_000 + "# EOF\n" for n in (1, 2)]
    write_metrics(texts[0], path)
    seen, is_done = set(), threading.Event()

    def read():
        while not is_done.is_set():
            seen.add(path.read_text(encoding="utf-8"))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for turn in range(50):
            write_metrics(texts[turn % 2], path)
    finally:
        is_done.set()
        reader.join()

    assert seen <= set(texts)


def test_a_write_that_fails_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "kafka.prom"
    write_metrics("# EOF\n", path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)

    with pytest.raises(BadInputError) as refused:
        write_metrics("# TYPE kafka_planner_brokers gauge\n# EOF\n", path)
    assert "No space left on device" in str(refused.value.problems[0])
    assert path.read_text() == "# EOF\n"
    assert names_in(tmp_path) == ["kafka.prom"]


def foreign_file(folder):
    path = folder / "node.prom"
    path.write_text("node_load1 0.5\n")
    return path, "the output exists and is not a file of metrics"


def binary_file(folder):
    path = folder / "node.prom"
    path.write_bytes(b"\xff\xfe")
    return path, "the output exists and is not a file of metrics"


def a_folder(folder):
    path = folder / "kafka.prom"
    path.mkdir()
    return path, "the output exists and is not a file of metrics"


def a_link(folder):
    target = folder / "own.prom"
    target.write_text("# EOF\n")
    path = folder / "kafka.prom"
    path.symlink_to(target)
    rule = f"the output is a symbolic link to {target}"
    return path, rule


def a_link_to_nothing(folder):
    path = folder / "kafka.prom"
    path.symlink_to("none.prom")
    return path, "the output is a symbolic link to none.prom"


def no_folder(folder):
    return folder / "none" / "kafka.prom", "its folder does not exist"


def other_suffix(folder):
    return folder / "kafka.txt", "the textfile collector reads only files that end in"


@pytest.mark.parametrize(
    "make",
    [
        foreign_file,
        binary_file,
        a_folder,
        a_link,
        a_link_to_nothing,
        no_folder,
        other_suffix,
    ],
)
@pytest.mark.parametrize(
    "command", [("score", SNAPSHOT_FILE), ("fleet", "overview", "fleet", "-o", "out")]
)
def test_a_place_that_is_no_file_of_metrics_is_refused(make, command, tmp_path, capsys):
    path, rule = make(tmp_path)
    before = sorted(tmp_path.rglob("*"))

    found = run(capsys, *command, "--metrics", path)

    assert (found.code, found.out) == (2, "")
    assert rule in found.err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_is_distinguished_from_a_place_of_tables(tmp_path, capsys):
    path = tmp_path / "kafka.prom"

    found = run(capsys, "score", SNAPSHOT_FILE, "--format", "openmetrics", "-o", path)

    assert found.code == 2
    assert f"write metrics with --metrics {path}" in found.err
    assert not path.exists()


def test_snapshots_of_one_cluster_are_refused_before_anything_is_written(
    tmp_path, capsys
):
    path, tables = tmp_path / "kafka.prom", tmp_path / "tables"

    found = run(
        capsys, "score", SNAPSHOT_FILE, SNAPSHOT_FILE, "--metrics", path, "-o", tables
    )

    assert (found.code, found.out) == (2, "")
    assert "2 snapshots are of one cluster" in found.err
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    "command", [("status", SNAPSHOT_FILE), ("fleet", "score", "f", "-o", "x")]
)
def test_other_commands_name_those_that_have_metrics(command, capsys):
    found = run(capsys, *command, "--format", "openmetrics")

    assert (found.code, found.out) == (2, "")
    assert "'openmetrics' is not one of 'text', 'json'" in found.err
    assert "'score' and 'fleet overview' have metrics" in found.err
