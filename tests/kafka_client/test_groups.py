"""Groups as brokers tell of them: read into records, asked for until they answer."""

import json
from types import SimpleNamespace
from uuid import UUID

import pytest
from kafka.errors import GroupAuthorizationFailedError
from kafka.protocol.admin import DescribeGroupsResponse
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from planner.errors import BadInputError
from planner.group import GroupDocument
from planner.kafka.consumer.assignor_protocol import OurData, assignment, subscription
from planner.kafka.groups import group_listing, group_messages
from planner.kafka.groups.group_listing import (
    ListedGroup,
    describe,
    find_group,
    must_find,
)
from planner.kafka.groups.group_members import classic, consumer, json_user_data, share
from planner.kafka.groups.live_group import _in_order_of_ids, _visible

CLASSIC_GROUP = DescribeGroupsResponse.DescribedGroup
CLASSIC_MEMBER = CLASSIC_GROUP.DescribedGroupMember
LISTED = ListedGroup(
    group_id="g",
    kind="consumer",
    protocol_type="consumer",
    state="Stable",
    coordinator=1,
)


def member(name="c0", *, asked=None, owned=None, instance_id=None):
    return CLASSIC_MEMBER(
        member_id=name,
        group_instance_id=instance_id,
        client_id="app",
        client_host="/10.0.0.1",
        member_metadata=b"" if asked is None else asked.encode(),
        member_assignment=b"" if owned is None else assignment(owned).encode(),
    )


def classic_group(*members, state="Stable", assignor="range", protocol_type="consumer"):
    return CLASSIC_GROUP(
        error_code=0,
        error_message=None,
        group_id="g",
        group_state=state,
        protocol_type=protocol_type,
        protocol_data=assignor,
        members=list(members),
        authorized_operations=set(),
    )


def document(described, topics=()):
    return GroupDocument.from_document(
        {
            "format": "kafka-planner/group",
            "version": 1,
            "group_id": "g",
            "topics": [{"name": name, "partitions": size} for name, size in topics],
            "members": list(described.members),
        }
    )


def test_a_classic_member_is_read_whole():
    asked = subscription(
        ["b", "a"],
        user_data=b'{"host": "h1"}',
        owned={"a": [0]},
        generation=6,
        rack="r1",
    )
    group = classic_group(
        member(asked=asked, owned={"a": [1, 0], "b": [2]}, instance_id="static-0")
    )

    said = classic(group)

    assert said.assignor == "range"
    assert (said.state, said.notes) == ("Stable", [])
    assert list(said.members) == [
        {
            "member_id": "c0",
            "group_instance_id": "static-0",
            "client_id": "app",
            "host": "/10.0.0.1",
            "rack": "r1",
            "generation": 7,
            "user_data": {"host": "h1"},
            "topics": ["a", "b"],
            "owned": {"a": [1, 0], "b": [2]},
        }
    ]
    assert document(said).record.members[0].owned == {"a": [1, 0], "b": [2]}


def test_members_of_old_clients_say_less():
    asked = ConsumerProtocolSubscription(version=0, topics=["a"], user_data=b"")

    (found,) = classic(classic_group(member(asked=asked, owned={"a": [0]}))).members

    assert found["topics"] == ["a"]
    assert found["owned"] == {"a": [0]}
    assert "generation" not in found
    assert "rack" not in found


def test_generation_is_the_one_in_which_the_group_is():
    newcomer = subscription(["a"], generation=-1)
    other = subscription(["a"], generation=4)

    said = classic(classic_group(member(asked=newcomer), member("c1", asked=other)))

    assert [each["generation"] for each in said.members] == [5, 5]


def test_members_with_our_assignor_tell_racks_capacities_and_weights():
    told = OurData(
        generation=3,
        owned={"a": [0]},
        weights={"a": {0: 4.0, 1: 9.0}},
        rack="r2",
        capacity=2.0,
    )
    newer = OurData(generation=4, owned={"a": [1]}, weights={"a": {1: 5.0}})
    group = classic_group(
        member(asked=subscription(["a"], user_data=told.encode())),
        member("c1", asked=subscription(["a"], user_data=newer.encode())),
        assignor="balanced",
    )

    said = classic(group)

    assert [(m.get("rack"), m["capacity"]) for m in said.members] == [
        ("r2", 2.0),
        (None, 1.0),
    ]
    assert "user_data" not in said.members[0]
    assert said.weights == {("a", 0): 4.0, ("a", 1): 5.0}


