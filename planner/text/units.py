"""Sizes and rates with units, as the command line takes them."""

import re
from math import isfinite

_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?(?:[eE]\+?\d+)?)\s*([kKMGTPE]?)(i?)([Bb]?)\s*")
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
MOST_BYTES = 2**62


def parse_bytes(text: str) -> int:
    """
    Read a size: a number of bytes, or with a unit such as ``500GB`` or ``2TiB``.

    Raises
    ------
    ValueError
        If it is no size, or one of 2^62 bytes or more.

    Examples
    --------
    >>> parse_bytes("2 KiB"), parse_bytes("1.5GB"), parse_bytes("7")
    (2048, 1500000000, 7)
    """
    match = _AMOUNT.fullmatch(text)
    # "b" would be bits, "Ki" without bytes a slip of the pen.
    if match is None or match[4] == "b" or (match[2] and not match[4]):
        msg = "must be bytes, such as 500GB, 2TiB or 1000000"
        raise ValueError(msg)
    if match[3] and not match[2]:
        msg = "must be bytes, such as 500GB, 2TiB or 1000000"
        raise ValueError(msg)
    base = 1024.0 if match[3] else 1000.0
    value = float(match[1]) * base ** _POWERS[match[2]]
    if value >= MOST_BYTES:
        msg = "must be less than 2^62 bytes"
        raise ValueError(msg)
    return round(value)


def parse_rate(text: str) -> int:
    """
    Read a rate: bytes per second, or with a unit such as ``50MB/s``.

    Raises
    ------
    ValueError
        If it is no rate.

    Examples
    --------
    >>> parse_rate("50MB/s"), parse_rate("1000")
    (50000000, 1000)
    """
    try:
        return parse_bytes(text.strip().removesuffix("/s"))
    except ValueError as error:
        msg = "must be bytes per second, such as 50MB/s"
        raise ValueError(msg) from error


def parse_fraction(text: str) -> float:
    """
    Read a fraction, or percents: ``0.05`` or ``5%``.

    Raises
    ------
    ValueError
        If it is no number, or not a finite one.

    Examples
    --------
    >>> parse_fraction("5%"), parse_fraction("0.05"), parse_fraction("110 %")
    (0.05, 0.05, 1.1)
    """
    number = text.strip()
    is_percent = number.endswith("%")
    value = float(number.removesuffix("%"))
    if not isfinite(value):
        msg = "must be a finite number"
        raise ValueError(msg)
    # Divided, so that 5% is the very number that 0.05 is.
    return value / 100 if is_percent else value
