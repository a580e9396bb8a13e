"""Parsers of sizes, rates and durations with units, as on the command line."""

import re
from math import isfinite

_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?(?:[eE]\+?\d+)?)\s*([kKMGTPE]?)(i?)([Bb]?)\s*")
_BITS = re.compile(
    r"\s*(\d+(?:\.\d+)?)\s*([kKMGTPE]?)(i?)(?:b|[Bb]its?)(?:ps|/s)?\s*", re.ASCII
)
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
MOST_BYTES = 2**62
_UNIT_MS = {
    "ms": 1,
    "s": 1000,
    "min": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "w": 7 * 86_400_000,
}
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|min|h|d|w)\s*")


def parse_bytes(text: str) -> int:
    """
    Parse a size in bytes, or with a unit such as ``500GB`` or ``2TiB``.

    Raises
    ------
    ValueError
        If the text is not a size, or the size is 2^62 bytes or more.

    Examples
    --------
    >>> parse_bytes("2 KiB"), parse_bytes("1.5GB"), parse_bytes("7")
    (2048, 1500000000, 7)
    """
    match = _AMOUNT.fullmatch(text)
    # "b" would be bits, and "Ki" without "B" is a typing error.
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
    Parse a rate in bytes per second, or with a unit such as ``50MB/s``.

    Raises
    ------
    ValueError
        If the text is not a rate.

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


def rate_remedy(text: object) -> str:
    """
    Return how to write a rate that `parse_rate` refuses; one in bits in bytes.

    Examples
    --------
    >>> rate_remedy("720Mbit/s"), rate_remedy("1 Gbps"), rate_remedy("fast")
    ('720Mbit/s is 90MB/s', '1 Gbps is 125MB/s', 'write 50MB/s')
    """
    match = _BITS.fullmatch(str(text))
    if match is None or (match[3] and not match[2]):
        return "write 50MB/s"
    base = 1024.0 if match[3] else 1000.0
    value = float(match[1]) * base ** _POWERS[match[2]] / 8
    unit = next(
        (name for name in ("TB", "GB", "MB", "kB") if _is_short(value, name)), "B"
    )
    return f"{str(text).strip()} is {value / _size_of(unit):.12g}{unit}/s"


def _size_of(unit: str) -> float:
    return 1000.0 ** _POWERS[unit[:-1]]


def _is_short(value: float, unit: str) -> bool:
    """Return whether a value is short in a unit: at least 1, with few digits."""
    return value >= _size_of(unit) and (value / _size_of(unit) * 1000).is_integer()


def parse_duration_ms(text: str) -> float:
    """
    Return the milliseconds of a duration such as ``48h`` or ``14d``.

    Raises
    ------
    ValueError
        If the text is no duration.

    Examples
    --------
    >>> parse_duration_ms("48h") / parse_duration_ms("1 d")
    2.0
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        msg = "must be a duration, such as 30min, 48h or 14d"
        raise ValueError(msg)
    return float(match[1]) * _UNIT_MS[match[2]]


def parse_fraction(text: str) -> float:
    """
    Parse a fraction or a percentage, such as ``0.05`` or ``5%``.

    Raises
    ------
    ValueError
        If the text is not a finite number.

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
    # Division by 100 makes 5% the same float as 0.05.
    return value / 100 if is_percent else value
