"""
32-bit hashes of keys: murmur2 as in Kafka, FNV-1a and CRC-32.

Each hash is one loop over the column of keys. Few keys run it in Python; many run the
same loop compiled. Hashes are unsigned, in 64-bit integers, whose products of a 32-bit
and a 31-bit factor do not overflow.

References
----------
.. [1] Appleby, A. MurmurHash2. https://github.com/aappleby/smhasher
.. [2] Fowler, G., Noll, L. C., Vo, K.-P. et al. The FNV Non-Cryptographic Hash
       Algorithm. RFC 9923.
.. [3] ISO/IEC 13239:2002 and IEEE 802.3: the CRC-32 of zlib.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from assignment.partitioners.key_column import KeyColumn
from placement.array_types import IntArray
from placement.core.search.kernels.jit import compiled, is_running

PLAIN_BYTES = 200_000
"""Bytes of keys that a process hashes in Python before it loads the compiled loop."""

SIGN_CLEARED = 0x7FFFFFFF
"""Mask of Java's ``Utils.toPositive``, which is not the absolute value."""

_hashed = Counter[str]()
"""Bytes that this process has hashed."""

HashFunction = Callable[[KeyColumn], IntArray]


def murmur2(keys: KeyColumn) -> IntArray:
    """
    Hash keys as ``org.apache.kafka.common.utils.Utils.murmur2`` does.

    Returns
    -------
    IntArray
        ``(K,)`` hashes from 0 to 2³² − 1. Java's are the same bits with a sign. The
        hash of a null key is that of an empty one.

    Examples
    --------
    >>> murmur2(KeyColumn.of([b"", b"21"])).tolist()
    [275646681, 3321034988]
    """
    return _run(_murmur2_rows, keys)


def fnv1a(keys: KeyColumn) -> IntArray:
    """
    Hash keys by FNV-1a of 32 bits, as Go's ``hash/fnv.New32a`` does.

    Returns
    -------
    IntArray
        ``(K,)`` hashes from 0 to 2³² − 1.

    Examples
    --------
    >>> [hex(value) for value in fnv1a(KeyColumn.of([b"", b"a"])).tolist()]
    ['0x811c9dc5', '0xe40c292c']
    """
    return _run(_fnv1a_rows, keys)


def crc32(keys: KeyColumn) -> IntArray:
    """
    Hash keys by the CRC-32 of zlib.

    Returns
    -------
    IntArray
        ``(K,)`` hashes from 0 to 2³² − 1.

    Examples
    --------
    >>> [hex(value) for value in crc32(KeyColumn.of([b"", b"123456789"])).tolist()]
    ['0x0', '0xcbf43926']
    """
    return _run(_crc32_rows, keys, _CRC_TABLE)


def _crc_table() -> IntArray:
    """Return the CRC register after each byte: zlib inverts it before and after."""
    ones = 0xFFFFFFFF
    values = [zlib.crc32(bytes([byte]), ones) ^ ones for byte in range(256)]
    return np.array(values, np.int64)


_CRC_TABLE = _crc_table()


def _run(rows: Callable[..., None], keys: KeyColumn, *tables: IntArray) -> IntArray:
    hashes = np.empty(len(keys), np.int64)
    # Many small batches are a large one.
    _hashed["bytes"] += len(keys.data) + len(keys)
    if _hashed["bytes"] < PLAIN_BYTES and not is_running([rows]):
        listed: Sequence[Any] = (keys.data.tolist(), keys.offsets.tolist())
        found = [0] * len(keys)
        rows(*listed, *(table.tolist() for table in tables), found)
        hashes[:] = found
    else:
        compiled(rows)(keys.data, keys.offsets, *tables, hashes)
    return hashes


def _murmur2_rows(data: Any, offsets: Any, hashes: Any) -> None:  # noqa: ANN401 - a kernel
    for row in range(len(hashes)):
        start = offsets[row]
        length = offsets[row + 1] - start
        value = 0x9747B28C ^ (length & 0xFFFFFFFF)
        tail = start + length - length % 4
        for at in range(start, tail, 4):
            block = (
                int(data[at])
                | int(data[at + 1]) << 8
                | int(data[at + 2]) << 16
                | int(data[at + 3]) << 24
            )
            block = (block * 0x5BD1E995) & 0xFFFFFFFF
            block = ((block ^ (block >> 24)) * 0x5BD1E995) & 0xFFFFFFFF
            value = ((value * 0x5BD1E995) & 0xFFFFFFFF) ^ block
        if length % 4:
            for at in range(length % 4):
                value ^= int(data[tail + at]) << (8 * at)
            value = (value * 0x5BD1E995) & 0xFFFFFFFF
        value = ((value ^ (value >> 13)) * 0x5BD1E995) & 0xFFFFFFFF
        hashes[row] = value ^ (value >> 15)


def _fnv1a_rows(data: Any, offsets: Any, hashes: Any) -> None:  # noqa: ANN401 - a kernel
    for row in range(len(hashes)):
        value = 0x811C9DC5
        for at in range(offsets[row], offsets[row + 1]):
            value = ((value ^ int(data[at])) * 0x01000193) & 0xFFFFFFFF
        hashes[row] = value


def _crc32_rows(data: Any, offsets: Any, table: Any, hashes: Any) -> None:  # noqa: ANN401 - a kernel
    for row in range(len(hashes)):
        value = 0xFFFFFFFF
        for at in range(offsets[row], offsets[row + 1]):
            value = (value >> 8) ^ table[(value ^ int(data[at])) & 0xFF]
        hashes[row] = value ^ 0xFFFFFFFF
