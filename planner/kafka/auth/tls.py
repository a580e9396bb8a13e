"""TLS settings of a Java client as an `SSLContext`, with key stores in memory."""

import secrets
import ssl
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner.kafka.auth.jks import MAGIC, JksError, read_jks
from planner.kafka.auth.property_entries import Entries

_TYPES = ("JKS", "PKCS12", "PEM")
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_JCEKS_MAGIC = b"\xce\xce\xce\xce"
_CONVERT = "convert it: keytool -importkeystore -deststoretype PKCS12 …"
_CHECK = "check the file and its password"


@dataclass(frozen=True, slots=True)
class KeyStore:
    """
    Content of a key store.

    Parameters
    ----------
    key
        Unencrypted PKCS #8 DER of the first private key; never shown, never written.
    chain
        DER of the key's certificates, the certificate of the key first.
    trusted
        DER of every other certificate.
    """

    key: bytes | None = field(repr=False)
    chain: tuple[bytes, ...] = ()
    trusted: tuple[bytes, ...] = ()


class StoreError(ValueError):
    """Error for a store that cannot be opened; the message names no password."""


def _der_key(key: Any) -> bytes:  # noqa: ANN401 - any private key of `cryptography`
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    der: bytes = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return der


def _der_certificates(certificates: Sequence[Any]) -> tuple[bytes, ...]:
    from cryptography.hazmat.primitives.serialization import Encoding

    return tuple(one.public_bytes(Encoding.DER) for one in certificates)


def _open_jks(data: bytes, password: str | None, key_password: str | None) -> KeyStore:
    try:
        store = read_jks(data, password, key_password)
    except JksError as error:
        raise StoreError(str(error)) from None
    if not store.keys:
        return KeyStore(None, (), store.certificates)
    first = store.keys[0]
    return KeyStore(first.pkcs8, first.chain, store.certificates)


def _open_pkcs12(data: bytes, password: str | None, _: str | None) -> KeyStore:
    from cryptography.hazmat.primitives.serialization import pkcs12

    secret = None if password is None else password.encode()
    try:
        store = pkcs12.load_pkcs12(data, secret)
    except ValueError:
        msg = "the password is wrong, or it is not a PKCS12 store"
        raise StoreError(msg) from None
    others = _der_certificates([one.certificate for one in store.additional_certs])
    own = _der_certificates([store.cert.certificate]) if store.cert else ()
    if store.key is None:
        return KeyStore(None, (), own + others)
    return KeyStore(_der_key(store.key), own + others, others)


def _open_pem(data: bytes, _: str | None, key_password: str | None) -> KeyStore:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from cryptography.x509 import load_pem_x509_certificates

    secret = None if key_password is None else key_password.encode()
    certificates: tuple[bytes, ...] = ()
    try:
        if b"-----BEGIN CERTIFICATE" in data:
            certificates = _der_certificates(load_pem_x509_certificates(data))
        if b"PRIVATE KEY-----" not in data:
            return KeyStore(None, (), certificates)
        key = _der_key(load_pem_private_key(data, secret))
    except (ValueError, TypeError):
        # TypeError: a superfluous or a missing password.
        msg = "the PEM text is damaged, or ssl.key.password does not open its key"
        raise StoreError(msg) from None
    return KeyStore(key, certificates, certificates)


def _opener(
    data: bytes,
) -> Callable[[bytes, str | None, str | None], KeyStore]:
    """
    Return the function that opens a store, chosen by the content of the store.

    The type is ignored: Java's JKS reads PKCS12 too, and the type is often missing.
    """
    if data.startswith(MAGIC):
        return _open_jks
    if data.startswith(_JCEKS_MAGIC):
        msg = "a JCEKS store"
        raise StoreError(msg)
    return _open_pem if b"-----BEGIN " in data else _open_pkcs12


