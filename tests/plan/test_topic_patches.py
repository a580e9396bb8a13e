"""Patches of KafkaTopic resources beside plans that change topics."""

import json
import os
import subprocess

import numpy as np
import pytest

import planner
from planner.api import add_partitions, rebalance, set_replication_factor
from planner.fleet.cluster_costs import _shares
from planner.snapshot import Snapshot
from planner.snapshot.importers import merge
from planner.snapshot.importers.hardware.strimzi import read_strimzi
from planner.snapshot.importers.kafka_tools.reassignment_json import read_assignment
from planner.topic_resources import TopicResource, resource_of
from support.commands import run

pytest.importorskip("yaml")

PAUSE = "strimzi.io/pause-reconciliation"
LISTS = {"a": [[1, 2], [2, 3]], "b": [[1, 2]], "c": [[3, 1]], "free": [[2, 3]]}


def resource(name, topic=None, **annotations):
    return {
        "apiVersion": "kafka.strimzi.io/v1",
        "kind": "KafkaTopic",
        "metadata": {
            "name": name,
            "namespace": "kafka",
            "annotations": {f"strimzi.io/{k}": v for k, v in annotations.items()},
        },
        "spec": {"topicName": topic or name, "replicas": 2},
    }


ITEMS = [
    resource("res-a", "a"),
    resource("b", **{"pause-reconciliation": "true"}),
    resource("c", managed="false"),
]


def snapshot(items=ITEMS):
    partitions = [
        {"topic": topic, "partition": number, "replicas": ids}
        for topic, lists in LISTS.items()
        for number, ids in enumerate(lists)
    ]
    text = json.dumps({"version": 1, "partitions": partitions})
    sources = [read_assignment(text.encode(), file="now.json")]
    if items:
        data = json.dumps({"kind": "List", "items": list(items)}).encode()
        sources.append(read_strimzi(data, file="topics.json"))
    return merge(sources).snapshot


def files_of(result, folder):
    return {
        str(path.relative_to(folder)): path.read_text() for path in result.write(folder)
    }


def test_a_snapshot_keeps_the_managed_resources_in_both_formats(tmp_path):
    made = snapshot()

    expected = {
        "a": TopicResource(namespace="kafka", name="res-a"),
        "b": TopicResource(namespace="kafka", name="b", is_paused=True),
    }
    assert made.topic_resources() == expected
    again = Snapshot.from_document(made.to_document())
    assert again.topic_resources() == expected


@pytest.mark.parametrize(
    "tag", ["", "kafka/", "kafka/a b", "kafka/$(id)", "Kafka/a", "x/kafka/a", "-n/a"]
)
def test_a_tag_that_names_no_resource_is_none(tag):
    assert resource_of({"kafka_topic": tag}) is None


def test_a_changed_factor_has_patches_for_managed_topics(tmp_path):
    result = set_replication_factor(snapshot(), 3)

    files = files_of(result, tmp_path / "p")

    assert files["kafkatopics/pause.sh"] == (
        "#!/bin/sh\nset -eu\n"
        f"kubectl annotate kafkatopic res-a -n kafka --overwrite {PAUSE}=true\n"
    )
    assert files["kafkatopics/patch.sh"] == (
        "#!/bin/sh\nset -eu\n"
        "kubectl patch kafkatopic res-a -n kafka --type merge -p "
        """'{"spec":{"replicas":3}}'\n"""
        "kubectl patch kafkatopic b -n kafka --type merge -p "
        """'{"spec":{"replicas":3}}'\n"""
        f"kubectl annotate kafkatopic res-a -n kafka {PAUSE}-\n"
    )
    assert (
        """b -n kafka --type merge -p '{"spec":{"replicas":2}}'"""
        in (files["kafkatopics/undo.sh"])
    )


