"""Jobs that commit to one table at the same time."""

import threading
from datetime import UTC, datetime

import pytest

from planner.fleet.append import append
from planner.fleet.fleet_store import Store
from planner.score.make_score import ScoreRequest
from support.lake.sessions import FORMATS
from support.lake.tables import commits_of, rows_of, scores_of
from support.profile import sampled
from support.scores import by_place, differences, in_memory
from support.spark import snapshot

pytestmark = [
    pytest.mark.lake,
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
DAYS = [f"2026-11-2{n}T08:00:00Z" for n in (1, 2, 3)]
LONG_S = 60


@pytest.fixture
def conflicts(monkeypatch):
    """
    Start the first commits of two jobs in one moment.

    Return what becomes of their commits: for each error, whether it is tried again.
    """
    from planner.spark.output import commit_retries, merged_rows

    merge, is_conflict, found = merged_rows._merge, commit_retries.is_conflict, []
    barrier, own = threading.Barrier(2), threading.local()
    alone = threading.current_thread()

    def meeting(*words, **options):
        if not getattr(own, "has_met", alone is threading.current_thread()):
            own.has_met = True
            barrier.wait(LONG_S)
        return merge(*words, **options)

    def noted(error):
        found.append(is_conflict(error))
        return found[-1]

    monkeypatch.setattr(merged_rows, "_merge", meeting)
    monkeypatch.setattr(commit_retries, "is_conflict", noted)
    return found


def together(*jobs):
    """Run jobs at the same time; return the errors that end them."""
    troubles = []

    def guarded(job):
        try:
            job()
        except Exception as error:  # of a thread, which would lose it
            troubles.append(error)

    threads = [threading.Thread(target=guarded, args=[job]) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return troubles


def scoring(lake, schema, fleet):
    from planner.spark.command import score_folder

    return lambda: score_folder(
        lake, str(fleet), ScoreRequest(), f"table:{schema}", again=False
    )


@pytest.mark.parametrize("schema", sampled([*FORMATS]), indirect=True)
def test_two_jobs_that_score_the_same_write_each_row_once(
    lake, schema, conflicts, tmp_path
):
    fleets = [tmp_path / "one", tmp_path / "other"]
    shared, apart = snapshot("a", DAYS[0]), [snapshot("a", day) for day in DAYS[1:]]
    for fleet, own in zip(fleets, apart, strict=True):
        append(shared, Store(str(fleet)))
        append(own, Store(str(fleet)))

    troubles = together(*(scoring(lake, schema, each) for each in fleets))

    assert troubles == []
    assert conflicts
    assert all(conflicts)
    scores = scores_of(lake, schema)
    assert not differences(in_memory([shared, *apart]), by_place(scores))
    done = sorted(row["taken_at"].day for row in rows_of(lake, f"{schema}.done"))
    assert done == [21, 22, 23]
    # Nothing is left to write.
    before = commits_of(lake, f"{schema}.scores")
    for fleet in fleets:
        assert scoring(lake, schema, fleet)().documents == []
    assert commits_of(lake, f"{schema}.scores") == before


def test_a_session_sees_what_another_has_committed(lake, schema):
    from planner.fleet.contracts.fleet_contracts import FLEETS
    from planner.spark.io.pinned_tables import COMMITS
    from planner.spark.io.snapshot_writes import contents_in
    from planner.spark.output.destination import CatalogSchema

    found = []
    for number, session in enumerate((lake, lake.newSession())):
        columns = "cluster_id string, taken_at timestamp, content string"
        moment = datetime(2026, 11, 21, tzinfo=UTC)
        rows = session.createDataFrame([(f"c{number}", moment, "x")], columns)
        CatalogSchema(session, schema).merge(FLEETS[COMMITS], rows, None)
        found.append(
            {cluster_id for cluster_id, _ in contents_in(lake, schema, COMMITS)}
        )

    assert found == [{"c0"}, {"c0", "c1"}]
