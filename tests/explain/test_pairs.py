"""Copies are told beside replicas that go from the same rack, as long as there are."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.explain.move_table import list_moves
from placement.model.load import weigh
from placement.model.reassignment import reassign
from support.clusters import clusters
from support.commands import run
from support.naive import replicas_of

CASE = Path(__file__).parents[1] / "data" / "cases" / "c18" / "s.json"


@st.composite
def reassignments(draw):
    state = draw(clusters())
    broker_of, leading = [], []
    for partition in range(state.num_partitions):
        count = len(replicas_of(state, partition))
        order = draw(st.permutations(state.brokers.ids.tolist()))
        broker_of += order[:count]
        start = int(state.replicas.start[partition])
        leading.append(start + draw(st.integers(0, count - 1)))
    return reassign(
        state, state.brokers.rows_of(broker_of), np.array(leading, dtype=np.int64)
    )


@settings(max_examples=200)
@given(reassignments())
def test_as_many_pairs_as_can_be_are_of_one_rack(found):
    state = found.before
    moves = list_moves(found, weigh(state))
    after = found.after()

    rack_of = dict(
        zip(range(len(state.brokers)), state.brokers.rack_idx.tolist(), strict=True)
    )
    for partition in range(state.num_partitions):
        was, now = set(state.brokers_of(partition)), set(after.brokers_of(partition))
        rows = (moves.partition_idx == partition) & moves.is_copy
        left = state.brokers.ids[moves.source[rows]].tolist()
        came = state.brokers.ids[moves.target[rows]].tolist()
        assert Counter(left) == Counter(was - now)
        assert Counter(came) == Counter(now - was)
        gone = Counter(rack_of[b] for b in moves.source[rows].tolist())
        new = Counter(rack_of[b] for b in moves.target[rows].tolist())
        pairs = zip(moves.source[rows], moves.target[rows], strict=True)
        within = sum(rack_of[int(a)] == rack_of[int(b)] for a, b in pairs)
        assert within == sum((gone & new).values())


@pytest.mark.parametrize(
    "words",
    [
        ("remove-brokers", "--broker-list", "1,2,3", "--locality-scoped"),
        (
            "replace-broker",
            *("--broker", "1", "--with", "4", "--broker", "2", "--with", "5"),
            *("--broker", "3", "--with", "6"),
        ),
    ],
)
def test_replicas_that_stay_in_their_rack_have_that_reason(capsys, tmp_path, words):
    name, *options = words

    outcome = run(capsys, "plan", name, CASE, *options, "-o", tmp_path / "plan")

    assert outcome.code == 0
    with (tmp_path / "plan" / "moves.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "replica"]
    assert len(rows) == 42
    assert all(row["from_rack"] == row["to_rack"] for row in rows)
