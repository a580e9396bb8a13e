"""Options that say how a sample of keys is read."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from planner.errors import InputProblem, raise_problems
from planner.io.problems import problem
from planner.keys.key_types import KEY_TYPES
from planner.text.suggest import near

MOST_MESSAGE_BYTES = 1_048_588
"""Default of ``message.max.bytes``: a key in a record cannot be longer."""
MOST_SCHEMA_ID = 2**31 - 1
SCHEMA_BYTES = 5
"""Bytes that a serializer of a schema registry writes before a key."""


class SampleFormat(StrEnum):
    """Format of a sample in a file."""

    TEXT = "text"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    CONSOLE = "console"


_BY_SUFFIX = {
    ".csv": SampleFormat.CSV,
    ".json": SampleFormat.JSON,
    ".jsonl": SampleFormat.JSON,
    ".ndjson": SampleFormat.JSON,
    ".parquet": SampleFormat.PARQUET,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions:
    """
    Reading of a sample.

    Parameters
    ----------
    sample_format
        Format of the file; `None` for that of its name.
    key_column
        Column or field of the key.
    key_type
        One of `KEY_TYPES`; `None` for ``string``, or ``bytes`` if the file has bytes.
    encoding
        Encoding of strings: ``key.serializer.encoding``.
    schema_id
        Id in the schema registry that is written before each key; `None` for none.
    topic
        Topic of the sample; records of others are refused.
    most_bytes
        ``max.message.bytes`` of the topic: longer keys are refused.
    record_bytes
        Bytes of each record where the sample has none; 0 for those of its key.
    """

    sample_format: str | None = None
    key_column: str = "key"
    key_type: str | None = None
    encoding: str = "utf-8"
    schema_id: int | None = None
    topic: str | None = None
    most_bytes: int = MOST_MESSAGE_BYTES
    record_bytes: int = 0

    @property
    def prefix_bytes(self) -> int:
        """Bytes that producers write before each key of the sample."""
        return 0 if self.schema_id is None else SCHEMA_BYTES

    def validate(self) -> None:
        """
        Refuse unknown formats, types and encodings.

        Raises
        ------
        BadInputError
            With every problem.
        """
        problems = [
            *_unknown("--sample-format", self.sample_format, tuple(SampleFormat)),
            *_unknown("--key-type", self.key_type, KEY_TYPES),
            *_wrong_encoding(self.encoding),
        ]
        raise_problems("the sample cannot be read with these options", problems)

    def format_of(self, path: Path) -> SampleFormat:
        """Return the format of a file: the one given, or that of its name."""
        if self.sample_format is not None:
            return SampleFormat(self.sample_format)
        if path.is_dir():
            return SampleFormat.PARQUET
        name = path.with_suffix("") if path.suffix == ".gz" else path
        return _BY_SUFFIX.get(name.suffix.lower(), SampleFormat.TEXT)


def _unknown(
    option: str, given: str | None, known: tuple[str, ...]
) -> list[InputProblem]:
    if given is None or given in known:
        return []
    rule = f"must be one of {', '.join(known)}"
    return [problem("command line", option, given, rule, near(given, known))]


def _wrong_encoding(encoding: str) -> list[InputProblem]:
    try:
        # Python has codecs that are no encodings of text, such as rot13.
        "".encode(encoding)
    except (LookupError, ValueError):
        rule = "must be an encoding of Java and Python, such as utf-8 or iso-8859-1"
        return [problem("command line", "--key-encoding", encoding, rule)]
    return []
