"""Fixed clock for commands: documents that carry an age or a duration stay the same."""

import datetime as standard
import importlib
import pkgutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Self
from unittest.mock import patch

import planner

NOW = standard.datetime(2026, 11, 27, 12, 0, 0, tzinfo=standard.UTC)
WITHOUT = "planner.spark"
"""Package whose import needs an optional dependency."""


class FixedDatetime(standard.datetime):
    """A `datetime` class whose present is `NOW`."""

    @classmethod
    def now(cls, tz: standard.tzinfo | None = None) -> Self:
        return cls.fromtimestamp(NOW.timestamp(), tz)


@contextmanager
def fixed_clock() -> Iterator[None]:
    """Replace the present time and all durations in the modules of the product."""
    import_product()
    with ExitStack() as stack:
        for name, module in sorted(sys.modules.items()):
            is_ours = name.startswith("planner.")
            if is_ours and vars(module).get("datetime") is standard.datetime:
                stack.enter_context(patch.object(module, "datetime", FixedDatetime))
        stack.enter_context(patch.object(time, "perf_counter", lambda: 0.0))
        yield


@cache
def import_product() -> None:
    """Import every module, so that none keeps the real clock."""
    for found in pkgutil.walk_packages(planner.__path__, "planner.", lambda _: None):
        if not found.name.startswith(WITHOUT):
            importlib.import_module(found.name)
