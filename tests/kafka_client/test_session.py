import kafka.errors
import pytest

from planner.errors import BadInputError, ClusterUnavailableError
from planner.kafka.client.addresses import parse_bootstrap, parse_resolve
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.client_pool import Share
from planner.kafka.client.client_session import open_cluster
from planner.kafka.client.cluster_errors import RETRIED, RefusedError


class Admin:
    """Admin client that answers nothing."""

    def close(self) -> None:
        """Nothing is open."""


def client_of(admins: list[Admin]) -> ClusterClient:
    """Return a client that adds each admin client it creates to a list."""
    client = ClusterClient(parse_bootstrap("k1:1"), timeout_s=5)

    def create(_: float) -> Admin:
        admins.append(Admin())
        return admins[-1]

    client._share = Share(create, RETRIED)
    return client


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("k1:1", ["k1:1"], id="one"),
        pytest.param("k1, k2:2", ["k1:9092", "k2:2"], id="default-port"),
        pytest.param("[::1]:9", ["[::1]:9"], id="ipv6"),
        pytest.param("PLAINTEXT://k1:1", ["k1:1"], id="protocol-before-it"),
    ],
)
def test_bootstrap_servers_are_read(text: str, expected: list[str]):
    assert [str(address) for address in parse_bootstrap(text)] == expected


@pytest.mark.parametrize("text", ["", "k1:", "k1:0", "k1:70000", "k1:1,,k2:2", "a b:1"])
def test_other_addresses_are_refused(text: str):
    with pytest.raises(BadInputError):
        parse_bootstrap(text)


def test_every_bad_resolution_is_named():
    with pytest.raises(BadInputError) as refused:
        parse_resolve(["a:1", "a:1=b:2", "a:1=c:3", "=b:2"])

    values = [problem.value for problem in refused.value.problems]
    assert values == ["'a:1'", "'a:1=c:3'", "'=b:2'"]


def test_all_that_is_wrong_with_the_options_comes_at_once(tmp_path):
    config = tmp_path / "client.properties"
    config.write_text("security.protocol=TLS\n")

    with pytest.raises(BadInputError) as refused:
        open_cluster(None, config, resolve=["x"])

    places = [problem.place for problem in refused.value.problems]
    assert places == ["line 1: security.protocol", "--bootstrap-server", "--resolve"]


def test_bootstrap_servers_may_come_from_the_properties(tmp_path):
    config = tmp_path / "client.properties"
    config.write_text("bootstrap.servers=k1:1\n")

    assert open_cluster(None, config).servers == "k1:1"
    assert open_cluster("k2:2", config).servers == "k2:2"


def test_a_closed_port_is_one_line_with_the_address_and_the_cause():
    client = ClusterClient(parse_bootstrap("127.0.0.1:1"), timeout_s=0.5)

    with client, pytest.raises(ClusterUnavailableError) as refused:
        client.reach_brokers()

    assert str(refused.value) == "127.0.0.1:1: connection refused"


@pytest.mark.parametrize(
    "error", [kafka.errors.KafkaConnectionError, kafka.errors.IllegalSaslStateError]
)
def test_a_request_whose_connection_ended_is_sent_again_by_another_client(error):
    admins: list[Admin] = []
    client = client_of(admins)

    def ask(admin: Admin) -> int:
        if admin is admins[0]:
            raise error
        return 7

    assert client.call(ask, needs="Describe on Cluster") == 7
    assert len(admins) == 2


def test_a_request_that_brokers_reject_is_not_sent_again():
    admins: list[Admin] = []
    asked: list[Admin] = []

    def ask(admin: Admin) -> None:
        asked.append(admin)
        raise kafka.errors.InvalidRequestError

    with pytest.raises(RefusedError, match="InvalidRequestError"):
        client_of(admins).call(ask, needs="Describe on Cluster")
    assert len(asked) == 1
