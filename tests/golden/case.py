"""Definition of a case: input files and the commands that run on them."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Source = Path | Callable[[], bytes]
"""An input: a file or folder to copy, or a function that returns the content."""
COMMANDS = Path(__file__).parents[1] / "data" / "outputs" / "commands"
CLUSTER = "now.json"
"""File name of the snapshot in the working folder of most cases."""


@dataclass(frozen=True)
class Case:
    """
    A sequence of commands that run one after the other in one folder.

    Parameters
    ----------
    name
        Unique name, ``group/what``.
    steps
        Command lines without ``kafka-planner``, by the name of the step.
    inputs
        Files that exist before the first command, by their relative path.
    """

    name: str
    steps: Mapping[str, str]
    inputs: Mapping[str, Source] = field(default_factory=dict)

    def record_name(self, step: str) -> str:
        """Return the name of the record of one step."""
        return f"{self.name}: {step}" if step else self.name


def cases_of_table(
    group: str, table: str, inputs: Mapping[str, Source]
) -> Iterable[Case]:
    """
    Yield the cases of a table of commands.

    A line that is not indented starts a case: ``name = command``. An indented line
    adds a step to the case above it.

    Parameters
    ----------
    group
        First part of the names of the cases.
    table
        Name of the file of commands, without its suffix.
    inputs
        Input files of every case.
    """
    text = (COMMANDS / f"{table}.txt").read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=\S)", text.strip())
    for block in blocks:
        lines = [line.split(" = ", 1) for line in block.splitlines()]
        name = lines[0][0]
        steps = {key.strip(): command.strip() for key, command in lines[1:]}
        yield Case(f"{group}/{name}", {"": lines[0][1]} | steps, inputs)
