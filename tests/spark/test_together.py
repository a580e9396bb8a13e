"""Snapshots that a task sums and scores together come out as each by itself."""

from types import SimpleNamespace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.fleet.arrow_tables import snapshot_tables
from planner.score.score_tables import LEVELS
from planner.score.score_tables import SCHEMA as SCORES
from planner.snapshot import Snapshot
from planner.spark.io.fleet_files import KEY, FleetFiles, selected_columns
from planner.spark.io.snapshot_keys import by_key
from planner.spark.scoring.broadcast.broadcast_tables import grounds_of
from planner.spark.scoring.broadcast.topic_settings import SaidInFiles
from planner.spark.scoring.map_side.file_tasks import Listing
from planner.spark.scoring.map_side.row_sums import Adding
from planner.spark.scoring.reduce_side.balance_scores import ScoreSettings
from planner.spark.scoring.reduce_side.reduce_snapshots import (
    REFUSED,
    WARNED,
    judging,
    scoring,
    telling,
    whole_judge,
)
from planner.spark.scoring.shuffle.shuffle_rows import COMPLETE, seeds, sent
from support.scores import by_place
from support.snapshots import documents
from support.spark import tamed
from support.wrong_snapshots import LOADING, SOUND, TIME, WRONG, tables_of

CHANGES = {**SOUND, **WRONG, **LOADING}
DEFAULTS = ScoreSettings.defaults()


def drawn(number, document):
    header = {"cluster_id": f"c{number:02}", "taken_at": TIME}
    return snapshot_tables(Snapshot.from_document(document | header), name="c")


def changed(number, name):
    return tables_of(f"c{number:02}", CHANGES[name])


def fleets():
    """Tables of a few snapshots each, most of them sound."""
    each = st.one_of(
        documents().map(tamed).map(lambda document: (drawn, document)),
        st.sampled_from(sorted(CHANGES)).map(lambda name: (changed, name)),
    )
    return st.lists(each, min_size=1, max_size=5).map(
        lambda found: [make(n, what) for n, (make, what) in enumerate(found)]
    )


def scored(fleet, *, is_whole):
    """Sum and score snapshots in one task; return their rows and their problems."""

    def rows_given(name, kinds):
        for tables in fleet:
            found = selected_columns(tables[name], kinds)
            for column in KEY:
                found = found.append_column(column, tables[name].column(column))
            yield found

    files = SimpleNamespace(tables={}, rows_given=rows_given)
    grounds = grounds_of(SimpleNamespace(files=files, column_flaws=()))
    parcels = [*summed(fleet, grounds)]
    if is_whole:
        own = {key: [*seeds([key])] for key in sorted(grounds.keys)}
        for parcel in parcels:
            own[parcel[0]].append(parcel)
        judged = sent(whole_judge(grounds, DEFAULTS)(own))
    else:
        rows = pa.Table.from_batches(sent([*seeds(grounds.keys), *parcels]))
        ordered = rows.sort_by([(name, "ascending") for name in KEY])
        judged = judging(grounds, DEFAULTS)(iter(ordered.to_batches()))
    return tables_from(pa.Table.from_batches(judged))


def summed(fleet, grounds):
    said = SaidInFiles(FleetFiles(tables={}))
    topics, adding = Listing(grounds, said), Adding(grounds, said)
    for tables in fleet:
        (key,) = (key for key, _ in by_key(tables["clusters"]))
        yield from topics.take(tables["topics"], key)
    yield from topics.end()
    for number, tables in enumerate(fleet):
        for key, rows in by_key(tables["partitions"]):
            # A file of one snapshot is read without the columns of the key.
            own = rows.drop_columns(list(KEY)) if number % 2 else rows
            yield from adding.take(key, own)
    yield from adding.end()


def tables_from(judged):
    """What comes of judged rows: scores by place, and problems."""
    rows = judged.sort_by([(name, "ascending") for name in KEY]).combine_chunks()
    kinds, names = (rows.column(n).to_pylist() for n in ("kind", "cluster_id"))
    told = {WARNED, REFUSED}
    loading = {name for name, k in zip(names, kinds, strict=True) if k == WARNED}
    is_told = pa.array([kind in told for kind in kinds], pa.bool_())
    problems = [
        tuple(row.values())
        for batch in telling(rows.filter(is_told).to_batches())
        for row in batch.to_pylist()
    ]
    is_complete = pa.array([name not in loading for name in names], pa.bool_())
    with_flag = rows.append_column(COMPLETE, is_complete)
    batches = [*scoring(LEVELS)(with_flag.to_batches())]
    scores = pa.Table.from_batches(batches, SCORES)
    return by_place(scores), sorted(problems, key=repr)


@pytest.mark.not_quick
@settings(max_examples=60)
@given(fleets(), st.booleans())
def test_snapshots_summed_together_score_as_each_alone(fleet, is_whole):
    scores, problems = scored(fleet, is_whole=is_whole)

    alone = [scored([tables], is_whole=is_whole) for tables in fleet]
    assert scores == {place: row for own, _ in alone for place, row in own.items()}
    assert problems == sorted((row for _, own in alone for row in own), key=repr)


@pytest.mark.slow
def test_every_wrong_snapshot_has_the_same_problems_among_others():
    fleet = [changed(n, name) for n, name in enumerate(CHANGES)]

    scores, problems = scored(fleet, is_whole=True)

    alone = [scored([tables], is_whole=True) for tables in fleet]
    assert scores == {place: row for own, _ in alone for place, row in own.items()}
    assert problems == sorted((row for _, own in alone for row in own), key=repr)
    assert len({row[0] for row in problems}) == len(WRONG) + len(LOADING)
