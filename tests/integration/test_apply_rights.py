"""The least rights of a run: with exactly those in docs/apply.md, and without each."""

import itertools
import json
import re
import shlex
from pathlib import Path

import pytest
from kafka import KafkaAdminClient
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)

from integration.kafka.cluster import Cluster
from integration.planner import run_here
from integration.test_security import AUTHORIZER, PLAIN, SASL, SECRET, login

pytestmark = pytest.mark.kafka

PAGE = Path(__file__).parents[2] / "docs" / "apply.md"
USER = "viewer"
CLUSTER = ResourcePattern(ResourceType.CLUSTER, "kafka-cluster")
TOPICS = ResourcePattern(ResourceType.TOPIC, "*")
INCLUDED = [
    (pattern, operation)
    for pattern in (CLUSTER, TOPICS)
    for operation in (ACLOperation.DESCRIBE, ACLOperation.DESCRIBE_CONFIGS)
]
"""Rights that the documented ones include."""


@pytest.fixture(scope="module")
def guarded(libs, archive, tmp_path_factory):
    """Two brokers with ACLs, and a topic on the first of them."""
    base = tmp_path_factory.mktemp("guarded") / "kafka"
    with Cluster(
        libs,
        base,
        num_brokers=2,
        config=SASL,
        controller_config=AUTHORIZER,
        archive=archive,
        apart=(),
    ) as cluster:
        yield cluster


@pytest.fixture
def admin(guarded: Cluster):
    with KafkaAdminClient(
        bootstrap_servers=guarded.bootstrap,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username="admin",
        sasl_plain_password=SECRET.format("admin"),
    ) as client:
        yield client


def documented() -> list[tuple[ResourcePattern, ACLOperation]]:
    """Return the rights that the commands of the page give."""
    text = PAGE.read_text().replace("\\\n", " ")
    found = []
    for line in re.findall(r"^kafka-acls\.sh .*$", text, re.MULTILINE):
        words = shlex.split(line)
        pattern = CLUSTER if "--cluster" in words else TOPICS
        names = [
            word
            for option, word in itertools.pairwise(words)
            if option == "--operation"
        ]
        for name in names:
            snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()
            found.append((pattern, ACLOperation[snake]))
    return found


def allow(admin: KafkaAdminClient, rights) -> None:
    """Give the user exactly these rights."""
    admin.delete_acls(
        [
            ACLFilter(
                f"User:{USER}",
                "*",
                ACLOperation.ANY,
                ACLPermissionType.ANY,
                ResourcePatternFilter(kind, None, ACLResourcePatternType.ANY),
            )
            for kind in (ResourceType.CLUSTER, ResourceType.TOPIC)
        ]
    )
    if rights:
        admin.create_acls(
            [
                ACL(f"User:{USER}", "*", one, ACLPermissionType.ALLOW, pattern)
                for pattern, one in rights
            ]
        )


def client_config(folder: Path) -> Path:
    path = folder / "client.properties"
    lines = login(PLAIN, USER, SECRET.format(USER)) | {"sasl_mechanism": "PLAIN"}
    named = {key.replace("_", "."): value for key, value in lines.items()}
    path.write_text("".join(f"{key}={value}\n" for key, value in named.items()))
    return path


def write_plan(cluster: Cluster, folder: Path, topic: str) -> Path:
    plan = folder / "plan"
    plan.mkdir()
    for name, row in (("rollback.json", [1]), ("reassignment.json", [2])):
        entry = {"topic": topic, "partition": 0, "replicas": row}
        (plan / name).write_text(json.dumps({"version": 1, "partitions": [entry]}))
    document = {
        "format": "kafka-planner/plan",
        "version": 1,
        "goal": "rebalance",
        "snapshot": {
            "cluster_id": cluster.cluster_id,
            "taken_at": "2020-01-01T00:00:00Z",
        },
        "settings": {},
    }
    (plan / "plan.json").write_text(json.dumps(document))
    return plan


def test_the_documented_rights_are_enough_and_no_secret_is_written(
    guarded: Cluster, admin: KafkaAdminClient, tmp_path
):
    admin.create_topics({"ours": {"assignments": {0: [1]}}}, wait_for_metadata=True)
    rights = documented()
    assert len(rights) == 4
    allow(admin, rights)
    plan = write_plan(guarded, tmp_path, "ours")
    where = (
        "--bootstrap-server", guarded.bootstrap,
        "--command-config", client_config(tmp_path), "--sample-seconds", "0",
    )  # fmt: skip

    shown = run_here("apply", plan, *where, "--format", "json")
    assert shown.code == 0, shown.out + shown.err
    seen = ("--plan-id", shown.document["plan_id"], "--max-age", "999999h")
    done = run_here("apply", plan, *where, "--yes", *seen, "--format", "json")

    assert done.code == 0, done.out + done.err
    assert json.loads(done.out.splitlines()[-1])["status"] == "completed"
    written = [done.out, done.err, *(one.read_text() for one in plan.glob("*.*"))]
    assert not any("hush" in text for text in written)


@pytest.mark.parametrize(
    ("lacking", "named"),
    [
        ((CLUSTER, ACLOperation.ALTER), "Alter on Cluster"),
        ((CLUSTER, ACLOperation.ALTER_CONFIGS), "AlterConfigs on Cluster"),
        ((TOPICS, ACLOperation.ALTER_CONFIGS), "AlterConfigs on Topic theirs"),
    ],
)
def test_a_right_that_is_missing_is_named_before_anything_starts(
    guarded: Cluster, admin: KafkaAdminClient, tmp_path, lacking, named
):
    if "theirs" not in admin.list_topics():
        admin.create_topics(
            {"theirs": {"assignments": {0: [1]}}}, wait_for_metadata=True
        )
    allow(admin, [*(one for one in documented() if one != lacking), *INCLUDED])
    plan = write_plan(guarded, tmp_path, "theirs")
    where = (
        "--bootstrap-server", guarded.bootstrap,
        "--command-config", client_config(tmp_path), "--sample-seconds", "0",
    )  # fmt: skip

    shown = run_here("apply", plan, *where, "--format", "json")

    assert shown.code == 3, shown.out + shown.err
    [blocker] = [b for b in shown.document["blockers"] if b["rule"] == "rights"]
    assert named in blocker["message"]
    assert admin.list_partition_reassignments() == {}


@pytest.mark.parametrize(
    ("lacking", "named"),
    [
        ((CLUSTER, ACLOperation.ALTER), "needs Describe on Cluster"),
        ((CLUSTER, ACLOperation.ALTER_CONFIGS), "needs DescribeConfigs on Cluster"),
        ((TOPICS, ACLOperation.DESCRIBE), "needs Describe on Topic"),
    ],
)
def test_a_right_to_look_that_is_missing_is_named(
    guarded: Cluster, admin: KafkaAdminClient, tmp_path, lacking, named
):
    if "hidden" not in admin.list_topics():
        admin.create_topics(
            {"hidden": {"assignments": {0: [1]}}}, wait_for_metadata=True
        )
    allow(admin, [one for one in documented() if one != lacking])
    plan = write_plan(guarded, tmp_path, "hidden")
    where = (
        "--bootstrap-server", guarded.bootstrap,
        "--command-config", client_config(tmp_path), "--sample-seconds", "0",
    )  # fmt: skip

    shown = run_here("apply", plan, *where)

    assert shown.code == 5, shown.out + shown.err
    assert named in shown.err
    assert admin.list_partition_reassignments() == {}
