"""Strimzi's KafkaTopic resources."""

import json

import pytest

from importers.test_fuzz import told
from planner.errors import BadInputError
from planner.fleet.dumps.dump_finder import FoundFile, find_dumps
from planner.fleet.dumps.dump_reader import read_dump
from planner.snapshot.importers import merge
from planner.snapshot.importers.hardware.strimzi import read_strimzi
from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from planner.snapshot.importers.kafka_tools.reassignment_json import read_assignment
from support.commands import run
from support.monitoring import KAFKA_TOPICS, POOLS
from support.noise import NOISE, WRAPPINGS
from support.samples import imported, refusal, words

yaml = pytest.importorskip("yaml")
ITEMS = yaml.safe_load(KAFKA_TOPICS)["items"]
TOPIC_ID = "5Ff0cW2bTxqyGfWkQzAbCd"
LISTS = read_assignment(
    b'{"partitions":[{"topic":"a","partition":0,"replicas":[1,2]}]}', file="now.json"
)
DESCRIBED = (
    "Topic: a\tTopicId: {id}\tPartitionCount: 2\tReplicationFactor: 3\t"
    "Configs: {configs}\n"
    "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n"
    "\tTopic: a\tPartition: 1\tLeader: 2\tReplicas: 2,3,1\tIsr: 2,3,1\n"
)


def described(configs="", topic_id=TOPIC_ID):
    text = DESCRIBED.format(id=topic_id, configs=configs)
    return read_topics(text.encode(), file="topics.txt")


def resources(*items, name="topics.yaml"):
    text = json.dumps({"kind": "List", "apiVersion": "v1", "items": list(items)})
    return read_strimzi(text.encode(), file=name)


def topic(name="a", spec=None, status=None, version="v1beta2", **metadata):
    return {
        "apiVersion": f"kafka.strimzi.io/{version}",
        "kind": "KafkaTopic",
        "metadata": {"name": name, **metadata},
        **({} if spec is None else {"spec": spec}),
        **({} if status is None else {"status": status}),
    }


def notes_of(*sources):
    return "\n".join(merge(sources).notes)


FORMS = {
    "list": KAFKA_TOPICS.decode(),
    "documents": "".join(
        f"---\n{yaml.safe_dump(item, sort_keys=False)}" for item in ITEMS
    ),
    "json": json.dumps(yaml.safe_load(KAFKA_TOPICS), indent=4) + "\n",
    "one-line": json.dumps(yaml.safe_load(KAFKA_TOPICS)) + "\n",
    "json-documents": "".join(f"{json.dumps(item, indent=1)}\n" for item in ITEMS),
    "with-pools": f"{KAFKA_TOPICS.decode()}---\n{POOLS.decode()}",
}


@pytest.mark.parametrize("form", FORMS)
def test_ids_and_settings_of_topics_are_read_in_every_form(form):
    source = read_strimzi(FORMS[form].encode(), file="f")

    found = imported(LISTS, source)["topics"]["a"]
    assert found["topic_id"] == TOPIC_ID
    assert found["configs"] == {
        "cleanup.policy": "compact,delete",
        "min.insync.replicas": "2",
        "retention.ms": "7200000",
    }


@pytest.mark.parametrize("kind", NOISE)
def test_noise_around_and_between_resources_changes_nothing(kind):
    text, noise = KAFKA_TOPICS.decode(), f"{NOISE[kind]}\n"
    lines = text.splitlines(keepends=True)
    middle = len(lines) // 2
    noisy = "".join([noise, *lines[:middle], noise, *lines[middle:], noise])

    source = read_strimzi(noisy.encode(), file="f")

    plain = read_strimzi(KAFKA_TOPICS, file="f")
    assert told(source) == told(plain)
    assert source.desired_topics == plain.desired_topics


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_wrapped_resources_are_read(wrapping):
    source = read_strimzi(WRAPPINGS[wrapping](KAFKA_TOPICS.decode()), file="f")

    assert told(source) == told(read_strimzi(KAFKA_TOPICS, file="f"))


@pytest.mark.parametrize("version", ["v1beta2", "v1"])
def test_the_name_of_a_topic_may_differ_from_that_of_its_resource(version):
    items = [topic("res-a", {"topicName": "a", "config": {}}, version=version)]

    (found,) = resources(*items).topics

    assert found.key == "a"


