"""What `config` prints, for its JSON Schema."""

from typing import Literal

from planner.plan.documents.check_records import Record


class EffectiveRecord(Record):
    """The value of one option, and where it came from."""

    value: bool | int | str | list[str] | None
    source: Literal["command line", "environment", "file", "default"]
    place: str


class ConfigRecord(Record):
    """The options of one operation as they hold."""

    operation: str
    config: str | None
    settings: dict[str, EffectiveRecord]


class ConfigExampleRecord(Record):
    """A file to start from."""

    path: str | None
    text: str
