"""Jobs that write different content of one snapshot, one in the midst of the other."""

import pytest

from planner.errors import BadInputError
from planner.fleet.append import append
from planner.fleet.fleet_store import Store
from planner.score.make_score import ScoreRequest
from planner.spark.common.machine_failures import OtherJobError, machine_failure
from support.dumps import put, small_json
from support.lake.sessions import in_formats
from support.scores import by_place, differences, in_memory
from support.snapshots import small_document
from support.spark import snapshot

pytestmark = [
    pytest.mark.lake,
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
DAY = "2026-11-21T08:00:00Z"
OF_FLEETS = ("commits", "topics", "commits-again")
OF_CUT_OFF = ("partitions", "commits-again")
OF_SCORES = ("problems", "done-again")


def content(name):
    """A document whose tables all say of which dump they are."""
    document = small_document(cluster_id="a", taken_at=DAY, kafka_version=name)
    brokers = [each | {"host": name} for each in document["brokers"]]
    topics = [each | {"tags": {"of": name}} for each in document["topics"]]
    # The one has partitions that the other has not.
    for topic in topics:
        least = len(topic["partitions"]) - (name == "two")
        topic["partitions"] = [
            each | {"remote_bytes": ord(name[0])} for each in topic["partitions"]
        ][:least]
    return {"brokers": brokers, "topics": topics, "kafka_version": name}


def taking_in(lake, folder, schema, name):
    from planner.spark.ingest.dump_ingest import ingest_dumps

    document = small_json(cluster_id="a", taken_at=DAY, **content(name))
    # One dump, of which each job sees other files.
    put(folder / name, "a/1/s.json", document)
    return lambda: ingest_dumps(lake, str(folder / name), f"table:{schema}")


def scoring(lake, folder, schema, name):
    from planner.spark.command import score_folder

    fleet = folder / name
    if not fleet.exists():
        append(snapshot("a", DAY, **content(name)), Store(str(fleet)))
    return lambda: score_folder(
        lake, str(fleet), ScoreRequest(), f"table:{schema}", again=False
    )


def names_in(lake, schema):
    """Which dumps the tables that a reader sees are of; nothing where it sees none."""
    from planner.spark import open_fleet

    try:
        fleet = open_fleet(lake, f"table:{schema}")
    except BadInputError:
        # Not all of its tables are there yet.
        return set()
    found = {
        "clusters": [row["kafka_version"] for row in fleet.clusters.collect()],
        "brokers": [row["host"] for row in fleet.brokers.collect()],
        "topics": [row["tags"]["of"] for row in fleet.topics.collect()],
        "partitions": [
            {ord("o"): "one", ord("t"): "two"}[row["remote_bytes"]]
            for row in fleet.partitions.collect()
        ],
    }
    document = {name: content(name) for name in ("one", "two")}
    for name in {*found["clusters"]}:
        wanted = [t["partitions"] for t in document[name]["topics"]]
        assert len(found["partitions"]) == sum(map(len, wanted))
    return {name for names in found.values() for name in names}


@pytest.fixture
def between(monkeypatch):
    """Call a function right before a table is merged for the first time."""
    from planner.spark.output import destination

    merge, planned, seen = destination.merge_rows, {}, []

    def merged(rows, schema, contract, *words):
        name = contract.name
        seen.append(f"{name}-again" if name in seen else name)
        happens = planned.pop(seen[-1], None)
        if happens is not None:
            before, seen[:] = seen[:], []
            happens()
            seen[:] = before
        return merge(rows, schema, contract, *words)

    monkeypatch.setattr(destination, "merge_rows", merged)
    return planned


def cut_off():
    raise KeyboardInterrupt


def lost(job):
    """Run a job that another one overtakes; it can be tried again."""
    with pytest.raises(OtherJobError) as caught:
        job()
    assert "run the command again" in str(machine_failure(caught.value))


@pytest.mark.parametrize(
    ("place", "schema"), in_formats(OF_FLEETS, 2), indirect=["schema"]
)
def test_a_job_in_the_midst_of_another_takes_in_the_whole(
    lake, schema, between, place, tmp_path
):
    one, two = (taking_in(lake, tmp_path, schema, name) for name in ("one", "two"))

    between[place] = two
    lost(one)

    assert names_in(lake, schema) == {"two"}
    if place == "topics":
        # Its dump is read again, and is the last one then.
        one()
        assert names_in(lake, schema) == {"one"}


@pytest.mark.parametrize(
    ("place", "schema"), in_formats(OF_CUT_OFF, 1), indirect=["schema"]
)
def test_a_job_that_is_cut_off_in_the_midst_of_another_mixes_nothing(
    lake, schema, between, place, tmp_path
):
    one, two = (taking_in(lake, tmp_path, schema, name) for name in ("one", "two"))
    seen = []

    def overtaken():
        between[place] = cut_off
        with pytest.raises(KeyboardInterrupt):
            two()
        seen.append(names_in(lake, schema))

    between["topics"] = overtaken
    lost(one)

    assert seen == [set()]
    assert names_in(lake, schema) == set()
    two()
    assert names_in(lake, schema) == {"two"}


@pytest.mark.parametrize(
    ("place", "schema"), in_formats(OF_SCORES, 2), indirect=["schema"]
)
def test_scores_of_a_job_in_the_midst_of_another_are_of_one_content(
    lake, schema, between, place, tmp_path
):
    one, two = (scoring(lake, tmp_path, schema, name) for name in ("one", "two"))

    between[place] = two
    lost(one)

    from planner.spark.output.destination import destination_at

    target = destination_at(lake, f"table:{schema}")
    found = by_place(target.read("scores").drop("date").toArrow())
    expected = in_memory([snapshot("a", DAY, **content("two"))])
    assert not differences(expected, found)
    assert two().documents == []
    assert len(one().documents) == 1
