"""Plans carried out over secured listeners, with the least rights and no more."""

import json
import traceback
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from kafka import KafkaAdminClient
from kafka.admin import (
    ACL,
    ACLPermissionType,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from integration.certificates import NAME, PASSWORD, broker_stores, client_stores
from integration.conftest import SLOW_COPIES
from integration.kafka.cluster import Cluster, free_ports
from integration.messages import Messages
from integration.planner import Outcome, run_here
from integration.runs import fresh, plan_folder
from integration.shell import throttles
from integration.steps import create, replicas_of
from integration.test_apply_rights import documented
from integration.test_security import OAUTH, PLAIN, SCRAM, unsecured_token
from planner.execution.cluster.live_cluster import LiveCluster

pytestmark = pytest.mark.kafka

USER, SECRET = "mover", "hush-mover-hush"
PRINCIPALS = (f"User:{USER}", f"User:{NAME}")
KINDS = ("scram", "oauth", "certificate")
NUMBERS = count(1)
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    # Brokers and Kafka's tools, on the listener without users.
    "super.users": "User:ANONYMOUS",
}
SASL = {
    "listener.security.protocol.map": (
        "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,USERS:SASL_PLAINTEXT,CERTS:SSL"
    ),
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512,OAUTHBEARER",
    "listener.name.users.plain.sasl.jaas.config": (f'{PLAIN} user_{USER}="{SECRET}";'),
    "listener.name.users.scram-sha-512.sasl.jaas.config": f"{SCRAM};",
    "listener.name.users.oauthbearer.sasl.jaas.config": (
        f'{OAUTH} unsecuredLoginStringClaim_sub="{USER}";'
    ),
    "listener.name.certs.ssl.client.auth": "required",
}


@pytest.fixture(scope="module")
def doors() -> dict[str, list[int]]:
    """Return the ports of each secured listener, on brokers 1 and 2."""
    users, certs = free_ports(1)[0] // 10, free_ports(1)[0] // 10
    return {
        "USERS": [10 * users + broker for broker in (1, 2)],
        "CERTS": [10 * certs + broker for broker in (1, 2)],
    }


@pytest.fixture(scope="module")
def secured(
    libs, archive, stores: Path, tmp_path_factory, doors: dict[str, list[int]]
) -> Iterator[Cluster]:
    base = tmp_path_factory.mktemp("secured") / "kafka"
    listeners = "PLAINTEXT://127.0.0.1:{port}" + "".join(
        f",{name}://127.0.0.1:{ports[0] // 10}" + "{node}"
        for name, ports in doors.items()
    )
    config = (
        SASL
        | AUTHORIZER
        | SLOW_COPIES
        | broker_stores(stores, "listener.name.certs.")
        | {"listeners": listeners, "advertised.listeners": listeners}
    )
    options = {"num_brokers": 2, "archive": archive, "apart": ()}
    with Cluster(
        libs, base, config=config, controller_config=AUTHORIZER, **options
    ) as cluster:
        _let_in(cluster)
        yield cluster


def _let_in(cluster: Cluster) -> None:
    """Give each principal the documented rights, and the user a password."""
    how = {"password": SECRET, "iterations": 4096}
    credential = UserScramCredentialUpsertion(USER, ScramMechanism.SCRAM_SHA_512, **how)
    rights = [
        ACL(principal, "*", operation, ACLPermissionType.ALLOW, pattern)
        for principal in PRINCIPALS
        for pattern, operation in documented()
    ]
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        admin.alter_user_scram_credentials([credential])
        admin.create_acls(rights)


def properties(kind: str, stores: Path, folder: Path) -> dict[str, str]:
    """Return the properties of a client that proves who it is in some way."""
    if kind == "certificate":
        return client_stores(stores, "p12")
    sasl = {"security.protocol": "SASL_PLAINTEXT"}
    if kind == "oauth":
        token = folder / "token"
        token.write_text(unsecured_token(USER) + "\n")
        return sasl | {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.jaas.config": f"{OAUTH};",
            "sasl.oauthbearer.token.endpoint.url": token.as_uri(),
        }
    module = {"plain": PLAIN, "scram": SCRAM}[kind]
    return sasl | {
        "sasl.mechanism": {"plain": "PLAIN", "scram": "SCRAM-SHA-512"}[kind],
        "sasl.jaas.config": f'{module} username="{USER}" password="{SECRET}";',
    }


