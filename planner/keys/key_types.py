"""
Serializers of keys, by the name of a type: the bytes that a producer hashes.

The same key has other bytes, and another partition, under another serializer. Columns
are Arrow's; strings in UTF-8, integers, and the usual forms of UUIDs, base64 and
hexadecimal digits are serialized without a loop in Python.
"""

import base64
import binascii
import codecs
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from assignment.partitioners.key_column import KeyColumn
from planner.keys.encoded_texts import canonical_uuids, decode_base64, decode_hex

UTF_8 = "utf-8"
# Where Python writes bytes in the order of this machine, Java writes big-endian units,
# those of UTF-16 after a byte order mark, which an empty text has not.
_BIG_ENDIAN = {"utf-16": (b"\xfe\xff", "utf-16-be"), "utf-32": (b"", "utf-32-be")}


@dataclass(frozen=True, slots=True)
class WrongKeysError(Exception):
    """
    Keys that a serializer refuses.

    Parameters
    ----------
    rule
        Violated rule.
    rows
        Rows in the column, and their values.
    """

    rule: str
    rows: tuple[tuple[int, Any], ...]


def encode_text(text: str, encoding: str) -> bytes:
    """Return text as Java's ``String.getBytes`` encodes it: unknown characters as ?."""
    name = codecs.lookup(encoding).name
    mark, name = _BIG_ENDIAN.get(name, (b"", name))
    return (mark if text else b"") + text.encode(name, "replace")


def zigzag(number: int) -> bytes:
    """Return an integer as Avro writes it: zigzag, seven bits a byte, lowest first."""
    rest = (number << 1) ^ (number >> 63) if number < 0 else number << 1
    found = bytearray()
    while rest > 0x7F:
        found.append((rest & 0x7F) | 0x80)
        rest >>= 7
    return bytes([*found, rest])


def unzigzag(data: bytes) -> int:
    """Return the integer that Avro wrote as these bytes."""
    rest = sum((byte & 0x7F) << (7 * at) for at, byte in enumerate(data))
    return (rest >> 1) ^ -(rest & 1)


def _uuid_bytes(text: str, encoding: str) -> bytes:
    # Kafka's UUIDSerializer writes the canonical text.
    return encode_text(str(uuid.UUID(text)), encoding)


