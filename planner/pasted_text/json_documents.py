"""Splitting of text into JSON documents and the lines around them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from planner.pasted_text.cleaning import Form
from planner.pasted_text.noise import noise_of

_DECODER = json.JSONDecoder()
_LINE = (
    r"[\"}\]]|\{(?!(?:code|noformat|quote)\b)"
    r"|\[(?![0-9]+,[0-9]+s\])\s*(?:$|[\"{\[\]]|-?[0-9]+\s*[,\]])"
    r"|-?[0-9][0-9.eE+-]*,?\s*$|(?:true|false|null),?\s*$"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """
    Part of a text: a JSON document, or text on one line outside of documents.

    Parameters
    ----------
    text
        Text of the part.
    line
        Number of the line on which the part starts.
    is_json
        Whether the part starts like JSON.
    is_first
        Whether the part is the first on its line.
    """

    text: str
    line: int
    is_json: bool
    is_first: bool


def split_documents(text: str) -> Iterator[Piece]:
    r"""
    Yield the parts of a text in order.

    An incomplete document extends to the end of the text, and its parser reports the
    error.

    Examples
    --------
    >>> [piece.text for piece in split_documents('head\n{"a": 1} {"b": 2}\n$ ')]
    ['head', '{"a": 1}', '{"b": 2}', '$']
    """
    at, number = 0, 1
    is_first = True
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        rest = text[at:end].strip()
        stop = end
        if rest:
            start = text.index(rest[0], at)
            # A prompt behind a document may start with a bracket, too.
            is_noise = not is_first and noise_of(rest) is not None
            is_json = rest[0] in "{[" and not is_noise
            if is_json:
                stop = _end_of_document(text, start)
            piece = text[start:stop] if is_json else rest
            yield Piece(piece, number, is_json=is_json, is_first=is_first)
            number += text.count("\n", start, stop)
        is_first = stop == end
        number += is_first
        at = stop + is_first


def _end_of_document(text: str, start: int) -> int:
    """Return the end of a document, or of the text if the JSON is incomplete."""
    try:
        return _DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return len(text)


def json_form(headings: str = r"(?!)") -> Form:
    """
    Return the patterns of lines of JSON, pretty-printed or not.

    Parameters
    ----------
    headings
        Regular expression of the lines that a tool prints around its JSON.
    """
    return Form(
        data=re.compile(rf"\s*(?:{_LINE}|{headings})"),
        marks=re.compile(r'\{\s*"[^"]{1,60}"\s*:'),
    )