@pytest.mark.parametrize(
    ("data", "value"),
    [
        pytest.param(None, None, id="none"),
        pytest.param(b"", None, id="empty"),
        pytest.param(b'{"weight": 2}', {"weight": 2}, id="json"),
        pytest.param(b"rack-a", "rack-a", id="text"),
        pytest.param(b"NaN", "NaN", id="no-number"),
        pytest.param(b"\x00\x01", {"base64": "AAE="}, id="control-characters"),
        pytest.param(b"\xff", {"base64": "/w=="}, id="bytes"),
    ],
)
def test_user_data_as_json(data, value):
    assert json_user_data(data) == value
    json.dumps(value, allow_nan=False)


def test_a_group_amid_a_rebalance_is_not_taken_to_read_nothing():
    said = classic(classic_group(member(), state="PreparingRebalance", assignor=""))

    assert said.assignor is None
    (note,) = said.notes
    assert "the group is PreparingRebalance" in note
    assert "ask again" in note


def test_groups_of_other_clients_are_distinguished():
    odd = member()
    odd.member_metadata = b"\x00\x01connect"

    said = classic(classic_group(odd, protocol_type="connect", assignor="sessioned"))

    (note,) = said.notes
    assert "'connect'" in note
    assert said.members[0]["topics"] == []


def held(**topics):
    return SimpleNamespace(
        topic_partitions=[
            SimpleNamespace(topic_name=name, partitions=numbers)
            for name, numbers in topics.items()
        ]
    )


def new_member(**more):
    told = {
        "member_id": "m0",
        "instance_id": None,
        "rack_id": "r1",
        "member_epoch": 4,
        "client_id": "app",
        "client_host": "/h",
        "subscribed_topic_names": ["a"],
        "subscribed_topic_regex": "",
        "assignment": held(a=[1, 0]),
        "target_assignment": held(a=[0, 1]),
    }
    return SimpleNamespace(**told | more)


def new_group(*members):
    return SimpleNamespace(
        assignor_name="uniform", group_state="Stable", members=list(members)
    )


def test_a_member_of_the_new_protocol_is_read_whole():
    said = consumer(new_group(new_member(instance_id="s0")))

    assert (said.assignor, said.state, list(said.notes)) == ("uniform", "Stable", [])
    assert list(said.members) == [
        {
            "member_id": "m0",
            "group_instance_id": "s0",
            "client_id": "app",
            "host": "/h",
            "rack": "r1",
            "generation": 4,
            "topics": ["a"],
            "owned": {"a": [0, 1]},
        }
    ]


def test_a_member_that_leaves_has_no_epoch():
    (found,) = consumer(new_group(new_member(member_epoch=-1))).members

    assert "generation" not in found


def test_partitions_on_their_way_are_counted():
    to_get = held(a=[0, 1, 2], b=[0])

    said = consumer(new_group(new_member(target_assignment=to_get)))

    (note,) = said.notes
    assert "2 partitions are on their way" in note


def test_patterns_resolve_against_the_topics_there_are():
    regular = new_member(subscribed_topic_names=[], subscribed_topic_regex="a.*")

    said = consumer(new_group(regular))

    assert said.members[0]["pattern"] == "a.*"
    group = document(said, [("ab", 2), ("ba", 2)]).to_group()
    assert [group.topics.names[t] for t in group.subscribed.of(0)] == ["ab"]


def test_a_pattern_of_the_broker_alone_is_said():
    odd = new_member(subscribed_topic_names=[], subscribed_topic_regex=r"\pL+(?<x>a)")

    said = consumer(new_group(odd))

    assert "pattern" not in said.members[0]
    assert said.members[0]["topics"] == ["a"]
    assert "only the broker can read" in said.notes[0]


def test_a_share_group_has_members_that_share():
    first, second = (
        SimpleNamespace(
            member_id=name,
            rack_id=None,
            member_epoch=2,
            client_id="c",
            client_host="/h",
            subscribed_topic_names=["a"],
            assignment=held(a=[0]),
        )
        for name in ("m0", "m1")
    )

    said = share(new_group(first, second))

    assert [each["owned"] for each in said.members] == [{"a": [0]}, {"a": [0]}]
    assert "offsets are those from which" in said.notes[0]


