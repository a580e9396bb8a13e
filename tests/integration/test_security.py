"""Users, rights, certificates: who gets in, who sees what, what is never shown."""

import base64
import json
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ResourcePattern,
    ResourceType,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from integration.certificates import broker_stores, client_stores
from integration.kafka.cluster import Cluster
from integration.planner import Outcome, run_here, run_planner

pytestmark = pytest.mark.kafka

SECURITY = "org.apache.kafka.common.security"
PLAIN = f"{SECURITY}.plain.PlainLoginModule required"
SCRAM = f"{SECURITY}.scram.ScramLoginModule required"
OAUTH = f"{SECURITY}.oauthbearer.OAuthBearerLoginModule required"
SECRET = "hush-{}-hush"  # noqa: S105 - looked for where it must not be
USERS = ("admin", "reader", "viewer", "sampler")
LISTED = " ".join(f'user_{user}="{SECRET.format(user)}"' for user in USERS)
ADMIN = f'username="admin" password="{SECRET.format("admin")}"'
MECHANISMS = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER"
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:admin;User:ANONYMOUS",
}
SASL = {
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": MECHANISMS,
    "sasl.mechanism.inter.broker.protocol": "PLAIN",
    "listener.name.plaintext.plain.sasl.jaas.config": f"{PLAIN} {ADMIN} {LISTED};",
    "listener.name.plaintext.scram-sha-256.sasl.jaas.config": f"{SCRAM};",
    "listener.name.plaintext.scram-sha-512.sasl.jaas.config": f"{SCRAM};",
    "listener.name.plaintext.oauthbearer.sasl.jaas.config": (
        f'{OAUTH} unsecuredLoginStringClaim_sub="admin";'
    ),
    **AUTHORIZER,
}


@pytest.fixture(scope="module")
def sasl_cluster(libs, archive, tmp_path_factory):
    base = tmp_path_factory.mktemp("sasl") / "kafka"
    options = {"num_brokers": 1, "archive": archive}
    with Cluster(
        libs, base, config=SASL, controller_config=AUTHORIZER, **options
    ) as cluster:
        with KafkaAdminClient(
            bootstrap_servers=cluster.bootstrap,
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="PLAIN",
            sasl_plain_username="admin",
            sasl_plain_password=SECRET.format("admin"),
        ) as admin:
            admin.create_topics({"t": {"num_partitions": 2, "replication_factor": 1}})
            # Kafka changes one credential of a user at a time.
            for kind in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
                secret = {"password": SECRET.format("scram"), "iterations": 4096}
                given = UserScramCredentialUpsertion("admin", kind, **secret)
                assert admin.alter_user_scram_credentials([given]) == {"admin": None}
            # `viewer` sees brokers and log dirs, and no topic.
            admin.create_acls(
                [
                    ACL(
                        "User:viewer",
                        "*",
                        ACLOperation.DESCRIBE,
                        ACLPermissionType.ALLOW,
                        ResourcePattern(ResourceType.CLUSTER, "kafka-cluster"),
                    )
                ]
            )
        yield cluster


def snapshot(cluster: Cluster, folder: Path, *options: object, **lines: str) -> Outcome:
    """Take a snapshot with client properties, and look for secrets in what it says."""
    config = folder / "client.properties"
    named = {key.replace("_", "."): value for key, value in lines.items()}
    config.write_text("".join(f"{key}={value}\n" for key, value in named.items()))
    where = ("--bootstrap-server", cluster.bootstrap, "--command-config", config)
    what = ("-o", folder / "s.json", "--sample-seconds", 0)
    outcome = run_planner("snapshot", "live", *where, *what, *options)
    written = folder / "s.json"
    said = outcome.out + outcome.err + (written.read_text() if written.exists() else "")
    assert "hush" not in said
    assert "changeit" not in said
    return outcome


def login(module: str, user: str, password: str) -> dict[str, str]:
    return {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_jaas_config": f'{module} username="{user}" password="{password}";',
    }


def unsecured_token(subject: str) -> str:
    """Return a token that is not signed: what a broker's default validator takes."""
    parts = (
        {"alg": "none"},
        {"sub": subject, "iat": 1_700_000_000, "exp": 9_999_999_999},
    )
    coded = [base64.urlsafe_b64encode(json.dumps(part).encode()) for part in parts]
    return ".".join(code.decode().rstrip("=") for code in coded) + "."


