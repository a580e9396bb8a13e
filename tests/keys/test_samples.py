"""Samples in files: formats, serializers, and what is refused."""

import gzip
import os
import threading
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.keys.formats import line_samples
from planner.keys.formats.read_sample import SampleBuilder, read_sample
from planner.keys.key_types import (
    KEY_TYPES,
    WrongKeysError,
    key_text,
    serialize,
    unzigzag,
    zigzag,
)
from planner.keys.sample_options import SampleOptions
from planner.keys.sample_rows import SampleRows

SOME_UUID = "6B29FC40-CA47-1067-B31D-00DD010662DA"


def written(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def records_of(sample):
    """Return key and bytes of each record, in order."""
    keys = [sample.keys[row] for row in sample.key_idx.tolist()]
    return list(zip(keys, sample.sizes.tolist(), strict=True))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param(
            "k.txt",
            "a\nb\r\n\na",
            [(b"a", 1), (b"b", 1), (b"", 0), (b"a", 1)],
            id="text",
        ),
        pytest.param(
            "k.csv",
            'bytes,key,x\n10,a,1\n5,,1\n7,"",2\n3,"b,c",2\n',
            [(b"a", 10), (None, 5), (b"", 7), (b"b,c", 3)],
            id="csv",
        ),
        pytest.param(
            "k.jsonl",
            '{"key": "a", "bytes": 9}\n\n{"key": null, "bytes": 2}\n',
            [(b"a", 9), (None, 2)],
            id="json-lines",
        ),
        pytest.param("k.jsonl", '"a"\nnull\n', [(b"a", 1), (None, 0)], id="json-keys"),
        pytest.param(
            "k.jsonl",
            '{"topic":"t","partition":1,"key":"é","payload":"xyz"}\n',
            [("é".encode(), 5)],
            id="kcat",
        ),
    ],
)
def test_formats_give_keys_and_bytes(name, text, expected, tmp_path):
    sample = read_sample(written(tmp_path, name, text), SampleOptions())

    assert records_of(sample) == expected
    assert sample.num_keys == len({k for k, _ in expected if k is not None})


def test_files_may_be_gzipped(tmp_path):
    path = written(tmp_path, "k.csv.gz", gzip.compress(b"key\na\nb\n"))

    assert [key for key, _ in records_of(read_sample(path, SampleOptions()))] == [
        b"a",
        b"b",
    ]


def test_output_of_the_console_consumer_gives_keys_and_partitions(tmp_path):
    text = (
        "CreateTime:17\tPartition:3\tOffset:8\tNO_HEADERS\tk1\tvalue\twith tab\n"
        "CreateTime:18\tPartition:0\tOffset:2\tNO_HEADERS\tnull\tv\n"
    )
    path = written(tmp_path, "out", text)

    sample = read_sample(path, SampleOptions(sample_format="console"))

    assert records_of(sample) == [(b"k1", 16), (None, 5)]
    assert sample.partitions.tolist() == [3, 0]


HEADED = "k:v\tk1\tv\nk:v\tk2\tv\nNO_HEADERS\tk3\tv\nk:v\tk4\tv\n"


def test_headers_and_keys_are_distinguished_by_the_whole_file(tmp_path, monkeypatch):
    """A record without headers may be far below the first one."""
    monkeypatch.setattr(line_samples, "LINES_PER_BATCH", 1)

    sample = console(tmp_path, HEADED)

    assert [key for key, _ in records_of(sample)] == [b"k1", b"k2", b"k3", b"k4"]
    other = console(tmp_path, "h\tNO_HEADERS\tk\n")
    assert [key for key, _ in records_of(other)] == [b"h"]


def test_a_pipe_whose_headers_are_seen_too_late_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(line_samples, "LINES_PER_BATCH", 1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(HEADED,))
    writer.start()

    with pytest.raises(BadInputError, match="those of lines before it") as caught:
        read_sample(pipe, SampleOptions(sample_format="console"))

    writer.join()
    assert caught.value.problems[0].place == "line 3"


@pytest.mark.parametrize(("most", "is_long"), [(14, True), (15, False)])
def test_the_prefix_of_a_schema_counts_for_the_length_of_a_key(most, is_long):
    builder = SampleBuilder("s", SampleOptions(most_bytes=most, schema_id=7))

    builder.add(SampleRows(keys=pa.array(["x" * 10, None])))

    assert [each.value for each in builder.problems.found] == ['"15 bytes"'] * is_long
    whole = SampleOptions(most_bytes=10, schema_id=7)
    serialized = SampleBuilder("s", whole, is_serialized=True)
    serialized.add(SampleRows(keys=pa.array([b"\0\0\0\0\x07abcde"])))
    assert not serialized.problems.found


