"""Sizes, rates and durations in scenario files: numbers, or texts with a unit."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

from planner.text.units import parse_bytes, parse_rate

MS_PER_DAY = 86_400_000
_UNIT_MS = {
    "ms": 1,
    "s": 1000,
    "min": 60_000,
    "h": 3_600_000,
    "d": MS_PER_DAY,
    "w": 7 * MS_PER_DAY,
}
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|min|h|d|w)\s*")


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


def _bytes(value: object) -> object:
    return parse_bytes(value) if isinstance(value, str) else value


def _rate(value: object) -> object:
    return float(parse_rate(value)) if isinstance(value, str) else value


def _duration(value: object) -> object:
    return parse_duration_ms(value) if isinstance(value, str) else value


Bytes = Annotated[int, BeforeValidator(_bytes), Field(ge=0, lt=2**62)]
Rate = Annotated[float, BeforeValidator(_rate), Field(ge=0, le=1e15)]
Duration = Annotated[float, BeforeValidator(_duration), Field(gt=0, le=1e14)]
