"""Groups of a running cluster, beside what Kafka's own tools say of them."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient
from pydantic import TypeAdapter

from assignment.check import check_named
from integration.kafka.cluster import Cluster, wait_until
from integration.planner import Outcome, run_here
from integration.readers import Reader, commit, create, produce, settled
from planner.group import GroupDocument, read_group
from planner.group.files.describe import import_texts
from planner.group.show_records import GroupListRecord, GroupShowRecord

pytestmark = pytest.mark.kafka

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def consume(shared_cluster: Cluster) -> Iterator[Start]:
    """Start Kafka's console consumers, and end them."""
    started: list[subprocess.Popen[bytes]] = []

    def start(tool: str, *args: str) -> subprocess.Popen[bytes]:
        started.append(shared_cluster.consume(tool, *args))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait(30)


def group(cluster: Cluster, *words: object) -> Outcome:
    where = ("--bootstrap-server", cluster.bootstrap, "--format", "json")
    return run_here("group", *words, *where)


def show(cluster: Cluster, group_id: str) -> Any:
    outcome = group(cluster, "show", group_id)
    assert outcome.code == 0, outcome.err + outcome.out
    TypeAdapter(GroupShowRecord).validate_json(outcome.out)
    return outcome.document


def read_live(cluster: Cluster, group_id: str, path: Path) -> GroupDocument:
    """Return a live group, by way of its file."""
    outcome = group(cluster, "import", "--group", group_id, "-o", path)
    assert outcome.code == 0, outcome.err + outcome.out
    return read_group(path)


def told(cluster: Cluster, group_id: str) -> GroupDocument:
    """Return the group as Kafka's own tool describes it."""
    described = ("--describe", "--group", group_id)
    kinds: dict[str, tuple[str, ...]] = {
        "offsets": (),
        "members": ("--members", "--verbose"),
        "state": ("--state",),
    }
    return import_texts(
        {name: cluster.groups(*described, *more) for name, more in kinds.items()},
        group_id=group_id,
    )


def members(document: GroupDocument) -> dict[str, Any]:
    return {
        one.member_id: (
            {name: sorted(numbers) for name, numbers in (one.owned or {}).items()},
            one.group_instance_id,
            one.client_id,
            one.host,
        )
        for one in document.record.members
    }


def offsets(document: GroupDocument) -> dict[str, Any]:
    return {
        one.name: (one.committed_offsets, one.log_end_offsets)
        for one in document.record.topics
    }


def assert_same(live: GroupDocument, text: GroupDocument) -> None:
    """Hold a live group against the tool's text."""
    assert members(live) == members(text)
    assert offsets(live) == offsets(text)
    facts = ("type", "state", "assignor", "coordinator")
    assert [getattr(live.record, name) for name in facts] == [
        getattr(text.record, name) for name in facts
    ]


def assert_offsets_are_refused(cluster: Cluster, group_id: str, topic: str) -> None:
    """Hold our refusal to reset an active group against that of Kafka's own tool."""
    before = show(cluster, group_id)["topics"]
    words = ("--topic", topic, "--to-earliest", "--execute")

    ours = group(cluster, "offsets", group_id, *words, "--yes")
    kafkas = cluster.groups("--reset-offsets", "--group", group_id, *words)

    assert ours.code == 2
    (problem,) = ours.document["problems"]
    assert "is inactive, but the current state is Stable." in problem["rule"]
    assert f"Error: {problem['rule']}" in kafkas
    assert show(cluster, group_id)["topics"] == before


def test_a_classic_group_is_read_in_full(
    shared_cluster: Cluster,
    start_reader: Callable[[str, str, str], Reader],
    tmp_path: Path,
) -> None:
    topic = name = "live-classic"
    create(shared_cluster, topic, 5)
    produce(shared_cluster, topic, range(5), 20)
    readers = [start_reader(name, f"^{topic}$", "BalancedAssignor") for _ in range(2)]
    settled(readers, [2, 3])
    wait_until(
        lambda: show(shared_cluster, name)["lag"] == 0, "everything to be committed"
    )

    live = read_live(shared_cluster, name, tmp_path / "live.json")
    where = ("--bootstrap-server", shared_cluster.bootstrap)
    seen = run_here("group", "show", name, *where)
    listed = group(shared_cluster, "show")
    TypeAdapter(GroupListRecord).validate_json(listed.out)

    for member in live.record.members:
        assert f"client {member.client_id}, at 127.0.0.1" in seen.out
    lags = {one["group_id"]: one["lag"] for one in listed.document["groups"]}
    assert lags[name] == 0
    assert_same(live, told(shared_cluster, name))
    assert live.record.type == "classic"
    assert [one.topics for one in live.record.members] == [[topic]] * 2
    assert [one.capacity for one in live.record.members] == [1.0, 1.0]
    generations = {one.generation for one in live.record.members}
    assert len(generations) == 1
    (columns,) = live.record.topics
    assert all(
        racks and set(racks) <= {"r1", "r2", "r3"} for racks in columns.racks or ()
    )
    assert len(columns.topic_id or "") == 22
    # What is at rest stays so, and the balanced answer passes the checker.
    assigned = group(shared_cluster, "assign", name)
    assert assigned.code == 0, assigned.err
    assert assigned.document["moved"] == 0
    assert check_named(live.to_group(), assigned.document["assignment"])[1] == []
    events = tmp_path / "events.toml"
    hangs = (
        f'event = "stop-heartbeating"\nmember = "{live.record.members[0].member_id}"'
    )
    events.write_text(f"[[events]]\nat_s = 5\n{hangs}\n")
    played = group(shared_cluster, "what-if", name, events)
    assert played.code == 0, played.err + played.out
    assert played.document["runs"]
    assert_offsets_are_refused(shared_cluster, name, topic)


