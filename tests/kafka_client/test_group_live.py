"""Live groups where a real cluster is hard to bring to it, by a stand-in."""

from types import SimpleNamespace

import pytest
from kafka import TopicPartition
from kafka.errors import (
    CoordinatorLoadInProgressError,
    GroupAuthorizationFailedError,
    NoError,
    NotCoordinatorError,
    UnknownMemberIdError,
)
from kafka.structs import OffsetAndMetadata, OffsetAndTimestamp

from planner.errors import BadInputError, ClusterUnavailableError
from planner.group.offsets.offsets_request import OffsetsRequest, Scope
from planner.group.offsets.target_offsets import Target
from planner.kafka.groups import group_offsets
from planner.kafka.groups.live_group import read_live_group
from planner.kafka.groups.log_offsets import LogEnd, commit_offsets, log_offsets
from planner.kafka.read.log_dirs import Partition
from support.groups import group_of

ID = "00000000-0000-0000-0000-000000000001"
TO_END = OffsetsRequest(target=Target.LATEST, scope=Scope(is_all=True))


def described(state="Empty", members=()):
    return SimpleNamespace(
        error_code=0,
        group_state=state,
        protocol_type="consumer",
        protocol_data="",
        assignor_name="uniform",
        members=list(members),
    )


class Cluster:
    """One broker, topic `t` of two partitions, and a group that read some of it."""

    def __init__(self, kind="classic", answer=None, leaders=(1, 1), protocol_type=""):
        self.kind, self.protocol_type = kind, protocol_type
        self.answer = answer or described()
        self.leaders, self.error_code = leaders, 0
        self.committed = {("t", 0): 5}
        self.refused = {}
        self.changed_by_another = {}
        self.asked = []
        self._manager = self
        self.servers = "h:1"

    def call(self, ask, *, needs):
        return ask(self)

    def change(self, ask, *, what, needs, look, is_repeatable):
        return ask(self)

    def describe_cluster(self):
        return {"brokers": [{"broker_id": 1, "rack": "a"}]}

    def list_groups(self, broker_ids):
        listed = {"group_id": "g", "group_type": self.kind, "group_state": "Empty"}
        return [{**listed, "protocol_type": self.protocol_type}]

    def describe_topic_partitions(self, names, limit, cursor):
        return {"topics": list(map(self._topic, names or ["t"])), "next_cursor": None}

    def _topic(self, name):
        partitions = [
            {"partition_index": at, "leader_id": leader, "replica_nodes": [1]}
            for at, leader in enumerate(self.leaders if name == "t" else ())
        ]
        code = self.error_code if name == "t" else 3
        found = {"name": name, "topic_id": ID, "partitions": partitions}
        return {**found, "error_code": code}

    def list_group_offsets(self, wanted):
        found = {
            TopicPartition(*name): OffsetAndMetadata(offset, "", None)
            for name, offset in self.committed.items()
        }
        return dict.fromkeys(wanted, found)

    def list_partition_offsets(self, wanted):
        self.asked.append(sorted(at.partition for at in wanted))
        return {at: OffsetAndTimestamp(9, -1, None) for at in wanted}

    def alter_group_offsets(self, group_id, wanted):
        taken = {at: one for at, one in wanted.items() if at not in self.refused}
        self.committed |= {(*at,): one.offset for at, one in taken.items()}
        self.committed |= self.changed_by_another
        return {at: self.refused.get(at, NoError) for at in wanted}

    async def send(self, request, *, node_id):
        return SimpleNamespace(groups=[self.answer])

    def run(self, work):
        try:
            work().send(None)
        except StopIteration as done:
            return done.value
        raise AssertionError


def test_of_a_streams_group_only_offsets_are_read():
    found = read_live_group(Cluster(kind="streams"), "g")

    assert (found.record.type, found.record.state) == ("streams", "Empty")
    assert found.record.topics[0].committed_offsets == [5, None]
    assert found.record.topics[0].log_end_offsets == [9, 9]
    assert found.notes == (
        "the members of a streams group are not read: only its offsets",
    )


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        pytest.param("Stable", "Stable", id="alive"),
        pytest.param("Dead", "Dead", id="dead"),
        pytest.param("", "Dead", id="not-listed"),
    ],
)
def test_what_old_brokers_do_not_describe_is_not_dead(state, shown):
    cluster = Cluster(answer=described("Dead"))
    cluster.list_groups = lambda broker_ids: [{"group_id": "g", "group_state": state}]

    found = read_live_group(cluster, "g")

    assert found.record.state == shown
    assert any("do not describe this group" in note for note in found.notes) == (
        state == "Stable"
    )


def test_partitions_without_a_leader_have_no_lag_and_are_named():
    cluster = Cluster(leaders=(1, -1))

    found = read_live_group(cluster, "g")

    assert cluster.asked == [[0]]
    assert found.record.topics[0].log_end_offsets == [9, None]
    assert found.notes == ("no leader, and so no end offset: t-1",)


