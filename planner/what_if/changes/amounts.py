"""Sizes, rates and durations in scenario files: numbers, or texts with a unit."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from planner.text.units import parse_bytes, parse_duration_ms, parse_rate


def _bytes(value: object) -> object:
    return parse_bytes(value) if isinstance(value, str) else value


def _rate(value: object) -> object:
    return float(parse_rate(value)) if isinstance(value, str) else value


def _duration(value: object) -> object:
    return parse_duration_ms(value) if isinstance(value, str) else value


Bytes = Annotated[int, BeforeValidator(_bytes), Field(ge=0, lt=2**62)]
Rate = Annotated[float, BeforeValidator(_rate), Field(ge=0, le=1e15)]
Duration = Annotated[float, BeforeValidator(_duration), Field(gt=0, le=1e14)]