def _load_store(entries: Entries, which: str) -> KeyStore | None:
    """Consume ``ssl.<which>.*`` and open the store; `None` if none can be opened."""
    prefix = f"ssl.{which}"
    entries.choice(f"{prefix}.type", "JKS", _TYPES)
    password = entries.secret(f"{prefix}.password")
    key_password = entries.secret("ssl.key.password")
    location = f"{prefix}.location"
    data = entries.read_file(location)
    if data is None:
        return None
    try:
        return _opener(data)(data, password, key_password)
    except StoreError as error:
        is_jceks = "JCEKS" in str(error)
        rule = f"must be a store that opens: {error}"
        entries.refuse(location, rule, _CONVERT if is_jceks else _CHECK)
        return None


def _load_inline(entries: Entries, keys: Sequence[str]) -> KeyStore | None:
    """Consume and parse PEM text in the properties; `None` if there is none."""
    texts = [text for key in keys if (text := entries.secret(key))]
    if not texts:
        return None
    password = entries.secret("ssl.key.password")
    try:
        return _open_pem("\n".join(texts).encode(), None, password)
    except StoreError as error:
        entries.refuse(keys[0], f"must be PEM text: {error}", _CHECK)
        return None


def _trust(context: ssl.SSLContext, entries: Entries) -> None:
    inline = _load_inline(entries, ["ssl.truststore.certificates"])
    store = _load_store(entries, "truststore") or inline
    if store is None:
        context.load_default_certs()
        return
    anchors = store.trusted or store.chain
    if not anchors:
        rule = "must hold a trusted certificate"
        entries.refuse("ssl.truststore.location", rule, "import the authority into it")
        return
    pem = "".join(map(ssl.DER_cert_to_PEM_cert, anchors))
    context.load_verify_locations(cadata=pem)
    # Java trusts all certificates in the store, not self-signed roots only.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN


def _identify(context: ssl.SSLContext, entries: Entries) -> None:
    inline = _load_inline(
        entries, ["ssl.keystore.key", "ssl.keystore.certificate.chain"]
    )
    store = _load_store(entries, "keystore") or inline
    if store is None:
        return
    if store.key is None or not store.chain:
        rule = "must hold a private key with its certificate"
        entries.refuse("ssl.keystore.location", rule, _CHECK)
        return
    _load_chain(context, store.key, store.chain)


def _load_chain(context: ssl.SSLContext, key: bytes, chain: Sequence[bytes]) -> None:
    """
    Load a key and its certificates into the context.

    The `ssl` module reads them from a file only. The temporary file holds the key
    encrypted with a random password that is never written, during the call only.
    """
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        PrivateFormat,
        load_der_private_key,
    )

    password = secrets.token_hex(32)
    pem = load_der_private_key(key, None).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(password.encode())
    )
    text = pem.decode() + "".join(map(ssl.DER_cert_to_PEM_cert, chain))
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        Path(file.name).write_text(text, encoding="ascii")
        context.load_cert_chain(file.name, password=password)


def _set_versions(context: ssl.SSLContext, entries: Entries) -> None:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    key = "ssl.enabled.protocols"
    names = [name.strip() for name in (entries.text(key) or "").split(",")]
    versions = [_VERSIONS[name] for name in names if name in _VERSIONS]
    if key in entries and not versions:
        rule = "must name TLSv1.2 or TLSv1.3"
        entries.refuse(key, rule, "the planner speaks no older TLS")
    elif versions:
        context.minimum_version = min(versions)
        context.maximum_version = max(versions)


def build_context(entries: Entries) -> ssl.SSLContext:
    """
    Consume the ``ssl.*`` keys and build the TLS context.

    Parameters
    ----------
    entries
        Properties of the client. Their problems are added to it; the caller must not
        use the context if there are any.

    Returns
    -------
    ssl.SSLContext
        Context that always verifies the broker's certificate, and its host name unless
        ``ssl.endpoint.identification.algorithm`` is empty.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    key = "ssl.endpoint.identification.algorithm"
    algorithm = (entries.text(key, "https") or "").lower()
    if algorithm not in {"https", ""}:
        entries.refuse(key, "must be 'https' or empty", "choose one of these")
    context.check_hostname = bool(algorithm)
    _set_versions(context, entries)
    _trust(context, entries)
    _identify(context, entries)
    return context
