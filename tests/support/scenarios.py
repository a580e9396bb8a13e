"""Scenarios for small clusters, as a file would say them."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from placement.cluster_changes.replica_filling import open_brokers
from placement.cluster_changes.variant import Variant, variant_of
from placement.draft.draft import DEFAULT_THRESHOLDS
from placement.failures.controller_decision import ElectionRules
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES
from placement.model.targets import DEFAULT_BAND
from placement.scenarios.scenario_figures import Assumptions
from planner.snapshot import Snapshot
from planner.what_if.changes.change_context import Changer, Context
from planner.what_if.changes.change_registry import make_change
from planner.what_if.changes.scenario_names import NameReader
from planner.what_if.changes.scenario_records import ScenariosRecord, ScenarioTypeRecord


def usual_assumptions() -> Assumptions:
    """Return the default bands and thresholds of plans, growth unknown."""
    return Assumptions(
        bands=dict.fromkeys(RESOURCES, DEFAULT_BAND), thresholds=DEFAULT_THRESHOLDS
    )


def changed(
    state: ClusterState,
    *changes: dict[str, Any],
    growth: Any = None,
    types: Any = (),
    **configs: str,
) -> Variant:
    """Return a cluster after changes, none of which may be refused."""
    document = {"scenarios": [{"name": "s", "changes": list(changes)}]}
    record = ScenariosRecord.model_validate(document).scenarios[0]
    names = NameReader("file")
    given = [ScenarioTypeRecord.model_validate(each) for each in types]
    context = Context(
        configs=configs,
        rules=ElectionRules(),
        growth=growth,
        types={each.name: each for each in given},
    )
    changer, variant = Changer(names, context), variant_of(state)
    for at, change in enumerate(record.changes):
        variant = make_change(changer, variant, change, f"changes[{at}]")
    assert names.problems == []
    return variant


def document_of(*scenarios: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"scenarios": list(scenarios)} | more


def scenario(name: str, *changes: dict[str, Any], then: str = "rebalance") -> Any:
    return {"name": name, "then": then, "changes": list(changes)}


def snapshot_of(state: ClusterState) -> Snapshot:
    """Return the snapshot of a cluster, written and read as a file's document."""
    return Snapshot.from_document(Snapshot.from_state(state).to_document())


def ids_of(state: ClusterState) -> list[int]:
    return [int(b) for b in state.brokers.ids]


@st.composite
def change_lists(draw: Any, state: ClusterState) -> list[dict[str, Any]]:
    """Draw up to three changes that a cluster takes, whatever the others are."""
    live = [int(b) for b in state.brokers.ids[open_brokers(state, frozenset())]]
    factors = st.sampled_from([0.5, 1.0, 1.5, 3.0])
    kinds = [
        factors.map(lambda f: {"change": "traffic", "factor": f}),
        factors.map(lambda f: {"change": "grow", "factor": f}),
        st.integers(1, 3).map(lambda n: {"change": "add-brokers", "count": n}),
        st.sampled_from(["a", "d"]).map(
            lambda rack: {"change": "add-brokers", "count": 1, "rack": rack}
        ),
        factors.map(lambda f: {"change": "resize-brokers", "disk_factor": f}),
        factors.map(lambda f: {"change": "retention", "factor": f}),
        factors.map(lambda f: {"change": "consumers", "factor": f}),
    ]
    if len(live) < 2:
        return draw(st.lists(st.one_of(kinds), max_size=3, unique_by=_kind))
    kinds += [
        st.integers(1, min(3, max(len(live) - 2, 1))).map(
            lambda n: {"change": "replication-factor", "factor": n}
        ),
        st.sampled_from([1.0, 2.0]).map(
            lambda f: {"change": "partitions", "factor": f}
        ),
        st.integers(1, 3).map(
            lambda n: {
                "change": "new-topic",
                "name": "a-new",
                "partitions": n,
                "replication_factor": 1,
                "writes": 10.0,
                "reads": 20.0,
                "size": 30,
            }
        ),
        st.just({"change": "tier", "local": "1d"}),
        st.sampled_from(live).map(
            lambda b: {"change": "replace-brokers", "brokers": [b], "with": [90]}
        ),
        st.sampled_from(live).map(lambda b: {"change": "lose", "brokers": [b]}),
        st.sampled_from(live).map(
            lambda b: {"change": "remove-brokers", "brokers": [b]}
        ),
    ]
    drawn = draw(st.lists(st.one_of(kinds), max_size=3, unique_by=_kind))
    # One broker must be left, whichever goes first; none is named once it is replaced.
    taken = {c["change"] for c in drawn} & {"lose", "remove-brokers", "replace-brokers"}
    is_fine = len(taken) < 2 or (len(live) > 3 and "replace-brokers" not in taken)
    return drawn if is_fine else drawn[:1]


def _kind(change: dict[str, Any]) -> str:
    return str(change["change"])


def total_bytes(state: ClusterState) -> int:
    size = np.maximum(state.partitions.size_bytes, 0)
    return int((size * state.num_replicas).sum())
