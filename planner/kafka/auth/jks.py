"""
Reader of JKS, Java's own key store format.

A store consists of a magic number, a version, entries, and a SHA-1 digest keyed with
the password. Private keys are encrypted with a keystream of chained SHA-1 digests.
"""

import hashlib
import hmac
import struct
from dataclasses import dataclass, field
from itertools import pairwise

MAGIC = b"\xfe\xed\xfe\xed"
_KEY, _CERTIFICATE = 1, 2
_DIGEST_SIZE = 20
# The final digest covers password, whitener and store (Sun's JavaKeyStore).
_WHITENER = b"Mighty Aphrodite"
# Object identifier 1.3.6.1.4.1.42.2.17.1.1, Sun's key protector.
_KEY_PROTECTOR = bytes.fromhex("2b060104012a02110101")


class JksError(ValueError):
    """Error for bytes that are not a store, or that the password does not open."""


@dataclass(frozen=True, slots=True)
class JksKey:
    """
    Private key with its certificates.

    Parameters
    ----------
    pkcs8
        Unencrypted DER of the key; never shown.
    chain
        DER of each certificate, the certificate of the key first.
    """

    pkcs8: bytes = field(repr=False)
    chain: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class JksStore:
    """Content of a store: keys, and trusted certificates as DER."""

    keys: tuple[JksKey, ...]
    certificates: tuple[bytes, ...]


class _Reader:
    """Reader of big-endian fields as written by Java's `DataOutputStream`."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, size: int) -> bytes:
        end = self.position + size
        if size < 0 or end > len(self.data):
            msg = "the file is cut short or damaged"
            raise JksError(msg)
        taken = self.data[self.position : end]
        self.position = end
        return taken

    def integer(self) -> int:
        return int(struct.unpack(">i", self.take(4))[0])

    def text(self) -> bytes:
        return self.take(int(struct.unpack(">H", self.take(2))[0]))

    def block(self) -> bytes:
        return self.take(self.integer())


def _password_bytes(password: str) -> bytes:
    return password.encode("utf-16-be")


def _check_digest(data: bytes, password: str) -> None:
    content, digest = data[:-_DIGEST_SIZE], data[-_DIGEST_SIZE:]
    keyed = _password_bytes(password) + _WHITENER + content
    # The format prescribes SHA-1, which only verifies the password here.
    expected = hashlib.sha1(keyed, usedforsecurity=False).digest()
    if not hmac.compare_digest(expected, digest):
        msg = "the password is wrong, or the file is damaged"
        raise JksError(msg)


def _read_certificate(reader: _Reader, version: int) -> bytes:
    if version > 1:
        reader.text()  # always "X.509"
    return reader.block()


def _der(data: bytes, tag: int) -> tuple[bytes, bytes]:
    """Return the content of the first DER element, and the bytes behind it."""
    reader = _Reader(data)
    if reader.take(1)[0] != tag:
        msg = "a private key is not in the form that Java writes"
        raise JksError(msg)
    size = reader.take(1)[0]
    if size >= 0x80:
        size = int.from_bytes(reader.take(size - 0x80), "big")
    return reader.take(size), data[reader.position :]


def _keystream(password: bytes, salt: bytes, size: int) -> bytes:
    stream, digest = b"", salt
    while len(stream) < size:
        digest = hashlib.sha1(password + digest, usedforsecurity=False).digest()
        stream += digest
    return stream[:size]


def _open_key(protected: bytes, password: str) -> bytes:
    """Return the PKCS #8 key inside Sun's EncryptedPrivateKeyInfo."""
    info, _ = _der(protected, 0x30)
    algorithm, rest = _der(info, 0x30)
    if _der(algorithm, 0x06)[0] != _KEY_PROTECTOR:
        msg = "a private key is protected in a way that JKS does not know"
        raise JksError(msg)
    sealed, _ = _der(rest, 0x04)
    if len(sealed) < 2 * _DIGEST_SIZE:
        msg = "a private key is cut short"
        raise JksError(msg)
    bounds = [0, _DIGEST_SIZE, len(sealed) - _DIGEST_SIZE, len(sealed)]
    salt, hidden, check = (sealed[i:j] for i, j in pairwise(bounds))
    secret = _password_bytes(password)
    stream = _keystream(secret, salt, len(hidden))
    key = bytes(a ^ b for a, b in zip(hidden, stream, strict=True))
    digest = hashlib.sha1(secret + key, usedforsecurity=False).digest()
    if not hmac.compare_digest(digest, check):
        msg = "the key's password is wrong"
        raise JksError(msg)
    return key


def read_jks(
    data: bytes, password: str | None, key_password: str | None = None
) -> JksStore:
    """
    Read a JKS store.

    Parameters
    ----------
    data
        Content of the whole file.
    password
        Password of the store; `None` skips the check of the digest, as in Java.
    key_password
        Password of the private keys; `None`: the password of the store.

    Returns
    -------
    JksStore
        Content of the store, without keys if no password is given.

    Raises
    ------
    JksError
        If the file is not a JKS store, is damaged, or a password is wrong.

    Notes
    -----
    Follows ``sun.security.provider.JavaKeyStore`` and ``KeyProtector`` of OpenJDK.
    """
    if not data.startswith(MAGIC) or len(data) < 12 + _DIGEST_SIZE:
        msg = "not a JKS store"
        raise JksError(msg)
    if password is not None:
        _check_digest(data, password)
    reader = _Reader(data[4:-_DIGEST_SIZE])
    version = reader.integer()
    keys, certificates = [], []
    opening = password if key_password is None else key_password
    for _ in range(reader.integer()):
        kind = reader.integer()
        reader.text()  # alias
        reader.take(8)  # time of creation
        if kind == _CERTIFICATE:
            certificates.append(_read_certificate(reader, version))
        elif kind == _KEY:
            protected = reader.block()
            size = reader.integer()
            chain = tuple(_read_certificate(reader, version) for _ in range(size))
            if opening is not None:
                keys.append(JksKey(_open_key(protected, opening), chain))
        else:
            msg = f"entry of unknown kind {kind}"
            raise JksError(msg)
    return JksStore(tuple(keys), tuple(certificates))
