"""When a threshold is passed, against looking at every day."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.cluster_changes.variant import variant_of
from placement.demand.topic_growth import (
    HORIZON_DAYS,
    Growth,
    crossings,
    growth_of_trends,
    steady_growth,
)
from placement.model.load import RESOURCES, Resource, broker_loads, weigh
from placement.scenarios.scenario_figures import figures_of
from placement.sizing.capacity_horizon import on_day
from support.clusters import Dir, make_state
from support.scenarios import usual_assumptions

THRESHOLDS = {Resource.DISK: 0.8, Resource.OUT: 0.8}
EVERYBODY = np.ones(3, dtype=np.bool_)


def cluster(**more: Any) -> Any:
    columns = {
        "racks": "abc",
        "size_bytes": [100, 100],
        "in_rate": 10.0,
        "out_rate": 10.0,
        "disk_bytes": [1000, 1000, 500],
        "broker_out": 1000.0,
    }
    return make_state({"a": [[0, 1]], "b": [[1, 2]]}, **{**columns, **more})


def test_the_fullest_broker_is_first_by_linear_growth():
    growth = steady_growth(2, linear_per_day=0.1)

    found = crossings(cluster(), growth, THRESHOLDS, EVERYBODY)

    # Broker 1 has 200 of 1000, broker 2 has 100 of 500: both pass 80 % at 4 times.
    assert (found[0].resource, found[0].broker_id) == (Resource.DISK, 1)
    assert found[0].days == pytest.approx(30.0)


def test_compound_growth_doubles_and_doubles():
    growth = steady_growth(2, compound_per_day=np.log(2))

    found = crossings(cluster(), growth, THRESHOLDS, EVERYBODY)

    assert found[0].days == pytest.approx(2.0)
    out = next(each for each in found if each.resource is Resource.OUT)
    assert out.days == pytest.approx(np.log2(800 / 20))


def test_by_topic_the_one_that_grows_decides():
    growth = growth_of_trends(cluster(), {"b": 10.0})

    found = crossings(cluster(), growth, THRESHOLDS, EVERYBODY)

    assert (found[0].broker_id, found[0].resource) == (2, Resource.DISK)
    assert found[0].days == pytest.approx(30.0)
    # Traffic does not grow with bytes on disk.
    assert all(each.resource is Resource.DISK for each in found)


def test_what_is_over_already_is_over_today():
    found = crossings(cluster(disk_bytes=100), steady_growth(2), THRESHOLDS, EVERYBODY)

    assert found[0].days == 0.0


def test_what_does_not_grow_lasts():
    assert crossings(cluster(), steady_growth(2), THRESHOLDS, EVERYBODY) == []


@settings(max_examples=30)
@given(st.data())
def test_no_day_before_is_over_and_the_day_itself_is(data: Any):
    rates = st.floats(-0.02, 0.05).map(lambda x: round(x, 4))
    growth = Growth(
        compound_per_day=np.array([data.draw(rates) for _ in "ab"]),
        linear_per_day=np.array([data.draw(rates) for _ in "ab"]),
        disk_per_day=np.array([data.draw(rates) for _ in "ab"]),
    )
    state = cluster(size_bytes=[data.draw(st.integers(1, 10**6)) for _ in "ab"])
    state = state.with_brokers(disk_bytes=np.array([10**7, 10**7, 10**6]))

    found = crossings(state, growth, THRESHOLDS, EVERYBODY)

    def is_over(days: float, resource: Resource) -> bool:
        later = on_day(variant_of(state), growth, days).state
        load = broker_loads(later, weigh(later), later.partitions.leader_idx)
        r = RESOURCES.index(resource)
        unit = {Resource.OUT: 1000}.get(resource, 1)
        capacity = {
            Resource.DISK: later.brokers.disk_bytes,
            Resource.OUT: later.brokers.out_bytes_per_s,
        }[resource]
        return bool((load[:, r] / unit > 0.8 * capacity).any())

    told = {each.resource: each.days for each in found}
    for resource in (Resource.DISK, Resource.OUT):
        day = told.get(resource, HORIZON_DAYS)
        # A day's margin: sizes and rates are rounded on the way.
        for part in (0.25, 0.5, 0.9):
            assert not is_over(part * max(day - 1, 0), resource) or day == 0.0
        if resource in told and day < HORIZON_DAYS - 2:
            assert is_over(day + 1, resource) or is_over(day * 1.01 + 1, resource)


def with_log_dirs(first: str | None, **more: Any) -> Any:
    """Return the cluster with two log dirs on broker 1, whose disk is half of each."""
    return cluster(
        disk_bytes=1000,
        log_dirs={1: [Dir("/d1", 500, **more), Dir("/d2", 500, **more)]},
        dirs=[[None, first], [first, None]],
    )


def test_a_log_dir_that_fills_before_its_broker_is_first():
    growth = steady_growth(2, linear_per_day=0.1)

    found = crossings(with_log_dirs("/d1"), growth, THRESHOLDS, EVERYBODY)

    # Log dir 1:/d1 has 200 of 500, so it passes 400 when both have doubled.
    assert (found[0].broker_id, found[0].log_dir) == (1, "/d1")
    assert found[0].days == pytest.approx(10.0)
    assert [one.resource for one in found].count(Resource.DISK) == 1


def test_bytes_besides_replicas_fill_a_log_dir_and_do_not_grow():
    growth = steady_growth(2, linear_per_day=0.1)

    # 100 bytes are neither free nor of replicas, so 200 may become 300.
    found = crossings(
        with_log_dirs("/d1", usable_bytes=200), growth, THRESHOLDS, EVERYBODY
    )

    assert (found[0].log_dir, found[0].days) == ("/d1", pytest.approx(5.0))


def test_replicas_in_unknown_log_dirs_fill_the_broker_alone():
    growth = steady_growth(2, linear_per_day=0.1)

    found = crossings(with_log_dirs(None), growth, THRESHOLDS, EVERYBODY)

    assert (found[0].broker_id, found[0].log_dir) == (1, None)
    assert found[0].days == pytest.approx(30.0)


def test_a_full_log_dir_counts_its_broker_as_over_a_threshold():
    state = cluster(
        disk_bytes=1000,
        log_dirs={1: [Dir("/d1", 200), Dir("/d2", 800)]},
        dirs=[[None, "/d1"], ["/d1", None]],
    )
    assumptions = replace(usual_assumptions(), growth=steady_growth(2))

    found = figures_of(state, assumptions)

    assert (found.num_over, found.full_dirs.tolist()) == (1, [0])
    assert found.use[Resource.DISK].over == 0
    assert found.crossings is not None
    assert (found.crossings[0].log_dir, found.crossings[0].days) == ("/d1", 0.0)
