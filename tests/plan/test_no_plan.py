"""Where no plan exists: the proof, what is short, what helps, and the best of it."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.core.bounds.overfull_sets import BIN
from placement.core.model.problem import NO_LIMIT
from placement.core.model.solution import MET, Shortfall, Status
from placement.draft.draft import Settings
from placement.model.cluster import BrokerState
from placement.model.load import Resource, loads_of
from placement.operations.fix import Fix
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.planning.infeasibility.infeasible_rules import (
    _bare_problem,
    explain_impossible,
)
from placement.planning.infeasibility.remedy import Asked, applied
from placement.planning.plan import make_draft, plan
from planner.demo import SNAPSHOT_FILE
from planner.plan.documents.plan_document import shortfall_document, to_document
from support.clusters import make_state
from support.oracles import everything, usable_capacity
from support.plans import planned_for
from support.profile import sampled

Document = dict[str, Any]
GB = 10**9
DONE = {"optimal", "feasible", "nothing-to-do"}


def cluster(
    brokers: list[Document], lists: dict[str, list[list[int]]], sizes: dict[str, int]
) -> Document:
    """Return a snapshot; partitions of a topic are of one size."""
    return {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "t",
        "taken_at": "2026-11-25T08:00:00Z",
        "brokers": brokers,
        "topics": [
            {
                "name": name,
                "partitions": [
                    {"partition": n, "replicas": row, "size_bytes": sizes[name]}
                    for n, row in enumerate(rows)
                ],
            }
            for name, rows in lists.items()
        ],
    }


def broker(number: int, disk: int | None = None, rack: str = "", **more: Any):
    given = {"id": number, **more}
    if disk is not None:
        given["disk_bytes"] = disk * GB
    if rack:
        given["rack"] = rack
    return given


# A dead broker of rack c; the other one has no room for its five replicas.
LOST = cluster(
    [broker(1, 1000, "a"), broker(2, 1000, "a"), broker(3, 1000, "b"),
     broker(4, 1000, "b"), broker(5, 300, "c"), broker(6, 1000, "c", state="dead")],
    {"x": [[1, 3, 5], [2, 4, 6]] * 5}, {"x": 50 * GB},
)  # fmt: skip
FEW = cluster(
    [broker(1), broker(2), broker(3, state="dead")],
    {"x": [[1, 2, 3]] * 4}, {"x": GB},
)  # fmt: skip
# Three brokers at 105 % of their disks, of which 90 % is one replica.
FULL = cluster(
    [broker(n, 100, "abc"[n % 3]) for n in range(6)],
    {"x": [[0, 1, 2]], "y": [[n % 6, (n + 1) % 6, (n + 2) % 6] for n in range(30)]},
    {"x": 90 * GB, "y": GB},
)
PIECES = cluster(
    [*(broker(n, 100) for n in (1, 2, 3, 4)), broker(9, 300)],
    {"x": [[9]] * 5}, {"x": 50 * GB},
)  # fmt: skip
# 50, 40, 40 and 40 go into two disks of 85 by sum and by pairs, and not together.
PACKING = cluster(
    [broker(1, 100), broker(2, 100), broker(9, 300)],
    {"w": [[9]], "x": [[9]] * 3}, {"w": 45 * GB, "x": 36 * GB},
)  # fmt: skip
DEMO: Document = json.loads(gzip.decompress(Path(SNAPSHOT_FILE).read_bytes()))

CASES = [
    pytest.param(LOST, "fix", {}, "Broker 5 alone remains in rack c", id="rack"),
    pytest.param(FEW, "fix", {}, "needs 3 places on brokers, 2 can be had", id="few"),
    pytest.param(FULL, "rebalance", {}, "x-0 takes 90 GB of disk", id="large"),
    pytest.param(
        PIECES, "remove-brokers", {"broker_list": "9"}, "5 replicas of 50 GB",
        id="pieces",
    ),
    pytest.param(
        PACKING, "remove-brokers", {"broker_list": "9"}, "an exact search",
        id="packing",
    ),
    pytest.param(
        DEMO, "remove-brokers", {"broker_list": "1,4,7"},
        "Broker 10 alone remains in rack a: it would have to hold 1.80 TB of disk and "
        "may hold 0.80 TB. Add a broker with 1.38 TB of disk", id="demo",
    ),
]  # fmt: skip


COLUMNS = {
    "disk": "disk_bytes",
    "in": "in_bytes_per_s",
    "out": "out_bytes_per_s",
    "cpu": "cpu_cores",
}


def add_brokers(document: Document, suggestion: Document) -> None:
    for rack in suggestion["racks"]:
        number = max(each["id"] for each in document["brokers"]) + 1
        new = {"id": number} | ({} if rack is None else {"rack": rack})
        for resource, value in suggestion.get("capacities", {}).items():
            new[COLUMNS[resource]] = int(value) if resource == "disk" else value
        document["brokers"].append(new)


def start_brokers(document: Document, suggestion: Document) -> None:
    for each in document["brokers"]:
        if each["id"] in suggestion["brokers"]:
            each["state"] = "alive"


def changed(
    document: Document, options: Document, suggestion: Document
) -> tuple[Document, Document]:
    """Do what a suggestion says, by hand: to the snapshot, or to the options."""
    document, what = copy.deepcopy(document), suggestion["what"]
    by_hand = {"add-brokers": add_brokers, "start-brokers": start_brokers}
    if what in by_hand:
        by_hand[what](document, suggestion)
        return document, options
    if what == "keep-brokers":
        named = options["broker_list"].split(",")
        left = [one for one in named if int(one) not in suggestion["brokers"]]
        return document, options | {"broker_list": ",".join(left)}
    if what == "soft":
        return document, options | {"soft": (suggestion["rule"],)}
    assert what == "raise"
    resource = suggestion["rule"].removeprefix("capacity-")
    raised = (f"{resource}={suggestion['value']:g}",)
    return document, options | {"capacity_threshold": raised}


@pytest.mark.slow
@pytest.mark.parametrize(("document", "goal", "options", "words"), sampled(CASES))
def test_no_plan_exists_and_each_suggestion_makes_one(document, goal, options, words):
    made = planned_for(document, goal, **options)
    found = to_document(made.plan)

    assert made.is_ok
    assert found["status"] == "infeasible"
    message = found["shortfalls"][0]["message"]
    assert words in message
    assert found["reason"]["is_proven"]
    suggestions = found["reason"]["suggestions"]
    assert suggestions
    for suggestion in suggestions:
        other, chosen = changed(document, options, suggestion)
        again = planned_for(other, goal, **chosen)
        assert again.is_ok
        assert to_document(again.plan)["status"] in DONE, suggestion
        assert suggestion["message"][1:] in message


@pytest.mark.not_quick
def test_full_disks_are_emptied_as_far_as_can_be():
    made = planned_for(FULL)

    load, _ = loads_of(made.plan.placed.reassignment.after())

    # The large replica has no other place; the 15 GB beside it have.
    assert load[:3, 0].tolist() == [90 * GB] * 3
    assert (load[3:, 0] <= 80 * GB).all()


@st.composite
def asked(draw):
    """Draw a small cluster, an operation and hard rules, of all kinds."""
    count = draw(st.integers(2, 4))
    racks = "".join(draw(st.sampled_from("ab")) for _ in range(count))
    lists = draw(
        st.lists(
            st.permutations(range(count)).flatmap(
                lambda row: st.integers(1, min(3, len(row))).map(lambda n: row[:n])
            ),
            min_size=1,
            max_size=4,
        )
    )
    dead = {b: BrokerState.DEAD for b in range(count) if draw(st.integers(0, 5)) == 5}
    sizes = [draw(st.integers(1, 9)) for _ in lists]
    state = make_state(
        lists, racks=racks, ids=range(count), states=dead, size_bytes=sizes,
        disk_bytes=[draw(st.integers(4, 30)) for _ in range(count)],
        isr=lists,
    )  # fmt: skip
    operation = draw(
        st.sampled_from(
            [Rebalance(), Fix(), RemoveBrokers((0,)), RemoveBrokers((0, 1))]
        )
    )
    chosen = Settings(
        is_rack_strict=draw(st.booleans()),
        is_disk_transient=draw(st.booleans()),
        frees_the_rest=draw(st.booleans()),
        max_replicas=draw(st.sampled_from([None, None, 2])),
        max_moves=draw(st.sampled_from([None, None, 1])),
        excluded_for_replicas=draw(st.sampled_from([frozenset(), frozenset({1})])),
        excluded_for_leaders=draw(st.sampled_from([frozenset(), frozenset({1})])),
        effort="quick",
    )
    return state, operation, chosen


@settings(max_examples=80, deadline=None)
@given(asked())
def test_infeasible_iff_brute_force_finds_nothing(drawn):
    state, operation, chosen = drawn
    problem = _bare_problem(make_draft(state, operation, chosen))
    capacity = usable_capacity(problem)
    anything = np.full_like(capacity, NO_LIMIT)
    every = everything(problem).within(-anything, anything, capacity)
    is_possible = every.fewest_moves <= problem.max_moves

    found = plan(state, operation, chosen).solution

    # Nothing can be copied from replicas that are all dead, wherever there is room.
    is_possible &= bool(state.has_source.all())
    # What an operation leaves alone by itself is no matter of the search.
    if found.status is not Status.PARTIAL or is_possible:
        assert (found.status in MET) == is_possible


@pytest.mark.not_quick
@settings(max_examples=40, deadline=None)
@given(asked())
def test_every_suggestion_makes_a_plan(drawn):
    state, operation, chosen = drawn
    found = plan(state, operation, chosen)
    infeasible_set = explain_impossible(operation, chosen, found)
    given_ = Asked(state=state, operation=operation, settings=chosen)

    for remedy in () if infeasible_set is None else infeasible_set.remedies:
        other = applied(remedy, given_)
        again = plan(other.state, other.operation, other.settings)
        assert again.solution.status in MET, remedy


@pytest.mark.not_quick
def test_thresholds_that_are_raised_are_of_the_resource_that_is_short():
    made = planned_for(FULL)
    infeasible_set = made.plan.infeasible_set

    raised = [one for one in infeasible_set.remedies if one.what == "raise"]

    assert [(one.rule, one.value) for one in raised] == [("capacity-disk", 0.9)]
    assert Resource.DISK in made.plan.placed.draft.settings.capacity_thresholds


def test_a_threshold_is_raised_no_further_than_a_plan_needs():
    brokers = [{"id": b, "disk_bytes": 100 * GB} for b in (1, 2)]
    document = cluster(brokers, {"t": [[1], [2]] * 4}, {"t": 13 * GB})

    made = planned_for(document, capacity_threshold=("disk=0.5",))

    raised = [one for one in made.plan.infeasible_set.remedies if one.what == "raise"]
    assert [(one.rule, one.value) for one in raised] == [("capacity-disk", 0.55)]


def test_a_broker_that_alone_must_hold_too_much_is_named_as_a_broker():
    # Rows of brokers are none of racks: there are fewer racks.
    placed = plan(make_state([[3], [7]], racks="aa", ids=[3, 7]), Rebalance())
    lacks = Shortfall(
        what="capacity", have=8, need=9, node=1, level=BIN, resource="disk",
        is_proven=True,
    )  # fmt: skip

    document = shortfall_document(placed, lacks)

    assert document["where"] == {"broker": 7, "resource": "disk"}
    assert document["message"].startswith("Broker 7 would have to hold")
