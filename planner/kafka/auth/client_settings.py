"""Translation of a Java client's properties into arguments of kafka-python."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from planner.kafka.auth.jaas import JaasError, LoginModule, parse_jaas
from planner.kafka.auth.java_properties import read_properties
from planner.kafka.auth.property_entries import Entries
from planner.kafka.auth.tls import build_context

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_PASSWORD_MODULES = {
    "PLAIN": "PlainLoginModule",
    "SCRAM-SHA-256": "ScramLoginModule",
    "SCRAM-SHA-512": "ScramLoginModule",
}
_OAUTH_MODULE = "OAuthBearerLoginModule"
MECHANISMS = (*_PASSWORD_MODULES, "OAUTHBEARER")

# Simple names of Kafka's classes that read a token from a file, or fetch one.
_TOKEN_CLASSES = {
    "OAuthBearerLoginCallbackHandler",
    "FileJwtRetriever",
    "DefaultJwtRetriever",
}

# Keys of producers, consumers and streams clients that an admin client does not need.
_IGNORED = frozenset(
    """
    acks allow.auto.create.topics auto.commit.interval.ms auto.offset.reset batch.size
    auto.include.jmx.reporter buffer.memory check.crcs compression.type
    compression.gzip.level compression.lz4.level compression.zstd.level
    connections.max.idle.ms default.api.timeout.ms delivery.timeout.ms
    enable.auto.commit enable.idempotence enable.metrics.push exclude.internal.topics
    fetch.max.bytes fetch.max.wait.ms fetch.min.bytes group.id group.instance.id
    group.protocol group.remote.assignor heartbeat.interval.ms interceptor.classes
    isolation.level key.deserializer key.serializer linger.ms log4j.configuration
    max.block.ms max.in.flight.requests.per.connection max.partition.fetch.bytes
    max.poll.interval.ms max.poll.records max.request.size metadata.max.age.ms
    metadata.max.idle.ms metadata.recovery.rebootstrap.trigger.ms
    metadata.recovery.strategy metric.reporters metrics.num.samples
    metrics.recording.level metrics.sample.window.ms partition.assignment.strategy
    partitioner.class receive.buffer.bytes reconnect.backoff.max.ms
    reconnect.backoff.ms retries retry.backoff.max.ms retry.backoff.ms send.buffer.bytes
    session.timeout.ms socket.connection.setup.timeout.max.ms
    socket.connection.setup.timeout.ms transaction.timeout.ms transactional.id
    value.deserializer value.serializer client.rack
    ssl.protocol ssl.trustmanager.algorithm ssl.keymanager.algorithm
    ssl.secure.random.implementation
    """.split()  # noqa: SIM905 - eighty names read better as words than as strings
)
_IGNORED_PREFIXES = (
    "sasl.login.refresh.",
    "sasl.login.retry.",
    "sasl.login.connect.timeout",
    "sasl.login.read.timeout",
    "sasl.kerberos.",
    "sasl.oauthbearer.clock.",
    "sasl.oauthbearer.expected.",
    "sasl.oauthbearer.jwks.",
    "sasl.oauthbearer.scope.",
    "sasl.oauthbearer.sub.",
    "schema.registry.",
    "basic.auth.",
    "producer.",
    "consumer.",
)

_NO_JAVA = "remove it: Java classes cannot be loaded here"

# Keys that change the connection of a client and have no equivalent here.
_UNSUPPORTED = {
    "bootstrap.controllers": "name brokers, by --bootstrap-server",
    "config.providers": "write the values themselves into a file only you can read",
    "security.providers": "remove it: Java's security providers do not exist here",
    "ssl.provider": "remove it: Java's security providers do not exist here",
    "ssl.engine.factory.class": _NO_JAVA,
    "ssl.cipher.suites": "remove it: both sides agree on a suite by themselves",
    "sasl.login.class": _NO_JAVA,
    "sasl.client.callback.handler.class": _NO_JAVA,
}
_UNKNOWN = "remove it, or correct its name if it is misspelt"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """
    Settings of the connection to a cluster.

    Parameters
    ----------
    arguments
        Arguments of kafka-python's admin client; never shown because of passwords.
    bootstrap_servers
        ``host:port,…`` from the file; empty if not given.
    notes
        One sentence for each group of ignored keys.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)
    bootstrap_servers: str = ""
    notes: tuple[str, ...] = ()


def _token_provider(path: Path) -> Any:  # noqa: ANN401 - kafka-python is not typed
    from kafka.net.sasl.oauth import AbstractTokenProvider

    class FileTokenProvider(AbstractTokenProvider):  # type: ignore[misc]  # untyped base
        """Provider that reads the token anew at each connection."""

        def token(self) -> str:
            return path.read_text(encoding="ascii").strip()

    return FileTokenProvider()


def _jaas(entries: Entries, module: str) -> LoginModule | None:
    key = "sasl.jaas.config"
    text = entries.secret(key)
    if text is None:
        remedy = f"add {key}=org.apache.kafka.….{module} required …;"
        entries.refuse(
            key, "must be in this file, not in Java's system property", remedy
        )
        return None
    try:
        found = parse_jaas(text)
    except JaasError as error:
        entries.refuse(key, f"is not one login module: it {error}", "correct it")
        return None
    if found.name != module:
        rule = f"must name {module} for this sasl.mechanism, not {found.name}"
        entries.refuse(key, rule, "let sasl.mechanism and the login module agree")
        return None
    return found


