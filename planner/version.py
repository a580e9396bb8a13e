"""
Which version this is: its number, and the commit that it was built from.

A wheel and an sdist carry the commit in `commit.txt`, which the build writes; in a
checkout git tells it. Stands on the standard library alone, for the build runs it.
"""

import subprocess
from functools import cache
from pathlib import Path

COMMIT_FILE = "commit.txt"
CHANGED = "with changes"
_SHORT = 12
_TIMEOUT_S = 10


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no words of a user
            ["git", "-C", str(root), *arguments],  # noqa: S607 - the user's git
            check=False,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def read_commit(root: Path) -> str | None:
    """
    Return the commit of a checkout, and whether files differ from it.

    Parameters
    ----------
    root
        The folder of the project.

    Returns
    -------
    As in ``1a2b3c4d5e6f`` or ``1a2b3c4d5e6f, with changes``; `None` where the folder is
    no checkout of its own, or there is no git.
    """
    if not (root / ".git").exists():
        # An archive unpacked inside another checkout is not that checkout's commit.
        return None
    commit = _git(root, "rev-parse", f"--short={_SHORT}", "HEAD")
    changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    if not commit:
        return None
    return f"{commit}, {CHANGED}" if changes else commit


@cache
def commit() -> str | None:
    """Return the commit that this was built from, or runs from; `None` if unknown."""
    here = Path(__file__).parent
    try:
        return (here / COMMIT_FILE).read_text(encoding="utf-8").strip() or None
    except OSError:
        return read_commit(here.parent)


def told() -> str:
    """
    Return the version as `--version` prints it.

    Returns
    -------
    As in ``kafka-planner 0.1.0 (commit 1a2b3c4d5e6f)``; without a commit where none is
    known.
    """
    from importlib.metadata import version

    known = commit()
    said = f" (commit {known})" if known else ""
    return f"kafka-planner {version('kafka-planner')}{said}"
