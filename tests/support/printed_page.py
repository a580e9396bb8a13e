"""Pages that show what commands print: each block is run again and compared."""

import os
import re
import shlex
from pathlib import Path

from support.commands import run

BLOCK = re.compile(
    r"^```sh\n(?P<command>[^\n]*)\n```\n\n```\n(?P<shown>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
"""A command of one line, and what it prints."""


def check_page(page: Path, capsys, num_blocks: int) -> None:
    """
    Check that every block of a page shows what its command prints.

    To write a page anew: ``PLANNER_WRITE_PAGES=1 pytest`` and the test of the page.
    """
    text = page.read_text(encoding="utf-8")

    def answered(block):
        outcome = run(capsys, *shlex.split(block["command"])[1:])
        assert outcome.code == 0, outcome.err
        return f"```sh\n{block['command']}\n```\n\n```\n{outcome.out}```"

    printed = BLOCK.sub(answered, text)
    if os.environ.get("PLANNER_WRITE_PAGES"):
        page.write_text(printed, encoding="utf-8")
    assert len(BLOCK.findall(text)) == num_blocks
    assert printed == text