def console(tmp_path, text, **options):
    path = written(tmp_path, "out", text)
    return read_sample(path, SampleOptions(sample_format="console", **options))


def test_keys_of_avro_are_printed_as_json(tmp_path):
    """As kafka-avro-console-consumer does; the quotes are no part of the key."""
    text = '"abc"\t{"x":1}\n"a\\"é"\t{}\nnull\t{}\n'

    sample = console(tmp_path, text, key_type="avro-string", schema_id=7)

    prefix = b"\0\0\0\0\7"
    keys = [key for key, _ in records_of(sample)]
    assert keys == [prefix + b"\x06abc", prefix + b'\x08a"\xc3\xa9', None]
    numbers = console(tmp_path, "17\t{}\n", key_type="avro-long", schema_id=7)
    assert records_of(numbers)[0][0] == prefix + b"\x22"


def test_keys_of_a_json_schema_are_the_printed_text(tmp_path):
    sample = console(tmp_path, '{"id":1}\t{}\n', key_type="string", schema_id=7)

    assert records_of(sample)[0][0] == b'\0\0\0\0\7{"id":1}'
    assert not sample.notes


@pytest.mark.parametrize("key", ['"a"', '{"id":1}'])
def test_keys_that_look_like_json_are_noted(tmp_path, key):
    sample = console(tmp_path, f"{key}\tv\n{key}\tv\n")

    assert [note for note in sample.notes if "--key-type avro-string" in note]
    assert not console(tmp_path, f'{key}\tv\n"\tv\n').notes


@pytest.mark.parametrize("key", ['{"id":1}', "abc", "17", '"a'])
def test_what_is_no_text_of_avro_is_named(tmp_path, key):
    with pytest.raises(BadInputError) as caught:
        console(tmp_path, f'"a"\tv\nnull\tv\n{key}\tv\n', key_type="avro-string")

    (problem,) = caught.value.problems
    assert (problem.place, "in quotes" in problem.rule) == ("line 3", True)
    assert "--bootstrap-server" in problem.remedy


def test_headers_before_the_key_are_no_keys(tmp_path):
    text = "Offset:1\th1:v,h2:w\tk1\tvalue\nOffset:2\tNO_HEADERS\tk2\tv\n"

    sample = console(tmp_path, text)

    assert records_of(sample) == [(b"k1", 7), (b"k2", 3)]


@pytest.mark.parametrize("is_folder", [False, True])
def test_parquet_gives_keys_bytes_and_partitions(is_folder, tmp_path):
    table = pa.table(
        {
            "id": pa.array([7, None, 7], pa.int32()),
            "bytes": pa.array([5, 6, 7], pa.int32()),
            "partition": pa.array([0, 1, 0], pa.int64()),
        }
    )
    path = tmp_path / "keys.parquet"
    if is_folder:
        path.mkdir()
        pq.write_table(table, path / "part-0.parquet")
    else:
        pq.write_table(table, path)

    sample = read_sample(path, SampleOptions(key_column="id", key_type="long"))

    seven = (7).to_bytes(8, "big")
    assert records_of(sample) == [(seven, 5), (None, 6), (seven, 7)]
    assert sample.partitions.tolist() == [0, 1, 0]


def test_parquet_keys_in_dictionaries_and_bytes_are_read(tmp_path):
    for name, column in (
        ("d", pa.array(["a", "b", "a"]).dictionary_encode()),
        ("b", pa.array([b"a", b"b", b"a"])),
    ):
        pq.write_table(pa.table({"key": column}), tmp_path / f"{name}.parquet")
        sample = read_sample(tmp_path / f"{name}.parquet", SampleOptions())
        assert [key for key, _ in records_of(sample)] == [b"a", b"b", b"a"]


