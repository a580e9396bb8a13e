"""Fast serialisation of documents as JSON text, megabytes for large clusters."""

import json
from typing import Any

NOT_JSON = (b"NaN", b"Infinity")


def json_text(document: Any, *, indent: int) -> str:  # noqa: ANN401 - any JSON value
    """
    Return a document as text, keys in the order given.

    Raises
    ------
    ValueError
        If a number is not finite, which JSON cannot represent.
    """
    from pydantic_core import PydanticSerializationError, to_json

    try:
        written = to_json(document, indent=indent, inf_nan_mode="constants")
    except PydanticSerializationError:
        # For example names of files that are not Unicode.
        return json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False)
    if any(word in written for word in NOT_JSON):
        # Part of a name in most cases; a number that is not finite raises here.
        json.dumps(document, allow_nan=False)
    return written.decode()
