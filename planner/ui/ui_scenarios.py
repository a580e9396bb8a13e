"""The state of the page as a scenarios file that `what-if` reads."""

import json
import math
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from planner.ui.ui_play import Play
from planner.what_if.play_scenarios import WhatIfRequest

FILE_NAME = "scenarios.toml"
_DELETE = "\x7f"


def scenarios_text(play: Play, cluster: str) -> str:
    """
    Return a scenarios file, as TOML, with the command that gives the same figures.

    Parameters
    ----------
    play
        Scenarios and options.
    cluster
        Snapshot as the command line names it.
    """
    return "\n".join([*_head(play, cluster), *_tables(play.document)]) + "\n"


def what_if_words(play: Play, cluster: str) -> list[str]:
    """Return the words of the `what-if` command that gives the figures of the page."""
    words = ["kafka-planner", "what-if", cluster, FILE_NAME]
    return [*words, *_options(play.request)]


def plan_words(play: Play, cluster: str) -> list[str]:
    """Return the words of the `plan` command of today's cluster without changes."""
    # `plan` has no rate of copies without waves.
    options = [*_balance(play.request), "--effort", play.request.effort]
    return ["kafka-planner", "plan", "rebalance", cluster, *options]


def _options(request: WhatIfRequest) -> Iterator[str]:
    yield from _balance(request)
    yield from ("--bandwidth", str(request.bandwidth), "--effort", request.effort)


def _balance(request: WhatIfRequest) -> Iterator[str]:
    for name, values in (
        ("--band", request.band),
        ("--capacity-threshold", request.capacity_threshold),
    ):
        for value in _texts(values):
            yield from (name, value)


def _texts(values: object) -> list[str]:
    return [str(each) for each in values] if isinstance(values, tuple) else []


def _head(play: Play, cluster: str) -> Iterator[str]:
    yield "# Written by the page of kafka-planner. The same figures, from the command:"
    # A name may have any characters, and a comment ends at the end of its line.
    command = shlex.join(what_if_words(play, cluster))
    yield "# " + "".join(c if c.isprintable() else "?" for c in command)


def _tables(document: Mapping[str, Any]) -> Iterator[str]:
    for name, tables in document.items():
        for table in tables:
            yield ""
            yield f"[[{name}]]"
            yield from (f"{key} = {toml_value(value)}" for key, value in table.items())


def toml_value(value: object) -> str:
    r"""
    Return a value as TOML, on one line.

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
        msg = "a number of a scenarios file must be finite"
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
