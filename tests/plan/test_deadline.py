"""Plans by a time, and disks that what leaves still fills."""

import numpy as np
import pytest
from hypothesis import given, settings

from placement.model.load import RESOURCES, Resource, broker_loads
from planner.errors import BadInputError
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from support.clusters import clusters
from support.plans import planned_for, skewed_document

DOCUMENT = skewed_document(num_brokers=8, num_partitions=60, seed=1)
DISK = RESOURCES.index(Resource.DISK)


def notes_of(planned) -> list[str]:
    return [note.what for note in planned.plan.placed.notes]


def test_a_plan_that_was_cut_says_so_and_keeps_the_rules():
    planned = planned_for(DOCUMENT, "rebalance", deadline=1e-6)

    assert planned.is_ok
    assert "cut" in notes_of(planned)
    assert planned.plan.settings["deadline"] == 1e-6


@pytest.mark.not_quick
def test_a_plan_that_had_time_is_not_cut():
    planned = planned_for(DOCUMENT, "rebalance", deadline=3600.0)

    assert "cut" not in notes_of(planned)
    assert planned.plan.placed.solution.certificate.deviation.value == 0


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(seconds: float):
    with pytest.raises(BadInputError) as refused:
        planned_for(DOCUMENT, "rebalance", deadline=seconds)

    assert [problem.place for problem in refused.value.problems] == ["--deadline"]


@pytest.mark.slow
@settings(max_examples=60)
@given(clusters(all_live=True, all_known=True))
def test_disks_hold_all_copies_at_once_where_that_is_asked_for(state):
    request = PlanRequest(goal="rebalance", effort="quick", transient_disk=True)

    planned = make(state, request)

    placed = planned.plan.placed
    weights, reassignment = placed.draft.weights, placed.reassignment
    held = broker_loads(state, weights, state.partitions.leader_idx)[:, DISK]
    arriving = np.zeros(state.num_brokers, dtype=np.int64)
    copied = np.nonzero(reassignment.is_copied)[0]
    of = state.replicas.partition_idx[copied]
    np.add.at(arriving, reassignment.broker_idx[copied], weights.replica[of, DISK])
    most = 0.8 * state.brokers.disk_bytes
    is_known = state.brokers.disk_bytes > 0
    is_filled = (arriving > 0) & is_known & placed.has_met_rules
    assert (held + arriving <= most)[is_filled].all()


@pytest.mark.parametrize(("is_transient", "copies"), [(True, 0), (False, 2)])
def test_two_full_disks_cannot_change_places(is_transient: bool, copies: int):
    # Of 10 bytes 8 may be used, and are; an exchange would even out what comes in.
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [{"id": b, "disk_bytes": 10, "in_bytes_per_s": 10} for b in (1, 2)],
        "topics": [
            {
                "name": "t",
                "partitions": [
                    {
                        "partition": p,
                        "replicas": [broker],
                        "size_bytes": size,
                        "in_bytes_per_s": rate,
                    }
                    for p, (broker, size, rate) in enumerate(
                        [(1, 4, 3.0), (1, 4, 3.0), (2, 4, 1.0), (2, 4, 1.0)]
                    )
                ],
            }
        ],
    }

    planned = planned_for(
        document,
        "rebalance",
        resources="disk,in",
        transient_disk=is_transient,
    )

    assert planned.plan.moves["replicas"] == copies
    assert planned.is_ok
