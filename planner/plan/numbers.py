"""Numbers as documents have them."""

DIGITS = 12
"""Significant digits of floats in a document: float noise of a machine is not shown."""


def rounded(value: float) -> float | int:
    """Return an integer as it is, a float cut to its significant digits."""
    if isinstance(value, int):
        return value
    short = float(f"{value:.{DIGITS}g}")
    return 0.0 if short == 0 else short
