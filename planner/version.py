"""
Version of the package: its number, and the commit that it was built from.

A wheel and an sdist contain the commit in `commit.txt`, which the build writes; in a
checkout it is read from git. The build runs this module, which therefore imports the
standard library only.
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
        done = subprocess.run(  # noqa: S603 - no shell, and no text of a user
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
        Folder of the project.

    Returns
    -------
    ``1a2b3c4d5e6f`` or ``1a2b3c4d5e6f, with changes``; `None` if the folder is not the
    root of a checkout, or git is missing.
    """
    if not (root / ".git").exists():
        # Git would name the commit of a checkout around an unpacked archive.
        return None
    commit = _git(root, "rev-parse", f"--short={_SHORT}", "HEAD")
    changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    if not commit:
        return None
    return f"{commit}, {CHANGED}" if changes else commit


@cache
def commit() -> str | None:
    """Return the commit of the build or of the checkout; `None` if unknown."""
    here = Path(__file__).parent
    try:
        return (here / COMMIT_FILE).read_text(encoding="utf-8").strip() or None
    except OSError:
        return read_commit(here.parent)


def version_text() -> str:
    """
    Return the version as `--version` prints it.

    Returns
    -------
    ``kafka-planner 0.1.0 (commit 1a2b3c4d5e6f)``, or without the commit if it is
    unknown.
    """
    from importlib.metadata import version

    known = commit()
    suffix = f" (commit {known})" if known else ""
    return f"kafka-planner {version('kafka-planner')}{suffix}"
