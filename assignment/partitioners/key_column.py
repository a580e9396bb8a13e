"""Serialized keys as one column: bytes and offsets, as Arrow lays them out."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray, IntArray, OffsetArray, RowArray

ByteArray = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class KeyColumn:
    """
    ``K`` serialized keys.

    Parameters
    ----------
    data
        Bytes of all keys, one after the other.
    offsets
        ``(K + 1,)`` start of each key in `data`, and the end of the last one.
    is_null
        ``(K,)`` whether the record has no key, which differs from an empty key;
        `None` if every record has one.
    """

    data: ByteArray
    offsets: OffsetArray
    is_null: BoolArray | None = None

    @classmethod
    def of(cls, keys: Iterable[bytes | None]) -> "KeyColumn":
        """Return the column of some keys; `None` stands for a record without key."""
        listed = list(keys)
        lengths = [len(key or b"") for key in listed]
        offsets = np.zeros(len(listed) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        data = np.frombuffer(b"".join(key or b"" for key in listed), np.uint8)
        nulls = np.array([key is None for key in listed], bool)
        return cls(data, offsets, nulls if nulls.any() else None)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> bytes | None:
        if self.is_null is not None and self.is_null[row]:
            return None
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()

    @property
    def null_mask(self) -> BoolArray:
        """``(K,)`` whether a record has no key."""
        return np.zeros(len(self), bool) if self.is_null is None else self.is_null

    @property
    def lengths(self) -> IntArray:
        """``(K,)`` bytes of each key; 0 for none."""
        lengths: IntArray = np.diff(self.offsets)
        return lengths

    def take(self, rows: RowArray) -> "KeyColumn":
        """Return the column of some rows."""
        return KeyColumn.of(self[row] for row in rows.tolist())


def with_prefix(keys: KeyColumn, prefix: bytes) -> KeyColumn:
    """
    Return the keys with the same bytes before each; null keys stay null.

    A serializer of the schema registry writes a zero byte and the schema id, four bytes
    big-endian, before the key, so the same key has another hash under each schema id.
    """
    added = np.where(keys.null_mask, 0, len(prefix))
    offsets = keys.offsets + np.concatenate(([0], np.cumsum(added)))
    data = np.empty(int(offsets[-1]), np.uint8)
    starts = offsets[:-1][added > 0]
    for at, byte in enumerate(prefix):
        data[starts + at] = byte
    is_old = np.ones(len(data), bool)
    for at in range(len(prefix)):
        is_old[starts + at] = False
    data[is_old] = keys.data[keys.offsets[0] : keys.offsets[-1]]
    return KeyColumn(data, offsets - offsets[0], keys.is_null)


def schema_prefix(schema_id: int) -> bytes:
    """Return the five bytes before data of a schema of the schema registry."""
    return b"\0" + schema_id.to_bytes(4, "big")
