"""The page of questions shows what the commands print."""

import os
import re
import shlex
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from planner.demo import SNAPSHOT_FILE
from support.commands import run

PAGE = Path(__file__).parents[2] / "docs" / "questions.md"
PAIR = re.compile(
    r"^```sh\n(kafka-planner [^\n]*)\n```\n\n```\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
FILE = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUESTION = re.compile(r"^## \d+\. ", re.MULTILINE)


class TwoHoursLater(datetime):
    """A clock that stands two hours after the bundled snapshot was taken."""

    @classmethod
    def now(cls, tz=None):
        return datetime(2026, 11, 21, 10, tzinfo=tz or UTC)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for module in ("what_if", "size"):
        monkeypatch.setattr(f"planner.cli.{module}.datetime", TwoHoursLater)
    shutil.copy(SNAPSHOT_FILE, "orders.json.gz")
    (scenarios,) = FILE.findall(PAGE.read_text(encoding="utf-8"))
    Path("questions.toml").write_text(scenarios, encoding="utf-8")
    return tmp_path


def test_there_is_an_answer_to_every_question():
    text = PAGE.read_text(encoding="utf-8")

    assert len(QUESTION.findall(text)) == 15
    assert len(PAIR.findall(text)) == 15


@pytest.mark.slow
def test_the_page_shows_what_is_printed(folder, capsys):
    text = PAGE.read_text(encoding="utf-8")
    printed = text
    for command, shown in PAIR.findall(text):
        outcome = run(capsys, *shlex.split(command)[1:])
        assert outcome.code in {0, 3, 4}, outcome.err
        before = f"{command}\n```\n\n```\n{shown}```"
        printed = printed.replace(before, f"{command}\n```\n\n```\n{outcome.out}```")
    # To write the page anew: PLANNER_WRITE_PAGES=1 pytest tests/project
    if os.environ.get("PLANNER_WRITE_PAGES"):
        PAGE.write_text(printed, encoding="utf-8")
    assert printed == text
