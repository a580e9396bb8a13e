"""Facts that cannot be: found as adding up each replica finds them, and told."""

import json
from collections import Counter
from math import isnan

import pytest
from hypothesis import given

from placement.model.cluster import LogDirState, Storage
from placement.model.load import Resource
from placement.status import find_impossible
from status.states import broker, document, partition
from support.clusters import Dir, clusters, make_state
from support.commands import run
from support.naive import failed_ids, live_ids, replicas_of


class Sums:
    """What each broker and each log dir is known to hold and to carry."""

    def __init__(self, state):
        self.state, self.live = state, live_ids(state)
        self.in_dir, self.held = Counter(), Counter()
        self.received, self.sent = Counter(), Counter()
        for p in range(state.num_partitions):
            self.add(p)

    def add(self, p):
        state, partitions = self.state, self.state.partitions
        online = self.live - failed_ids(state, p)
        mine = [r for r in replicas_of(state, p) if r.broker in online]
        rates = partitions.in_bytes_per_s[p], partitions.out_bytes_per_s[p]
        coming, going = (0 if isnan(rate) else float(rate) for rate in rates)
        following = [r for r in mine if r.is_in_sync]
        for r in mine:
            self.add_bytes(p, r)
        for r in following:
            self.received[r.broker] += coming
        if (leader := int(partitions.leader_idx[p])) >= 0:
            fetched = coming * max(len(following) - 1, 0)
            self.sent[int(state.brokers.ids[leader])] += going + fetched

    def add_bytes(self, p, replica):
        state = self.state
        topic = state.partitions.topic_idx[p]
        if state.topics.storage[topic] == Storage.SHARED:
            return
        amount = replica.own_bytes
        if amount < 0:
            amount = max(int(state.partitions.size_bytes[p]), 0) * replica.is_in_sync
        self.held[replica.broker] += amount
        if replica.log_dir >= 0:
            self.in_dir[replica.log_dir] += amount


def naive_impossible(state):
    """(resource, broker id, log dir or None) of everything that is too much."""
    sums, dirs, brokers = Sums(state), state.log_dirs, state.brokers
    owner = [int(brokers.ids[b]) for b in dirs.broker_idx]
    is_failed = [code == LogDirState.OFFLINE for code in dirs.state]
    found = {
        (Resource.DISK, owner[d], dirs.paths[d])
        for d, amount in sums.in_dir.items()
        if owner[d] in sums.live
        and not is_failed[d]
        and 0 <= dirs.size_bytes[d] < amount
    }
    named = {b for _, b, _ in found}
    named |= {owner[d] for d in range(len(dirs)) if is_failed[d]}
    for row, b in enumerate(brokers.ids.tolist()):
        if b not in sums.live:
            continue
        if b not in named and 0 <= brokers.disk_bytes[row] < sums.held[b]:
            found.add((Resource.DISK, b, None))
        for resource, load, links in (
            (Resource.IN, sums.received, brokers.in_bytes_per_s),
            (Resource.OUT, sums.sent, brokers.out_bytes_per_s),
        ):
            if load[b] > links[row] * (1 + 1e-6):
                found.add((resource, b, None))
    return found


def told(state):
    paths = [*state.log_dirs.paths, None]
    return {
        (one.resource, int(state.brokers.ids[one.broker_idx]), paths[one.log_dir_idx])
        for one in find_impossible(state)
    }


@given(clusters(reassigning=True))
def test_too_much_is_what_adding_up_each_replica_finds(state):
    assert told(state) == naive_impossible(state)


@given(clusters(all_known=True, all_live=True))
def test_too_much_where_everything_is_known(state):
    assert told(state) == naive_impossible(state)


def test_replicas_in_shared_storage_are_on_no_disk():
    given = {"size_bytes": 100, "disk_bytes": 50}

    assert told(make_state([[0, 1]], racks="ab", **given)) == {
        (Resource.DISK, 0, None),
        (Resource.DISK, 1, None),
    }
    assert told(make_state([[0, 1]], racks="ab", storage=Storage.SHARED, **given)) == (
        set()
    )


def test_a_replica_that_is_still_copied_may_be_smaller():
    state = make_state([[0, 1]], racks="ab", isr=[[0]], size_bytes=100, disk_bytes=50)

    assert told(state) == {(Resource.DISK, 0, None)}


def test_one_log_dir_is_named_and_not_its_broker_too():
    state = make_state(
        [[0], [0]],
        racks="a",
        size_bytes=100,
        log_dirs={0: [Dir("/a", size_bytes=150), Dir("/b", size_bytes=30)]},
        dirs=[["/a"], ["/b"]],
    )

    assert told(state) == {(Resource.DISK, 0, "/b")}


def snapshot(tmp_path, sizes):
    """Six brokers with disks of these sizes; each of the first two holds 3,000."""
    dirs = {
        number: broker(number, log_dirs=[{"path": "/d1", "size_bytes": size}])
        for number, size in enumerate(sizes, 1)
    }
    rows = [
        partition(n, [1, 2], size_bytes=1000, log_dirs=["/d1", "/d1"]) for n in range(3)
    ]
    path = tmp_path / "s.json"
    path.write_text(json.dumps(document(rows, brokers=dirs)))
    return path


@pytest.mark.parametrize(
    ("sizes", "who", "likely"),
    [
        ([2500] * 6, "brokers 1-2 hold", "the same for all 6 brokers, as a default is"),
        ([2500, *[9000] * 5], "broker 1 holds", "the size of the disks, which people"),
    ],
)
def test_every_screen_says_what_cannot_be(capsys, tmp_path, sizes, who, likely):
    path = snapshot(tmp_path, sizes)

    for words in (
        ["status", path],
        ["snapshot", "show", path],
        ["score", path],
        ["failures", path],
        ["plan", "rebalance", path],
    ):
        text = " ".join(run(capsys, *words).out.split())
        assert f"Impossible {who} more than" in text
        assert "3 kB of replicas lie on log dir /d1 of broker 1 that is said" in text
        assert likely in text


def test_the_document_names_each(capsys, tmp_path):
    path = snapshot(tmp_path, [2500, *[9000] * 5])

    outcome = run(capsys, "status", path, "--format", "json")

    assert outcome.code == 3
    found = json.loads(outcome.out)["impossible"]
    assert [(one["broker"], one["log_dir"], one["load"]) for one in found] == [
        (1, "/d1", 3000.0)
    ]
    assert "which people write down" in found[0]["message"]


def test_what_can_be_is_not_named(capsys, tmp_path):
    path = snapshot(tmp_path, [3000] * 6)

    assert "Impossible" not in run(capsys, "score", path).out
    outcome = run(capsys, "status", path, "--format", "json")
    assert json.loads(outcome.out)["impossible"] == []
