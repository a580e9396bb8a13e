"""Proofs as plans have them: brokers, resources and partitions by name."""

from placement.core.exact.linear import branch_and_bound
from placement.synthetic import Size, make_instance
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_document import to_document
from planner.plan.run.make_plan import make
from support.clusters import make_state

KINDS = {"flow-dual", "lambda", "milp-dual"}


def planned(state, **options):
    made = make(state, PlanRequest(goal="rebalance", **options))
    assert made.is_ok
    return to_document(made.plan)


def packed():
    """The bytes of a plan of a cluster in which two of three partitions must move."""
    state = make_state(
        [[3], [3], [3]], ids=[3, 5, 9], racks="abc", size_bytes=[4, 4, 4]
    )
    proof = planned(state, resources="disk", band=["0.75"])["certificate"]["bytes"]
    assert proof["value"] == proof["lower_bound"] == 8
    assert proof["proof"]["kind"] == "milp-dual"
    return proof


def test_rounded_rows_name_partitions_and_brokers():
    proof = packed()

    [cut] = proof["proof"]["cuts"]
    assert cut["broker"] == 3
    assert (cut["resource"], cut["side"]) == ("disk", "upper")
    assert {"t-0", "t-1", "t-2"} >= {*cut["followers"], *cut["leaders"]}
    assert [len(node["rounded"]) for node in proof["proof"]["nodes"]] == [1]


def test_cases_name_partitions_and_brokers(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "ROUNDS", 0)
    proof = packed()

    nodes = proof["proof"]["nodes"]
    branches = [node for node in nodes if "there" in node]
    assert {node["broker"] for node in branches} <= {3, 5, 9}
    assert {node["partition"] for node in branches} <= {"t-0", "t-1", "t-2"}
    assert {node["role"] for node in branches} == {"replica"}
    prices = [one for node in nodes for one in node.get("above", [])]
    assert {(one["broker"], one["resource"]) for one in prices} == {(3, "disk")}


def test_counts_of_a_cluster_are_proven_by_a_flow():
    instance = make_instance("c", Size(9, 3, 600, 16), seed=5)

    # What keeps topics spread is no part of what is proven.
    options = {"resources": "replicas", "topic_slack": 1000}
    certificate = planned(instance.state, **options)["certificate"]

    proofs = [certificate[name]["proof"] for name in ("bytes", "replicas")]
    flows = [proof for proof in proofs if proof["kind"] == "flow-dual"]
    assert len(flows) == 2
    assert [certificate[name]["gap"] for name in ("bytes", "replicas")] == [0, 0]
    ids = set(instance.state.brokers.ids.tolist())
    for side in ("above", "below"):
        prices = [one for proof in flows for one in proof[side]]
        assert {one["broker"] for one in prices} <= ids
        assert {one["resource"] for one in prices} <= {"replicas"}
