"""Each change of a scenario on small clusters, and what all of them keep."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement.cluster_changes.variant import Data
from placement.model.cluster import ABSENT, UNKNOWN, BrokerState, LogDirState, Storage
from placement.model.disk_bytes import fixed_disk_bytes
from placement.model.load import RESOURCES, Resource, broker_loads, weigh
from support.clusters import Dir, clusters, make_state
from support.naive import naive_loads, replicas_of
from support.scenarios import change_lists, changed, ids_of

DAY_MS = 86_400_000


def small(**more: Any) -> Any:
    """Four brokers in three racks, one topic of two partitions on three of them."""
    columns = {
        "racks": "abca",
        "disk_bytes": 1000,
        "broker_in": 100.0,
        "broker_out": 200.0,
        "size_bytes": [100, 50],
        "in_rate": [10.0, 20.0],
        "out_rate": [30.0, 40.0],
        "leader_cpu": 2.0,
        "follower_cpu": 1.0,
    }
    return make_state([[0, 1, 2], [1, 2, 3]], **{**columns, **more})


def test_added_brokers_are_like_another_and_stand_where_fewest_are():
    variant = changed(small(), {"change": "add-brokers", "count": 2, "like": 1})

    brokers = variant.state.brokers
    assert ids_of(variant.state) == [0, 1, 2, 3, 4, 5]
    assert [brokers.racks[k] for k in brokers.rack_idx] == list("abcabc")
    assert brokers.disk_bytes.tolist() == [1000] * 6
    assert brokers.state.tolist()[4:] == [BrokerState.NEW] * 2


def test_an_id_in_the_middle_keeps_every_replica_where_it_was():
    state = make_state([[0, 9], [9, 4]], ids=[0, 4, 9], racks="abc", leaders=[9, 4])

    variant = changed(state, {"change": "add-brokers", "ids": "2,12", "rack": "z"})

    after = variant.state
    assert ids_of(after) == [0, 2, 4, 9, 12]
    assert [after.brokers_of(p) for p in (0, 1)] == [[0, 9], [9, 4]]
    assert after.brokers.ids[after.partitions.leader_idx].tolist() == [9, 4]
    assert after.brokers.racks == ("a", "b", "c", "z")


def test_resized_disks_keep_their_dirs_in_proportion():
    state = make_state(
        [[0]],
        log_dirs={0: [Dir("/d1", 600, 100), Dir("/d2", 400, 400)]},
        disk_bytes=1000,
        dirs=[["/d1"]],
        size_bytes=450,
    )

    variant = changed(state, {"change": "resize-brokers", "disk": 2000})

    dirs = variant.state.log_dirs
    assert variant.state.brokers.disk_bytes.tolist() == [2000]
    assert dirs.size_bytes.tolist() == [1200, 800]
    assert dirs.usable_bytes.tolist() == [700, 800]
    assert fixed_disk_bytes(variant.state).tolist() == [50]


@pytest.mark.parametrize(
    ("change", "capacities"),
    [
        pytest.param({"network_factor": 2.0}, (1000, 200.0, 400.0), id="network"),
        pytest.param({"disk_factor": 0.5}, (500, 100.0, 200.0), id="disk"),
        pytest.param({"network_in": "1kB/s"}, (1000, 1000.0, 200.0), id="absolute"),
    ],
)
def test_resized_brokers(change: dict[str, Any], capacities: tuple[float, ...]):
    resize = {"change": "resize-brokers", "brokers": "1", **change}

    brokers = changed(small(), resize).state.brokers

    found = (brokers.disk_bytes[1], brokers.in_bytes_per_s[1])
    assert (*found, brokers.out_bytes_per_s[1]) == capacities
    assert brokers.disk_bytes[0] == 1000


def test_a_replaced_broker_copies_all_that_was_there():
    replace = {"change": "replace-brokers", "brokers": "1", "with": "7", "disk": 5000}

    variant = changed(small(), replace)

    assert ids_of(variant.state) == [0, 2, 3, 7]
    assert [variant.state.brokers_of(p) for p in (0, 1)] == [[0, 7, 2], [7, 2, 3]]
    copied = np.equal(variant.data, Data.COPIED)
    assert copied.tolist() == [False, True, False, True, False, False]
    assert variant.state.brokers.disk_bytes.tolist() == [1000, 1000, 1000, 5000]


def test_a_rack_that_is_removed_is_emptied():
    variant = changed(small(), {"change": "remove-brokers", "racks": ["a"]})

    assert variant.leaving == {0, 3}
    assert variant.lost_brokers == frozenset()


def test_a_lost_rack_changes_leaders_and_empties_nothing():
    variant = changed(small(), {"change": "lose", "racks": ["a"]})

    state = variant.state
    assert state.brokers.state.tolist() == [5, 0, 0, 5]
    assert state.brokers.ids[state.partitions.leader_idx].tolist() == [1, 1]
    assert variant.lost_brokers == {0, 3}
    assert [state.brokers_of(p) for p in (0, 1)] == [[0, 1, 2], [1, 2, 3]]


def test_a_lost_log_dir_shrinks_its_disk():
    state = make_state(
        [[0, 1]],
        log_dirs={b: [Dir("/d1", 600), Dir("/d2", 400)] for b in (0, 1)},
        disk_bytes=1000,
        dirs=[["/d1", "/d1"]],
        size_bytes=10,
    )

    after = changed(state, {"change": "lose", "log_dirs": ["0:/d1"]}).state

    assert after.brokers.disk_bytes.tolist() == [400, 1000]
    assert after.log_dirs.state[0] == LogDirState.OFFLINE
    assert after.partitions.leader_idx.tolist() == [1]


def test_a_broker_is_lost_with_its_last_log_dir():
    state = make_state(
        [[0, 1]],
        log_dirs={b: [Dir("/d1", 600), Dir("/d2", 400)] for b in (0, 1)},
        disk_bytes=1000,
    )
    lose = {"change": "lose", "log_dirs": ["0:/d1"]}

    one = changed(state, lose)
    both = changed(state, lose, {"change": "lose", "log_dirs": ["0:/d2"]})

    # Where its replica lies nobody told: it goes with the broker.
    assert one.lost_brokers == frozenset()
    assert one.state.partitions.leader_idx.tolist() == [0]
    assert both.lost_brokers == {0}
    assert both.state.brokers.state[0] == BrokerState.DEAD
    assert both.state.partitions.leader_idx.tolist() == [1]


def test_removed_log_dirs_hand_their_bytes_to_others():
    state = make_state(
        [[0]],
        log_dirs={0: [Dir("/d1", 600, 480), Dir("/d2", 400, 390)]},
        disk_bytes=1000,
        dirs=[["/d1"]],
        size_bytes=100,
    )
    before = broker_loads(state, weigh(state), state.partitions.leader_idx)[0, 0]

    after = changed(state, {"change": "remove-log-dirs", "log_dirs": ["0:/d1"]}).state

    assert after.brokers.disk_bytes.tolist() == [400]
    load = broker_loads(after, weigh(after), after.partitions.leader_idx)[0, 0]
    # The 20 bytes in /d1 that no replica explained are gone with it.
    assert (before, load) == (130, 110)
    assert after.replicas.log_dir_idx.tolist() == [ABSENT]


def test_log_dirs_come_and_grow():
    add = {"change": "add-log-dirs", "brokers": "0", "path": "/d9", "size": "1kB"}
    grow = {"change": "resize-log-dirs", "log_dirs": ["0:/d9"], "size": 3000}

    state = make_state([[0]], log_dirs={0: [Dir("/d1", 500, 500)]}, disk_bytes=500)
    after = changed(state, add, grow).state

    assert after.log_dirs.paths == ("/d1", "/d9")
    assert after.brokers.disk_bytes.tolist() == [3500]


def test_traffic_leaves_sizes_and_grow_takes_them_along():
    busy = changed(small(), {"change": "traffic", "factor": 2.5}).state
    grown = changed(small(), {"change": "grow", "factor": 2}).state

    assert busy.partitions.in_bytes_per_s.tolist() == [25.0, 50.0]
    assert busy.partitions.leader_cpu_cores.tolist() == [5.0, 5.0]
    assert busy.partitions.size_bytes.tolist() == [100, 50]
    assert grown.partitions.size_bytes.tolist() == [200, 100]
    assert grown.partitions.out_bytes_per_s.tolist() == [60.0, 80.0]


def test_topics_grow_as_their_trends_say():
    state = make_state(
        {"a": [[0]], "b": [[0]], "c": [[0]]}, size_bytes=100, in_rate=10.0
    )
    told = {"a": (0.0, 0.01, 0.02), "b": (float(np.log(2)) / 50, 0.0, 0.0)}
    change = {"change": "grow", "topics": "a|b", "days": 50}

    after = changed(state, change, growth=told).state
    only_disk = changed(state, change | {"of": ["disk"]}, growth=told).state

    assert after.partitions.size_bytes.tolist() == [250, 200, 100]
    assert after.partitions.in_bytes_per_s.tolist() == pytest.approx([15, 20, 10])
    assert only_disk.partitions.size_bytes.tolist() == [250, 200, 100]
    assert only_disk.partitions.in_bytes_per_s.tolist() == [10.0] * 3


def test_replaced_log_dirs_copy_all_that_was_there():
    state = make_state(
        [[0, 1], [1, 0]],
        log_dirs={0: [Dir("/d1", 600, 590), Dir("/d2", 400)], 1: [Dir("/d1", 900)]},
        disk_bytes=[1000, 900],
        dirs=[["/d1", None], [None, "/d2"]],
        size_bytes=10,
    )
    change = {"change": "replace-log-dirs", "log_dirs": ["0:/d1"], "size": 800}
    whole = {"change": "replace-log-dirs", "log_dirs": ["1:/d1"]}

    variant = changed(state, change)

    assert np.equal(variant.data, Data.COPIED).tolist() == [True, False, False, False]
    assert variant.state.brokers.disk_bytes.tolist() == [1200, 900]
    assert variant.state.log_dirs.usable_bytes.tolist()[0] == 790
    # In the only log dir of its broker lies what is there, whether told or not.
    on_one = np.equal(changed(state, whole).data, Data.COPIED)
    assert on_one.tolist() == [False, True, True, False]


def test_a_lost_disk_that_is_replaced_serves_again():
    state = make_state(
        [[0, 1]],
        log_dirs={0: [Dir("/d1", 600), Dir("/d2", 400)]},
        disk_bytes=[1000, 900],
        dirs=[["/d1", None]],
        size_bytes=10,
    )
    lose = {"change": "lose", "log_dirs": ["0:/d1"]}
    mend = {"change": "replace-log-dirs", "log_dirs": ["0:/d1"]}

    after = changed(state, lose, mend).state

    assert after.log_dirs.state.tolist() == [LogDirState.ONLINE] * 2
    assert after.brokers.disk_bytes.tolist() == [1000, 900]


@pytest.mark.parametrize(
    ("change", "disk"),
    [
        pytest.param({"change": "resize-brokers", "racks": ["a"]}, 7, id="rack"),
        pytest.param({"change": "replace-brokers", "racks": ["a"]}, 7, id="replaced"),
        pytest.param(
            {"change": "resize-brokers", "racks": ["a"], "disk": 9}, 9, id="its-own"
        ),
    ],
)
def test_types_bring_their_capacities(change: dict[str, Any], disk: int):
    types = [{"name": "large", "price": 1.0, "disk": 7}]

    variant = changed(small(), change | {"type": "large"}, types=types)

    assert variant.state.brokers.disk_bytes.tolist() == [disk, 1000, 1000, disk]
    assert variant.types == {0: "large", 3: "large"}


def test_brokers_are_of_the_type_of_those_they_are_like():
    types = [{"name": "large", "price": 1.0, "disk": 7}]
    first = {"change": "add-brokers", "ids": "8", "type": "large"}
    more = {"change": "add-brokers", "ids": "9", "like": 8}
    moved = {"change": "replace-brokers", "brokers": "8", "with": "10"}

    variant = changed(small(), first, more, moved, types=types)

    assert variant.types == {8: "large", 9: "large", 10: "large"}
    assert variant.state.brokers.disk_bytes.tolist() == [1000] * 4 + [7, 7]


def test_growth_over_months_compounds():
    change = {"change": "grow", "per_month": 0.2, "months": 2, "of": ["disk"]}

    state = changed(small(), change).state

    assert state.partitions.size_bytes.tolist() == [144, 72]
    assert state.partitions.in_bytes_per_s.tolist() == [10.0, 20.0]


@pytest.mark.parametrize(
    ("configs", "change", "size"),
    [
        pytest.param({}, {"factor": 2}, 200, id="by-time"),
        pytest.param({"retention.ms": str(DAY_MS)}, {"keep": "12h"}, 50, id="half"),
        pytest.param({}, {"keep": "14d"}, 200, id="kafkas-own-week"),
        pytest.param({"retention.bytes": "150"}, {"factor": 2}, 150, id="to-its-most"),
        pytest.param({"retention.bytes": "100"}, {"factor": 2}, 100, id="full-stays"),
        pytest.param(
            {"retention.bytes": "100", "retention.ms": str(DAY_MS)},
            {"keep": "5s"},
            50,
            id="full-then-by-rate",
        ),
        pytest.param({}, {"most_bytes": "60B"}, 60, id="most-bytes"),
        pytest.param({"retention.ms": "-1"}, {"factor": 3}, 100, id="for-ever"),
        pytest.param({"retention.ms": "-1"}, {"keep": "7s"}, 70, id="no-longer"),
        pytest.param({"cleanup.policy": "compact"}, {"factor": 2}, 100, id="compacted"),
        pytest.param(
            {"cleanup.policy": "compact,delete"}, {"factor": 2}, 200, id="both"
        ),
        pytest.param(
            {"cleanup.policy": "compact , delete"}, {"factor": 2}, 200, id="spaces"
        ),
    ],
)
def test_sizes_follow_retention(
    configs: dict[str, str], change: dict[str, Any], size: int
):
    state = make_state([[0]], size_bytes=100, in_rate=10.0, configs=[configs])

    after = changed(state, {"change": "retention", **change}).state

    assert after.partitions.size_bytes.tolist() == [size]


def test_tiered_topics_keep_the_young_part():
    state = make_state(
        {"a": [[0]], "b": [[0]], "c": [[0]]},
        size_bytes=[700, 100, 900],
        configs=[{}, {}, {"cleanup.policy": "compact"}],
    )
    change = {"change": "tier", "local": "1d", "largest": 1}

    after = changed(state, change).state

    assert after.partitions.size_bytes.tolist() == [100, 100, 900]
    assert after.partitions.remote_bytes.tolist() == [700, UNKNOWN, UNKNOWN]
    assert after.topics.storage.tolist() == [Storage.TIERED, *[Storage.LOCAL] * 2]


@pytest.mark.parametrize(
    ("change", "out"),
    [
        pytest.param({"factor": 2}, [60.0, 80.0], id="factor"),
        pytest.param({"groups": 1}, [40.0, 60.0], id="one-more-group"),
        pytest.param({"fan_out": 3}, [30.0, 60.0], id="fan-out"),
    ],
)
def test_consumers(change: dict[str, Any], out: list[float]):
    after = changed(small(), {"change": "consumers", **change}).state

    assert after.partitions.out_bytes_per_s.tolist() == out


def test_a_lower_factor_keeps_leaders_and_racks():
    state = make_state([[0, 3, 1]], racks="abca", leaders=[3], size_bytes=10)

    variant = changed(state, {"change": "replication-factor", "factor": 2})

    assert variant.state.brokers_of(0) == [3, 1]


def test_a_higher_factor_adds_where_racks_and_room_are():
    state = make_state(
        [[0], [0]], racks="aabc", size_bytes=[10, 20], disk_bytes=[100, 100, 100, 50]
    )

    variant = changed(state, {"change": "replication-factor", "factor": 3})

    assert [variant.state.brokers_of(p) for p in (0, 1)] == [[0, 2, 3], [0, 2, 3]]
    assert np.equal(variant.data, Data.COPIED).tolist() == [False, True, True] * 2


def test_more_partitions_share_what_there_was():
    variant = changed(small(), {"change": "partitions", "count": 4})

    partitions = variant.state.partitions
    assert partitions.in_bytes_per_s.sum() == pytest.approx(30.0)
    assert partitions.size_bytes.tolist() == [50, 25, 38, 38]
    assert partitions.partition.tolist() == [0, 1, 2, 3]
    assert variant.state.replication_factor.tolist() == [3] * 4
    assert np.equal(variant.data, Data.EMPTY).sum() == 6


@pytest.mark.parametrize(
    ("rates", "change", "words"),
    [
        pytest.param(
            [30.0, 10.0, 5.0, 5.0],
            {"topics": "a", "count": 4},
            ["a: 2 to 4 partitions: the busiest has 1.50 x the mean rate today"],
            id="known",
        ),
        pytest.param(
            [np.nan, 10.0, 5.0, 5.0],
            {"topics": "a", "count": 4},
            ["a: 2 to 4 partitions: rates are not known"],
            id="unknown",
        ),
        pytest.param(
            [30.0, 10.0, 45.0, 5.0],
            {"factor": 2},
            ["more partitions of 2 topics: b has 1.80 x the mean rate today"],
            id="several",
        ),
        pytest.param(
            [30.0, 10.0, np.nan, 5.0],
            {"factor": 2},
            ["a has 1.50 x", "rates of 1 topic are not known"],
            id="some-unknown",
        ),
        pytest.param([1.0] * 4, {"count": 2}, [], id="no-more"),
    ],
)
def test_more_partitions_note_the_skew_that_is_known(rates, change, words):
    state = make_state({"a": [[0], [1]], "b": [[0], [1]]}, racks="ab", in_rate=rates)

    variant = changed(state, {"change": "partitions", **change})

    notes = [note for note in variant.notes if "partitions" in note]
    assert len(notes) == (1 if words else 0)
    assert all(each in notes[0] for each in (*words, 'change = "keys"') if words)


def test_a_new_topic_stands_between_the_others_by_name():
    topic = {
        "change": "new-topic",
        "name": "m",
        "partitions": 2,
        "writes": "20B/s",
        "reads": 40,
        "keep": "10s",
    }
    state = make_state({"a": [[0]], "z": [[1]]}, racks="abc", size_bytes=[1, 2])

    after = changed(state, topic).state

    assert after.topics.names == ("a", "m", "z")
    assert after.partitions.size_bytes.tolist() == [1, 100, 100, 2]
    assert after.partitions.out_bytes_per_s.tolist()[1:3] == [20.0, 20.0]
    assert after.brokers_of(0) == [0]
    assert after.brokers_of(3) == [1]
    assert sorted(after.brokers_of(1)) == [0, 1, 2]


def test_removed_topics_leave_the_rest_alone():
    state = make_state({"a": [[0, 1]], "b": [[1, 2]], "c": [[2, 0]]}, racks="abc")

    after = changed(state, {"change": "remove-topics", "topics": "a|b"}).state

    assert after.topics.names == ("c",)
    assert after.brokers_of(0) == [2, 0]


@given(st.data())
def test_changed_clusters_are_sound_and_weigh_what_they_should(data: Any):
    state = data.draw(clusters(min_brokers=2, all_known=True))
    variant = changed(state, *data.draw(change_lists(state)))

    after = variant.state
    assert len(variant.data) == len(after.replicas)
    for p in range(after.num_partitions):
        brokers = [replica.broker for replica in replicas_of(after, p)]
        assert len(set(brokers)) == len(brokers) >= 1
    load = broker_loads(after, weigh(after), _first_live(after))
    expected = naive_loads(after, {})
    for resource in (Resource.DISK, Resource.IN, Resource.REPLICAS):
        r = RESOURCES.index(resource)
        unit = {Resource.IN: 1000}.get(resource, 1)
        for row, broker in enumerate(ids_of(after)):
            wanted = expected[str(resource)][broker]
            # Rates are rounded up to millibytes per second, replica by replica.
            slack = len(after.replicas) / 1000 + 1e-6
            assert wanted - 1e-6 <= load[row, r] / unit <= wanted + slack


def _first_live(state: Any) -> Any:
    from placement.model.load import preferred_leaders

    return preferred_leaders(state)


@given(st.data())
def test_replicas_that_need_not_move_stay(data: Any):
    state = data.draw(clusters(min_brokers=3, all_live=True, all_known=True))
    factor = data.draw(st.integers(1, 3))

    change = {"change": "replication-factor", "factor": factor}
    after = changed(state, change).state

    for p in range(state.num_partitions):
        old, new = state.brokers_of(p), after.brokers_of(p)
        assert len(new) == factor
        if len(old) <= factor:
            assert new[: len(old)] == old
        else:
            assert set(new) <= set(old)
            leader = int(state.partitions.leader_idx[p])
            assert leader == ABSENT or int(state.brokers.ids[leader]) in new


LOCAL = {
    "remote.storage.enable": "true",
    "retention.ms": str(10 * DAY_MS),
    "local.retention.ms": str(DAY_MS),
}


@pytest.mark.parametrize(
    ("configs", "change", "size", "remote"),
    [
        pytest.param({}, {"factor": 2}, 100, 1800, id="longer"),
        pytest.param({}, {"keep": "20d"}, 100, 1800, id="kept-longer"),
        pytest.param({}, {"keep": "5d"}, 100, 450, id="shorter"),
        pytest.param({}, {"keep": "12h"}, 50, 45, id="shorter-than-on-disk"),
        pytest.param({}, {"most_bytes": "80B"}, 80, 80, id="fewer-bytes-than-on-disk"),
        pytest.param(
            {"local.retention.ms": "-2"}, {"factor": 2}, 200, 1800, id="as-the-topic"
        ),
        pytest.param(
            {"local.retention.bytes": "100"}, {"factor": 2}, 100, 1800, id="by-bytes"
        ),
    ],
)
def test_retention_of_tiered_topics_is_that_of_all_data(
    configs: dict[str, str], change: dict[str, Any], size: int, remote: int
):
    state = make_state(
        [[0]], size_bytes=100, remote_bytes=900, configs=[LOCAL | configs]
    )

    after = changed(state, {"change": "retention", **change}).state

    assert after.partitions.size_bytes.tolist() == [size]
    assert after.partitions.remote_bytes.tolist() == [remote]


@pytest.mark.parametrize(
    ("configs", "local", "size"),
    [
        pytest.param({}, "2d", 200, id="more"),
        pytest.param({}, "6h", 25, id="less"),
        pytest.param({}, "20d", 1000, id="not-past-retention"),
        pytest.param({"local.retention.bytes": "150"}, "2d", 150, id="to-its-most"),
    ],
)
def test_topics_that_are_tiered_already_keep_more_or_less_on_disk(
    configs: dict[str, str], local: str, size: int
):
    state = make_state(
        [[0]], size_bytes=100, remote_bytes=900, configs=[LOCAL | configs]
    )

    after = changed(state, {"change": "tier", "local": local}).state

    assert after.partitions.size_bytes.tolist() == [size]
    assert after.partitions.remote_bytes.tolist() == [900]