@pytest.mark.parametrize(
    ("key_type", "given", "expected"),
    [
        ("string", "é", "é".encode()),
        ("int", "-2", b"\xff\xff\xff\xfe"),
        ("long", "258", b"\0\0\0\0\0\0\x01\x02"),
        ("uuid", SOME_UUID, str(uuid.UUID(SOME_UUID)).encode()),
        ("bytes", "é", "é".encode()),
        ("base64", "AAEC", b"\0\1\2"),
        ("hex", "00ff", b"\0\xff"),
        ("avro-string", "ab", b"\x04ab"),
        ("avro-long", "-1", b"\x01"),
        ("avro-long", "300", b"\xd8\x04"),
    ],
)
def test_serializers_give_the_bytes_of_the_producer(key_type, given, expected):
    column = pa.array([given, None, given])

    assert serialize(column, key_type).to_pylist() == [expected, None, expected]


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("iso-8859-1", b"\xe9?"),
        ("UTF-16", b"\xfe\xff\x00\xe9\x20\xac"),
        ("utf-16-le", b"\xe9\x00\xac\x20"),
        ("U16", b"\xfe\xff\x00\xe9\x20\xac"),
        ("UTF-32", b"\x00\x00\x00\xe9\x00\x00\x20\xac"),
    ],
)
def test_strings_are_encoded_as_java_does(encoding, expected):
    found = serialize(pa.array(["é€", ""]), "string", encoding).to_pylist()

    assert found == [expected, b""]


@given(st.integers(-(2**63), 2**63 - 1))
def test_zigzag_can_be_read_back(number):
    assert unzigzag(zigzag(number)) == number


@given(st.lists(st.integers(-(2**31), 2**31 - 1) | st.none(), min_size=1))
def test_integers_are_those_of_javas_byte_buffer(numbers):
    found = serialize(pa.array(numbers, pa.int32()), "int").to_pylist()

    assert found == [
        n if n is None else n.to_bytes(4, "big", signed=True) for n in numbers
    ]


@pytest.mark.parametrize(
    ("key_type", "given"),
    [
        ("int", "2147483648"),
        ("int", "x"),
        ("long", "1.5"),
        ("uuid", "6B29"),
        ("base64", "a"),
        ("hex", "0"),
        ("avro-long", str(2**63)),
    ],
)
def test_keys_of_another_type_are_named(key_type, given):
    with pytest.raises(WrongKeysError) as caught:
        serialize(pa.array(["1f1b8080", given]).slice(1), key_type)

    assert caught.value.rows == ((0, given),)


@pytest.mark.parametrize(
    ("key_type", "text"),
    [
        ("string", "é"),
        ("int", "-7"),
        ("long", "70"),
        ("base64", "AAEC"),
        ("avro-string", "ab"),
        ("avro-long", "-300"),
        ("uuid", SOME_UUID.lower()),
    ],
)
def test_keys_are_shown_as_people_know_them(key_type, text):
    (key,) = serialize(pa.array([text]), key_type).to_pylist()

    assert key_text(key, key_type) == text
    assert key_text(b"\0\0\0\0\7" + key, key_type, 5) == text
    assert key_text(None, key_type) is None
    assert key_text(b"\xff\0", "string") == "0xff00"


def test_every_type_is_tested():
    assert set(KEY_TYPES) == {
        *("string", "int", "long", "uuid", "bytes", "base64", "hex"),
        *("avro-string", "avro-long"),
    }


def test_the_schema_id_is_part_of_the_key(tmp_path):
    path = written(tmp_path, "k.txt", "a\nb\na\n")

    sample = read_sample(path, SampleOptions(schema_id=258))

    assert [key for key, _ in records_of(sample)] == [
        b"\0\0\0\x01\x02a",
        b"\0\0\0\x01\x02b",
        b"\0\0\0\x01\x02a",
    ]


@given(st.lists(st.lists(st.sampled_from(["a", "b", None, "", "é"]), max_size=6)))
def test_batches_are_counted_together(batches):
    builder = SampleBuilder("s", SampleOptions())
    for batch in batches:
        builder.add(SampleRows(keys=pa.array(batch, pa.string())))
    expected = [k if k is None else k.encode() for batch in batches for k in batch]
    if not expected:
        with pytest.raises(BadInputError, match="cannot be read"):
            builder.build()
        return

    sample = builder.build()

    assert [sample.keys[row] for row in sample.key_idx.tolist()] == expected
    counts = {sample.keys[row]: n for row, n in enumerate(sample.records_by_key)}
    assert counts == {key: expected.count(key) for key in set(expected)}


