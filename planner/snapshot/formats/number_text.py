"""
Numbers as other tools write them: with exponents, 17 digits, a sign.

One parser for all text in place of numbers: cells of tables, values of foreign files,
text columns in the tables of a fleet.
"""

import math
import re
from fractions import Fraction

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?")
_MAX_LENGTH = 400
"""Length of the longest text accepted: Java and C write ``%f`` with 309 digits."""
_MAX_WHOLE = 10.0**30
"""Largest number that is expanded; no integer of a snapshot is larger."""


def finite_number(text: str) -> float | None:
    """
    Parse a finite decimal number.

    Returns
    -------
    The number; `None` if the text is not a number, or a float cannot hold it.

    Examples
    --------
    >>> finite_number("1.25e-05"), finite_number("0.10000000000000000555")
    (1.25e-05, 0.1)
    >>> finite_number("1e999"), finite_number("NaN"), finite_number("5GB")
    (None, None, None)
    """
    if len(text) > _MAX_LENGTH or not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def whole_number(text: str) -> int | None:
    """
    Parse an integer exactly, also in the notation of floats.

    Examples
    --------
    >>> whole_number("9007199254740993"), whole_number("1.2e3"), whole_number("1.5")
    (9007199254740993, 1200, None)
    """
    about = finite_number(text)
    if about is None or abs(about) > _MAX_WHOLE:
        return None
    if about == 0:
        # A tiny exponent would expand to a huge denominator.
        return 0 if not re.search(r"[1-9]", text.lower().partition("e")[0]) else None
    exact = Fraction(text)
    return exact.numerator if exact.denominator == 1 else None
