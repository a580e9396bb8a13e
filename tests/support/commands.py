"""A command of the command line, run in this process."""

import json
import os
from dataclasses import dataclass
from typing import Any

import pytest

from planner.cli.main import _run, is_json_wanted


@dataclass(frozen=True)
class Outcome:
    """What the shell would see."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Stdout as the one JSON document it must be."""
        return json.loads(self.out)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> Outcome:
    """Run ``kafka-planner`` with these arguments."""
    words = [str(argument) for argument in arguments]
    code = _run(words, as_json=is_json_wanted(words, dict(os.environ)))
    captured = capsys.readouterr()
    return Outcome(int(code), captured.out, captured.err)
