"""Files that cannot both be true, and what is likely wrong with them."""

import json
from pathlib import Path

import pytest

from support.commands import run
from support.monitoring import vector

CASES = Path(__file__).parents[1] / "data" / "cases"
C10 = CASES / "c10"
TOPICS = (
    "Topic: t\tTopicId: AAAAAAAAAAAAAAAAAAAAAQ\tPartitionCount: 2\t"
    "ReplicationFactor: 2\tConfigs: \n"
    "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n"
    "\tTopic: t\tPartition: 1\tLeader: 2\tReplicas: 2,1\tIsr: 2,1\n"
)


def log_dirs(*partitions, path="/d"):
    rows = [{"partition": p, "size": n, "isFuture": False} for p, n in partitions]
    brokers = [
        {"broker": b, "logDirs": [{"logDir": path, "error": None, "partitions": rows}]}
        for b in (1, 2)
    ]
    return json.dumps({"version": 1, "brokers": brokers}) + "\n"


def capacity(disk, link="10000"):
    entry = {"DISK": disk, "CPU": "100", "NW_IN": link, "NW_OUT": link}
    return json.dumps({"brokerCapacities": [{"brokerId": "-1", "capacity": entry}]})


def imported(capsys, tmp_path, files, *options):
    given = []
    for option, (name, text) in files.items():
        (tmp_path / name).write_bytes(
            text if isinstance(text, bytes) else text.encode()
        )
        given += [f"--{option}", tmp_path / name]
    path = tmp_path / "s.json"
    path.unlink(missing_ok=True)
    outcome = run(capsys, "snapshot", "import", *given, *options, "-o", path)
    document = json.loads(path.read_text()) if path.exists() else None
    return outcome, document


def test_more_bytes_than_the_default_of_a_capacity_file(capsys, tmp_path):
    given = ("--topics", C10 / "topics.txt", "--log-dirs", C10 / "dirs.txt")
    given += ("--capacity", C10 / "capacity.json", "-o", tmp_path / "s.json")

    refused = run(capsys, "snapshot", "import", *given)

    assert refused.code == 2
    assert not (tmp_path / "s.json").exists()
    assert "disk_bytes of brokers 1-6" in refused.err
    assert "30.98 GB of replicas on a disk of broker 1" in refused.err
    assert "which has 10.49 GB" in refused.err
    assert "likely the default for brokers that are not listed is wrong" in refused.err


def test_what_is_impossible_is_left_unknown(capsys, tmp_path):
    given = ("--topics", C10 / "topics.txt", "--log-dirs", C10 / "dirs.txt")
    given += ("--capacity", C10 / "capacity.json", "-o", tmp_path / "s.json")

    taken = run(capsys, "snapshot", "import", *given, "--allow-partial")

    document = json.loads((tmp_path / "s.json").read_text())
    assert taken.code == 0
    assert "made unknown: brokerCapacities[0], disk_bytes of brokers 1-6" in taken.err
    # The default stands for broker 7, too.
    assert not any("disk_bytes" in broker for broker in document["brokers"])
    assert "295 %" not in run(capsys, "score", tmp_path / "s.json").out


def test_a_log_dir_that_is_smaller_than_what_is_in_it(capsys, tmp_path):
    files = {
        "topics": ("topics.txt", TOPICS),
        "log-dirs": ("dirs.txt", log_dirs(("t-0", 3_000_000), ("t-1", 5_000_000))),
        "capacity": ("jbod.json", capacity({"/d": "7"})),
    }

    outcome, document = imported(capsys, tmp_path, files)
    partial, allowed = imported(capsys, tmp_path, files, "--allow-partial")

    assert (outcome.code, document) == (2, None)
    assert "8 MB of replicas on log dir /d of broker 1" in outcome.err
    assert partial.code == 0
    assert [b["log_dirs"] for b in allowed["brokers"]] == [
        [{"path": "/d", "state": "online"}]
    ] * 2


@pytest.mark.parametrize(
    ("rates", "way"),
    [
        ("topic,partition,in_bytes_per_s\nt,0,9e6\nt,1,3e6\n", "12 MB/s in"),
        # What followers fetch goes out, too.
        (
            "topic,partition,in_bytes_per_s,out_bytes_per_s\nt,0,1e6,9.5e6\nt,1,0,0\n",
            "10.5 MB/s out",
        ),
    ],
)
def test_more_than_a_link_carries(capsys, tmp_path, rates, way):
    files = {
        "topics": ("topics.txt", TOPICS),
        "rates": ("rates.csv", rates),
        "capacity": ("capacity.json", capacity("1000")),
    }

    outcome, document = imported(capsys, tmp_path, files)

    assert (outcome.code, document) == (2, None)
    assert f"rates.csv lists {way} at broker 1" in outcome.err.replace(
        f"{tmp_path}/", ""
    )
    assert "whose link carries 10.24 MB/s" in outcome.err


@pytest.mark.parametrize(
    ("option", "file"),
    [
        ("rates", ("rates.csv", "topic,partition,in_bytes_per_s\nt,0,1\nt,2,1\n")),
        (
            "prometheus",
            ("p.json", vector(({"planner": "in", "topic": "t", "partition": "2"}, 1))),
        ),
    ],
)
def test_more_partitions_than_the_topic_has(capsys, tmp_path, option, file):
    files = {"topics": ("topics.txt", TOPICS), option: file}

    outcome, document = imported(capsys, tmp_path, files)
    partial, allowed = imported(capsys, tmp_path, files, "--allow-partial")

    assert (outcome.code, document) == (2, None)
    assert "t-2 is past the last one of its topic" in outcome.err
    assert "topics.txt is likely older" in outcome.err
    assert partial.code == 0
    assert "skipped, past the last partition: t-2" in partial.err
    assert len(allowed["topics"][0]["partitions"]) == 2


def test_log_dirs_with_more_partitions_than_the_topic(capsys, tmp_path):
    files = {
        "topics": ("topics.txt", TOPICS),
        "log-dirs": ("dirs.txt", log_dirs(("t-0", 1), ("t-1", 1), ("t-2", 1))),
    }

    outcome, document = imported(capsys, tmp_path, files)

    assert (outcome.code, document) == (2, None)
    assert "list of topics is likely older than the log dirs" in outcome.err
