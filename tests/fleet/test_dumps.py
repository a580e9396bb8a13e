"""Raw dumps: told apart, read row by row, refused with a reason, taken in once."""

import gzip
import json

import pyarrow.parquet as pq
import pytest

from planner.errors import BadInputError
from planner.fleet.dumps.dump_finder import FoundFile, find_dumps, moment_of
from planner.fleet.dumps.dump_intake import Intake, dumps_in, ingest_dump
from planner.fleet.dumps.dump_reader import read_dump
from planner.fleet.dumps.rate_rows import read_rows
from planner.fleet.fleet_store import Store
from planner.snapshot import Snapshot, write_snapshot
from planner.snapshot.importers.file_kinds import kind_of
from planner.snapshot.importers.importer_registry import IMPORTERS
from support import monitoring
from support.dumps import (
    RATES,
    SAMPLES,
    files_of,
    mixed_dumps,
    put,
    rates_parquet,
    rejects_in,
    small_json,
    take_all,
)
from support.samples import COVERED, READERS
from support.snapshots import small_document

NAMES = {
    "read_topics": "topics",
    "read_log_dirs": "log_dirs",
    "read_endpoints": "list_endpoints",
    "read_assignment": "assignment",
    "read_kcat": "kcat",
}


@pytest.mark.parametrize(
    ("sample", "kind"),
    [
        pytest.param(sample, NAMES[reader.__name__], id=sample)
        for reader, samples in COVERED.items()
        for sample in samples
        if reader.__name__ in NAMES and (SAMPLES / sample).exists()
        # Says that nothing is there: no kind.
        if kind_of((SAMPLES / sample).read_bytes()) is not None
    ],
)
def test_what_kafkas_tools_print_is_distinguished_from_its_content(sample, kind):
    data = (SAMPLES / sample).read_bytes()

    assert kind_of(data) == kind
    assert kind_of(gzip.compress(data)) == kind


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        pytest.param(small_json().encode(), "snapshot", id="snapshot"),
        pytest.param(gzip.compress(small_json().encode()), "snapshot", id="gz"),
        pytest.param(b"Topic , PARTITION,x", "rates", id="csv"),
        pytest.param(rates_parquet([{"topic": "t"}]), "rates", id="parquet"),
        pytest.param(b"id,rack\n1,a\n", "brokers", id="brokers"),
        pytest.param(b"id\n", None, id="a-word"),
        pytest.param(b"", None, id="empty"),
        pytest.param(b"\x1f\x8bno gzip", None, id="not-gzip"),
        pytest.param(b"\xff\xfe\x00", None, id="binary"),
    ],
)
def test_other_files_are_distinguished_from_their_content(data, kind):
    assert kind_of(data) == kind


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-21T08:00:00Z", "2026-11-21T08:00:00Z"),
        ("2026-11-21T08-00-00.5Z", "2026-11-21T08:00:00Z"),
        ("20261121T0800", "2026-11-21T08:00:00Z"),
        ("taken_at=2026-11-21 08:00:00+02:00", "2026-11-21T06:00:00Z"),
        ("2026-11-21", "2026-11-21T00:00:00Z"),
        ("2026-13-21", None),
        ("2026-11-21T08:00:00+99:00", None),
        ("0001-01-01T00:00:00+09:00", None),
        ("latest", None),
        ("", None),
    ],
)
def test_times_of_folders(text, moment):
    assert moment_of(text) == moment


def test_files_are_grouped_by_two_levels():
    names = ["cluster=a/2026-11-21/x/y.txt", "cluster=a/2026-11-21/z.txt", "a/b.json"]

    dumps = find_dumps(FoundFile(name, 2, 0) for name in names)

    assert [(d.name, d.cluster_id, d.size_bytes) for d in dumps] == [
        ("a/b.json", "a", 2),
        ("cluster=a/2026-11-21", "a", 4),
    ]