@pytest.fixture
def where(kind: str, stores: Path, doors, tmp_path) -> tuple[object, ...]:
    """Give the options of a connection through a secured listener."""
    config = tmp_path / "client.properties"
    lines = properties(kind, stores, tmp_path).items()
    config.write_text("".join(f"{name}={value}\n" for name, value in lines))
    ports = doors["CERTS" if kind == "certificate" else "USERS"]
    servers = ",".join(f"127.0.0.1:{port}" for port in ports)
    return ("--bootstrap-server", servers, "--command-config", config)


def check_no_secret(*texts: str) -> None:
    """Look for passwords and the token, as a whole and its signed part."""
    secrets = (SECRET, "hush", PASSWORD, unsecured_token(USER))
    found = [secret for secret in secrets for text in texts if secret in text]
    assert not found


@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_is_carried_out_over_a_secured_listener(
    secured: Cluster, where, tmp_path, kind: str, caplog
):
    topic = f"secured-{next(NUMBERS)}"
    create(secured, topic, [[1], [2]])
    messages = Messages(secured.bootstrap, topic, 2).write(10)
    plan = fresh(plan_folder(secured, tmp_path, topic, {0: [2], 1: [1]}))
    before = throttles(secured)
    caplog.set_level("INFO")
    outcomes: list[Outcome] = []

    def run(*words: object) -> Outcome:
        outcomes.append(run_here(*words, *where, "--verbose"))
        return outcomes[-1]

    options = ("--sample-seconds", 0, "--format", "json")
    shown = run("apply", plan, *options)
    seen = ("--yes", "--plan-id", shown.document["plan_id"])
    done = run("apply", plan, *seen, *options)
    verified = run("verify", plan)
    there = replicas_of(secured, topic)
    cancelled = run("cancel", plan, "--yes")
    back = run("rollback", plan, "--yes")

    assert [one.code for one in outcomes] == [0] * 5, [o.err for o in outcomes]
    assert json.loads(done.out.splitlines()[-1])["status"] == "completed"
    assert there == [[2], [1]]
    assert "completed" in verified.out
    assert "cancelled" in cancelled.out
    assert "rolled-back" in back.out
    assert replicas_of(secured, topic) == [[1], [2]]
    assert throttles(secured, until=before) == before
    written = [path.read_text() for path in plan.rglob("*") if path.is_file()]
    said = [text for one in outcomes for text in (one.out, one.err)]
    check_no_secret(*written, *said, caplog.text)
    messages.check()


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_crashes_shows_no_secret(
    secured: Cluster, where, tmp_path, kind: str, monkeypatch
):
    topic = f"secured-{next(NUMBERS)}"
    create(secured, topic, [[1]])
    plan = plan_folder(secured, tmp_path, topic, {0: [2]})

    def crash(*_: object) -> None:
        msg = "a fault of the program"
        raise RuntimeError(msg)

    monkeypatch.setattr(LiveCluster, "snapshot", crash)
    with pytest.raises(RuntimeError) as raised:
        run_here("rollback", plan, "--yes", *where)

    shown = traceback.TracebackException.from_exception(
        raised.value, capture_locals=True
    )
    check_no_secret("".join(shown.format()))


@pytest.mark.parametrize("kind", ["plain", "scram"])
def test_a_wrong_password_is_one_line_and_changes_nothing(
    secured: Cluster, where, tmp_path, kind: str
):
    topic = f"secured-{next(NUMBERS)}"
    create(secured, topic, [[1]])
    plan = plan_folder(secured, tmp_path, topic, {0: [2]})
    config = Path(where[-1])
    config.write_text(config.read_text().replace(SECRET, "hush-wrong"))

    outcome = run_here("cancel", plan, "--yes", *where)

    (line,) = outcome.err.splitlines()
    assert outcome.code == 5
    assert "authentication failed" in line
    check_no_secret(outcome.out, outcome.err)
    assert replicas_of(secured, topic) == [[1]]