def test_lag_weighs_partitions(shared_cluster: Cluster, tmp_path: Path) -> None:
    topic = name = "live-lag"
    create(shared_cluster, topic, 2)
    produce(shared_cluster, topic, range(1), 30)
    commit(shared_cluster, name, topic, [0, 0])

    document = show(shared_cluster, name)
    outcome = group(
        shared_cluster,
        *("import", "--group", name, "--weights", "lag", "-o", tmp_path / "g.json"),
    )

    assert (document["state"], document["lag"], document["num_members"]) == (
        "Empty",
        30,
        0,
    )
    assert outcome.code == 0, outcome.err
    assert read_group(tmp_path / "g.json").record.topics[0].weights == [30.0, 0.0]


def test_bytes_in_weigh_partitions(shared_cluster: Cluster, tmp_path: Path) -> None:
    topic = name = "live-in"
    create(shared_cluster, topic, 2)
    commit(shared_cluster, name, topic, [0, 0])
    words = ("import", "--group", name, "--weights", "in", "--sample-seconds", 1)

    outcome = group(shared_cluster, *words, "-o", tmp_path / "g.json")

    assert outcome.code == 0, outcome.err + outcome.out
    assert read_group(tmp_path / "g.json").record.topics[0].weights == [0.0, 0.0]


def test_a_group_of_the_new_protocol_is_no_dead_one(
    shared_cluster: Cluster, consume: Start, tmp_path: Path
) -> None:
    name, topics = "live-new", ["live-new-a", "live-new-b"]
    for topic in topics:
        create(shared_cluster, topic, 3)
    produce(shared_cluster, topics[0], range(3), 10)
    consume(
        "ConsoleConsumer",
        *("--include", "live-new-.*", "--group", name, "--from-beginning"),
        *("--command-property", "group.protocol=consumer"),
        *("--command-property", "client.rack=r2"),
    )

    def is_settled() -> bool:
        outcome = group(shared_cluster, "show", name)
        if outcome.code:
            return False
        found = outcome.document
        return found["num_partitions"] == 6 and not found["unowned"]

    wait_until(is_settled, "the group to have its partitions")
    # It commits every five seconds.
    wait_until(
        lambda: show(shared_cluster, name)["lag"] == 0, "everything to be committed"
    )
    live = read_live(shared_cluster, name, tmp_path / "live.json")

    assert_same(live, told(shared_cluster, name))
    assert (live.record.type, live.record.state) == ("consumer", "Stable")
    assert live.record.assignor == "uniform"
    (member,) = live.record.members
    assert member.rack == "r2"
    assert sorted(member.owned or {}) == topics
    assert member.generation is not None
    assigned = group(shared_cluster, "assign", name, "--assignor", "server-uniform")
    assert assigned.code == 0, assigned.err
    assert check_named(live.to_group(), assigned.document["assignment"])[1] == []
    assert_offsets_are_refused(shared_cluster, name, topics[0])


def test_a_share_group_is_shown_and_not_assigned(
    shared_cluster: Cluster, consume: Start
) -> None:
    topic = name = "live-share"
    create(shared_cluster, topic, 2)
    consume("ConsoleShareConsumer", "--topic", topic, "--group", name)

    def has_members() -> bool:
        outcome = group(shared_cluster, "show", name)
        return outcome.code == 0 and bool(outcome.document["members"])

    wait_until(has_members, "the share group to have a member")
    found = show(shared_cluster, name)
    refused = group(shared_cluster, "assign", name)

    assert (found["type"], found["advice"]["sayings"]) == ("share", [])
    assert [one["name"] for one in found["topics"]] == [topic]
    assert refused.code == 2
    assert "a share group cannot be assigned" in refused.document["problems"][0]["rule"]


def test_groups_are_listed(shared_cluster: Cluster) -> None:
    create(shared_cluster, "live-listed", 1)
    commit(shared_cluster, "live-listed", "live-listed", [0])

    outcome = group(shared_cluster, "show")

    TypeAdapter(GroupListRecord).validate_json(outcome.out)
    found = {one["group_id"]: one for one in outcome.document["groups"]}
    assert found["live-listed"]["type"] == "classic"
    assert found["live-listed"]["state"] == "Empty"


def test_a_group_that_is_not_there_is_bad_input(shared_cluster: Cluster) -> None:
    outcome = group(shared_cluster, "show", "no-such-group")

    assert outcome.code == 2
    assert outcome.document["error"] == "no group no-such-group"


def test_a_group_outlives_its_coordinator(new_cluster: Callable[..., Cluster]) -> None:
    cluster = new_cluster(num_brokers=2, num_dirs=1, apart=(1, 2))
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        topics = {"t": {"num_partitions": 2, "replication_factor": 2}}
        admin.create_topics(topics, wait_for_metadata=True)
    commit(cluster, "g", "t", [0, 0])
    before = show(cluster, "g")

    cluster.kill(before["coordinator"])
    after = show(cluster, "g")

    (survivor,) = set(cluster.brokers) - {before["coordinator"]}
    assert after["coordinator"] == survivor
    assert after["topics"] == before["topics"]
