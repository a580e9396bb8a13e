"""Types of brokers that can be bought, from a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, ValidationError

from placement.demand.broker_demand import capacity_of
from placement.sizing.broker_kinds import BrokerKind
from planner.errors import BadInputError, InputProblem
from planner.io.problems import problem, refuse_all
from planner.io.records import Record
from planner.io.toml_records import read_toml, shape_problems
from planner.what_if.changes.amounts import Bytes, Rate
from planner.what_if.changes.scenario_records import Count, Name

SEE_SCHEMA = "see 'kafka-planner schema broker-types'"


class BrokerTypeRecord(Record):
    """A type of broker; capacities that are left out are unlimited."""

    name: Name
    price: Annotated[float, Field(ge=0, le=1e12)]
    disk: Bytes | None = None
    network_in: Rate | None = None
    network_out: Rate | None = None
    cpu_cores: Annotated[float, Field(gt=0, le=1e6)] | None = None
    max_replicas: Count | None = None
    available: Annotated[int, Field(ge=0, le=100_000)] | None = None


class BrokerTypesRecord(Record):
    """A file of types of brokers."""

    types: list[BrokerTypeRecord] = Field(min_length=1)


def read_types(path: Path) -> tuple[BrokerKind, ...]:
    """
    Read and validate a file of broker types.

    Raises
    ------
    BadInputError
        If the file is no list of broker types; names every problem.
    """
    document = read_toml(path, _refusal)
    return validate_types(document, file=str(path))


def validate_types(document: Any, *, file: str = "types") -> tuple[BrokerKind, ...]:  # noqa: ANN401 - parsed TOML
    """
    Validate parsed broker types.

    Raises
    ------
    BadInputError
        If the document is no list of broker types; names every problem.
    """
    try:
        record = BrokerTypesRecord.model_validate(document)
    except ValidationError as error:
        keys = {*BrokerTypesRecord.model_fields, *BrokerTypeRecord.model_fields}
        problems = shape_problems(error, file, keys, SEE_SCHEMA)
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


def _refusal(file: str, problems: Sequence[InputProblem]) -> BadInputError:
    return refuse_all(f"{file} is no list of broker types", problems)
