"""Assignors inside real consumers' code: what they send, and what they answer."""

import json
import struct
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.coordinator.assignors.abstract import RebalanceProtocol
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.coordinator.consumer import ConsumerCoordinator
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from kafka.structs import TopicPartition

from planner.kafka.consumer import assignor_protocol
from planner.kafka.consumer.assignor import (
    BalancedAssignor,
    CooperativeStickyAssignor,
    RangeAssignor,
    RoundRobinAssignor,
    StickyAssignor,
)
from support.golden import golden_lines

BYTES = golden_lines("client_bytes")
ALL = [
    RangeAssignor,
    RoundRobinAssignor,
    StickyAssignor,
    CooperativeStickyAssignor,
    BalancedAssignor,
    lambda: BalancedAssignor(is_eager=True),
]
NAMES = [
    "range",
    "roundrobin",
    "sticky",
    "cooperative-sticky",
    "balanced",
    "balanced-eager",
]
PLUGGED = pytest.mark.parametrize(
    "make", [pytest.param(m, id=n) for m, n in zip(ALL, NAMES, strict=True)]
)


def after(assignor, owned, generation):
    """Let an assignor have got this."""
    got = assignor_protocol.assignment(owned).encode()
    assignor.on_assignment(ConsumerProtocolAssignment.decode(got), generation)
    return assignor


def given_as(assignor, vector):
    told = vector["input"]
    return (
        after(assignor, told["owned"], told["generation"])
        if told["generation"] >= 0
        else assignor
    )


@pytest.mark.parametrize("vector", BYTES, ids=[v["case"] for v in BYTES])
def test_cooperative_subscriptions_are_javas_byte_for_byte(vector):
    told, answer = vector["input"], vector["output"]
    assignor = given_as(CooperativeStickyAssignor(rack=told["rack"]), vector)

    sent = assignor.metadata(told["topics"])

    assert sent.encode().hex() == answer["cooperative_subscription_hex"]
    assert sent.user_data.hex() == answer["cooperative_user_data_hex"]


@pytest.mark.parametrize("vector", BYTES, ids=[v["case"] for v in BYTES])
def test_sticky_subscriptions_are_javas_byte_for_byte(vector):
    # But for the order of the topics in the user data, which is a HashMap's.
    told, answer = vector["input"], vector["output"]
    assignor = given_as(StickyAssignor(rack=told["rack"]), vector)

    sent = assignor.metadata(told["topics"])

    java = answer["sticky_user_data_hex"]
    theirs = None if java is None else bytes.fromhex(java)
    assert (sent.user_data is None) == (theirs is None)
    assert assignor_protocol.read_sticky_user_data(
        sent.user_data
    ) == assignor_protocol.read_sticky_user_data(theirs)
    assert len(sent.user_data or b"") == len(theirs or b"")
    sent.user_data = theirs
    assert sent.encode().hex() == answer["sticky_subscription_hex"]


@pytest.mark.parametrize("vector", BYTES, ids=[v["case"] for v in BYTES])
def test_assignments_are_javas_byte_for_byte(vector):
    sent = assignor_protocol.assignment(vector["input"]["owned"])

    assert sent.encode().hex() == vector["output"]["assignment_hex"]


@pytest.mark.parametrize("vector", BYTES, ids=[v["case"] for v in BYTES])
def test_what_java_sends_is_understood(vector):
    told, answer = vector["input"], vector["output"]
    expected = told["owned"] if told["generation"] >= 0 else {}
    for make, name in (
        (StickyAssignor, "sticky"),
        (CooperativeStickyAssignor, "cooperative"),
    ):
        sent = bytes.fromhex(answer[f"{name}_subscription_hex"])
        member = Member("c0", ConsumerProtocolSubscription.decode(sent))

        spec = make().spec(member)

        assert {t: sorted(n) for t, n in spec.owned.items()} == expected
        assert (spec.generation, spec.rack) == (told["generation"], told["rack"])
        assert sorted(spec.topics) == told["topics"]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x00", id="cut"),
        pytest.param(struct.pack(">i", 3), id="topics missing"),
        pytest.param(struct.pack(">ih2si", 1, 2, b"\xff\xff", 0), id="not UTF-8"),
        pytest.param(struct.pack(">ih1sii", 1, 1, b"t", 9, 0), id="numbers missing"),
        pytest.param(struct.pack(">ih", 1, -5), id="negative length"),
    ],
)
def test_sticky_user_data_that_is_odd_counts_as_none(data):
    assert assignor_protocol.read_sticky_user_data(data) == ({}, -1)


def test_sticky_user_data_without_a_generation_is_read():
    data = assignor_protocol.sticky_user_data({"t": [1, 2]}, 5)[:-4]

    assert assignor_protocol.read_sticky_user_data(data) == ({"t": [1, 2]}, -1)


