"""Hashes of keys, bit for bit: Kafka's vectors, other clients' vectors, oracles."""

import gzip
import json
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment.partitioners import find_partitioner, key_hashes
from assignment.partitioners.java_clients import JavaDefault
from assignment.partitioners.key_column import KeyColumn, schema_prefix, with_prefix
from assignment.partitioners.key_hashes import crc32, fnv1a, murmur2
from assignment.partitioners.librdkafka import fnv1a_hashes
from support.golden import golden_lines

SARAMA = Path(__file__).parents[1] / "data" / "sarama" / "vectors.jsonl.gz"
KEYS = st.lists(st.binary(max_size=20) | st.none(), max_size=20)


def naive_murmur2(key):
    """MurmurHash2 of 32 bits with Kafka's seed, from Appleby's description."""
    m, mask = 0x5BD1E995, 2**32 - 1
    h = 0x9747B28C ^ len(key)
    whole, rest = divmod(len(key), 4)
    for i in range(whole):
        k = int.from_bytes(key[4 * i : 4 * i + 4], "little") * m & mask
        h = (h * m & mask) ^ ((k ^ k >> 24) * m & mask)
    if rest:
        h = (h ^ int.from_bytes(key[-rest:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return h ^ h >> 15


def naive_fnv1a(key):
    value = 2166136261
    for byte in key:
        value = (value ^ byte) * 16777619 % 2**32
    return value


NAIVE = [
    pytest.param(murmur2, naive_murmur2, id="murmur2"),
    pytest.param(fnv1a, naive_fnv1a, id="fnv1a"),
    pytest.param(crc32, zlib.crc32, id="crc32"),
]


def test_murmur2_and_partitions_are_those_of_kafkas_classes():
    lines = golden_lines("murmur2")
    keys = KeyColumn.of(bytes.fromhex(line["input"]["key_hex"]) for line in lines)

    signed = murmur2(keys).astype(np.uint32).view(np.int32).tolist()
    place = JavaDefault().partitions_for(keys)

    assert len(lines) >= 200
    assert signed == [line["output"]["murmur2"] for line in lines]
    for row, line in enumerate(lines):
        found = place(line["input"]["partitions"])[row]
        assert found == line["output"]["partition"], line["case"]


@pytest.mark.parametrize(
    ("name", "field"), [("sarama", "hash"), ("sarama-reference", "reference")]
)
def test_partitions_of_sarama_are_those_of_its_own_partitioners(name, field):
    with gzip.open(SARAMA, mode="rt") as file:
        lines = [json.loads(line) for line in file]
    keys = KeyColumn.of(bytes.fromhex(line["key_hex"]) for line in lines)

    place = find_partitioner(name).partitions_for(keys)

    assert len(lines) >= 800
    for row, line in enumerate(lines):
        assert place(line["partitions"])[row] == line[field], line


@pytest.mark.parametrize("plain_bytes", [0, 10**9], ids=["compiled", "plain"])
@pytest.mark.parametrize(("hashes", "naive"), NAIVE)
@given(keys=KEYS)
def test_hashes_are_those_of_a_naive_loop(hashes, naive, plain_bytes, keys):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_hashes, "PLAIN_BYTES", plain_bytes)
        patch.setattr(key_hashes, "_hashed", Counter())
        patch.setattr(key_hashes, "is_running", lambda _: False)

        found = hashes(KeyColumn.of(keys)).tolist()

    assert found == [naive(key or b"") for key in keys]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"kafka", 0xD33C4E1),
        (b"giberish123456789", 0x77A58295),
        (b"1234", 0x23BDD03),
        (b"234", 0x2DEA3CD2),
        (b"PreAmbleWillBeRemoved,ThePrePartThatIs", 0x65CBD69C),
        (b"", 0x7EE3623B),
    ],
)
def test_fnv1a_is_the_absolute_value_that_librdkafka_and_sarama_have(key, value):
    assert fnv1a_hashes(KeyColumn.of([key])).tolist() == [value]


@given(KEYS)
def test_columns_keep_keys_and_nulls(keys):
    column = KeyColumn.of(keys)

    assert [column[row] for row in range(len(column))] == keys
    assert column.null_mask.tolist() == [key is None for key in keys]
    assert column.lengths.tolist() == [len(key or b"") for key in keys]


@given(KEYS, st.integers(0, 2**31 - 1))
def test_the_prefix_of_a_schema_stands_before_every_key(keys, schema):
    prefix = schema_prefix(schema)

    column = with_prefix(KeyColumn.of(keys), prefix)

    expected = [None if key is None else prefix + key for key in keys]
    assert [column[row] for row in range(len(column))] == expected
    assert prefix[0] == 0
    assert int.from_bytes(prefix[1:], "big") == schema
