"""Numbers as documents have them."""

DIGITS = 12
"""Significant digits of floats in a document: float noise of a machine is not shown."""


def rounded(value: float) -> float | int:
    """Return an integer as it is, a float cut to its significant digits."""
    if isinstance(value, int):
        return value
    if value.is_integer() and abs(value) < 10**DIGITS:
        return float(value) or 0.0
    short = float(f"{value:.{DIGITS}g}")
    return 0.0 if short == 0 else short


def rounded_text(value: float) -> str:
    """Return a float as Python writes it once it is cut to its significant digits."""
    text = f"{value:.{DIGITS}g}"
    # So far Python writes no exponent either, and tells floats by their point.
    if abs(value) < 10**DIGITS and "e" not in text:
        return text if "." in text else f"{text}.0"
    return str(rounded(value))
