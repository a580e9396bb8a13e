"""Rounding of numbers for documents."""

import numpy as np

from placement.array_types import FloatArray

DIGITS = 12
"""Significant digits of floats in a document, few enough to hide rounding errors."""
MOST_PLACES = 22
"""Largest number of decimal places whose power of ten is an exact float."""
POWERS = np.array([float(f"1e{places}") for places in range(MOST_PLACES + 1)])
UNSURE = 1e-3
"""Distance from a half, in the last digit, below which rounding is uncertain."""


def rounded(value: float) -> float | int:
    """Return an integer unchanged, or a float rounded to its significant digits."""
    if isinstance(value, int):
        return value
    if value.is_integer() and abs(value) < 10**DIGITS:
        return float(value) or 0.0
    short = float(f"{value:.{DIGITS}g}")
    return 0.0 if short == 0 else short


def rounded_all(values: FloatArray) -> FloatArray:
    """
    Return each value rounded as by `rounded`.

    Parameters
    ----------
    values
        Values of any shape.

    Notes
    -----
    Powers of ten up to 10^22 are exact floats, so that an integer of twelve digits
    divided by one of them is the float nearest to that decimal. Values with uncertain
    rounding or with other powers are rounded one by one.
    """
    size = np.abs(values)
    is_plain = (
        (size > 0) & (size < 10.0**DIGITS) & (size >= 10.0 ** (DIGITS - MOST_PLACES))
    )
    places = np.zeros(values.shape, dtype=np.int64)
    places[is_plain] = DIGITS - 1 - np.floor(np.log10(size[is_plain])).astype(np.int64)
    power = POWERS[np.clip(places, 0, MOST_PLACES)]
    scaled = np.where(is_plain, size, 0.0) * power
    digits = np.rint(scaled)
    is_sure = np.abs(np.abs(scaled - digits) - 0.5) > UNSURE
    is_sure &= (digits >= 10.0 ** (DIGITS - 1)) & (digits < 10.0**DIGITS) & is_plain
    short = np.where(is_sure, np.copysign(digits / power, values), 0.0)
    odd = np.nonzero(~is_sure & (size != 0))
    short[odd] = [rounded(value) for value in values[odd].tolist()]
    return short