REFUSED = [
    pytest.param("k.txt", "", {}, "", "at least one record", id="empty"),
    pytest.param("k.txt", b"a\n\xff\n", {}, "line 2", "not UTF-8", id="not-text"),
    pytest.param("k.csv", "id\na\n", {}, "", "no column key", id="no-column"),
    pytest.param("k.csv", b"key\n\xff\n", {}, "line 2", "not UTF-8", id="csv-not-text"),
    pytest.param("k.csv", "key,b\na\n", {}, "", "must be CSV", id="ragged-csv"),
    pytest.param("k.csv", b"\xff\n", {}, "line 1", "must be UTF-8", id="csv-heading"),
    pytest.param(
        "k.jsonl", '"a"\n{"key"\n', {}, "line 2", "must be JSON", id="not-json"
    ),
    pytest.param(
        "k.jsonl", '{"k": 1}\n', {}, "line 1", "no column key", id="json-without-key"
    ),
    pytest.param("k.jsonl", '"a"\n7\n', {}, "line 2", "mixes types", id="mixed-types"),
    pytest.param(
        "k.jsonl", '{"key": 1.5}\n', {}, "line 1", "must be text", id="a-fraction"
    ),
    pytest.param("k.jsonl", "7\n", {}, "", "depend on the producer", id="numbers"),
    pytest.param(
        "k.txt", "7\nx\n", {"key_type": "int"}, "line 2", "must be an integer", id="int"
    ),
    pytest.param(
        "k.jsonl",
        f"{2**70}\n",
        {"key_type": "long"},
        "line 1",
        "must be an integer",
        id="a-large-number",
    ),
    pytest.param(
        "k.txt", "abc\n", {"most_bytes": 2}, "line 1", "must fit", id="too-long"
    ),
    pytest.param(
        "k.jsonl",
        '{"key": "a", "topic": "t"}\n{"key": "a", "topic": "u"}\n',
        {"topic": "t"},
        "line 2",
        "another topic",
        id="another-topic",
    ),
    pytest.param(
        "k.csv",
        "key,topic\na,t\nb,u\n",
        {"topic": "t"},
        "line 3",
        "another topic",
        id="another-topic-csv",
    ),
    pytest.param("k.parquet", "abc", {}, "", "must be Parquet", id="not-parquet"),
    pytest.param(
        "k",
        "abc\n",
        {"sample_format": "console"},
        "line 1",
        "must have a key",
        id="console-without-key",
    ),
    pytest.param(
        "k.txt",
        "a\n",
        {"sample_format": "avro"},
        "--sample-format",
        "one of",
        id="format",
    ),
    pytest.param(
        "k.txt", "a\n", {"key_type": "str"}, "--key-type", "one of", id="type"
    ),
    pytest.param(
        "k.txt", "a\n", {"encoding": "x"}, "--key-encoding", "encoding", id="encoding"
    ),
    pytest.param(
        "k.txt", "a\n", {"encoding": "rot13"}, "--key-encoding", "encoding", id="rot13"
    ),
    pytest.param(
        "k.txt", "a\n", {"encoding": "a\0"}, "--key-encoding", "encoding", id="nul"
    ),
]


@pytest.mark.parametrize(("name", "data", "options", "place", "rule"), REFUSED)
def test_bad_samples_are_refused_with_their_place(
    name, data, options, place, rule, tmp_path
):
    path = written(tmp_path, name, data)

    with pytest.raises(BadInputError) as caught:
        read_sample(path, SampleOptions(**options))

    (problem,) = caught.value.problems
    assert problem.place == place
    assert rule in problem.rule


def test_all_problems_are_named_up_to_a_limit(tmp_path):
    path = written(tmp_path, "k.txt", "x\n" * 1500)

    with pytest.raises(BadInputError) as caught:
        read_sample(path, SampleOptions(key_type="int"))

    assert len(caught.value.problems) == 1000


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadInputError, match="cannot be read"):
        read_sample(tmp_path / "none.txt", SampleOptions())


def test_parquet_keys_of_other_types_are_refused(tmp_path):
    for column, rule in (
        (pa.array([1.5]), "must be text"),
        (pa.array([1]), "depend on the producer"),
    ):
        pq.write_table(pa.table({"key": column}), tmp_path / "k.parquet")
        with pytest.raises(BadInputError) as caught:
            read_sample(tmp_path / "k.parquet", SampleOptions())
        assert rule in caught.value.problems[0].rule