OURS = {
    "generation": 3,
    "owned": {"t": [1]},
    "weights": {"t": {1: 2.5}},
    "rack": "a",
    "capacity": 2.0,
}


JSON = OURS | {"weights": {"t": [[1, 2.5]]}}


def packed(version, **changes):
    return struct.pack(">h", version) + json.dumps(JSON | changes).encode()


def test_our_user_data_is_versioned_and_read_back():
    assignor = after(
        BalancedAssignor("a", capacity=2.0, weigh=lambda at: at.partition + 1.5),
        {"t": [1]},
        3,
    )

    sent = assignor.metadata(["t"]).user_data

    assert sent[:2] == b"\x00\x01"
    assert json.loads(sent[2:]) == JSON
    assert assignor_protocol.read_our_data(sent) == assignor_protocol.OurData(**OURS)


def test_newer_versions_are_read_as_far_as_they_are_known():
    sent = packed(7, colour="blue")

    assert assignor_protocol.read_our_data(sent) == assignor_protocol.OurData(**OURS)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(None, id="none"),
        pytest.param(b"\x00", id="cut"),
        pytest.param(b"\x00\x01{", id="no JSON"),
        pytest.param(b"\x00\x01[]", id="no object"),
        pytest.param(packed(0), id="no such version"),
        pytest.param(packed(1, capacity=0), id="capacity 0"),
        pytest.param(packed(1, capacity="NaN"), id="capacity NaN"),
        pytest.param(packed(1, weights={"t": [[1, -1]]}), id="weight below 0"),
        pytest.param(packed(1, owned={"t": ["x"]}), id="no number"),
        pytest.param(packed(1, owned=None), id="null"),
        pytest.param(packed(1, generation=None), id="no generation"),
    ],
)
def test_our_user_data_that_is_odd_counts_as_none(data):
    assert assignor_protocol.read_our_data(data) == assignor_protocol.OurData()


@given(st.binary(max_size=60))
def test_no_bytes_of_others_stop_a_group(data):
    assignor_protocol.read_our_data(data)
    assignor_protocol.read_our_data(b"\x00\x01" + data)
    assignor_protocol.read_sticky_user_data(data)
    assignor_protocol.read_cooperative_user_data(data)


@dataclass
class Member:
    """As the coordinator tells the leader of it."""

    member_id: str
    metadata: Any
    group_instance_id: str | None = None


@dataclass
class Broker:
    """As the metadata has it."""

    node_id: int
    rack: str | None


@dataclass
class Metadata:
    """What the leader knows: replicas of partition n are on brokers n and n + 1."""

    topics: dict[str, int]
    racks: list[str] = field(default_factory=lambda: ["a", "b", "c"])

    def partitions_for_topic(self, topic):
        return set(range(self.topics[topic])) if topic in self.topics else None

    def brokers(self):
        return {n: Broker(n, rack) for n, rack in enumerate(self.racks)}.values()

    def is_replica_node(self, at, node_id):
        count = len(self.racks)
        return node_id in {at.partition % count, (at.partition + 1) % count}


class Living:
    """Consumers of one group, going through rebalances as their protocol has it."""

    def __init__(self, make, cluster):
        self.make, self.cluster, self.generation = make, cluster, 0
        self.members, self.topics, self.read = {}, {}, {}

    def join(self, name, topics=("t",), **options):
        self.members[name] = self.make(**options)
        self.topics[name] = list(topics)
        self.read[name] = set()

    def leave(self, name):
        for each in (self.members, self.topics, self.read):
            del each[name]

    def rebalance(self):
        """Rebalance until nobody has to rejoin; return how many rounds it took."""
        for rounds in range(1, 5):
            before = {name: set(rows) for name, rows in self.read.items()}
            self._round()
            lost = {name: before[name] - self.read[name] for name in self.read}
            protocols = next(iter(self.members.values())).supported_protocols()
            if RebalanceProtocol.EAGER in protocols or not any(lost.values()):
                return rounds
        msg = "it does not settle"
        raise AssertionError(msg)

    def _round(self):
        self.generation += 1
        told = []
        for name, assignor in self.members.items():
            sent = assignor.metadata(self.topics[name]).encode()
            told.append(Member(name, ConsumerProtocolSubscription.decode(sent)))
        leader = next(iter(self.members.values()))
        cooperative = RebalanceProtocol.COOPERATIVE in leader.supported_protocols()
        before = {name: set(rows) for name, rows in self.read.items()}
        for name, answer in leader.assign(self.cluster, told).items():
            got = ConsumerProtocolAssignment.decode(answer.encode())
            self.members[name].on_assignment(got, self.generation)
            self.read[name] = set(got.partitions())
        if cooperative:
            # Nobody begins what another reads until it hears of this round.
            for name, rows in self.read.items():
                others = [before[n] for n in before if n != name]
                assert not rows & set().union(*others)

    def counts(self):
        return sorted(len(rows) for rows in self.read.values())

    def all_read(self):
        rows = [row for each in self.read.values() for row in each]
        assert len(rows) == len(set(rows))
        return len(rows)