@pytest.mark.parametrize(
    ("mechanism", "module", "secret"),
    [
        pytest.param("PLAIN", PLAIN, "admin", id="plain"),
        pytest.param("SCRAM-SHA-256", SCRAM, "scram", id="scram-256"),
        pytest.param("SCRAM-SHA-512", SCRAM, "scram", id="scram-512"),
    ],
)
def test_a_user_with_a_password_gets_in(
    sasl_cluster: Cluster, tmp_path, mechanism: str, module: str, secret: str
):
    lines = login(module, "admin", SECRET.format(secret))
    outcome = snapshot(sasl_cluster, tmp_path, sasl_mechanism=mechanism, **lines)

    assert outcome.code == 0, outcome.err
    topics = json.loads((tmp_path / "s.json").read_text())["topics"]
    assert [topic["name"] for topic in topics] == ["t"]


def test_a_user_with_a_token_gets_in(sasl_cluster: Cluster, tmp_path):
    token = tmp_path / "token"
    token.write_text(unsecured_token("admin") + "\n")
    outcome = snapshot(
        sasl_cluster,
        tmp_path,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_jaas_config=f"{OAUTH};",
        sasl_oauthbearer_token_endpoint_url=token.as_uri(),
    )

    assert outcome.code == 0, outcome.err


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [
        pytest.param("PLAIN", PLAIN, id="plain"),
        pytest.param("SCRAM-SHA-512", SCRAM, id="scram"),
    ],
)
def test_a_wrong_password_is_one_line_at_once(
    sasl_cluster: Cluster, tmp_path, mechanism: str, module: str
):
    lines = login(module, "admin", "hush-wrong")
    outcome = snapshot(sasl_cluster, tmp_path, sasl_mechanism=mechanism, **lines)

    (line,) = outcome.err.splitlines()
    assert outcome.code == 5
    assert f"{sasl_cluster.bootstrap}: authentication failed" in line
    assert outcome.seconds < 30  # the limit: it is not waited for


def test_the_wrong_protocol_is_named(sasl_cluster: Cluster, tmp_path):
    outcome = snapshot(sasl_cluster, tmp_path, security_protocol="PLAINTEXT")

    (line,) = outcome.err.splitlines()
    assert outcome.code == 5
    assert sasl_cluster.bootstrap in line
    assert "asks for a login (SASL), and security.protocol=PLAINTEXT has none" in line


def test_a_login_at_a_listener_without_one_is_named_at_once(
    shared_cluster: Cluster, tmp_path
):
    """
    Brokers answer ILLEGAL_SASL_STATE there as well.

    A client whose session is as short as a second gets the same answer, and connects
    again; a listener without a login would refuse it every time.
    """
    lines = login(PLAIN, "admin", "hush-admin")
    outcome = snapshot(shared_cluster, tmp_path, sasl_mechanism="PLAIN", **lines)

    (line,) = outcome.err.splitlines()
    assert outcome.code == 5
    assert "the listener takes no login (SASL)" in line
    assert outcome.seconds < 30  # the limit: it is not waited for


@pytest.mark.parametrize(
    ("user", "needs"),
    [
        pytest.param("reader", "no log dirs of brokers 1 (needs Describe on Cluster)"),
        pytest.param(
            "viewer", "no metadata of topics at all (needs Describe on Topic)"
        ),
    ],
)
def test_a_half_visible_cluster_is_refused_naming_the_right_that_is_missing(
    sasl_cluster: Cluster, tmp_path, user: str, needs: str
):
    lines = login(PLAIN, user, SECRET.format(user)) | {"sasl_mechanism": "PLAIN"}
    refused = snapshot(sasl_cluster, tmp_path, **lines)
    (line,) = [one for one in refused.err.splitlines() if one.startswith("error")]
    assert refused.code == 5
    assert needs in line
    assert "reassignments" not in line or user == "reader"
    assert not (tmp_path / "s.json").exists()


def test_a_half_visible_cluster_may_be_taken_as_it_is(sasl_cluster, tmp_path):
    lines = login(PLAIN, "viewer", SECRET.format("viewer"))
    lines["sasl_mechanism"] = "PLAIN"
    outcome = snapshot(sasl_cluster, tmp_path, "--allow-partial", **lines)

    assert outcome.code == 0, outcome.err
    assert "needs Describe on Topic" in outcome.err
    document = json.loads((tmp_path / "s.json").read_text())
    assert document["topics"] == []
    assert len(document["brokers"][0]["log_dirs"]) == 2


