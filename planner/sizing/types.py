"""Kinds of brokers that can be had, from a file."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, ValidationError

from placement.sizing.demand import capacity_of
from placement.sizing.kinds import BrokerKind
from planner.errors import BadInputError, InputProblem
from planner.near import near
from planner.snapshot.problems import problem
from planner.what_if.amounts import Bytes, Rate
from planner.what_if.records import Count, Name, Record


class BrokerTypeRecord(Record):
    """A kind of broker; what is left out is taken to have no limit."""

    name: Name
    price: Annotated[float, Field(ge=0, le=1e12)]
    disk: Bytes | None = None
    network_in: Rate | None = None
    network_out: Rate | None = None
    cpu_cores: Annotated[float, Field(gt=0, le=1e6)] | None = None
    max_replicas: Count | None = None
    available: Annotated[int, Field(ge=0, le=100_000)] | None = None


class BrokerTypesRecord(Record):
    """A file of kinds of brokers."""

    types: list[BrokerTypeRecord] = Field(min_length=1)


def read_types(path: Path) -> tuple[BrokerKind, ...]:
    """
    Read the kinds of brokers that can be had.

    Raises
    ------
    BadInputError
        If the file is none; names every problem.
    """
    file = str(path)
    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        found = problem(file, "", None, f"must be readable TOML: {reason}", "mend it")
        raise _refusal(file, [found]) from error
    return understand_types(document, file=file)


def understand_types(document: Any, *, file: str = "types") -> tuple[BrokerKind, ...]:  # noqa: ANN401 - parsed TOML
    """
    Understand kinds of brokers that were parsed.

    Raises
    ------
    BadInputError
        If they are none; names every problem.
    """
    try:
        record = BrokerTypesRecord.model_validate(document)
    except ValidationError as error:
        problems = [_shape_problem(dict(each), file) for each in error.errors()]
        raise _refusal(file, problems) from error
    names = [each.name for each in record.types]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        rule = "each type must have a name of its own"
        found = [problem(file, "types", name, rule, "rename one") for name in twice]
        raise _refusal(file, found)
    return tuple(_kind(each) for each in record.types)


def _kind(record: BrokerTypeRecord) -> BrokerKind:
    given = (record.disk, record.network_in, record.network_out, record.cpu_cores)
    known = [np.nan if value is None else float(value) for value in given]
    most = record.max_replicas
    return BrokerKind(
        name=record.name,
        capacity=capacity_of(*known),
        price=record.price,
        max_replicas=np.inf if most is None else float(most),
        available=record.available,
    )


def _shape_problem(error: dict[str, Any], file: str) -> InputProblem:
    place = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]
    ).removeprefix(".")
    rule, remedy = str(error["msg"]), "see 'kafka-planner schema broker-types'"
    value: Any = error["input"]
    if error["type"] == "extra_forbidden":
        value = error["loc"][-1]
        rule, remedy = "unknown key", near(value, BrokerTypeRecord.model_fields)
    elif error["type"] == "missing":
        rule, remedy, value = "the key is required", "add it", None
    elif error["type"] == "value_error":
        rule, remedy = rule.removeprefix("Value error, "), "mend it"
    return problem(file, place, value, rule, remedy)


def _refusal(file: str, problems: Sequence[InputProblem]) -> BadInputError:
    plural = "" if len(problems) == 1 else "s"
    message = f"{file} is no list of broker types: {len(problems)} problem{plural}"
    return BadInputError(message, problems)