def test_patterns_are_read_against_all_topics():
    nothing = SimpleNamespace(topic_partitions=[])
    member = SimpleNamespace(
        member_id="m",
        instance_id=None,
        rack_id="a",
        member_epoch=1,
        client_id="c",
        client_host="/h",
        subscribed_topic_names=["gone"],
        subscribed_topic_regex="t.*",
        assignment=nothing,
        target_assignment=nothing,
    )
    cluster = Cluster(kind="consumer", answer=described("Assigning", [member]))

    found = read_live_group(cluster, "g")

    assert {topic.name: topic.partitions for topic in found.record.topics} == {
        "t": 2,
        "gone": 0,
    }
    expected = group_of({"t": 2}, {"m": "t gone"})
    columns = found.to_group()
    assert columns.num_partitions == expected.num_partitions
    assert sorted(columns.topics.names[t] for t in columns.subscribed.of(0)) == [
        "gone",
        "t",
    ]


def test_a_group_whose_topic_is_hidden_is_not_shown_in_part():
    cluster = Cluster()
    cluster.error_code = 29

    with pytest.raises(ClusterUnavailableError, match="needs Describe on Topic t"):
        read_live_group(cluster, "g")


def test_offsets_are_asked_for_in_batches_and_unknown_ones_left_out():
    cluster = Cluster()
    cluster.list_partition_offsets = lambda wanted: {
        at: OffsetAndTimestamp(-1 if at.partition else 3, -1, None) for at in wanted
    }
    names = [Partition("t", number) for number in range(2)]

    assert log_offsets(cluster, names, 1_000) == {Partition("t", 0): 3}
    assert log_offsets(cluster, [], LogEnd.LATEST) == {}


def test_refusals_of_brokers_are_reported_by_partition():
    cluster = Cluster()
    cluster.refused = {TopicPartition("t", 1): UnknownMemberIdError}

    found = commit_offsets(cluster, "g", {Partition("t", n): 7 for n in (0, 1)})

    assert found == {Partition("t", 1): "UnknownMemberIdError"}


@pytest.mark.parametrize(
    "error",
    [
        NotCoordinatorError,
        CoordinatorLoadInProgressError,
        GroupAuthorizationFailedError,
    ],
)
def test_what_is_wrong_with_all_partitions_is_raised(error):
    cluster = Cluster()
    cluster.refused = {TopicPartition("t", n): error for n in (0, 1)}

    with pytest.raises(error):
        commit_offsets(cluster, "g", {Partition("t", n): 7 for n in (0, 1)})


def test_the_outcome_of_each_partition_is_reported():
    cluster = Cluster()
    cluster.committed = {("t", 0): 5, ("t", 1): 6}
    foreseen = group_offsets.preview(cluster, "g", TO_END)
    cluster.refused = {TopicPartition("t", 0): UnknownMemberIdError}
    cluster.changed_by_another = {("t", 1): 8}

    done = group_offsets.execute(cluster, foreseen)

    assert [row.new for row in foreseen.rows] == [9, 9]
    assert foreseen.is_fine
    assert (done.is_done, done.is_fine) == (True, False)
    assert [row.error for row in done.rows] == [
        "UnknownMemberIdError",
        "has 8 now: committed by another",
    ]


def test_a_group_that_has_got_members_meanwhile_is_left_alone():
    cluster = Cluster()
    foreseen = group_offsets.preview(cluster, "g", TO_END)
    cluster.answer = described("PreparingRebalance")

    with pytest.raises(BadInputError) as raised:
        group_offsets.execute(cluster, foreseen)

    (problem,) = raised.value.problems
    assert problem.rule == (
        "Assignments can only be reset if the group 'g' is inactive, but the current "
        "state is PreparingRebalance."
    )
    assert cluster.committed == {("t", 0): 5}


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        pytest.param({"kind": "share"}, "offsets of a share group", id="share"),
        pytest.param({"kind": "streams"}, "offsets of a streams group", id="streams"),
        pytest.param({"protocol_type": "connect"}, "no consumers", id="connect"),
    ],
)
def test_offsets_of_other_groups_are_not_set(options, rule):
    with pytest.raises(BadInputError) as raised:
        group_offsets.preview(Cluster(**options), "g", TO_END)

    assert rule in raised.value.problems[0].rule


def test_partitions_without_a_leader_are_not_set():
    with pytest.raises(BadInputError) as raised:
        group_offsets.preview(Cluster(leaders=(-1, 1)), "g", TO_END)

    assert raised.value.message == 'The partitions "t-0" have no leader'


def test_where_to_must_be_said():
    with pytest.raises(ValueError, match="says where to"):
        group_offsets.preview(Cluster(), "g", OffsetsRequest(target=None))