def _password_login(entries: Entries, mechanism: str) -> dict[str, Any]:
    key = "sasl.jaas.config"
    module = _jaas(entries, _PASSWORD_MODULES[mechanism])
    if module is None:
        return {}
    if module.options.get("tokenauth", "").lower() == "true":
        entries.refuse(key, "delegation tokens are not supported", "use a user's own")
    missing = {"username", "password"} - set(module.options)
    if missing:
        rule = f"must give {' and '.join(sorted(missing))}"
        entries.refuse(key, rule, 'write username="…" password="…"')
        return {}
    return {
        "sasl_plain_username": module.options["username"],
        "sasl_plain_password": module.options["password"],
    }


def _token_login(entries: Entries, _: str) -> dict[str, Any]:
    for key in (
        "sasl.login.callback.handler.class",
        "sasl.oauthbearer.jwt.retriever.class",
    ):
        name = (entries.text(key) or "").rpartition(".")[2]
        if name and name not in _TOKEN_CLASSES:
            remedy = (
                "keep the token in a file: sasl.oauthbearer.token.endpoint.url=file:…"
            )
            entries.refuse(key, "Java classes cannot be loaded here", remedy)
    _jaas(entries, _OAUTH_MODULE)
    key = "sasl.oauthbearer.token.endpoint.url"
    url = urlparse(entries.text(key) or "")
    path = Path(unquote(url.path))
    if url.scheme != "file" or url.netloc not in {"", "localhost"}:
        remedy = "fetch the token into a file and write file:///path/of/the/token"
        entries.refuse(key, "must be the URL of a file that holds the token", remedy)
    elif not path.is_file():
        rule = "must be a file that holds the token"
        entries.refuse(key, rule, "check the path and its rights")
    return {"sasl_oauth_token_provider": _token_provider(path)}


_LOGINS: dict[str, Callable[[Entries, str], dict[str, Any]]] = {
    **dict.fromkeys(_PASSWORD_MODULES, _password_login),
    "OAUTHBEARER": _token_login,
}


def _sasl(entries: Entries) -> dict[str, Any]:
    key = "sasl.mechanism"
    mechanism = entries.text(key, "GSSAPI") or "GSSAPI"
    if mechanism not in _LOGINS:
        rule = f"must be one of {', '.join(MECHANISMS)}"
        if key not in entries:
            rule += "; left out it is GSSAPI (Kerberos), which is not supported"
        entries.refuse(key, rule, "use a listener and a user with one of these")
        _take(entries, "sasl.")
        return {}
    return {"sasl_mechanism": mechanism, **_LOGINS[mechanism](entries, mechanism)}


def _take(entries: Entries, prefix: str) -> None:
    """Consume keys whose problem another key's problem covers."""
    for key in entries.left:
        if key.startswith(prefix):
            entries.secret(key)


def _security(entries: Entries) -> dict[str, Any]:
    protocol = entries.choice("security.protocol", "PLAINTEXT", PROTOCOLS)
    arguments: dict[str, Any] = {"security_protocol": protocol}
    for prefix, reader in (("sasl.", _sasl), ("ssl.", _ssl)):
        if prefix[:-1].upper() in protocol.split("_"):
            arguments |= reader(entries)
        else:
            unused = [key for key in entries.left if key.startswith(prefix)]
            entries.ignore(unused, f"security.protocol={protocol} has no use for them")
    return arguments


def _ssl(entries: Entries) -> dict[str, Any]:
    return {"ssl_context": build_context(entries)}


def _general(entries: Entries) -> dict[str, Any]:
    found = {
        "client_id": entries.text("client.id"),
        "request_timeout_ms": entries.positive("request.timeout.ms"),
        "client_dns_lookup": entries.choice(
            "client.dns.lookup",
            "use_all_dns_ips",
            ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
        ),
    }
    return {name: value for name, value in found.items() if value}


def _sort_rest(entries: Entries) -> None:
    """Ignore harmless keys, and refuse the rest."""
    harmless = [
        key
        for key in entries.left
        if key in _IGNORED or key.startswith(_IGNORED_PREFIXES)
    ]
    entries.ignore(harmless, "an admin client has no use for them")
    for key in entries.left:
        stem = "config.providers" if key.startswith("config.providers") else key
        remedy = _UNSUPPORTED.get(stem, _UNKNOWN)
        entries.refuse(key, "is not supported", remedy)


def read_settings(path: Path) -> ClientSettings:
    """
    Read the properties file of Java's tools, their `--command-config`.

    Parameters
    ----------
    path
        Path of the properties file.

    Returns
    -------
    ClientSettings
        Settings for `planner.kafka.client.admin_client`.

    Raises
    ------
    BadInputError
        With every key that cannot be used, and a remedy for each. No message contains a
        password.
    """
    entries = Entries(str(path), read_properties(path))
    bootstrap = entries.text("bootstrap.servers") or ""
    arguments = _security(entries) | _general(entries)
    _sort_rest(entries)
    entries.raise_problems()
    return ClientSettings(
        arguments=arguments,
        bootstrap_servers=bootstrap,
        notes=tuple(entries.notes),
    )
