"""Bad samples on the command line: one clear message each, exit 2, nothing printed."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.commands import run

LONG = "x" * 1_048_589
PARQUET = {
    "topic": pa.table({"key": ["a", "b"], "topic": ["t", "u"]}),
    "some": pa.table({"key": ["a", "b"], "bytes": [1, None]}),
    "far": pa.table({"key": ["a", "b"], "partition": [0, 2**40]}),
}
COMMANDS = {
    "skew": ("skew", "--partitions", 3),
    "max-keys": ("skew", "--partitions", 3, "--max-keys", 10),
    "grow": ("grow", "--from", 3, "--to", 6),
}
CASES = [
    pytest.param("k.jsonl", '"a"\n7\n', (), "line 2", "mixes types", id="mixed-types"),
    pytest.param(
        "k.jsonl",
        '{"key": 1}\n{"key": "a"}\n',
        (),
        "line 2",
        "mixes",
        id="mixed-fields",
    ),
    pytest.param(
        "k.txt", "7\nx\n", ("--key-type", "long"), "line 2", "64 bits", id="wrong-type"
    ),
    pytest.param("k.txt", b"a\n\xff\xfe\n", (), "line 2", "not UTF-8", id="text-bytes"),
    pytest.param("k.csv", b"key\n\xff\n", (), "line 2", "not UTF-8", id="csv-bytes"),
    pytest.param("k.csv", b"key,x\ra,1\r", (), "line 1", "must be CSV", id="csv-ends"),
    pytest.param(
        "k.jsonl", b'"a"\n"\xff"\n', (), "line 2", "is not UTF-8", id="json-bytes"
    ),
    pytest.param(
        "k.txt", "YQ==\n!\n", ("--key-type", "base64"), "line 2", "base64", id="base64"
    ),
    pytest.param("k.txt", "", (), "", "at least one record", id="empty-text"),
    pytest.param("k.csv", "key\n", (), "", "at least one record", id="empty-csv"),
    pytest.param("k.jsonl", "\n", (), "", "at least one record", id="empty-json"),
    pytest.param(
        "k.txt", f"a\n{LONG}\n", (), "line 2", "must fit into a record", id="too-long"
    ),
    pytest.param(
        "k.jsonl",
        '{"key": "a", "topic": "t"}\n{"key": "a", "topic": "u"}\n',
        ("--topic", "t"),
        "line 2",
        "another topic",
        id="another-topic",
    ),
    pytest.param(
        "topic.parquet", None, ("--topic", "t"), "row 2", "another topic", id="parquet"
    ),
    pytest.param(
        "k.jsonl", '"a"\n"\\ud800"\n', (), "line 2", "surrogate", id="surrogate"
    ),
    pytest.param(
        "k.jsonl",
        '\n{"key": "a", "bytes": 99999999999999999999}\n',
        (),
        "line 2",
        "bytes must be a whole number from 0",
        id="too-many-bytes",
    ),
    pytest.param(
        "k.jsonl",
        '{"key": "a", "partition": -1}\n',
        (),
        "line 1",
        "partition must be",
        id="negative-partition",
    ),
    pytest.param(
        "k.csv", "key,bytes\na,1\nb,-1\n", (), "line 3", "bytes must be", id="negative"
    ),
    pytest.param(
        "k.csv", "key,partition\na,x\n", (), "", "must be CSV", id="no-number"
    ),
    pytest.param(
        "far.parquet",
        None,
        (),
        "column partition, from row 1 on",
        "partition must be",
        id="far-partition",
    ),
    pytest.param(
        "k",
        "Partition:99999999999\ta\tb\n",
        ("--sample-format", "console"),
        "line 1",
        "partition must be",
        id="far-console",
    ),
    pytest.param(
        "k.csv", "key,bytes\na,1\nb,\n", (), "line 3", "of none", id="some-csv-bytes"
    ),
    pytest.param(
        "k.jsonl",
        '{"key": "a", "bytes": 1}\n\n{"key": "b"}\n',
        (),
        "line 3",
        "of none",
        id="some-json-bytes",
    ),
    pytest.param("some.parquet", None, (), "row 2", "of none", id="some-parquet-bytes"),
    pytest.param("k.csv", "", (), "", "at least one record", id="no-csv-at-all"),
    pytest.param("k.gz", b"no gzip", (), "", "cannot be read", id="not-gzip"),
    pytest.param("none.txt", None, (), "", "no such file", id="no-file"),
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("name", "data", "options", "place", "rule"), CASES)
def test_a_bad_sample_is_one_message_and_exit_2(
    tmp_path, capsys, command, name, data, options, place, rule
):
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    elif path.stem in PARQUET:
        pq.write_table(PARQUET[path.stem], path)
    subcommand, *words = COMMANDS[command]

    outcome = run(capsys, "keys", subcommand, path, *words, *options)
    document = run(
        capsys, "keys", subcommand, path, *words, *options, "--format", "json"
    ).document

    assert (outcome.code, outcome.out) == (2, "")
    assert rule in " ".join(outcome.err.split())
    (problem,) = document["problems"]
    assert problem["place"] == place
    assert rule in problem["rule"]
    # A key of a megabyte is not repeated.
    assert len(json.dumps(problem)) < 2000


def test_an_empty_parquet_file_is_refused(tmp_path, capsys):
    path = tmp_path / "k.parquet"
    pq.write_table(pa.table({"key": pa.array([], pa.string())}), path)

    outcome = run(capsys, "keys", "skew", path, "--partitions", 3)

    assert (outcome.code, outcome.out) == (2, "")
    assert "at least one record" in outcome.err


def test_a_folder_without_parquet_is_refused(tmp_path, capsys):
    outcome = run(capsys, "keys", "skew", tmp_path, "--partitions", 3)

    assert (outcome.code, outcome.out) == (2, "")