@pytest.mark.parametrize(
    ("lines", "kept", "places"),
    [
        pytest.param("a,0,1,2\n", [0], [], id="good"),
        pytest.param("a,0,1,2\na,x,1,2\na,2,1,2\n", [0, 2], ["line 3"], id="number"),
        pytest.param(
            "a,0,-1,x\na,1,,\n",
            [1],
            ["line 2, in_bytes_per_s", "line 2, out_bytes_per_s"],
            id="two-in-a-row",
        ),
        pytest.param("a,0,1\na,1,1,1\n", [1], ["line 2"], id="cells"),
        pytest.param("a,0,1,2\na,1,1,1", [0], ["line 3"], id="cut"),
    ],
)
def test_bad_rows_of_a_table_are_left_out_and_said(lines, kept, places):
    rows, rejects = read_rows((RATES + lines).encode(), file="r.csv")

    assert list(rows.partitions) == kept
    assert [reject.problem.place for reject in rejects] == places
    assert {str(reject.scope) for reject in rejects} <= {"row"}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(RATES.encode(), id="no-rows"),
        pytest.param(b"topic,partition,in_bytes_per_second\na,0,1\n", id="heading"),
        pytest.param((RATES + "a,x,1,2\n").encode(), id="all-bad"),
        pytest.param(b"PAR1 no more", id="parquet"),
    ],
)
def test_a_table_without_a_good_row_is_refused_as_a_file(data):
    rows, rejects = read_rows(data, file="r")

    assert rows is None
    assert str(rejects[-1].scope) == "file"


def test_rows_of_parquet_keep_their_numbers():
    table = [
        {"topic": "t", "partition": n, "in_bytes_per_s": -1.0 * (n == 0)}
        for n in range(3)
    ]

    rows, rejects = read_rows(rates_parquet(table), file="r")

    assert [reject.problem.place for reject in rejects] == ["row 0, in_bytes_per_s"]
    assert list(rows.partitions) == [1, 2]
    assert [rows.place_of(row) for row in (0, 1)] == ["row 1", "row 2"]


def partitions_of(fleet, cluster_id):
    store = Store(str(fleet))
    return [
        row
        for file in store.visible().files("partitions")
        for row in pq.ParquetFile(store.path(file)).read().to_pylist()
        if row["cluster_id"] == cluster_id
    ]


def test_dumps_become_snapshots_and_the_rest_is_said(tmp_path):
    folder, fleet = tmp_path / "dumps", tmp_path / "fleet"
    mixed_dumps(folder)

    take_all(folder, fleet)

    keys = sorted(Store(str(fleet)).visible().snapshots)
    assert keys == [
        ("snap", "2026-11-21T00:00:00.000000Z"),
        ("snap", "2026-11-22T00:00:00.000000Z"),
        ("tools", "2026-11-20T08:00:00.000000Z"),
    ]
    found = [(r["dump"], r["scope"], r["place"]) for r in rejects_in(fleet)]
    assert [each for each in found if each[1] != "nothing"] == [
        ("broken/2026-11-21", "snapshot", found[0][2]),
        ("snap/2026-11-21", "row", "row 1, in_bytes_per_s"),
        ("tools/2026-11-20T08-00-00Z", "file", ""),
        ("tools/2026-11-20T08-00-00Z", "row", "line 3, in_bytes_per_s"),
        ("tools/2026-11-20T08-00-00Z", "row", "line 4"),
        ("undated/latest", "snapshot", ""),
        ("zz-copy/2026-11-22", "snapshot", ""),
    ]
    assert all(r["reason"] for r in rejects_in(fleet))
    rates = [
        (row["topic"], row["partition"], row["in_bytes_per_s"])
        for cluster_id in ("tools", "snap")
        for row in partitions_of(fleet, cluster_id)
    ]
    assert {("big", 0, 1000), ("big", 1, None), ("orders", 1, 7.5)} <= set(rates)