def _base64_bytes(text: str, _: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _hex_bytes(text: str, _: str) -> bytes:
    return bytes.fromhex(text)


def _avro_text(text: str, _: str) -> bytes:
    data = text.encode()
    return zigzag(len(data)) + data


def _avro_long(text: str, _: str) -> bytes:
    number = int(text)
    if not -(2**63) <= number < 2**63:
        raise ValueError(text)
    return zigzag(number)


_BY_TEXT: Mapping[str, tuple[Callable[[str, str], bytes], str]] = {
    "string": (encode_text, "must be text"),
    "uuid": (_uuid_bytes, "must be a UUID"),
    "base64": (_base64_bytes, "must be base64"),
    "hex": (_hex_bytes, "must be hexadecimal digits"),
    "avro-string": (_avro_text, "must be text"),
    "avro-long": (_avro_long, "must be a 64-bit integer"),
}
_INTEGERS = {"int": (pa.int32(), ">i4"), "long": (pa.int64(), ">i8")}
KEY_TYPES = ("string", "int", "long", "uuid", "bytes", *list(_BY_TEXT)[2:])
"""Types of keys: Kafka's serializers, bytes as text, and Avro's primitives."""


def serialize(column: pa.Array, key_type: str, encoding: str = UTF_8) -> pa.Array:
    r"""
    Return the serialized keys of a column; null stays null.

    Parameters
    ----------
    column
        ``(R,)`` strings or integers; bytes are serialized keys already.
    key_type
        One of `KEY_TYPES`.
    encoding
        Encoding of strings and UUIDs: ``key.serializer.encoding``.

    Returns
    -------
    pyarrow.Array
        ``(R,)`` large_binary.

    Raises
    ------
    WrongKeysError
        If keys are not of the type; has the rows.

    Examples
    --------
    >>> serialize(pa.array(["7", None, "-1"]), "int").to_pylist()
    [b'\x00\x00\x00\x07', None, b'\xff\xff\xff\xff']
    """
    if is_binary(column.type):
        return column.cast(pa.large_binary())
    if key_type in _INTEGERS:
        return _integers(column, *_INTEGERS[key_type])
    texts = column.cast(pa.large_string())
    if key_type == "bytes" or (key_type == "string" and encoding.lower() == UTF_8):
        return texts.cast(pa.large_binary())
    found = _as_column(texts, key_type, encoding)
    return _by_text(texts, key_type, encoding) if found is None else found


def _as_column(texts: pa.Array, key_type: str, encoding: str) -> pa.Array | None:
    """Serialize texts of the usual form without a loop; `None` for others."""
    if key_type == "hex":
        return decode_hex(texts)
    if key_type == "base64":
        return decode_base64(texts)
    if key_type == "uuid" and encoding.lower() == UTF_8:
        return canonical_uuids(texts)
    return None


def is_key_type(kind: pa.DataType) -> bool:
    """Return whether a column of this type may be keys: text, integers or bytes."""
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(is_text or pa.types.is_integer(kind) or is_binary(kind))


def is_binary(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds bytes."""
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _integers(column: pa.Array, kind: pa.DataType, layout: str) -> pa.Array:
    try:
        numbers = column.cast(kind)
    except pa.ArrowInvalid:
        bits = kind.bit_width
        msg = f"must be an integer of {bits} bits"
        raise WrongKeysError(
            msg, _refused(column, lambda one: one.cast(kind))
        ) from None
    values = numbers.fill_null(0).to_numpy(zero_copy_only=False)
    width = kind.bit_width // 8
    data = values.astype(layout).tobytes()
    offsets = np.arange(len(values) + 1, dtype=np.int64) * width
    return binary_array(data, offsets, numbers.is_null().to_numpy(zero_copy_only=False))


def _refused(
    column: pa.Array, work: Callable[[pa.Array], object]
) -> tuple[tuple[int, Any], ...]:
    """Return the rows that a function of the whole column refuses, one by one."""
    found = []
    for row in range(len(column)):
        one = column.slice(row, 1)
        try:
            work(one)
        except (pa.ArrowInvalid, ValueError):
            found.append((row, one[0].as_py()))
    return tuple(found)


def _by_text(texts: pa.Array, key_type: str, encoding: str) -> pa.Array:
    """Serialize each distinct text in Python."""
    work, rule = _BY_TEXT[key_type]
    distinct = texts.dictionary_encode()
    found: list[bytes | None] = []
    wrong: set[str] = set()
    for text in distinct.dictionary.to_pylist():
        try:
            found.append(work(text, encoding))
        except (ValueError, binascii.Error):
            found.append(None)
            wrong.add(text)
    if wrong:
        listed = enumerate(texts.to_pylist())
        raise WrongKeysError(
            rule, tuple((row, text) for row, text in listed if text in wrong)
        )
    values = pa.array(found, pa.large_binary())
    return values.take(distinct.indices)


def binary_array(data: bytes, offsets: Any, nulls: Any) -> pa.Array:  # noqa: ANN401 - numpy
    """Return a large_binary column of bytes, offsets and a mask of nulls."""
    mask = None
    if nulls.any():
        mask = pa.array(~nulls).buffers()[1]
    buffers = [mask, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(nulls), buffers)


def key_column(column: pa.Array) -> KeyColumn:
    """Return a large_binary column as keys; the bytes are not copied."""
    size = len(column)
    _, offsets, data = column.buffers()
    starts = np.frombuffer(offsets, np.int64, size + 1, column.offset * 8)
    values = np.frombuffer(data or b"", np.uint8)
    nulls = column.is_null().to_numpy(zero_copy_only=False)
    return KeyColumn(values, starts, nulls if nulls.any() else None)


def long_keys(
    keys: pa.Array, most_bytes: int, prefix_bytes: int = 0
) -> Iterator[tuple[int, int]]:
    """Yield row and length of the keys that are too long with their prefix."""
    column = key_column(keys)
    lengths = np.where(column.null_mask, 0, column.lengths + prefix_bytes)
    for row in np.flatnonzero(lengths > most_bytes).tolist():
        yield row, int(lengths[row])


def key_text(key: bytes | None, key_type: str, prefix_bytes: int = 0) -> str | None:
    """
    Return a serialized key as people know it; as hex digits if it is not text.

    Parameters
    ----------
    key
        Serialized key.
    key_type
        One of `KEY_TYPES`.
    prefix_bytes
        Bytes of a schema's prefix, left out.
    """
    if key is None:
        return None
    payload = key[prefix_bytes:]
    if key_type in _INTEGERS and len(payload) in {4, 8}:
        return str(int.from_bytes(payload, "big", signed=True))
    if key_type == "base64":
        return base64.b64encode(payload).decode()
    if key_type == "avro-long" and payload:
        return str(unzigzag(payload))
    if key_type == "avro-string" and payload:
        payload = payload[len(zigzag(len(payload))) :]
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        return f"0x{payload.hex()}"
    is_text = text.isprintable() and key_type != "hex"
    return text if is_text else f"0x{payload.hex()}"
