"""Key and trust stores, as brokers and clients of a TLS listener need them."""

import subprocess
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12

PASSWORD = "changeit"  # noqa: S105 - looked for where it must not be
NAME = "CN=127.0.0.1"
"""Distinguished name of the certificate."""


def keytool(*args: object) -> None:
    subprocess.run(["keytool", *map(str, args)], check=True, capture_output=True)


def write_stores(folder: Path) -> Path:
    """Write the stores of one self-signed certificate, in each format."""
    password = ("-storepass", PASSWORD)
    shape = ("-keyalg", "EC", "-groupname", "secp256r1", "-dname", NAME)
    valid = ("-ext", "san=ip:127.0.0.1", "-validity", 3650)
    key = ("-alias", "k", "-keystore", folder / "key.p12", *password)
    keytool("-genkeypair", *key, *shape, *valid, "-storetype", "PKCS12")
    keytool("-exportcert", "-rfc", *key, "-file", folder / "ca.pem")
    source = ("-srckeystore", folder / "key.p12", "-srcstorepass", PASSWORD)
    target = ("-destkeystore", folder / "key.jks", "-deststorepass", PASSWORD)
    keytool("-importkeystore", *source, *target, "-deststoretype", "JKS")
    for kind in ("p12", "jks"):
        trust = ("-keystore", folder / f"trust.{kind}", *password)
        form = ("-storetype", {"p12": "PKCS12"}.get(kind, "JKS"))
        from_pem = ("-alias", "ca", "-file", folder / "ca.pem")
        keytool("-importcert", "-noprompt", *from_pem, *trust, *form)
    _write_pem_key(folder)
    return folder


def _write_pem_key(folder: Path) -> None:
    store = pkcs12.load_pkcs12((folder / "key.p12").read_bytes(), PASSWORD.encode())
    key = store.key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(PASSWORD.encode()),
    )
    (folder / "key.pem").write_bytes(key + (folder / "ca.pem").read_bytes())


def broker_stores(folder: Path, prefix: str = "") -> dict[str, str]:
    """Return the settings of a TLS listener of a broker."""
    found = {}
    for which, file in (("keystore", "key.p12"), ("truststore", "trust.p12")):
        found[f"{prefix}ssl.{which}.type"] = "PKCS12"
        found[f"{prefix}ssl.{which}.location"] = str(folder / file)
        found[f"{prefix}ssl.{which}.password"] = PASSWORD
    return found


def client_stores(folder: Path, kind: str) -> dict[str, str]:
    """Return the properties of a client with stores of a kind: p12, jks or pem."""
    form = {"p12": "PKCS12", "jks": "JKS", "pem": "PEM"}[kind]
    found = {
        "security.protocol": "SSL",
        "ssl.truststore.type": form,
        "ssl.truststore.location": str(
            folder / ("ca.pem" if kind == "pem" else f"trust.{kind}")
        ),
        "ssl.keystore.type": form,
        "ssl.keystore.location": str(folder / f"key.{kind}"),
        "ssl.key.password": PASSWORD,
    }
    if kind != "pem":
        named = ("ssl.truststore.password", "ssl.keystore.password")
        found |= dict.fromkeys(named, PASSWORD)
    return found