def test_taking_in_again_changes_nothing(tmp_path):
    folder, fleet = tmp_path / "dumps", tmp_path / "fleet"
    mixed_dumps(folder)
    take_all(folder, fleet)
    before = files_of(fleet)

    assert take_all(folder, fleet) == []
    assert files_of(fleet) == before


@pytest.mark.not_quick
def test_a_killed_run_is_completed_by_the_next(tmp_path, monkeypatch):
    folder = tmp_path / "dumps"
    mixed_dumps(folder)
    take_all(folder, tmp_path / "whole")
    expected = files_of(tmp_path / "whole")
    put_file, count = Store._put, [0]
    for killed_at in (1, 4, 9, 17, 23):
        fleet = tmp_path / f"fleet{killed_at}"

        def killed(self, name, content, killed_at=killed_at):
            count[0] += 1
            if count[0] == killed_at:
                raise KeyboardInterrupt
            put_file(self, name, content)

        count[0] = 0
        monkeypatch.setattr(Store, "_put", killed)
        with pytest.raises(KeyboardInterrupt):
            take_all(folder, fleet)
        monkeypatch.undo()
        take_all(folder, fleet)

        assert files_of(fleet) == expected


def test_a_corrected_dump_is_read_again_and_its_rejects_go(tmp_path):
    folder, fleet = tmp_path / "dumps", tmp_path / "fleet"
    put(folder, "a/2026-11-21/s.json", small_json()[:-9])
    take_all(folder, fleet)
    assert len(rejects_in(fleet)) == 1
    put(folder, "a/2026-11-21/s.json", small_json())

    (receipt,) = take_all(folder, fleet)

    assert (receipt.cluster_id, receipt.rejects) == ("small", 0)
    assert rejects_in(fleet) == []


def test_files_that_vanish_are_tried_again(tmp_path):
    folder, fleet = tmp_path / "dumps", tmp_path / "fleet"
    put(folder, "a/2026-11-21/s.json", small_json())
    source, target = Store(str(folder)), Store(str(fleet))
    (dump,) = dumps_in(source)
    (folder / "a/2026-11-21/s.json").rename(tmp_path / "s.json")
    intake = Intake(target)

    (receipt,) = intake.settle([ingest_dump(dump, source, target)])

    assert receipt.content is None
    assert "readable" in rejects_in(fleet)[0]["reason"]
    assert intake.new([dump]) == [dump]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        pytest.param(
            {"s.json": small_json(), "t.json": small_json()},
            "only one file may list",
            id="two-snapshots",
        ),
        pytest.param(
            {"b.csv": "id,rack\n1,a\n"},
            "list the replicas of the partitions",
            id="none",
        ),
        pytest.param({"s.json": "[" * 10**5}, "", id="deep"),
        pytest.param({"s.json": b"\x00" * 50}, "of a known kind", id="binary"),
        pytest.param({"s.json": ""}, "must not be empty", id="empty"),
        pytest.param(
            {"t.txt": "Topic: a\tPartitionCount: x\n"}, "", id="text-that-is-wrong"
        ),
    ],
)
def test_dumps_that_are_none_are_refused_whole(files, reason, tmp_path):
    folder, fleet = tmp_path / "dumps", tmp_path / "fleet"
    for name, content in files.items():
        put(folder, f"a/2026-11-21/{name}", content)

    (receipt,) = take_all(folder, fleet)

    assert receipt.content is None
    assert Store(str(fleet)).visible().snapshots == {}
    assert any(reason in row["reason"] for row in rejects_in(fleet))
    assert "snapshot" in {row["scope"] for row in rejects_in(fleet)}


