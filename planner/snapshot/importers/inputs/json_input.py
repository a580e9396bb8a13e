"""
JSON of foreign files: documents in pasted text, their shape, and entries left out.

Messages name places and rules; of values only numbers are repeated.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from planner.io.json_reader import may_repeat_keys, repeated_keys
from planner.pasted_text import Piece, json_form, noise_of, split_documents
from planner.process import no_garbage_collection
from planner.snapshot.importers.inputs.input_text import Refusal, read_text
from planner.snapshot.importers.inputs.unused_keys import unused_keys

Value = TypeVar("Value")

_LOCATED = re.compile(r".* at line (?P<line>\d+) column (?P<column>\d+)", re.DOTALL)
_BEGINNING = re.compile(r"^[ \t]*[{\[]", re.MULTILINE)
_AGAIN = "take the output again, unedited"


def read_documents(
    data: bytes, refusal: Refusal, *, headings: str = r"(?!)"
) -> list[Any]:
    """
    Parse the JSON documents of a file, ignoring text pasted around them.

    Parameters
    ----------
    data
        The whole file.
    refusal
        Counts the ignored lines.
    headings
        Regular expression of the lines that the tool prints around its JSON.

    Raises
    ------
    BadInputError
        If the file has no JSON, or a line that may be part of it.
    """
    text = read_text(data, refusal, json_form(headings))
    return documents_of(text, refusal, headings=headings)


def documents_of(text: str, refusal: Refusal, *, headings: str = r"(?!)") -> list[Any]:
    """
    Parse the JSON documents of a text whose other lines are blank.

    Raises
    ------
    BadInputError
        If the text has no JSON, or a line that may be part of it.
    """
    found: list[Any] = []
    for piece in _pieces(text, refusal, found):
        if piece.is_json:
            found.append(parse_json(piece.text, refusal, first_line=piece.line))
        elif not re.match(headings, piece.text):
            rule = f"the line is not part of {refusal.kind}"
            other = "remove the line" if found else f"give {refusal.kind}"
            remedy = refusal.other_output() or other
            refusal.stop(f"line {piece.line}", rule, remedy)
    if not found:
        _refuse_without_json(refusal)
    return found


def read_document(data: bytes, refusal: Refusal) -> Any:  # noqa: ANN401 - any JSON value
    """
    Parse the single JSON document of a file, ignoring text pasted around it.

    Raises
    ------
    BadInputError
        If the file has none, or several.
    """
    found = read_documents(data, refusal)
    if len(found) > 1:
        rule = f"must contain one JSON document; it contains {len(found)}"
        refusal.stop("", rule, "two outputs were joined: give each in its own file")
    return found[0]


def _refuse_without_json(refusal: Refusal) -> NoReturn:
    number = refusal.original.count("\n") + 1
    remedy = refusal.other_output() or "the output was cut: take it again"
    refusal.stop(f"line {number}", "the JSON is missing", remedy)


def _pieces(text: str, refusal: Refusal, documents: list[Any]) -> list[Piece]:
    """Return the text before a single document; of several, all parts but prompts."""
    beginning = _BEGINNING.search(text)
    if beginning is not None:
        try:
            documents.append(_parse(text[beginning.start() :], refusal))
        except (ValueError, RecursionError):
            pass
        else:
            text = text[: beginning.start()]
    found = []
    for piece in split_documents(text):
        is_behind = not (piece.is_first or piece.is_json)
        noise = noise_of(piece.text) if is_behind else None
        if noise is None:
            found.append(piece)
        else:
            refusal.skip_lines([(piece.line, noise)])
    return found


def parse_json(text: str, refusal: Refusal, *, first_line: int = 1) -> Any:  # noqa: ANN401 - any JSON value
    """
    Parse JSON, and record duplicate keys.

    Parameters
    ----------
    text
        The JSON.
    refusal
        Problems of the file.
    first_line
        Line of the file at which the text begins.

    Raises
    ------
    BadInputError
        If it is not JSON; a duplicate key is recorded in `refusal`.
    """
    try:
        return _parse(text, refusal)
    except (ValueError, RecursionError) as error:
        place, rule, remedy = _not_json(text, str(error), first_line)
        refusal.stop(place, rule, remedy or refusal.other_output() or _AGAIN)


def _parse(text: str, refusal: Refusal) -> Any:  # noqa: ANN401 - any JSON value
    from pydantic_core import from_json

    with no_garbage_collection():
        document = from_json(text, allow_inf_nan=False)
    if may_repeat_keys(text.encode(), document):
        _refuse_repeated_keys(text, refusal)
    return document


def _not_json(text: str, message: str, first_line: int) -> tuple[str, str, str]:
    found = _LOCATED.match(message)
    line = int(found["line"]) if found else text.count("\n") + 1
    column = int(found["column"]) if found else 1
    place = f"line {line + first_line - 1}, column {column}"
    # A truncated string continues to the end of its line.
    num_lines = text.rstrip().count("\n") + 1
    if "EOF" in message or line > num_lines:
        return place, "the JSON ends too early", "the output was cut: take it again"
    return place, "must be JSON", ""


def _refuse_repeated_keys(text: str, refusal: Refusal) -> None:
    num_repeated = len(repeated_keys(text))
    if num_repeated:
        rule = f"keys of an object must be unique; {num_repeated} objects repeat a key"
        refusal.add("", rule, "remove the repeated keys")


Path = tuple[str | int | None, ...]
"""Path into a document; `None` stands for any index of a list."""


def validate(
    adapter: TypeAdapter[Value],
    document: object,
    refusal: Refusal,
    *,
    entries: Sequence[Path] = (),
    known: Collection[str] | None = None,
) -> Value:
    """
    Return a JSON document validated by an adapter.

    Parameters
    ----------
    adapter
        Describes the shape.
    document
        Parsed document; invalid entries that are left out are removed from it.
    refusal
        Collects values of another shape.
    entries
        Entries that may be left out if `refusal` allows it, deepest first.
    known
        Keys that the tool prints and that are not used. A note lists other keys outside
        the shape; `None`: no note.

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
            refusal.stop("", "JSON must not be nested this deep", _AGAIN)
        if _leave_out(error, document, refusal, entries):
            return validate(adapter, document, refusal, known=known)
        _add_errors(error, document, refusal, entries)
        refusal.raise_problems()
        raise
    refusal.raise_problems()
    if known is not None:
        unused = unused_keys(document, value)
        refusal.note_unused(key for key in unused if _leaf(key) not in known)
    return value


