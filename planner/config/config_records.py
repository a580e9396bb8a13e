"""Records of the documents of `config`, for their JSON Schemas."""

from typing import Literal

from planner.io.records import Record


class EffectiveRecord(Record):
    """The value of one option, with its source and place."""

    value: bool | int | str | list[str] | None
    source: Literal["command line", "environment", "file", "default"]
    place: str


class ConfigRecord(Record):
    """The effective options of one operation."""

    operation: str
    config: str | None
    settings: dict[str, EffectiveRecord]


class ConfigExampleRecord(Record):
    """An example file."""

    path: str | None
    text: str
