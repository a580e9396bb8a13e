import logging
import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12

from planner.errors import BadInputError
from planner.kafka.auth.client_settings import ClientSettings, read_settings

DATA = Path(__file__).parent / "data"
SECRET = "hush-hush"  # noqa: S105 - looked for where it must not be
# Of the stores in `data`.
STORE_PASSWORD, KEY_PASSWORD = "changeit", "otherpass"
MODULES = "org.apache.kafka.common.security"
PLAIN = f'{MODULES}.plain.PlainLoginModule required username="u" password="{SECRET}";'
SCRAM = f'{MODULES}.scram.ScramLoginModule required username="u" password="{SECRET}";'
OAUTH = f"{MODULES}.oauthbearer.OAuthBearerLoginModule required;"


@pytest.fixture
def read(tmp_path):
    def read(**lines: str) -> ClientSettings:
        path = tmp_path / "client.properties"
        named = {key.replace("_", "."): value for key, value in lines.items()}
        path.write_text("".join(f"{key}={value}\n" for key, value in named.items()))
        return read_settings(path)

    return read


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [
        pytest.param("PLAIN", PLAIN, id="plain"),
        pytest.param("SCRAM-SHA-256", SCRAM, id="scram-256"),
        pytest.param("SCRAM-SHA-512", SCRAM, id="scram-512"),
    ],
)
def test_a_user_with_a_password_logs_in(read, mechanism: str, module: str):
    settings = read(
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism=mechanism,
        sasl_jaas_config=module,
    )

    assert settings.arguments["sasl_mechanism"] == mechanism
    assert settings.arguments["sasl_plain_username"] == "u"
    assert settings.arguments["sasl_plain_password"] == SECRET


def test_a_token_is_read_from_its_file_at_each_login(read, tmp_path):
    token = tmp_path / "a token"
    token.write_text("first\n")
    settings = read(
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_jaas_config=OAUTH,
        sasl_oauthbearer_token_endpoint_url=token.as_uri(),
    )
    provider = settings.arguments["sasl_oauth_token_provider"]

    first = provider.token()
    token.write_text("second")

    assert (first, provider.token()) == ("first", "second")


def test_general_settings_are_passed_on(read):
    settings = read(
        bootstrap_servers="k1:1,k2:2", client_id="p", request_timeout_ms="5000"
    )

    assert settings.bootstrap_servers == "k1:1,k2:2"
    assert settings.arguments["client_id"] == "p"
    assert settings.arguments["request_timeout_ms"] == 5000
    assert settings.arguments["security_protocol"] == "PLAINTEXT"


def test_harmless_keys_are_ignored_with_a_note(read):
    settings = read(acks="all", group_id="g", ssl_truststore_password=SECRET)

    assert [note.rpartition(": ")[2] for note in settings.notes] == [
        "ssl.truststore.password",
        "acks, group.id",
    ]


SASL = {"security_protocol": "SASL_PLAINTEXT"}


@pytest.mark.parametrize(
    ("lines", "key", "rule"),
    [
        pytest.param({"sasl.mechansm": "PLAIN"}, "sasl.mechansm", "", id="ignored"),
        pytest.param({"frobnicate": "1"}, "frobnicate", "not supported", id="unknown"),
        pytest.param(
            {"config_providers_file_class": "x"},
            "config.providers.file.class",
            "not supported",
            id="config-provider",
        ),
        pytest.param(
            {"security_protocol": "TLS"}, "security.protocol", "one of", id="protocol"
        ),
        pytest.param(
            {"request_timeout_ms": "soon"}, "request.timeout.ms", "number", id="number"
        ),
        pytest.param(SASL, "sasl.mechanism", "GSSAPI", id="kerberos-by-default"),
        pytest.param(
            {**SASL, "sasl_mechanism": "AWS_MSK_IAM"},
            "sasl.mechanism",
            "one of",
            id="foreign-mechanism",
        ),
        pytest.param(
            {**SASL, "sasl_mechanism": "PLAIN"},
            "sasl.jaas.config",
            "must be in this file",
            id="no-login-module",
        ),
        pytest.param(
            {**SASL, "sasl_mechanism": "PLAIN", "sasl_jaas_config": SCRAM},
            "sasl.jaas.config",
            "PlainLoginModule",
            id="login-module-of-another-mechanism",
        ),
        pytest.param(
            {
                **SASL,
                "sasl_mechanism": "PLAIN",
                "sasl_jaas_config": f'a.PlainLoginModule required password="{SECRET}";',
            },
            "sasl.jaas.config",
            "username",
            id="no-user",
        ),
        pytest.param(
            {
                **SASL,
                "sasl_mechanism": "OAUTHBEARER",
                "sasl_jaas_config": OAUTH,
                "sasl_oauthbearer_token_endpoint_url": "https://login.example/token",
            },
            "sasl.oauthbearer.token.endpoint.url",
            "file",
            id="token-from-the-net",
        ),
        pytest.param(
            {"security_protocol": "SSL", "ssl_truststore_location": "/none/such"},
            "ssl.truststore.location",
            "readable",
            id="no-truststore",
        ),
        pytest.param(
            {"security_protocol": "SSL", "ssl_enabled_protocols": "TLSv1.1"},
            "ssl.enabled.protocols",
            "TLSv1.2",
            id="old-tls",
        ),
        pytest.param(
            {"security_protocol": "SSL", "ssl_endpoint_identification_algorithm": "x"},
            "ssl.endpoint.identification.algorithm",
            "https",
            id="identification",
        ),
    ],
)
def test_what_cannot_be_used_is_named(read, lines: dict[str, str], key: str, rule: str):
    if not rule:  # without SASL its keys change nothing
        assert key in read(**lines).notes[0]
        return
    with pytest.raises(BadInputError) as refused:
        read(**lines)

    (problem,) = refused.value.problems
    assert problem.place.endswith(key)
    assert rule in problem.rule
    assert problem.remedy