def test_the_runbook_names_the_scripts_in_order(tmp_path):
    text = files_of(set_replication_factor(snapshot(), 3), tmp_path / "p")["RUNBOOK.md"]

    places = [
        text.index(part)
        for part in (
            *("sh kafkatopics/pause.sh", "--execute", "## Clean up"),
            *("sh kafkatopics/patch.sh", "--cancel", "sh kafkatopics/undo.sh"),
        )
    ]
    assert places == sorted(places)


def test_the_way_back_pauses_before_it_cancels(tmp_path):
    text = files_of(set_replication_factor(snapshot(), 3), tmp_path / "p")["RUNBOOK.md"]

    _, back = text.split("## The way back")

    places = [
        back.index(part)
        for part in ("sh kafkatopics/pause.sh", "--cancel", "sh kafkatopics/undo.sh")
    ]
    assert places == sorted(places)


def test_a_note_names_the_topics():
    result = set_replication_factor(snapshot(), 3)

    (note,) = [n for n in result.document["notes"] if n["what"] == "topic-operator"]

    assert "2 topics of this plan (a, b)" in note["message"]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: set_replication_factor(snapshot(()), 3), id="none"),
        pytest.param(lambda: rebalance(snapshot()), id="rebalance"),
        pytest.param(
            lambda: set_replication_factor(snapshot(), 3, topics="c|free"), id="others"
        ),
    ],
)
def test_other_plans_have_no_patches(make, tmp_path):
    result = make()

    assert not any("kafkatopics" in name for name in files_of(result, tmp_path / "p"))
    assert "topic-operator" not in {one["what"] for one in result.document["notes"]}


def test_the_scripts_are_commands_of_a_shell(tmp_path):
    set_replication_factor(snapshot(), 3).write(tmp_path / "p")
    kubectl = tmp_path / "bin" / "kubectl"
    kubectl.parent.mkdir()
    kubectl.write_text('#!/bin/sh\nfor word; do printf "[%s]" "$word"; done; echo\n')
    kubectl.chmod(0o755)

    done = subprocess.run(
        ["/bin/sh", "kafkatopics/patch.sh"],
        cwd=tmp_path / "p",
        env={**os.environ, "PATH": f"{kubectl.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines()[0] == (
        "[patch][kafkatopic][res-a][-n][kafka][--type][merge][-p]"
        '[{"spec":{"replicas":3}}]'
    )


def test_more_partitions_have_a_patch_after_the_plan(tmp_path):
    result = add_partitions(snapshot(), "a", 5)

    files = files_of(result, tmp_path / "p")

    assert files["kafkatopics/patch.sh"] == (
        "#!/bin/sh\nset -eu\n"
        "kubectl patch kafkatopic res-a -n kafka --type merge -p "
        """'{"spec":{"partitions":5}}'\n"""
    )
    runbook = files["RUNBOOK.md"]
    assert runbook.index("--alter") < runbook.index("sh kafkatopics/patch.sh")
    assert "topic-operator" in {one["what"] for one in result.document["notes"]}


def test_more_partitions_of_an_unmanaged_topic_have_no_patch(tmp_path):
    files = files_of(add_partitions(snapshot(), "c", 5), tmp_path / "p")

    assert "kafkatopics/patch.sh" not in files
    assert "kafkatopics" not in files["RUNBOOK.md"]


@pytest.mark.parametrize(
    "words",
    [
        ("set-replication-factor", "--replication-factor", "3"),
        ("add-partitions", "--topic", "a", "--partitions", "5"),
    ],
)
def test_the_screen_says_what_to_run(words, capsys, tmp_path):
    goal, *options = words
    planner.write_snapshot(snapshot(), tmp_path / "s.json")

    outcome = run(
        capsys, "plan", goal, tmp_path / "s.json", *options, "-o", tmp_path / "p"
    )

    assert outcome.code == 0, outcome.err
    assert "kafkatopics/patch.sh" in " ".join(outcome.out.split())


def test_costs_are_not_shared_out_by_resource():
    topics = snapshot().topics

    shares = _shares(np.ones(topics.num_rows), topics, {"env": "prod"})

    assert [name for name, _ in shares["cost_by_tag"]] == ["env=prod"]