def test_a_resource_without_spec_and_status_has_the_name_of_its_topic():
    (found,) = resources(topic("orders.v1")).topics

    assert found.key == "orders.v1"
    assert found.values == {"tags": {"kafka_topic": "orders.v1"}}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2, "2"),
        (True, "true"),
        (0.5, "0.5"),
        ("604800000", "604800000"),
        (["compact", "delete"], "compact,delete"),
    ],
)
def test_settings_of_any_type_are_texts(value, text):
    source = resources(topic(spec={"config": {"x.y": value, "unset": None}}))

    assert imported(LISTS, source)["topics"]["a"]["configs"] == {"x.y": text}


def test_a_setting_that_is_an_object_is_refused():
    item = topic(spec={"config": {"x.y": {"a": 1}}})

    error = refusal(read_strimzi, json.dumps(item).encode() + b"\n")

    assert "spec.config.x.y" in error.problems[0].place


def test_tiered_topics_have_their_storage_said():
    source = resources(topic(spec={"config": {"remote.storage.enable": "true"}}))

    assert imported(LISTS, source)["topics"]["a"]["storage"] == "tiered"


def test_other_numbers_of_partitions_and_replicas_are_notes_with_both_values():
    found = notes_of(
        described(), resources(topic(spec={"partitions": 1, "replicas": 2}))
    )

    assert (
        "numbers of partitions differ from the cluster: a (1 in the KafkaTopic, 2 in "
        "the cluster)" in found
    )
    assert (
        "replication factors differ from the cluster: a (2 in the KafkaTopic, 3 in "
        "the cluster)" in found
    )


def test_equal_numbers_are_no_note():
    found = notes_of(
        described(), resources(topic(spec={"partitions": 2, "replicas": 3}))
    )

    assert "differ" not in found


def test_replicas_that_are_being_added_do_not_count_for_the_factor():
    moving = DESCRIBED.format(id=TOPIC_ID, configs="").replace(
        "Replicas: 1,2,3\tIsr: 1,2,3",
        "Replicas: 1,2,3,4\tIsr: 1,2,3\tAdding Replicas: 4\tRemoving Replicas: ",
    )

    found = notes_of(
        read_topics(moving.encode(), file="t"), resources(topic(spec={"replicas": 3}))
    )

    assert "factors differ" not in found


def test_settings_of_the_cluster_are_kept_and_others_noted():
    spec = {"config": {"retention.ms": 1, "segment.ms": 5, "min.insync.replicas": 2}}
    sources = (
        described("retention.ms=2,min.insync.replicas=2"),
        resources(topic(spec=spec)),
    )

    assert imported(*sources)["topics"]["a"]["configs"] == {
        "retention.ms": "2",
        "min.insync.replicas": "2",
    }
    assert (
        "a retention.ms (1 in the KafkaTopic, 2 in the cluster), a segment.ms (5 in "
        "the KafkaTopic, unset in the cluster)" in notes_of(*sources)
    )


def test_another_id_is_refused_with_both_places():
    other = resources(topic(status={"topicId": "AAAAAAAAAAAAAAAAAAAAAQ"}))

    with pytest.raises(BadInputError) as caught:
        merge([described(), other])

    text = words(caught.value)
    assert "topic_id of topic a" in text
    assert "topics.txt: line 1" in text


def test_an_unmanaged_topic_has_an_id_only():
    item = topic(
        spec={"partitions": 9, "replicas": 9, "config": {"retention.ms": 1}},
        status={"topicId": TOPIC_ID},
        annotations={"strimzi.io/managed": "false"},
    )
    source = resources(item)

    assert "configs" not in imported(LISTS, source)["topics"]["a"]
    found = notes_of(described(), source)
    assert "unmanaged topics, whose spec Strimzi ignores: a" in found
    assert "differ" not in found


def test_topics_that_the_cluster_lacks_are_noted():
    found = notes_of(described(), resources(topic("gone", spec={"partitions": 1})))

    assert "skipped, as the cluster has no such topics: gone" in found


