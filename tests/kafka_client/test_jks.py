from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_der_private_key
from hypothesis import given
from hypothesis import strategies as st

from planner.kafka.auth.jks import JksError, read_jks

# Written by keytool; the key has another password than its store.
DATA = Path(__file__).parent / "data"
KEYS = (DATA / "key.jks").read_bytes()
TRUST = (DATA / "trust.jks").read_bytes()
AUTHORITY = x509.load_pem_x509_certificate((DATA / "ca.pem").read_bytes())


def test_a_trusted_certificate_is_read():
    store = read_jks(TRUST, "changeit")

    assert store.keys == ()
    found = [x509.load_der_x509_certificate(one) for one in store.certificates]
    assert found == [AUTHORITY]


def test_a_private_key_fits_its_certificate():
    (key,) = read_jks(KEYS, "changeit", "otherpass").keys

    private = load_der_private_key(key.pkcs8, None)
    assert private.public_key() == AUTHORITY.public_key()
    assert [x509.load_der_x509_certificate(one) for one in key.chain] == [AUTHORITY]
    assert "pkcs8" not in repr(key)


def test_a_store_opens_without_a_password_but_its_keys_do_not():
    store = read_jks(KEYS, None)

    assert store.keys == ()


@pytest.mark.parametrize(
    ("data", "password", "key_password", "message"),
    [
        pytest.param(TRUST, "wrong", None, "password is wrong", id="store-password"),
        pytest.param(KEYS, "changeit", None, "key's password", id="key-password"),
        pytest.param(b"PK", "changeit", None, "not a JKS", id="another-format"),
        pytest.param(TRUST[:-30], None, None, "cut short", id="cut-short"),
    ],
)
def test_a_store_that_does_not_open_says_why(data, password, key_password, message):
    with pytest.raises(JksError, match=message):
        read_jks(data, password, key_password)


@given(st.integers(0, len(KEYS) - 1), st.integers(0, 255), st.booleans())
def test_damage_is_an_error_of_the_store_and_nothing_else(
    position: int, byte: int, is_checked: bool
):
    damaged = KEYS[:position] + bytes([byte]) + KEYS[position + 1 :]
    password = "changeit" if is_checked else None
    try:
        read_jks(damaged, password, "otherpass")
    except JksError:
        return
    # Where no password is checked, what only names or dates an entry may differ.
    assert damaged == KEYS or not is_checked
