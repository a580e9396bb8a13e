"""Columns of encoded texts: the bytes are those of Python's decoders, text by text."""

import base64
import binascii
import uuid

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.keys import key_types
from planner.keys.encoded_texts import canonical_uuids, decode_base64, decode_hex
from planner.keys.key_types import WrongKeysError, serialize

DECODERS = [
    pytest.param(decode_hex, bytes.hex, id="hex"),
    pytest.param(
        decode_base64, lambda data: base64.b64encode(data).decode(), id="base64"
    ),
]
ORACLES = {
    "hex": bytes.fromhex,
    "base64": lambda text: base64.b64decode(text, validate=True),
    "uuid": lambda text: str(uuid.UUID(text)).encode(),
}
SOME_UUID = "6b29fc40-ca47-1067-b31d-00dd010662da"
TEXTS = {
    "hex": st.text("0123456789abcdefABCDEF g", max_size=6),
    "base64": st.text("AZaz09+/=- ", max_size=9),
    "uuid": st.sampled_from(
        [
            SOME_UUID,
            SOME_UUID.upper(),
            SOME_UUID.replace("-", ""),
            f"{{{SOME_UUID}}}",
            SOME_UUID.replace("-", "_"),
            SOME_UUID.replace("6", "g"),
            f"{SOME_UUID}0",
            "",
        ]
    ),
}


@pytest.mark.parametrize(("decode", "encode"), DECODERS)
@given(keys=st.lists(st.binary(max_size=9) | st.none()), skipped=st.integers(0, 3))
def test_columns_give_the_encoded_bytes(decode, encode, keys, skipped):
    texts = [None if key is None else encode(key) for key in keys]
    column = pa.array(texts, pa.large_string()).slice(min(skipped, len(keys)))

    assert decode(column).to_pylist() == keys[skipped:]


@given(st.lists(st.uuids() | st.none()))
def test_columns_of_uuids_are_in_lower_case(ids):
    texts = [None if one is None else str(one).upper() for one in ids]

    found = canonical_uuids(pa.array(texts, pa.large_string())).to_pylist()

    assert found == [None if one is None else str(one).encode() for one in ids]


@pytest.mark.parametrize("key_type", TEXTS)
@given(data=st.data())
def test_other_texts_are_decoded_or_refused_as_python_does(key_type, data):
    texts = data.draw(st.lists(TEXTS[key_type] | st.none(), max_size=4))
    wrong, expected = [], []
    for row, text in enumerate(texts):
        try:
            expected.append(None if text is None else ORACLES[key_type](text))
        except (ValueError, binascii.Error):
            wrong.append((row, text))

    column = pa.array(texts, pa.string())

    if wrong:
        with pytest.raises(WrongKeysError) as caught:
            serialize(column, key_type)
        assert list(caught.value.rows) == wrong
    else:
        assert serialize(column, key_type).to_pylist() == expected


@pytest.mark.parametrize(
    ("key_type", "texts"),
    [
        ("hex", ["00", "fF", None]),
        ("base64", ["AA==", "AAE=", None]),
        ("uuid", [SOME_UUID, None]),
    ],
)
def test_usual_texts_need_no_loop_in_python(key_type, texts, monkeypatch):
    monkeypatch.setattr(key_types, "_by_text", None)

    assert len(serialize(pa.array(texts), key_type)) == len(texts)
