"""Files and folders that processes of a test run share, made once by one of them."""

import fcntl
import tempfile
from collections.abc import Callable
from pathlib import Path


def made_once(path: Path, make: Callable[[Path], None]) -> Path:
    """
    Return a file or folder that is made once, whole or not at all.

    Parameters
    ----------
    path
        Place of the file or folder. Processes that need it while another makes it wait.
    make
        Function that makes it at a place beside the final one: what it leaves behind
        when it is interrupted is never taken for the whole.
    """
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
                made = Path(scratch) / path.name
                make(made)
                made.rename(path)
    return path
