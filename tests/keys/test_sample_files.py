"""Files of keys as people have them: marks, encodings, pipes, and the wrong format."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands import run

COMMAND = Path(sys.executable).with_name("kafka-planner")
MARK = b"\xef\xbb\xbf"
TEXT = b"a\nb\na\n"
CSV = b"key,bytes\na,5\nb,7\na,5\n"
JSON = b'"a"\n"b"\n"a"\n'
CONSOLE = b"a\tv\nb\tv\na\tv\n"
FORMATS = [
    pytest.param(TEXT, "text", id="text"),
    pytest.param(CSV, "csv", id="csv"),
    pytest.param(JSON, "json", id="json"),
    pytest.param(CONSOLE, "console", id="console"),
]


def skew(capsys, tmp_path, data, *options, name="k.any"):
    (tmp_path / name).write_bytes(data)
    arguments = ("keys", "skew", tmp_path / name, "--partitions", 3, *options)
    return run(capsys, *arguments, "--format", "json")


def keys(outcome):
    return {one["key"]: one["records"] for one in outcome.document["hot_keys"]}


@pytest.mark.parametrize(("data", "form"), FORMATS)
@pytest.mark.parametrize("more", [(), ("--max-keys", 10)], ids=["counted", "streamed"])
def test_a_byte_order_mark_is_no_part_of_a_key(capsys, tmp_path, data, form, more):
    outcome = skew(capsys, tmp_path, MARK + data, "--sample-format", form, *more)

    assert keys(outcome) == {"a": 2, "b": 1}


@pytest.mark.parametrize(("data", "form"), FORMATS)
@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le"])
def test_utf_16_is_named_with_its_way_out(capsys, tmp_path, data, form, codec):
    data = data.decode().encode(codec)

    (problem,) = skew(
        capsys, tmp_path, data, "--sample-format", form
    ).document["problems"]  # fmt: skip

    assert "UTF-16" in problem["rule"]
    assert "Out-File -Encoding utf8" in problem["remedy"]


@pytest.mark.parametrize(("data", "form"), FORMATS)
def test_gzip_is_known_by_its_content(capsys, tmp_path, data, form):
    outcome = skew(capsys, tmp_path, gzip.compress(data), "--sample-format", form)

    assert keys(outcome) == {"a": 2, "b": 1}


@pytest.mark.parametrize(("data", "form"), FORMATS)
@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_a_pipe_is_read_whole(data, form, name):
    head, _, body = data.partition(b"\n") if form == "csv" else (b"", b"", data)
    many = (head + b"\n" if head else b"") + body * 20_000
    words = ["keys", "skew", name, "--sample-format", form, "--partitions", "3"]

    done = subprocess.run(
        [COMMAND, *words, "--quiet"], input=many, capture_output=True, check=False
    )

    assert b": 60,000 records, 2 keys" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("data", "option"),
    [
        pytest.param(CONSOLE, "--sample-format console", id="console"),
        pytest.param(
            b"Partition:0\ta\tv\nPartition:1\tb\tv\n",
            "--sample-format console",
            id="console-with-partitions",
        ),
        pytest.param(
            b'{"key": "a"}\n{"key": "b"}\n', "--sample-format json", id="json"
        ),
        pytest.param(CSV, "--sample-format csv", id="csv"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--max-keys", 10)], ids=["counted", "streamed"])
def test_text_that_looks_like_another_format_is_noted(
    capsys, tmp_path, data, option, more
):
    guessed = skew(capsys, tmp_path, data, *more).document
    stated = skew(capsys, tmp_path, data, "--sample-format", "text", *more).document

    assert [note for note in guessed["notes"] if option in note]
    assert not [note for note in stated["notes"] if option in note]


def test_plain_text_is_taken_as_it_is(capsys, tmp_path):
    data = b"a\tb\nplain\n{x}\nkey\n"

    notes = skew(capsys, tmp_path, data).document["notes"]

    assert not [note for note in notes if "--sample-format" in note]


def test_the_count_below_the_console_consumers_records_is_passed_over(capsys, tmp_path):
    data = CONSOLE + b"Processed a total of 3 messages\n"

    outcome = skew(capsys, tmp_path, data, "--sample-format", "console")

    assert keys(outcome) == {"a": 2, "b": 1}


@pytest.mark.parametrize(
    ("name", "data", "place", "remedy"),
    [
        pytest.param("k.csv", b"Key,x\na,1\n", "", "did you mean Key", id="case"),
        pytest.param("k.csv", b"key;x\na;1\n", "", "by commas", id="semicolons"),
        pytest.param("k.csv", b"key\tx\na\t1\n", "", "by commas", id="tabs"),
        pytest.param("k.csv", b"a,1\nb,2\n", "", "first line", id="no-headings"),
        pytest.param(
            "k.jsonl", b'{"id": 1}\n', "line 1", "--key-column", id="json-field"
        ),
        pytest.param(
            "k.json", b'[{"key": "a"}]', "line 1", "jq -c '.[]'", id="json-array"
        ),
        pytest.param(
            "k.json", b'{\n "key": "a"\n}\n', "line 1", "jq -c .", id="json-pretty"
        ),
        pytest.param("k.csv", b"key,key\na,b\n", "line 1", "rename one", id="twice"),
    ],
)
def test_what_has_no_keys_has_a_remedy_that_helps(
    capsys, tmp_path, name, data, place, remedy
):
    outcome = skew(capsys, tmp_path, data, name=name)

    (problem,) = outcome.document["problems"]
    assert problem["file"] == str(tmp_path / name)
    assert problem["place"] == place
    assert remedy in problem["remedy"]
