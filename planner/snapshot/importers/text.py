"""
Bytes of foreign files as text, lines and JSON; what is wrong is said without quoting.

A file that was taken for another may hold anything, a password too. So messages name
places and rules, and repeat a value only where it is made of digits.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from planner.errors import BadInputError, InputProblem
from planner.process import no_garbage_collection
from planner.units import parse_rate

Value = TypeVar("Value")

_MAX_QUANTITY = 60
_UTF8_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_HARMLESS = re.compile(r"-?[0-9][0-9., -]{0,59}", re.ASCII)
_LOCATED = re.compile(r".* at line (?P<line>\d+) column (?P<column>\d+)", re.DOTALL)

# How to tell what a file is that was given as something else.
_LOOKS: tuple[tuple[str, str], ...] = (
    (r"^[ \t]*Topic: ?\S+\s", "kafka-topics --describe, which --topics takes"),
    (r'"logDirs"\s*:', "kafka-log-dirs --describe, which --log-dirs takes"),
    (r'"originating_broker"\s*:|"isrs"\s*:', "kcat -L -J, which --kcat takes"),
    (r'"KafkaPartitionState"\s*:', "Cruise Control's, for --cruise-control"),
    (r'"brokerCapacities"\s*:', "a capacity file, which --capacity takes"),
    (r'"brokerSets"\s*:', "a broker set file, which --broker-sets takes"),
    (r'"resultType"\s*:', "Prometheus' answer, which --prometheus takes"),
    (r"kafka\.strimzi\.io/", "a Strimzi resource, which --strimzi takes"),
    (r'"format"\s*:\s*"kafka-planner/', "a document of kafka-planner itself"),
    (r"^ID\s+HOST\s+PORT", "kafka-cluster list-endpoints, for --list-endpoints"),
    (
        r'"partitions"\s*:\s*\[\s*\{\s*"(topic|partition|replicas)"',
        "reassignment JSON, which --assignment takes",
    ),
    (r"^GROUP\s+(TOPIC|CONSUMER-ID|COORDINATOR)", "kafka-consumer-groups --describe"),
    (
        r"^(Dynamic|All|Default) configs for (topic|broker)",
        "kafka-configs --describe, which --configs takes",
    ),
    (r"^Feature: \S+\s+SupportedMin", "kafka-features describe, for --features"),
    (
        r"^ClusterId:\s|^NodeId\s+(DirectoryId|LogEndOffset)",
        "kafka-metadata-quorum describe, which --quorum takes",
    ),
    (r"^(sasl\.|ssl\.|security\.protocol|bootstrap\.servers)", "client properties"),
    (r"^\[?ERROR|Exception\b|^Error ", "an error that a tool printed"),
)


class Refusal:
    """
    Collects what is wrong with one file.

    Parameters
    ----------
    file
        Its name.
    kind
        What it should be.
    """

    def __init__(self, file: str, kind: str) -> None:
        self.file = file
        self.kind = kind
        self.problems: list[InputProblem] = []

    def add(self, place: str, rule: str, remedy: str, value: object = "") -> None:
        """Take note of a problem; its value is shown if it is harmless."""
        shown = harmless(value)
        self.problems.append(
            InputProblem(
                file=self.file, place=place, value=shown, rule=rule, remedy=remedy
            )
        )

    def raise_problems(self) -> None:
        """
        Refuse the file if anything was wrong.

        Raises
        ------
        BadInputError
            With every problem.
        """
        if self.problems:
            raise self._error()

    def stop(self, place: str, rule: str, remedy: str) -> NoReturn:
        """
        Refuse the file at once.

        Raises
        ------
        BadInputError
            Always.
        """
        self.add(place, rule, remedy)
        raise self._error()

    def _error(self) -> BadInputError:
        return BadInputError(f"{self.file} is not {self.kind}", self.problems)


def refuse_doubles(keys: Iterable[tuple[Any, str]], refusal: Refusal) -> None:
    """Note each key that stands twice, with both places."""
    places: dict[Any, str] = {}
    for key, place in keys:
        first = places.setdefault(key, place)
        if first != place:
            rule = f"must stand once; {key} stands at {first} too"
            refusal.add(place, rule, "remove one of both")


def harmless(value: object) -> str:
    """Return a value as text if it is a number or a list of numbers, else nothing."""
    if isinstance(value, int | float):
        value = str(value)
    elif isinstance(value, list | tuple) and all(type(v) is int for v in value):
        value = ", ".join(map(str, value[:20]))
    elif not isinstance(value, str):
        return ""
    return value if _HARMLESS.fullmatch(value) else ""


def looks_like(text: str) -> str:
    """Return a remedy that says what a text seems to be, if that can be told."""
    head = text[:100_000]
    for pattern, what in _LOOKS:
        if re.search(pattern, head, re.MULTILINE):
            return f"this looks like {what}"
    return ""


def decode(data: bytes, refusal: Refusal) -> str:
    """
    Return the text of a file in UTF-8, gzipped or not.

    Raises
    ------
    BadInputError
        If it is empty, in another encoding or cut in its packed form.
    """
    data = _unpack(data, refusal).removeprefix(_UTF8_BOM)
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"} or b"\0" in data[:1000]:
        remedy = "save it as UTF-8; in PowerShell: … | Out-File -Encoding utf8 FILE"
        refusal.stop("", "the file must be UTF-8, not UTF-16 or binary", remedy)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        rule = f"the file must be UTF-8 (byte {error.start} is not)"
        refusal.stop(f"line {line}", rule, "save it as UTF-8")
    if not text.strip():
        refusal.stop("", "the file is empty", f"it should hold {refusal.kind}")
    return text


def _unpack(data: bytes, refusal: Refusal) -> bytes:
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error):
        refusal.stop("", "the file must be whole gzip", "write or copy it anew")


def numbered_lines(text: str, refusal: Refusal) -> Iterator[tuple[int, str]]:
    """
    Yield the lines that are not blank with their numbers, without their ends.

    A last line without an end is a problem: nothing tells whether it was cut.
    """
    lines = text.split("\n")
    last = lines.pop()
    for number, line in enumerate(lines, 1):
        stripped = line.rstrip(" \r\t")
        if stripped:
            yield number, stripped
    if last.strip():
        yield len(lines) + 1, last.rstrip(" \r\t")
    if last:
        refusal.add(
            f"line {len(lines) + 1}",
            "the last line has no end, so the file may be cut",
            "take it anew; if it is whole, end it with a line break",
        )


def parse_json(text: str, refusal: Refusal, *, first_line: int = 1) -> Any:  # noqa: ANN401 - any JSON value
    """
    Parse JSON whose objects have each key once.

    Parameters
    ----------
    text
        The JSON.
    refusal
        Of the file it stands in.
    first_line
        The line of the file that it begins on.

    Raises
    ------
    BadInputError
        If it is not JSON; a key that stands twice is noted in `refusal`.
    """
    from pydantic_core import from_json

    try:
        with no_garbage_collection():
            document = from_json(text, allow_inf_nan=False)
    except (ValueError, RecursionError) as error:
        refusal.stop(*_not_json(text, str(error), first_line))
    if _has_double_keys(text, document):
        _refuse_double_keys(text, refusal)
    return document


def _not_json(text: str, message: str, first_line: int) -> tuple[str, str, str]:
    found = _LOCATED.match(message)
    line = int(found["line"]) if found else text.count("\n") + 1
    column = int(found["column"]) if found else 1
    is_cut = "EOF" in message
    place = f"line {line + first_line - 1}, column {column}"
    if is_cut:
        return place, "the JSON ends too early", "it was cut: take it anew"
    return place, "must be JSON", looks_like(text) or "take it anew, unedited"


def _has_double_keys(text: str, document: object) -> bool:
    """Tell whether parsing lost keys; it may be wrong, but only by saying yes."""
    squeezed = text.encode().translate(None, b" \t\r\n")
    return squeezed.count(b'":') != _count_keys(document)


def _count_keys(value: object) -> int:
    total, pending = 0, [value]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            total += len(each)
            pending.extend(v for v in each.values() if type(v) in {dict, list})
        elif isinstance(each, list):
            pending.extend(v for v in each if type(v) in {dict, list})
    return total


def _refuse_double_keys(text: str, refusal: Refusal) -> None:
    num_doubled = 0

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal num_doubled
        parsed = dict(pairs)
        num_doubled += len(parsed) != len(pairs)
        return parsed

    json.loads(text, object_pairs_hook=look)
    if num_doubled:
        rule = f"an object must have a key once; {num_doubled} have one twice"
        refusal.add("", rule, "remove the second one")


def validate(adapter: TypeAdapter[Value], document: object, refusal: Refusal) -> Value:
    """
    Return a JSON document in the shape that an adapter describes.

    Raises
    ------
    BadInputError
        With every place that has another shape.
    """
    try:
        with no_garbage_collection():
            value = adapter.validate_python(document)
    except (ValidationError, RecursionError) as error:
        if isinstance(error, RecursionError):
            refusal.stop("", "JSON must not be nested this deep", "take it anew")
        _add_errors(error, document, refusal)
        refusal.raise_problems()
        raise
    refusal.raise_problems()
    return value


_RULES = {
    "missing": "the key is required",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be a string",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must be a legal name or number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "too_short": "must not be empty",
    "dict_type": "must be an object",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
}


def _add_errors(error: ValidationError, document: object, refusal: Refusal) -> None:
    remedy = ""
    if any(len(each["loc"]) <= 1 for each in error.errors(include_url=False)):
        remedy = looks_like(json.dumps(document)[:100_000])
    for each in error.errors(include_url=False):
        rule = _RULES.get(each["type"], f"must hold {refusal.kind}")
        refusal.add(
            place_text(each["loc"]),
            rule.format_map(each.get("ctx", {})),
            remedy or f"take {refusal.kind} anew, unedited",
            "" if each["type"] == "missing" else each["input"],
        )


def place_text(place: Sequence[str | int]) -> str:
    """Return a path into JSON as text; keys that are data are not repeated."""
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        elif re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,40}|[0-9]{1,10}", part):
            text += f".{part}"
    return text.removeprefix(".")


def parse_quantity(text: str) -> float | None:
    """
    Read bytes or bytes/s, with a unit or without: ``500GB``, ``50MB/s``, ``1e12``.

    Returns
    -------
    `None` if it is none; a bare number is bytes.

    Examples
    --------
    >>> parse_quantity("1.5KiB"), parse_quantity("50MB/s"), parse_quantity("much")
    (1536.0, 50000000.0, None)
    """
    # Rates need not be whole, so a bare number is not rounded.
    if re.fullmatch(r"[0-9]{1,30}(\.[0-9]{0,20})?([eE]\+?[0-9]{1,2})?", text):
        return float(text)
    try:
        return float(parse_rate(text)) if len(text) <= _MAX_QUANTITY else None
    except ValueError:
        return None