def _leaf(path: str) -> str:
    return path.rsplit(".", 1)[-1]


def _leave_out(
    error: ValidationError,
    document: object,
    refusal: Refusal,
    entries: Sequence[Path],
) -> bool:
    """Remove invalid entries from a document, if it has no other problems."""
    if not refusal.allow_partial:
        return False
    errors = error.errors(include_url=False)
    places = [_entry_of(each["loc"], entries) for each in errors]
    if None in places:
        return False
    for each in errors:
        refusal.reject(place_text(each["loc"]), *_rule(each, refusal))
    _remove(document, {place for place in places if place is not None})
    return True


def _remove(document: object, places: set[tuple[str | int, ...]]) -> None:
    """Remove entries of lists, the last first, so that indices stay valid."""
    for place in sorted(places, key=lambda path: int(path[-1]), reverse=True):
        parent: Any = document
        for part in place[:-1]:
            parent = parent[part]
        del parent[place[-1]]


def _entry_of(
    place: Sequence[str | int], entries: Sequence[Path]
) -> tuple[str | int, ...] | None:
    """Return the path of the entry around a place; `None` if there is none."""
    for entry in entries:
        head = tuple(place[: len(entry)])
        if len(head) == len(entry) and all(
            want in (None, part) for want, part in zip(entry, head, strict=True)
        ):
            return head
    return None


_RULES = {
    "missing": "the key is required",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be a string",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must be a valid name or number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "too_short": "must not be empty",
    "dict_type": "must be an object",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
}


def _rule(each: ErrorDetails, refusal: Refusal) -> tuple[str, str]:
    """Return the rule violated by an error of Pydantic, and the remedy."""
    rule = _RULES.get(each["type"], f"must be {refusal.kind}")
    rule = rule.format_map(each.get("ctx", {}))
    return rule, f"take {refusal.kind} again, unedited"


def _add_errors(
    error: ValidationError,
    document: object,
    refusal: Refusal,
    entries: Sequence[Path],
) -> None:
    other = ""
    errors = error.errors(include_url=False)
    if any(len(each["loc"]) <= 1 or each["type"] == "missing" for each in errors):
        other = refusal.other_output()
    for each in errors:
        rule, remedy = _rule(each, refusal)
        is_entry = _entry_of(each["loc"], entries) is not None
        add = refusal.reject if is_entry else refusal.add
        value = "" if each["type"] == "missing" else each["input"]
        add(place_text(each["loc"]), rule, other or remedy, value)


def place_text(place: Sequence[str | int]) -> str:
    """Return a path into JSON as text, without keys that are data."""
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        elif re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,40}|[0-9]{1,10}", part):
            text += f".{part}"
    return text.removeprefix(".")
