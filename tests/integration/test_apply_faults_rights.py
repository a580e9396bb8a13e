"""Rights and credentials that are taken away while a plan is carried out, and back."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka import KafkaAdminClient
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ResourcePattern,
    ResourceType,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from integration.conftest import SLOW_COPIES
from integration.kafka.cluster import Cluster, free_ports
from integration.messages import Messages
from integration.runs import CRAWL, QUICK, follow, job_of, plan_folder
from integration.shell import throttles
from integration.steps import create, replicas_of
from planner.errors import ClusterUnavailableError
from planner.execution.cluster.live_cluster import LiveCluster
from planner.execution.run.run_choices import RunChoices
from planner.kafka.client.client_session import open_cluster

pytestmark = pytest.mark.kafka

USER, SECRET = "mover", "hush-mover-hush"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    # Brokers and Kafka's tools, on the listener without users.
    "super.users": "User:ANONYMOUS",
}
BROKERS = AUTHORIZER | {
    "listener.security.protocol.map": (
        "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,USERS:SASL_PLAINTEXT"
    ),
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
    "listener.name.users.scram-sha-256.sasl.jaas.config": f"{SCRAM};",
    # A connection ends soon after, so that credentials are looked at again.
    "listener.name.users.scram-sha-256.connections.max.reauth.ms": "2000",
    **SLOW_COPIES,
}
OPERATIONS = ("DESCRIBE", "DESCRIBE_CONFIGS", "ALTER", "ALTER_CONFIGS")
CREDENTIAL = UserScramCredentialUpsertion(
    USER, ScramMechanism.SCRAM_SHA_256, password=SECRET, iterations=4096
)


def rights() -> list[ACL]:
    """Return the rights that a run needs, as the documentation has them."""
    places = [
        ResourcePattern(ResourceType.CLUSTER, "kafka-cluster"),
        ResourcePattern(ResourceType.TOPIC, "*"),
    ]
    return [
        ACL(f"User:{USER}", "*", ACLOperation[name], ACLPermissionType.ALLOW, place)
        for name in OPERATIONS
        for place in places
        if (name, place.resource_type) != ("ALTER", ResourceType.TOPIC)
    ]


@pytest.fixture(scope="module")
def ports() -> list[int]:
    """Return the port of each broker for users: the same first digits."""
    first = free_ports(1)[0] // 10
    return [10 * first + broker for broker in (1, 2)]


@pytest.fixture(scope="module")
def guarded(libs, archive, tmp_path_factory, ports: list[int]) -> Iterator[Cluster]:
    base = tmp_path_factory.mktemp("guarded") / "kafka"
    listeners = "PLAINTEXT://127.0.0.1:{port},USERS://127.0.0.1:" + (
        f"{ports[0] // 10}" + "{node}"
    )
    config = BROKERS | {"listeners": listeners, "advertised.listeners": listeners}
    options = {"num_brokers": 2, "archive": archive, "apart": ()}
    with Cluster(
        libs, base, config=config, controller_config=AUTHORIZER, **options
    ) as cluster:
        yield cluster


@pytest.fixture
def admin(guarded: Cluster) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=guarded.bootstrap) as client:
        client.alter_user_scram_credentials([CREDENTIAL])
        client.create_acls(rights())
        yield client


@pytest.fixture
def user(admin: KafkaAdminClient, ports: list[int], tmp_path) -> Iterator[LiveCluster]:
    """Give the cluster as the user sees it that carries plans out."""
    config = tmp_path / "client.properties"
    config.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n"
        f'sasl.jaas.config={SCRAM} username="{USER}" password="{SECRET}";\n'
    )
    servers = ",".join(f"127.0.0.1:{port}" for port in ports)
    with open_cluster(servers, config, timeout_s=3.0) as client:
        yield LiveCluster(client)


def filled(cluster: Cluster, folder: Path, topic: str) -> tuple[Messages, Path]:
    """Create a topic with messages, and return them with a plan that moves them."""
    create(cluster, topic, [[1], [2]])
    messages = Messages(cluster.bootstrap, topic, 2).write(20)
    return messages, plan_folder(cluster, folder, topic, {0: [2], 1: [1]})


def test_rights_are_taken_away_and_come_back(
    guarded: Cluster, admin: KafkaAdminClient, user: LiveCluster, tmp_path
):
    messages, plan = filled(guarded, tmp_path, "rights")
    before = throttles(guarded)

    def take_away() -> None:
        admin.delete_acls(rights())
        back.start()

    back = threading.Timer(8, admin.create_acls, [rights()])
    with messages:
        events = follow(job_of(plan, rate=CRAWL), user, {"admitted": take_away})
    back.join()

    said = [event.reason for event in events if event.event == "stuck"]
    assert any("needs" in reason and "trying again" in reason for reason in said), said
    assert events[-1].status == "completed"
    assert replicas_of(guarded, "rights") == [[2], [1]]
    assert throttles(guarded, until=before) == before
    assert SECRET not in (plan / "journal.jsonl").read_text()
    messages.check()


def test_rights_that_stay_away_end_a_run_that_the_next_one_resumes(
    guarded: Cluster, admin: KafkaAdminClient, user: LiveCluster, tmp_path
):
    messages, plan = filled(guarded, tmp_path, "rightless")
    before = throttles(guarded)
    choices = RunChoices(patience_s=1.0, poll_s=0.2)

    with messages:
        with pytest.raises(ClusterUnavailableError, match="needs"):
            follow(
                job_of(plan, choices=choices),
                user,
                {"admitted": lambda: admin.delete_acls(rights())},
            )
        admin.create_acls(rights())
        events = follow(job_of(plan, choices=QUICK), user)

    assert events[-1].status == "completed"
    assert throttles(guarded, until=before) == before
    messages.check()


def test_credentials_are_taken_away_and_come_back(
    guarded: Cluster, admin: KafkaAdminClient, user: LiveCluster, tmp_path
):
    messages, plan = filled(guarded, tmp_path, "credentials")
    before = throttles(guarded)
    gone = UserScramCredentialDeletion(USER, ScramMechanism.SCRAM_SHA_256)

    def take_away() -> None:
        admin.alter_user_scram_credentials([gone])
        back.start()

    back = threading.Timer(8, admin.alter_user_scram_credentials, [[CREDENTIAL]])
    with messages:
        events = follow(job_of(plan, rate=CRAWL), user, {"admitted": take_away})
    back.join()

    said = [event.reason for event in events if event.event == "stuck"]
    assert any("trying again" in reason for reason in said), said
    assert events[-1].status == "completed"
    assert replicas_of(guarded, "credentials") == [[2], [1]]
    assert throttles(guarded, until=before) == before
    messages.check()
