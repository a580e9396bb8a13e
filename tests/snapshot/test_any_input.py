"""Any document and any bytes are a snapshot, or bad input."""

import copy
import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import BadInputError, InputProblem
from planner.snapshot import Snapshot, read_snapshot
from support.snapshots import documents

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([[], {}, [[]], {"a": None}, "\ud800", 10**400, -1, 2**63])
)


def _slots(value: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) of a JSON value."""
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    else:
        return []
    return [slot for k, v in inner for slot in [(value, k), *_slots(v)]]


def _refused(
    read: Callable[[], Snapshot],
) -> tuple[tuple[InputProblem, ...], Snapshot | None]:
    """Return the problems, or the snapshot; anything else raised is a failure."""
    try:
        return (), read()
    except BadInputError as error:
        return error.problems, None


@settings(max_examples=100)
@given(documents(), st.data())
def test_any_document_is_a_snapshot_or_bad_input(
    document: dict[str, Any], data: st.DataObject
):
    for _ in range(data.draw(st.integers(1, 3))):
        slots = _slots(document)
        where, key = slots[data.draw(st.integers(0, len(slots) - 1))]
        action = data.draw(st.sampled_from(["set", "delete", "rename", "repeat"]))
        if action == "delete":
            del where[key]
        elif action == "rename" and isinstance(where, dict):
            where[data.draw(st.text(max_size=3))] = where.pop(key)
        elif action == "repeat" and isinstance(where, list):
            where.append(where[key])
        else:
            where[key] = data.draw(SCALARS)
    # Assigned twice, one object must not stand in two places.
    document = copy.deepcopy(document)
    problems, snapshot = _refused(lambda: Snapshot.from_document(document))
    assert problems or snapshot
    if snapshot is not None:
        snapshot.to_state()
        assert Snapshot.from_document(snapshot.to_document()).equals(snapshot)


@settings(max_examples=60)
@given(
    documents(),
    st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=3)), max_size=3),
    st.booleans(),
)
def test_any_bytes_are_a_snapshot_or_bad_input(
    tmp_path_factory: pytest.TempPathFactory,
    document: dict[str, Any],
    changes: list[tuple[int, bytes]],
    is_packed: bool,
):
    text = json.dumps(document, ensure_ascii=False).encode()
    data = bytearray(gzip.compress(text) if is_packed else text)
    for far, piece in changes:
        at = far % (len(data) + 1)
        data[at : at + len(piece)] = piece
    path = tmp_path_factory.mktemp("fuzz") / "s.json"
    path.write_bytes(data)

    problems, snapshot = _refused(lambda: read_snapshot(path))
    assert problems or snapshot