@pytest.mark.parametrize(
    "kind",
    [
        group_messages.ConsumerGroupDescribeResponse,
        group_messages.ShareGroupDescribeResponse,
        group_messages.DescribeShareGroupOffsetsResponse,
    ],
)
def test_messages_have_the_keys_of_the_protocol(kind):
    keys = {"ConsumerGroupDescribe": 69, "ShareGroupDescribe": 77}
    name = kind.name.removesuffix("Response")

    assert keys.get(name, 90) == kind.API_KEY
    assert kind[1](groups=[]).encode() == b"\x00\x00\x00\x00\x01\x00"


def test_topics_of_the_new_protocol_stand_in_the_order_of_their_ids():
    ids = {"a": UUID(int=1), "b": UUID(int=2**127), "c": UUID(int=2**64)}
    topics = {name: {"topic_id": str(number)} for name, number in ids.items()}

    assert list(_in_order_of_ids(topics)) == ["b", "a", "c"]  # Java's longs are signed


def test_hidden_topics_are_named():
    client = SimpleNamespace(servers="h:1")
    hidden = {"error_code": 29, "partitions": []}

    with pytest.raises(OSError, match="needs Describe on Topic secret"):
        _visible({"secret": hidden, "gone": hidden | {"error_code": 3}}, client)


class Cluster:
    """Two brokers; the group is listed by one of a script, and answers by another."""

    def __init__(self, coordinators, errors=(), kind="consumer"):
        self.coordinators, self.errors, self.kind = coordinators, list(errors), kind
        self.asked = []
        self._manager = self
        self.servers = "h:1"

    def call(self, ask, *, needs):
        return ask(self)

    def describe_cluster(self):
        return {"brokers": [{"broker_id": one} for one in (1, 2)]}

    def list_groups(self, broker_ids):
        at = self.coordinators[0]
        if broker_ids == [2] and len(self.coordinators) > 1:
            self.coordinators = self.coordinators[1:]
        if broker_ids != [at]:
            return []
        return [{"group_id": "g", "group_type": self.kind, "group_state": "Stable"}]

    def list_group_offsets(self, wanted):
        return {group_id: {} for group_id in wanted}

    async def send(self, request, *, node_id):
        self.asked.append((request.name, node_id))
        code = self.errors.pop(0) if self.errors else 0
        return SimpleNamespace(groups=[SimpleNamespace(error_code=code)])

    def run(self, work):
        try:
            work().send(None)
        except StopIteration as done:
            return done.value
        raise AssertionError


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(group_listing, "_PAUSE_S", 0.0)


@pytest.mark.parametrize(
    ("kind", "request_name"),
    [
        ("classic", "DescribeGroupsRequest"),
        ("consumer", "ConsumerGroupDescribeRequest"),
        ("share", "ShareGroupDescribeRequest"),
    ],
)
def test_each_kind_is_asked_for_in_its_own_way(kind, request_name):
    cluster = Cluster([2], kind=kind)

    listed, _ = describe(cluster, must_find(cluster, "g"))

    assert (listed.kind, listed.coordinator) == (kind, 2)
    assert cluster.asked == [(request_name, 2)]


def test_a_group_that_moves_is_followed():
    cluster = Cluster([2, 1], errors=[16, 15, 0])

    listed, _ = describe(cluster, LISTED)

    assert listed.coordinator == 1
    assert [broker for _, broker in cluster.asked] == [1, 2, 1]


def test_a_group_that_moves_for_ever_is_given_up():
    cluster = Cluster([1], errors=[16] * 100)

    with pytest.raises(Exception, match="Error 16"):
        describe(cluster, LISTED)


def test_what_the_user_may_not_describe_is_refused():
    cluster = Cluster([1], errors=[30])

    with pytest.raises(GroupAuthorizationFailedError):
        describe(cluster, LISTED)


def test_groups_of_old_brokers_are_classic():
    cluster = Cluster([1])
    cluster.list_groups = lambda broker_ids: [
        {"group_id": "g", "protocol_type": "consumer"}
    ]

    found = find_group(cluster, "g")

    assert (found.kind, found.state) == ("classic", None)


def test_a_group_that_is_not_there_is_refused_with_those_that_are():
    cluster = Cluster([1])

    assert find_group(cluster, "h") is None
    with pytest.raises(BadInputError) as raised:
        must_find(cluster, "h")

    (problem,) = raised.value.problems
    assert "there are: g" in problem.rule


def test_a_group_that_its_new_coordinator_is_loading_is_waited_for():
    cluster = Cluster([3, 1])  # listed by nobody at first: its coordinator has died

    found = must_find(cluster, "g")

    assert (found.group_id, found.coordinator) == ("g", 1)