def test_every_problem_comes_at_once_and_no_password_with_them(read, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(BadInputError) as refused:
        read(
            security_protocol="SASL_SSL",
            sasl_mechanism="PLAIN",
            sasl_jaas_config=f'x.Other required username="u" password="{SECRET}";',
            ssl_truststore_location=str(DATA / "trust.jks"),
            ssl_truststore_password=SECRET,
            ssl_keystore_location=str(DATA / "key.p12"),
            ssl_keystore_password=SECRET,
            client_secret=SECRET,
        )

    places = [problem.place.partition(": ")[2] for problem in refused.value.problems]
    assert places == [
        "sasl.jaas.config",
        "ssl.truststore.location",
        "ssl.keystore.location",
        "client.secret",
    ]
    said = "".join(map(str, refused.value.problems)) + repr(refused.value)
    captured = capfd.readouterr()
    assert SECRET not in said + caplog.text + captured.out + captured.err


def test_settings_do_not_show_passwords(read):
    settings = read(
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_jaas_config=PLAIN,
    )

    assert SECRET not in repr(settings) + str(settings)


@pytest.mark.parametrize("store", ["trust.jks", "trust.p12", "ca.pem"])
@pytest.mark.parametrize("declared", [True, False])
def test_a_truststore_of_any_kind_is_trusted(read, store: str, declared: bool):
    lines = {
        "security_protocol": "SSL",
        "ssl_truststore_location": str(DATA / store),
        "ssl_truststore_password": "changeit",
    }
    kinds = {"trust.jks": "JKS", "trust.p12": "PKCS12", "ca.pem": "PEM"}
    if declared:
        lines["ssl_truststore_type"] = kinds[store]

    context = read(**lines).arguments["ssl_context"]

    assert context.cert_store_stats()["x509"] == 1
    assert context.check_hostname


def test_an_empty_algorithm_leaves_the_host_name_unchecked(read):
    settings = read(security_protocol="SSL", ssl_endpoint_identification_algorithm="")

    context = settings.arguments["ssl_context"]
    assert not context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED


@pytest.fixture
def key_pem(tmp_path) -> Path:
    store = pkcs12.load_pkcs12((DATA / "key.p12").read_bytes(), b"changeit")
    key = store.key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"otherpass"),
    )
    certificate = store.cert.certificate.public_bytes(serialization.Encoding.PEM)
    path = tmp_path / "key.pem"
    path.write_bytes(key + certificate)
    return path


def test_a_keystore_of_any_kind_gives_the_context_a_key(read, key_pem, monkeypatch):
    loaded = []
    load = ssl.SSLContext.load_cert_chain

    def watch(self, file, password):
        loaded.append(Path(file).read_text())
        load(self, file, password=password)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", watch)
    for store in (DATA / "key.jks", DATA / "key.p12", key_pem):
        is_p12 = store.suffix == ".p12"
        read(
            security_protocol="SSL",
            ssl_keystore_location=str(store),
            ssl_keystore_password=STORE_PASSWORD,
            ssl_key_password=STORE_PASSWORD if is_p12 else KEY_PASSWORD,
        )

    # On its way through a file the key is never in clear.
    assert len(loaded) == 3
    assert all("ENCRYPTED PRIVATE KEY" in text for text in loaded)


def test_inline_pem_is_read(read, key_pem):
    # One line in the file: line ends are written as escapes.
    text = key_pem.read_text().replace("\n", "\\n")
    end = "-----END ENCRYPTED PRIVATE KEY-----"
    key, chain = text.split(end)
    authority = (DATA / "ca.pem").read_text().replace("\n", "\\n")

    settings = read(
        security_protocol="SSL",
        ssl_keystore_type="PEM",
        ssl_keystore_key=key + end,
        ssl_keystore_certificate_chain=chain,
        ssl_key_password=KEY_PASSWORD,
        ssl_truststore_type="PEM",
        ssl_truststore_certificates=authority,
    )

    context = settings.arguments["ssl_context"]
    assert context.cert_store_stats()["x509"] == 1