def test_paused_unready_and_changing_topics_are_noted():
    failed = {"type": "Ready", "status": "False", "reason": "NotSupported"}
    change = {"state": "ongoing", "targetReplicas": 3, "sessionId": "8c0b"}
    found = notes_of(
        described(),
        resources(
            topic(
                annotations={"strimzi.io/pause-reconciliation": "true"},
                status={"conditions": [failed], "replicasChange": change},
            )
        ),
    )

    assert "topics whose reconciliation is paused: a" in found
    assert "KafkaTopic resources that are not ready: a (NotSupported)" in found
    assert "Cruise Control changes replication factors: a (ongoing to 3)" in found


def test_of_two_resources_of_a_topic_the_older_one_counts():
    conflict = {"type": "Ready", "status": "False", "reason": "ResourceConflict"}
    younger = topic("b", {"topicName": "a"}, {"conditions": [conflict]})

    source = resources(topic(), younger)

    assert [one.key for one in source.topics] == ["a"]
    assert "not ready: a (ResourceConflict)" in notes_of(described(), source)


def test_two_resources_of_a_topic_are_refused():
    items = [topic(), topic("b", {"topicName": "a"})]

    error = refusal(read_strimzi, json.dumps(items).encode() + b"\n")

    assert "must occur once; a" in error.problems[0].rule


def test_lists_joined_without_a_separator_are_refused():
    error = refusal(read_strimzi, KAFKA_TOPICS + KAFKA_TOPICS)

    assert "keys of a mapping must be unique" in error.problems[0].rule
    assert "---" in error.problems[0].remedy


def test_topics_of_two_clusters_are_refused():
    items = [
        topic(name, labels={"strimzi.io/cluster": cluster})
        for name, cluster in [("a", "prod"), ("b", "test")]
    ]

    error = refusal(read_strimzi, json.dumps(items).encode() + b"\n")

    assert "one cluster" in error.problems[0].rule
    assert "-l strimzi.io/cluster=NAME" in error.problems[0].remedy


@pytest.mark.parametrize(
    ("item", "place"),
    [
        pytest.param(topic("A b"), "metadata.name", id="name"),
        pytest.param(topic(spec={"topicName": "a b"}), "spec.topicName", id="topic"),
        pytest.param(topic(spec={"partitions": 0}), "spec.partitions", id="none"),
        pytest.param(topic(spec={"replicas": "many"}), "spec.replicas", id="many"),
        pytest.param(topic(spec={"config": ["x"]}), "spec.config", id="config"),
        pytest.param(topic(status={"conditions": [1]}), "conditions[0]", id="status"),
    ],
)
def test_bad_resources_are_refused_with_their_places(item, place):
    error = refusal(read_strimzi, json.dumps(item).encode() + b"\n")

    assert any(place in problem.place for problem in error.problems), words(error)
    assert all(problem.remedy for problem in error.problems)


def test_resources_alone_are_no_placement_and_the_remedy_works(capsys, tmp_path):
    given = tmp_path / "topics.yaml"
    given.write_bytes(KAFKA_TOPICS)
    words_of = ("snapshot", "import", "--strimzi", given, "-o", tmp_path / "s.json")

    alone = run(capsys, *words_of)

    assert alone.code == 2
    assert "one file must list the replicas of the partitions" in alone.err
    assert "--assignment" in alone.err
    lists = tmp_path / "now.json"
    lists.write_text('{"partitions":[{"topic":"a","partition":0,"replicas":[1,2]}]}')
    both = run(capsys, *words_of, "--assignment", lists)
    assert both.code == 0
    assert json.loads((tmp_path / "s.json").read_text())["topics"][0]["topic_id"]


def test_resources_of_a_dump_are_joined_by_fleet_ingest():
    text = DESCRIBED.format(id=TOPIC_ID, configs="")
    contents = {
        "prod/2026-11-21/topics.txt": text.encode(),
        "prod/2026-11-21/kafkatopics.yaml": KAFKA_TOPICS,
        "prod/2026-11-21/kafka.yaml": POOLS,
    }
    (dump,) = find_dumps(FoundFile(name, 1, 0) for name in contents)

    reading = read_dump(dump, contents)

    assert reading.snapshot is not None, reading.rejects
    (found,) = reading.snapshot.topics.column("topic_id").to_pylist()
    assert found == TOPIC_ID
    assert any(
        "a (1 in the KafkaTopic, 2 in" in str(one.problem) for one in reading.rejects
    )
