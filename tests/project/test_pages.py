"""Pages with screens show what the commands print."""

import os
import re
import shlex
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from placement.operations.descriptor import OPERATIONS
from planner.demo import SNAPSHOT_FILE
from support.commands import run
from support.operation_pages import LISTS, PAGES, with_list
from support.options_table import PAGE, with_table

DOCS = Path(__file__).parents[2] / "docs"
QUESTIONS = DOCS / "questions.md"
TUTORIAL = DOCS / "tutorial.md"
WITHOUT_SCREENS = {"leaders", "log-dirs", *PAGES}
SCREENS = [name for name in OPERATIONS if name not in WITHOUT_SCREENS]
BLOCK = re.compile(
    r"^```sh\n(?P<commands>.*?)^```\n(?:\n^```\n(?P<shown>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
FILE = re.compile(r"`(\w+\.toml)`:\n\n```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
TEXT = re.compile(
    r"`([\w.-]+)`[^`\n]*:\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL
)
QUESTION = re.compile(r"^## \d+\. ", re.MULTILINE)
FROM_THE_CHECKOUT = "planner/demo/"


class TwoHoursLater(datetime):
    """A clock that stands two hours after the bundled snapshot was taken."""

    @classmethod
    def now(cls, tz=None):
        return datetime(2026, 11, 21, 10, tzinfo=tz or UTC)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for module in ("what_if", "size", "failures", "score"):
        monkeypatch.setattr(f"planner.cli.{module}.datetime", TwoHoursLater)
    shutil.copy(SNAPSHOT_FILE, "orders.json.gz")
    named = FILE.findall(QUESTIONS.read_text(encoding="utf-8"))
    pasted = TEXT.findall(TUTORIAL.read_text(encoding="utf-8"))
    for name, text in (*named, *pasted):
        Path(name).write_text(text, encoding="utf-8")
    return tmp_path


def test_there_is_an_answer_to_every_question():
    parts = QUESTION.split(QUESTIONS.read_text(encoding="utf-8"))

    assert len(parts) == 16
    for part in parts[1:]:
        assert any(block["shown"] for block in BLOCK.finditer(part))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["questions", "tutorial", "apply", *SCREENS])
def test_a_page_shows_what_is_printed(name, folder, capsys):
    page = DOCS / f"{name}.md"
    text = page.read_text(encoding="utf-8")

    def told(block: re.Match[str]) -> str:
        commands = block["commands"].splitlines()
        printed = [
            answer_to(capsys, command)
            for command in commands
            if FROM_THE_CHECKOUT not in command
        ]
        if block["shown"] is None:
            return block[0]
        return f"```sh\n{block['commands']}```\n\n```\n{''.join(printed)}```"

    printed = BLOCK.sub(told, text)
    # To write the page anew: PLANNER_WRITE_PAGES=1 pytest tests/project
    if os.environ.get("PLANNER_WRITE_PAGES"):
        page.write_text(printed, encoding="utf-8")
    assert printed == text


def test_the_tutorial_ends_with_a_change_that_is_verified():
    text = TUTORIAL.read_text(encoding="utf-8")
    pasted = {name for name, _ in TEXT.findall(text)}
    shown = [block["shown"] or "" for block in BLOCK.finditer(text)]

    assert pasted == {"topics.txt", "log-dirs.txt", "endpoints.txt", "disks.csv"}
    assert len(shown) == 4
    assert "Checked    by separate code" in shown[1]
    assert shown[2].startswith("ok: ")
    assert shown[3].startswith("completed: ")
    assert "Left       nothing" in shown[3]


def test_the_page_of_tables_shows_their_contracts():
    from planner.fleet.contracts.all_contracts import page as contracts

    page = DOCS / "fleet-tables.md"
    text = page.read_text(encoding="utf-8")
    head = text.partition("\n## ")[0].rstrip("\n")
    printed = f"{head}\n\n{contracts().rstrip()}\n"
    if os.environ.get("PLANNER_WRITE_PAGES"):
        page.write_text(printed, encoding="utf-8")

    assert printed == text


@pytest.mark.parametrize("name", SCREENS)
def test_a_page_of_an_operation_shows_a_screen_of_it(name):
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")

    shown = [block for block in BLOCK.finditer(text) if block["shown"]]

    assert any(f"plan {name} " in block["commands"] for block in shown)
    by_name = f'planner.plan_operation(snapshot, "{name}"'
    assert by_name in text or f"planner.{name.replace('-', '_')}(" in text


@pytest.mark.parametrize("name", LISTS)
def test_every_operation_is_in_a_list(name):
    page = DOCS.parent / name
    text = page.read_text(encoding="utf-8")
    printed = with_list(name, text)
    if os.environ.get("PLANNER_WRITE_PAGES"):
        page.write_text(printed, encoding="utf-8")

    assert printed == text


def test_the_options_are_in_the_table_of_the_page():
    text = PAGE.read_text(encoding="utf-8")
    printed = with_table(text)
    if os.environ.get("PLANNER_WRITE_PAGES"):
        PAGE.write_text(printed, encoding="utf-8")

    assert printed == text


def answer_to(capsys: pytest.CaptureFixture[str], command: str) -> str:
    outcome = run(capsys, *shlex.split(command)[1:])
    assert outcome.code in {0, 3, 4}, outcome.err
    return outcome.out
