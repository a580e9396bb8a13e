"""The state of the page as a scenarios file that `what-if` reads."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from planner.io.toml_values import toml_value
from planner.ui.ui_play import Play
from planner.what_if.play_scenarios import WhatIfRequest

FILE_NAME = "scenarios.toml"


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


def plan_words(play: Play, cluster: str, *, names_log_dirs: bool) -> list[str]:
    """Return the words of the `plan` command of today's cluster without changes."""
    # `plan` has no rate of copies without waves.
    options = [*_balance(play.request), "--effort", play.request.effort]
    options += ["--with-log-dirs"] * names_log_dirs
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
