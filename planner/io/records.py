"""Bases of the records that describe, validate and print documents."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

Int32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
"""A number that is printed as it is: an integer without a decimal point."""


class Record(BaseModel):
    """Base of printed documents: every key is present, and no other."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        from_attributes=True,
        defer_build=True,
    )


class DatedRecord(Record):
    """Base of documents on one snapshot."""

    cluster_id: str | None
    taken_at: str | None
    data_age_s: int | None
    """Age of the snapshot in seconds; null where unknown."""


class LenientRecord(BaseModel):
    """Base of files for Kafka's tool, which ignores unknown keys."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)
