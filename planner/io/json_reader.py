"""
One way to parse JSON: finite numbers, and each key once in an object.

`planner.io.json_text` writes JSON. The reader of a file adds the remedy to the rule and
the place of a `JsonTextError`.
"""

import json
from typing import Any, NoReturn


class JsonTextError(ValueError):
    """
    A text that is not JSON, or JSON that readers understand in different ways.

    Parameters
    ----------
    rule
        Violated rule.
    place
        Line and column; empty where they are unknown.
    """

    def __init__(self, rule: str, place: str = "") -> None:
        super().__init__(rule)
        self.place = place
        self.rule = rule


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401 - any JSON value
    """
    Return the value of a JSON text.

    Parameters
    ----------
    text
        Text, or UTF-8 with or without a byte order mark.

    Raises
    ------
    JsonTextError
        If it is not JSON, has NaN or an infinity, an integer of thousands of digits, an
        object with a key twice, or too many levels.
    """
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8-sig")
        value = json.loads(decoded, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        msg = f"must be JSON: {error.msg}"
        raise JsonTextError(msg, place) from error
    except RecursionError as error:
        msg = "JSON must not be nested this deep"
        raise JsonTextError(msg) from error
    except ValueError as error:
        msg = f"must be JSON: {error}"
        raise JsonTextError(msg) from error
    if may_repeat_keys(decoded.encode("utf-8", "surrogatepass"), value):
        _refuse_repeated_keys(decoded)
    return value


def may_repeat_keys(text: bytes, value: object) -> bool:
    """
    Check whether an object may have a key twice, quickly for megabytes.

    Parameters
    ----------
    text
        A JSON text.
    value
        Value parsed from it, with the last of equal keys.

    Returns
    -------
    Never a wrong `False`; rarely `True` without a repeated key.
    """
    # A key is a string and a colon. White space is removed, also inside strings.
    return text.translate(None, b" \t\r\n").count(b'":') != _count_keys(value)


def repeated_keys(text: str | bytes) -> list[tuple[dict[str, Any], list[str]]]:
    """Return each object that has a key twice, with its repeated keys."""
    found: list[tuple[dict[str, Any], list[str]]] = []

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        parsed = dict(pairs)
        if len(parsed) != len(pairs):
            keys = [key for key, _ in pairs]
            found.append((parsed, sorted({k for k in keys if keys.count(k) > 1})))
        return parsed

    json.loads(text, object_pairs_hook=look)
    return found


def is_unicode(text: str) -> bool:
    """Return whether a text can be written as UTF-8: it has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _count_keys(value: object) -> int:
    """Return the number of keys in all objects of a value, rarely too low."""
    total, pending = 0, [value]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            total += len(each)
            # Entries of partitions are many, and have nothing nested.
            if "replicas" not in each:
                pending.extend(v for v in each.values() if type(v) in {dict, list})
        elif isinstance(each, list) and each and type(each[0]) in {dict, list}:
            pending.extend(each)
    return total


def _refuse_repeated_keys(text: str) -> None:
    for _, keys in repeated_keys(text):
        rule = f"an object must have a key once, found twice: {', '.join(keys)}"
        msg = f"must be JSON: {rule}"
        raise JsonTextError(msg)


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is no number"
    raise ValueError(msg)
