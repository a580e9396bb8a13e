"""Where a reset of a group's offsets leads, row by row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.group.offsets.target_offsets import (
    BY_TIME,
    UNKNOWN,
    LogColumns,
    Target,
    reset,
)

LARGEST = 2**63 - 1


def logs(*rows, topic="t"):
    """Make columns of (committed, earliest, latest, wanted) rows."""
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    committed, earliest, latest, wanted = columns
    return LogColumns(
        names=[(topic, number) for number in range(len(rows))],
        committed=committed,
        earliest=earliest,
        latest=latest,
        wanted=wanted,
    )


@pytest.mark.parametrize(
    ("target", "number", "row", "new", "note"),
    [
        pytest.param(Target.EARLIEST, 0, (7, 5, 9, -1), 5, "", id="earliest"),
        pytest.param(Target.LATEST, 0, (7, 5, 9, -1), 9, "", id="latest"),
        pytest.param(Target.CURRENT, 0, (7, 5, 9, -1), 7, "", id="current"),
        pytest.param(
            Target.CURRENT,
            0,
            (-1, 5, 9, -1),
            9,
            "t-0: nothing was committed; set to 9",
            id="current-of-none",
        ),
        pytest.param(Target.OFFSET, 6, (7, 5, 9, -1), 6, "", id="offset"),
        pytest.param(Target.OFFSET, 9, (7, 5, 9, -1), 9, "", id="offset-at-the-end"),
        pytest.param(
            Target.OFFSET,
            10,
            (7, 5, 9, -1),
            9,
            "t-0: 10 is higher than the latest offset; set to 9",
            id="offset-too-high",
        ),
        pytest.param(
            Target.OFFSET,
            -4,
            (7, 5, 9, -1),
            5,
            "t-0: -4 is lower than the earliest offset; set to 5",
            id="offset-too-low",
        ),
        pytest.param(Target.SHIFT, -2, (7, 5, 9, -1), 5, "", id="back"),
        pytest.param(
            Target.SHIFT,
            -3,
            (7, 5, 9, -1),
            5,
            "t-0: 4 is lower than the earliest offset; set to 5",
            id="back-too-far",
        ),
        pytest.param(
            Target.SHIFT,
            LARGEST,
            (7, 5, 9, -1),
            9,
            f"t-0: {LARGEST} is higher than the latest offset; set to 9",
            id="on-without-overflow",
        ),
        pytest.param(Target.DATETIME, 0, (7, 5, 9, 8), 8, "", id="time"),
        pytest.param(
            Target.DURATION,
            0,
            (7, 5, 9, -1),
            9,
            "t-0: no message of then or later; set to 9",
            id="time-without-a-message",
        ),
        pytest.param(Target.FILE, 0, (-1, 5, 9, 6), 6, "", id="file"),
        pytest.param(Target.LATEST, 0, (-1, 0, 0, -1), 0, "", id="empty-log"),
    ],
)
def test_where_a_group_reads_on(target, number, row, new, note):
    found = reset(logs(row), target, number)

    assert found.new.tolist() == [new]
    assert list(found.notes) == ([note] if note else [])


def test_what_was_never_committed_is_not_shifted():
    with pytest.raises(BadInputError) as raised:
        reset(logs((-1, 0, 9, -1), (3, 0, 9, -1), (-1, 0, 9, -1)), Target.SHIFT, 1)

    assert [problem.place for problem in raised.value.problems] == ["t-0", "t-2"]
    assert "there is no current committed offset" in str(raised.value)


def naive(row, target, number):
    """Return the new offset as Kafka's code decides it, partition by partition."""
    committed, earliest, latest, wanted = row
    asked = {
        Target.EARLIEST: earliest,
        Target.LATEST: latest,
        Target.CURRENT: committed if committed != UNKNOWN else latest,
        Target.OFFSET: number,
        Target.SHIFT: committed + number,
        Target.FILE: wanted,
    }.get(target, wanted if wanted != UNKNOWN else latest)
    if asked > latest:
        return latest
    return max(asked, earliest)


@st.composite
def rows(draw):
    earliest = draw(st.integers(0, 20))
    latest = earliest + draw(st.integers(0, 20))
    anywhere = st.integers(-1, 50)
    return draw(anywhere), earliest, latest, draw(anywhere)


@settings(max_examples=60)
@given(
    st.lists(rows(), min_size=1, max_size=6),
    st.sampled_from(list(Target)),
    st.integers(-60, 60),
)
def test_new_offsets_are_kafkas_and_lie_in_the_logs(table, target, number):
    columns = logs(*table)
    if target is Target.SHIFT and UNKNOWN in columns.committed:
        with pytest.raises(BadInputError):
            reset(columns, target, number)
        return

    found = reset(columns, target, number)

    assert found.new.tolist() == [naive(row, target, number) for row in table]
    assert (found.new >= columns.earliest).all()
    assert (found.new <= columns.latest).all()
    changed = {note.split(":")[0] for note in found.notes}
    if target not in BY_TIME | {Target.CURRENT}:
        asked = {Target.OFFSET: number}.get(target)
        if asked is not None:
            assert changed == {
                f"t-{at}" for at, new in enumerate(found.new) if new != asked
            }