def test_what_a_reader_trips_over_is_a_reject(tmp_path, monkeypatch):
    folder, fleet = tmp_path / "dumps", tmp_path / "fleet"
    put(folder, "a/2026-11-21/s.json", small_json())

    def trip(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("planner.fleet.dumps.dump_intake.read_dump", trip)
    take_all(folder, fleet)

    assert "ZeroDivisionError" in rejects_in(fleet)[0]["reason"]


def test_snapshots_in_parquet_are_dumps_too(tmp_path):
    folder, fleet = tmp_path / "dumps", tmp_path / "fleet"
    (folder / "a").mkdir(parents=True)
    snapshot = Snapshot.from_document(small_document(cluster_id="p"))
    write_snapshot(snapshot, folder / "a" / "2026-11-21")

    (receipt,) = take_all(folder, fleet)

    assert (receipt.cluster_id, receipt.rejects) == ("p", 0)
    assert len(partitions_of(fleet, "p")) == 2


def test_rates_that_contradict_are_refused_row_by_row(tmp_path):
    folder, fleet = tmp_path / "dumps", tmp_path / "fleet"
    put(folder, "a/2026-11-21/s.json", small_json())
    rates = f"{RATES}orders,0,9,9\norders,1,1,2\norders,1,1,2\n"
    put(folder, "a/2026-11-21/r.csv", rates)
    put(folder, "a/2026-11-21/c.json", '{"brokerCapacities": []}')

    take_all(folder, fleet)

    rows = [(r["scope"], r["place"]) for r in rejects_in(fleet)]
    assert sorted(rows) == [("file", ""), ("row", "line 2"), ("row", "line 4")]
    found = {row["partition"]: row for row in partitions_of(fleet, "small")}
    assert found[0]["in_bytes_per_s"] == 1.5


def test_a_folder_without_dumps_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="has no dumps"):
        dumps_in(Store(str(tmp_path / "nothing")))


def test_receipts_that_are_none_are_named(tmp_path):
    store = Store(str(tmp_path))
    store.write("ingested/00000000.jsonl", b'{"dump": 1}\n')

    with pytest.raises(BadInputError, match="is not a file of receipts"):
        Intake(store)


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda one: one.name)
def test_every_text_that_is_imported_is_distinguished_from_its_content(importer):
    for data in READERS[importer.read]:
        assert kind_of(data) == importer.name
        if data[:4] == b"PAR1":
            continue
        assert kind_of(b"$ kafka-topics.sh --describe\n" + data) == importer.name
        text = data.decode().replace("\n", "\r\n")
        assert kind_of(text.encode("utf-16")) == importer.name


TOPICS = "Topic: t\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
TOPICS += "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
CONFIGS = "Dynamic configs for topic t are:\n  retention.ms=5 sensitive=false"
CONFIGS += " synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=5}\n"


def reading_of(contents):
    files = [FoundFile(f"a/2026-11-21/{name}", 1, 0) for name in contents]
    (dump,) = find_dumps(files)
    return read_dump(
        dump, {f"a/2026-11-21/{name}": data for name, data in contents.items()}
    )


def test_settings_features_and_the_quorum_of_a_dump_are_taken():
    quorum = (SAMPLES / "quorum-replication.txt").read_bytes()
    features = (SAMPLES / "features-describe.txt").read_bytes()

    reading = reading_of(
        {
            "t.txt": TOPICS.encode(),
            "c.txt": CONFIGS.encode(),
            "q.txt": quorum,
            "f.txt": features,
        }
    )

    assert reading.snapshot is not None, reading.rejects
    document = reading.snapshot.to_document()
    assert document["topics"][0]["configs"] == {"retention.ms": "5"}
    assert document["controllers"]
    assert document["features"]


def test_answers_of_cruise_control_in_a_dump_are_taken():
    answers = {
        "state.json": monitoring.STATE,
        "load.json": monitoring.LOAD,
    }

    reading = reading_of(
        {name: json.dumps(answer).encode() for name, answer in answers.items()}
    )

    assert reading.snapshot is not None, reading.rejects
    assert len(reading.snapshot.partitions) == 3
