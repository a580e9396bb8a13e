"""Documents as JSON text, quickly: those of large clusters are megabytes."""

import json
from typing import Any

NOT_JSON = (b"NaN", b"Infinity")


def json_text(document: Any, *, indent: int) -> str:  # noqa: ANN401 - any JSON value
    """
    Return a document as text, keys in the order given.

    Raises
    ------
    ValueError
        If a number is not finite: JSON has none of these.
    """
    from pydantic_core import PydanticSerializationError, to_json

    try:
        written = to_json(document, indent=indent, inf_nan_mode="constants")
    except PydanticSerializationError:
        # Names of files that are no Unicode, say.
        return json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False)
    if any(word in written for word in NOT_JSON):
        # A number or, far more often, a name.
        json.dumps(document, allow_nan=False)
    return written.decode()