def test_a_user_without_rights_sees_which_a_plan_needs(sasl_cluster, tmp_path):
    plan, config = tmp_path / "plan.json", tmp_path / "client.properties"
    lines = login(PLAIN, "viewer", SECRET.format("viewer"))
    lines["sasl_mechanism"] = "PLAIN"
    named = {key.replace("_", "."): value for key, value in lines.items()}
    config.write_text("".join(f"{key}={value}\n" for key, value in named.items()))
    entry = {"topic": "t", "partition": 0, "replicas": [1]}
    plan.write_text(json.dumps({"version": 1, "partitions": [entry]}))
    where = ("--bootstrap-server", sasl_cluster.bootstrap, "--command-config", config)

    outcome = run_planner("apply", plan, *where, "--allow-partial", "--format", "json")

    assert outcome.code == 3, outcome.err
    [lacking] = [b for b in outcome.document["blockers"] if b["rule"] == "rights"]
    assert "Alter on Cluster" in lacking["message"]
    assert "AlterConfigs on Cluster" in lacking["message"]
    assert "hush" not in outcome.out + outcome.err


def groups(cluster: Cluster, folder: Path, user: str, *words: object) -> Outcome:
    """Run a command about groups as a user, and look for secrets in what it says."""
    config = folder / "groups.properties"
    lines = login(PLAIN, user, SECRET.format(user)) | {"sasl_mechanism": "PLAIN"}
    named = {key.replace("_", "."): value for key, value in lines.items()}
    config.write_text("".join(f"{key}={value}\n" for key, value in named.items()))
    where = ("--bootstrap-server", cluster.bootstrap, "--command-config", config)
    outcome = run_planner("group", *words, *where)
    assert "hush" not in outcome.out + outcome.err
    return outcome


def test_groups_are_for_those_who_may_describe_them(sasl_cluster: Cluster, tmp_path):
    move = ("offsets", "guarded", "--topic", "t", "--to-earliest")

    made = groups(sasl_cluster, tmp_path, "admin", *move, "--execute", "--yes")
    shown = groups(sasl_cluster, tmp_path, "admin", "show", "guarded")
    hidden = groups(sasl_cluster, tmp_path, "reader", "show", "guarded")
    listed = groups(sasl_cluster, tmp_path, "reader", "show")
    moved = groups(sasl_cluster, tmp_path, "reader", *move, "--execute", "--yes")

    assert made.code == 0, made.err
    assert shown.code == 0, shown.err
    assert "t: 2 partitions, lag 0" in shown.out
    for refused in (hidden, moved):
        assert refused.code == 5
        assert "the user needs Describe on Group guarded" in refused.err
    # An empty list of groups is not the same as no group that may be seen.
    assert listed.code == 5
    assert "the user needs Describe on Cluster, or on Group" in listed.err
    assert listed.out == ""


def with_user(cluster: Cluster, folder: Path, user: str, *words: object) -> Outcome:
    """Run a command as a user."""
    config = folder / "client.properties"
    lines = login(PLAIN, user, SECRET.format(user)) | {"sasl_mechanism": "PLAIN"}
    named = {key.replace("_", "."): value for key, value in lines.items()}
    config.write_text("".join(f"{key}={value}\n" for key, value in named.items()))
    where = ("--bootstrap-server", cluster.bootstrap, "--command-config", config)
    return run_here(*words, *where)


@pytest.mark.parametrize("user", ["reader", "viewer"])
@pytest.mark.parametrize("more", [(), ("--yes",)])
@pytest.mark.parametrize(
    "which", [("--all-topic-partitions",), ("--topic", "t", "--partition", 0)]
)
def test_an_election_without_the_right_is_no_election_of_no_partition(
    sasl_cluster: Cluster, tmp_path, user: str, more: tuple, which: tuple
):
    words = ("elect", "--election-type", "preferred", *which, *more)
    outcome = with_user(sasl_cluster, tmp_path, user, *words)

    assert outcome.code == 5
    assert "the user needs Alter on Cluster" in outcome.err
    assert outcome.out == ""


