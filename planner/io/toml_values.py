"""Values as TOML text."""

import json
import math
from collections.abc import Mapping

_DELETE = "\x7f"


def toml_value(value: object) -> str:
    r"""
    Return a value as TOML, on one line.

    Raises
    ------
    ValueError
        If a number is not finite.

    Examples
    --------
    >>> toml_value([{"change": "lose", "racks": ['a"b']}])
    '[{change = "lose", racks = ["a\\"b"]}]'
    """
    if isinstance(value, Mapping):
        pairs = (f"{_key(key)} = {toml_value(each)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        msg = "a number must be finite"
        raise ValueError(msg)
    if isinstance(value, int | float):
        return repr(value)
    return _string(str(value))


def _key(text: str) -> str:
    is_bare = text.isascii() and text.replace("_", "").replace("-", "").isalnum()
    return text if is_bare else _string(text)


def _string(text: str) -> str:
    # JSON's escapes are TOML's too; JSON alone leaves DEL as it is.
    return json.dumps(text, ensure_ascii=False).replace(_DELETE, "\\u007f")
