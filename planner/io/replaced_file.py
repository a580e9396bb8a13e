"""A file that is replaced in one step."""

import tempfile
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """
    Write a file beside the path and rename it, so that no reader sees a part of it.

    Raises
    ------
    OSError
        If the folder does not exist, or the file cannot be written or renamed.
    """
    prefix = f".{path.name[:50]}."
    with tempfile.TemporaryDirectory(prefix=prefix, dir=path.parent) as workspace:
        written = Path(workspace) / path.name
        written.write_bytes(data)
        written.replace(path)
