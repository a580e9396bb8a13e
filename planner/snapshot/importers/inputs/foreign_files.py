"""Reading of foreign files by path."""

from collections.abc import Callable
from pathlib import Path

from planner.errors import BadInputError, InputProblem
from planner.snapshot.importers.inputs.import_source import Source
from planner.text.printable import printable


def read_file(
    path: Path, read: Callable[..., Source], data: bytes | None = None
) -> Source:
    """
    Read one file.

    Parameters
    ----------
    path
        Path of the file.
    read
        Importer of its format.
    data
        Its bytes; `None`: they are read.

    Raises
    ------
    BadInputError
        If the file cannot be read, or is not of the format.
    """
    content = read_bytes(path) if data is None else data
    return read(content, file=printable(str(path)))


def read_bytes(path: Path) -> bytes:
    """
    Return the bytes of a file.

    Raises
    ------
    BadInputError
        If the file cannot be read.
    """
    file = printable(str(path))
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problem = InputProblem(
            file=file,
            place="",
            value="",
            rule=f"the file must be readable: {reason}",
            remedy="check the path",
        )
        msg = f"cannot read {file}"
        raise BadInputError(msg, [problem]) from error
