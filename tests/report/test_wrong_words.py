"""Violations before and after a plan, worded alike on the screen, page and in files."""

import json
from pathlib import Path

import pytest

from placement.model.cluster import BrokerState
from planner.options.plan_request import PlanRequest
from planner.plan.folder.plan_folder import plan_files
from planner.plan.run.make_plan import make
from planner.plan.screen.plan_screen import plan_screen
from planner.report.pages.plan_folder_facts import facts_of
from planner.report.pages.plan_page import verdict_lines
from planner.report.pages.wrong_words import NOT_KNOWN
from planner.text.format import LABEL_WIDTH
from support.clusters import Dir, make_state

EMPTY = {"lists": [[0, 1], [1, 0]], "racks": "abc", "ids": [0, 1, 2]}
FULL_DIR = {
    "lists": [[0, 1]],
    "racks": "ab",
    "size_bytes": 81,
    "log_dirs": {
        0: [Dir("/a", 100, 19), Dir("/b", 900, 900)],
        1: [Dir("/a", 1000, 919)],
    },
    "dirs": [["/a", "/a"]],
}
CROWDED = {"lists": [[0, 1]], "racks": "ab", "max_replicas": [0, 1]}
DEAD = {
    "lists": [[0, 1]],
    "racks": "ab",
    "states": {1: BrokerState.DEAD},
    "leaders": [0],
}
SICK = {
    "empty brokers": (EMPTY, "1 broker empty"),
    "a full log dir": (FULL_DIR, "log dir 0:/a over the 80 % disk threshold"),
    "max_replicas": (CROWDED, "broker 0 over max_replicas"),
    "a dead broker": (DEAD, "1 replica offline; broker 1 dead"),
}


def planned(cluster, goal="rebalance", **options):
    state = make_state(
        cluster["lists"], **{k: cluster[k] for k in cluster if k != "lists"}
    )
    return make(state, PlanRequest(goal=goal, effort="quick", **options))


def texts_of(made):
    return dict(plan_files(made.plan))


def page_lines(texts):
    return dict(verdict_lines(facts_of(texts, Path("plan"))))


def screen_text(lines, label):
    """Return the text below a label of a screen, in one line; empty without it."""
    found, is_in = [], False
    for line in lines:
        head, text = line[:LABEL_WIDTH], line[LABEL_WIDTH:]
        is_in = head.rstrip() == label or (is_in and not head.strip())
        if is_in:
            found.append(text.strip())
    return " ".join(found)


@pytest.mark.parametrize("name", SICK)
def test_a_page_names_every_trouble_that_the_screen_names(name):
    cluster, trouble = SICK[name]
    made = planned(cluster)

    shown = list(plan_screen(made))
    found = page_lines(texts_of(made))

    assert trouble in found["wrong before"]
    assert found["wrong before"] == screen_text(shown, "Wrong")
    assert found.get("as before", "") == screen_text(shown, " as before")


def test_new_troubles_are_apart_from_those_of_before():
    cluster = {"lists": [[0, 1], [0, 2]], "racks": "aabb"}
    options = {"broker_list": "2", "destination_broker_list": "1", "soft": ["rack"]}
    made = planned(cluster, "remove-brokers", **options)

    found = page_lines(texts_of(made))

    assert found["wrong after"] == "1 partition breaks the rack rule"
    assert found["as before"] == "1 partition breaks the rack rule"


def test_where_nothing_new_is_wrong_the_page_says_what_is_as_before():
    made = planned(DEAD)

    found = page_lines(texts_of(made))

    assert found["wrong after"] == "nothing new"
    assert found["as before"].startswith("1 replica offline")


def test_new_partitions_are_no_part_of_what_is_wrong_before():
    cluster = EMPTY | {"states": {2: BrokerState.DEAD}, "max_replicas": [1, 9, 9]}
    options = {"topic": "new", "partitions": 2, "replication_factor": 2}
    made = planned(cluster, "new-topic", **options)

    found = page_lines(texts_of(made))

    assert found["wrong before"] == (
        "broker 0 over max_replicas; broker 2 dead. Racks ok, 0 offline."
    )


def test_a_plan_of_an_older_version_has_a_report_that_says_what_is_not_known():
    texts = texts_of(planned(EMPTY | {"size_bytes": 85, "disk_bytes": 100}))
    document = json.loads(texts["plan.json"])
    del document["summary"]

    found = page_lines(texts | {"plan.json": json.dumps(document)})

    over = "brokers 0-1 over the 80 % disk threshold"
    assert found["wrong before"] == f"{over}. {NOT_KNOWN}"
    assert found["wrong after"].endswith(f". {NOT_KNOWN}")


def test_an_older_plan_with_nothing_to_count_is_not_said_to_be_fine():
    texts = texts_of(planned(EMPTY))
    document = json.loads(texts["plan.json"])
    del document["summary"]

    found = page_lines(texts | {"plan.json": json.dumps(document)})

    assert found["wrong before"] == f"nothing known. {NOT_KNOWN}"