@PLUGGED
def test_a_group_lives(make):
    group = Living(make, Metadata({"t": 7}))
    for name in ("c0", "c1", "c2"):
        group.join(name)
        group.rebalance()
        assert group.all_read() == 7
    assert group.counts() == [2, 2, 3]

    group.cluster.topics["t"] = 9
    group.rebalance()
    assert group.counts() == [3, 3, 3]

    group.leave("c0")
    group.rebalance()
    assert group.all_read() == 9
    assert group.counts() == [4, 5]


@PLUGGED
def test_a_topic_that_the_leader_does_not_know_yet_waits(make):
    group = Living(make, Metadata({"t": 4}))
    group.join("c0", ["t", "later"])
    group.join("c1", ["t", "later"])

    group.rebalance()
    assert group.all_read() == 4

    group.cluster.topics["later"] = 2
    group.rebalance()
    assert group.all_read() == 6


def test_a_cooperative_join_takes_two_rounds_and_moves_least():
    group = Living(BalancedAssignor, Metadata({"t": 6}))
    group.join("c0")
    group.rebalance()
    had = group.read["c0"]
    group.join("c1")

    rounds = group.rebalance()

    assert rounds == 2
    assert len(had - group.read["c0"]) == 3


def test_weights_that_members_tell_are_heeded():
    # One partition weighs as much as all others together.
    group = Living(BalancedAssignor, Metadata({"t": 7}))
    for name in ("c0", "c1"):
        group.join(name, weigh=lambda at: 6.0 if at.partition == 0 else 1.0)
    group.rebalance()

    group.rebalance()

    heavy = next(rows for rows in group.read.values() if TopicPartition("t", 0) in rows)
    assert len(heavy) == 1
    assert group.all_read() == 7


def test_capacities_that_members_tell_are_heeded():
    group = Living(BalancedAssignor, Metadata({"t": 9}))
    group.join("c0", capacity=2.0)
    group.join("c1")

    group.rebalance()

    assert (len(group.read["c0"]), len(group.read["c1"])) == (6, 3)


@pytest.mark.parametrize("make", [RangeAssignor, StickyAssignor, BalancedAssignor])
def test_racks_are_heeded(make):
    # Partition n has replicas on racks n and n + 1 of a, b and c: each can be read
    # near by, two by each.
    group = Living(make, Metadata({"t": 6}))
    for name in "abc":
        group.join(name, rack=name)

    group.rebalance()

    for rack, rows in group.read.items():
        near = {n for n in range(6) if "abc".index(rack) in {n % 3, (n + 1) % 3}}
        assert {row.partition for row in rows} <= near


def test_claims_of_a_member_that_missed_a_generation_do_not_block():
    group = Living(BalancedAssignor, Metadata({"t": 4}))
    group.join("c0")
    group.join("c1")
    group.rebalance()
    asleep, rows = group.members["c1"], group.read["c1"]
    group.leave("c1")
    group.rebalance()
    # It comes back, and still remembers what it had.
    group.members["c1"], group.topics["c1"], group.read["c1"] = asleep, ["t"], set()

    group.rebalance()

    assert rows
    assert group.all_read() == 4
    assert group.counts() == [2, 2]


def test_pythons_and_ours_share_a_group():
    ours, theirs = StickyAssignor(), StickyPartitionAssignor()
    told = [
        Member(
            "c0", ConsumerProtocolSubscription.decode(ours.metadata({"t"}).encode())
        ),
        Member(
            "c1", ConsumerProtocolSubscription.decode(theirs.metadata({"t"}).encode())
        ),
    ]

    answer = ours.assign(Metadata({"t": 4}), told)

    got = [ConsumerProtocolAssignment.decode(a.encode()) for a in answer.values()]
    assert [len(each.partitions()) for each in got] == [2, 2]


def test_what_breaks_a_rule_is_logged_and_the_group_goes_on(caplog):
    class Lazy(RangeAssignor):
        def answer(self, group):
            return super().answer(group) * 0 - 1

    group = Living(Lazy, Metadata({"t": 1}))
    group.join("c0")

    group.rebalance()

    assert "range breaks a rule: t-0 has no member" in caplog.text


@PLUGGED
def test_consumers_take_it(make):
    coordinator = ConsumerCoordinator.__new__(ConsumerCoordinator)
    assignor = make()
    coordinator._assignors = {assignor.name: assignor}

    protocol = coordinator._validate_rebalance_protocol()

    assert [protocol] == assignor.supported_protocols()
    assert assignor.name in NAMES


@pytest.mark.parametrize("capacity", [0, -1, float("inf"), float("nan")])
def test_capacities_out_of_range_are_refused(capacity):
    with pytest.raises(ValueError, match="capacity must be positive"):
        BalancedAssignor(capacity=capacity)
