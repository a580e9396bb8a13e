"""What `--version` says: of a checkout, of what was built from it, of anything else."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version

import pytest

from planner import version as versions
from planner.version import CHANGED, COMMIT_FILE, read_commit
from support.commands import run

PACKAGES = ("planner", "placement", "assignment")
FILES = (".gitignore", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE")


def git(folder, *arguments):
    who = ("-c", "user.name=n", "-c", "user.email=n@example.org")
    done = subprocess.run(
        ["git", *who, *arguments],
        check=True,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def tree(root, tmp_path_factory):
    """Return a copy of what a build needs, under no version control."""
    folder = tmp_path_factory.mktemp("tree") / "project"
    folder.mkdir()
    for name in FILES:
        shutil.copy(root / name, folder)
    for name in PACKAGES:
        (folder / name).mkdir()
        for file in ("__init__.py", "version.py"):
            if (root / name / file).exists():
                shutil.copy(root / name / file, folder / name)
    return folder


@pytest.fixture
def checkout(tree, tmp_path):
    """Return a checkout with one commit."""
    folder = tmp_path / "checkout"
    shutil.copytree(tree, folder)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "One")
    return folder


def built(kind, folder, output):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "build", f"--{kind}", "--no-isolation"),
            *("--outdir", str(output), str(folder)),
        ],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = output.iterdir()
    return archive


def commit_in(wheel):
    with zipfile.ZipFile(wheel) as archive:
        name = f"planner/{COMMIT_FILE}"
        return archive.read(name).decode() if name in archive.namelist() else None


def test_a_checkout_tells_its_commit(checkout):
    commit = git(checkout, "rev-parse", "HEAD")

    clean = read_commit(checkout)
    (checkout / "new.txt").touch()
    untracked = read_commit(checkout)
    (checkout / "README.md").write_text("changed")

    assert clean == untracked == commit[:12]
    assert read_commit(checkout) == f"{commit[:12]}, {CHANGED}"


def test_a_folder_inside_a_checkout_is_none_itself(checkout):
    assert read_commit(checkout / "planner") is None


@pytest.mark.parametrize("missing", ["git", "repository", "commit"])
def test_where_nothing_tells_there_is_no_commit(missing, checkout, monkeypatch):
    if missing == "git":
        monkeypatch.setenv("PATH", str(checkout))
    elif missing == "repository":
        shutil.rmtree(checkout / ".git")
    else:
        shutil.rmtree(checkout / ".git" / "refs")

    assert read_commit(checkout) is None


@pytest.mark.not_quick
def test_wheels_tell_the_commit_and_are_the_same_each_time(checkout, tmp_path):
    commit = read_commit(checkout)

    first, second = (built("wheel", checkout, tmp_path / n) for n in ("a", "b"))

    assert commit_in(first) == f"{commit}\n"
    assert first.read_bytes() == second.read_bytes()
    assert git(checkout, "status", "--porcelain") == ""


@pytest.mark.not_quick
def test_a_wheel_from_an_sdist_tells_the_commit_without_git(
    checkout, tmp_path, monkeypatch
):
    commit = read_commit(checkout)
    sdist = built("sdist", checkout, tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        # Python 3.11 has no filters before 3.11.4, and later ones want one.
        how = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(tmp_path / "unpacked", **how)  # noqa: S202 - our own
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    monkeypatch.setenv("PATH", str(tmp_path))

    wheel = built("wheel", unpacked, tmp_path / "wheel")

    assert commit_in(wheel) == f"{commit}\n"


def test_a_wheel_from_an_archive_tells_none(tree, tmp_path):
    assert commit_in(built("wheel", tree, tmp_path / "wheel")) is None


def test_the_command_says_version_and_commit(root, capsys):
    outcome = run(capsys, "--version")

    number = re.escape(version("kafka-planner"))
    assert re.fullmatch(
        rf"kafka-planner {number}( \(commit [0-9a-f]{{12}}(, {CHANGED})?\))?\n",
        outcome.out,
    )
    if (root / ".git").exists() and shutil.which("git"):
        assert f"(commit {git(root, 'rev-parse', '--short=12', 'HEAD')}" in outcome.out


@pytest.mark.parametrize(
    ("commit", "expected"),
    [("1a2b3c4d5e6f", " (commit 1a2b3c4d5e6f)"), (None, "")],
)
def test_without_a_commit_the_number_stands_alone(commit, expected, monkeypatch):
    monkeypatch.setattr(versions, "commit", lambda: commit)

    known = f"kafka-planner {version('kafka-planner')}"
    assert versions.version_text() == f"{known}{expected}"