@pytest.mark.parametrize("more", [("--validate-only",), ("--apply", "--yes")])
def test_a_new_topic_needs_a_right_that_is_named(
    sasl_cluster: Cluster, tmp_path, more: tuple
):
    lines = login(PLAIN, "admin", SECRET.format("admin")) | {"sasl_mechanism": "PLAIN"}
    assert snapshot(sasl_cluster, tmp_path, **lines).code == 0
    snap, roomy = tmp_path / "s.json", ("--capacity-threshold", "disk=1")
    new = ("--topic", "n", "--partitions", 1, "--replication-factor", 1, *more)
    grow = ("--topic", "t", "--partitions", 3, *more)

    made = with_user(
        sasl_cluster, tmp_path, "viewer", "plan", "new-topic", snap, *roomy, *new
    )
    grown = with_user(
        sasl_cluster, tmp_path, "viewer", "plan", "add-partitions", snap, *roomy, *grow
    )

    assert (made.code, grown.code) == (5, 5)
    assert "the user needs Create on Cluster, or on Topic n" in made.err
    assert "the user needs Alter on Topic t" in grown.err


@pytest.fixture(scope="module")
def ssl_cluster(libs, archive, stores: Path, tmp_path_factory):
    """A broker that asks its clients for a certificate."""
    config = {
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:SSL",
        "ssl.client.auth": "required",
        **broker_stores(stores),
    }
    base = tmp_path_factory.mktemp("ssl") / "kafka"
    options = {"num_brokers": 1, "archive": archive}
    with Cluster(libs, base, config=config, **options) as cluster:
        yield cluster


@pytest.mark.parametrize("kind", ["p12", "jks", "pem"])
def test_certificates_of_each_format_are_taken(
    ssl_cluster: Cluster, stores: Path, tmp_path, kind: str
):
    named = client_stores(stores, kind).items()
    lines = {name.replace(".", "_"): value for name, value in named}
    outcome = snapshot(ssl_cluster, tmp_path, **lines)

    assert outcome.code == 0, outcome.err


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        pytest.param(
            {"security_protocol": "SSL"}, "certificate is not trusted", id="no-trust"
        ),
        pytest.param(
            {
                "security_protocol": "SSL",
                "ssl_truststore_location": "ca.pem",
                "ssl_truststore_type": "PEM",
            },
            "does it ask for a certificate",
            id="no-certificate-of-its-own",
        ),
    ],
)
def test_a_refused_handshake_is_one_line(
    ssl_cluster: Cluster, stores: Path, tmp_path, lines: dict[str, str], cause: str
):
    lines = {k: str(stores / v) if v == "ca.pem" else v for k, v in lines.items()}
    outcome = snapshot(ssl_cluster, tmp_path, "--timeout", 3, **lines)

    (line,) = outcome.err.splitlines()
    assert outcome.code == 5
    assert f"{ssl_cluster.bootstrap}: " in line
    assert cause in line


def test_plaintext_against_tls_is_named_at_once(ssl_cluster: Cluster, tmp_path):
    options = ("--timeout", 120)
    outcome = snapshot(ssl_cluster, tmp_path, *options, security_protocol="PLAINTEXT")

    (line,) = outcome.err.splitlines()
    assert outcome.code == 5
    assert "the listener speaks TLS, and security.protocol=PLAINTEXT does not" in line
    assert outcome.seconds < 30


def test_a_topic_that_may_be_seen_and_not_read_gives_no_keys(sasl_cluster, tmp_path):
    with KafkaAdminClient(
        bootstrap_servers=sasl_cluster.bootstrap,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username="admin",
        sasl_plain_password=SECRET.format("admin"),
    ) as admin:
        seen = ResourcePattern(ResourceType.TOPIC, "t")
        rule = (ACLOperation.DESCRIBE, ACLPermissionType.ALLOW, seen)
        admin.create_acls([ACL("User:sampler", "*", *rule)])
    produce_as_admin(sasl_cluster, "t")

    outcome = with_user(
        sasl_cluster, tmp_path, "sampler", "keys", "skew", "--topic", "t"
    )

    assert (outcome.code, outcome.out) == (5, "")
    assert "the user needs Read on Topic t" in outcome.err


def produce_as_admin(cluster: Cluster, topic: str) -> None:
    producer = KafkaProducer(
        bootstrap_servers=cluster.bootstrap.split(","),
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username="admin",
        sasl_plain_password=SECRET.format("admin"),
    )
    producer.send(topic, b"v", key=b"k").get(30)
    producer.close()
