"""
Texts that stand for bytes, decoded as whole columns: hexadecimal, base64, UUIDs.

A function returns `None` if a text has another form than the usual one, such as a UUID
without hyphens. Such columns are decoded text by text, and refused if they are wrong.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from assignment.partitioners.key_column import ByteArray
from placement.array_types import IntArray, OffsetArray

UUID_LENGTH = 36
_UNKNOWN = 255
_PADDING = ord("=")
_HYPHENS = (8, 13, 18, 23)


def _values(alphabet: bytes) -> ByteArray:
    """Return the value of each byte in an alphabet, `_UNKNOWN` for others."""
    values = np.full(256, _UNKNOWN, np.uint8)
    values[np.frombuffer(alphabet, np.uint8)] = np.arange(len(alphabet))
    return values


_HEX = _values(b"0123456789abcdef")
_HEX[np.frombuffer(b"ABCDEF", np.uint8)] = np.arange(10, 16)
_BASE64 = _values(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def decode_hex(texts: pa.Array) -> pa.Array | None:
    r"""
    Return the bytes of hexadecimal digits; `None` if there are other characters.

    Examples
    --------
    >>> decode_hex(pa.array(["00fF", None], pa.large_string())).to_pylist()
    [b'\x00\xff', None]
    """
    data, offsets = _bytes_of(texts)
    digits = _HEX[data]
    if (digits == _UNKNOWN).any() or (np.diff(offsets) % 2).any():
        return None
    octets: ByteArray = (digits[::2] << 4 | digits[1::2]).astype(np.uint8)
    return _binary(octets, offsets // 2, texts)


def decode_base64(texts: pa.Array) -> pa.Array | None:
    r"""
    Return the bytes of base64 with padding; `None` if a text is anything else.

    Examples
    --------
    >>> decode_base64(pa.array(["AAEC", "AA==", ""], pa.large_string())).to_pylist()
    [b'\x00\x01\x02', b'\x00', b'']
    """
    data, offsets = _bytes_of(texts)
    lengths, ends = np.diff(offsets), offsets[1:]
    is_filled = lengths > 0
    if (lengths % 4).any():
        return None
    is_padding = data == _PADDING
    last, before = np.zeros((2, len(lengths)), bool)
    last[is_filled] = is_padding[ends[is_filled] - 1]
    before[is_filled] = is_padding[ends[is_filled] - 2]
    padding = last.astype(np.int64) + (last & before)
    if padding.sum() != is_padding.sum():
        return None
    sextets = _BASE64[data]
    sextets[is_padding] = 0
    if (sextets == _UNKNOWN).any():
        return None
    decoded, wholes = _octets(sextets), offsets // 4 * 3
    is_kept = np.ones(len(decoded), bool)
    is_kept[wholes[1:][last] - 1] = False
    is_kept[wholes[1:][last & before] - 2] = False
    new = np.concatenate(([0], np.cumsum(lengths // 4 * 3 - padding)))
    return _binary(decoded[is_kept], new, texts)


def _octets(sextets: ByteArray) -> ByteArray:
    """Return three bytes for each four values of six bits."""
    a, b, c, d = (sextets[at::4] for at in range(4))
    found = np.empty((len(a), 3), np.uint8)
    found[:, 0] = a << 2 | b >> 4
    found[:, 1] = b << 4 | c >> 2
    found[:, 2] = c << 6 | d
    return found.reshape(-1)


def canonical_uuids(texts: pa.Array) -> pa.Array | None:
    """
    Return UUIDs in lower case as ASCII; `None` if one is not 8-4-4-4-12 digits.

    Examples
    --------
    >>> some = "6B29FC40-CA47-1067-B31D-00DD010662DA"
    >>> canonical_uuids(pa.array([some], pa.large_string())).to_pylist()
    [b'6b29fc40-ca47-1067-b31d-00dd010662da']
    """
    data, offsets = _bytes_of(texts)
    is_null = texts.is_null().to_numpy(zero_copy_only=False)
    if (np.diff(offsets)[~is_null] != UUID_LENGTH).any():
        return None
    rows = data.reshape(-1, UUID_LENGTH)
    is_hyphen = np.zeros(UUID_LENGTH, bool)
    is_hyphen[list(_HYPHENS)] = True
    if (rows[:, is_hyphen] != ord("-")).any():
        return None
    if (_HEX[rows[:, ~is_hyphen]] == _UNKNOWN).any():
        return None
    # Digits and hyphens have the bit of lower case already.
    lower: ByteArray = (data | 0x20).astype(np.uint8)
    return _binary(lower, offsets, texts)


def _bytes_of(texts: pa.Array) -> tuple[ByteArray, OffsetArray]:
    """Return the bytes of a large_string column, without gaps, and their offsets."""
    filled = texts.fill_null("") if texts.null_count else texts
    _, offsets, data = filled.buffers()
    starts = np.frombuffer(offsets, np.int64, len(filled) + 1, filled.offset * 8)
    values = np.frombuffer(data or b"", np.uint8)
    return values[starts[0] : starts[-1]], starts - starts[0]


def _binary(data: ByteArray, offsets: IntArray, texts: pa.Array) -> pa.Array:
    """Return a large_binary column, null where the texts are."""
    mask: Any = texts.is_valid().buffers()[1] if texts.null_count else None
    buffers = [mask, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(texts), buffers)
