"""A report replaces another one as a whole, or not at all."""

import resource

import pytest

from planner.demo import SNAPSHOT_FILE
from support.commands import run


@pytest.fixture
def small_files():
    """Limit files to 4 KiB, as a disk that is nearly full does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("is_there", [True, False])
def test_a_report_that_cannot_be_written_leaves_what_was_there(
    tmp_path, capsys, is_there
):
    page = tmp_path / "r.html"
    if is_there:
        page.write_text("old")

    outcome = run(capsys, "report", SNAPSHOT_FILE, "-o", page)

    assert outcome.code == 2
    assert "the report cannot be written: File too large" in outcome.err
    assert [one.read_text() for one in tmp_path.iterdir()] == ["old"] * is_there


def test_a_link_to_a_report_stays_one(tmp_path, capsys):
    page, link = tmp_path / "r.html", tmp_path / "latest.html"
    page.write_text("old")
    link.symlink_to(page)

    outcome = run(capsys, "report", SNAPSHOT_FILE, "-o", link)

    assert outcome.code == 0
    assert link.is_symlink()
    assert page.read_text() != "old"
