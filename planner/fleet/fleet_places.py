"""Folders in the arguments of a command on Spark, checked before Spark starts."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from planner.errors import BadInputError, InputProblem

CATALOG = "table:"
_PART = r"(?:[\w-]+|`[^`]+`)"
_SCHEMA = re.compile(rf"{_PART}(?:\.{_PART})*")
_PARTS = re.compile(r"`([^`]+)`|([\w-]+)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_FILE = re.compile(r"file:(//)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCheck:
    """
    A folder that a command reads.

    Parameters
    ----------
    path
        Path in the arguments; `None`: no such argument.
    inside
        Name of a folder that the path must contain.
    rule
        Rule in the message.
    remedy
        Remedy in the message: the command that writes such a folder.
    """

    path: str | None
    inside: str
    rule: str
    remedy: str

    def problem(self) -> InputProblem | None:
        """Return the problem of a schema's name, or of a local folder; `None`: none."""
        if self.path is not None and self.path.startswith(CATALOG):
            return schema_problem(self.path)
        root = None if self.path is None else folder_here(self.path)
        if root is None or (root / self.inside).is_dir():
            return None
        rule = self.rule if root.is_dir() else "there is no such folder"
        return InputProblem(
            file=str(self.path),
            place=self.inside if root.is_dir() else "",
            value="",
            rule=rule,
            remedy=self.remedy,
        )


def fleet_check(path: str) -> FolderCheck:
    """Return the check of a fleet's folder."""
    return FolderCheck(
        path=path,
        inside="commits",
        rule="a fleet folder must contain commit markers",
        remedy="write it with 'kafka-planner snapshot convert SNAP --fleet …'",
    )


def dumps_check(path: str) -> FolderCheck:
    """Return the check of a folder of raw dumps."""
    return FolderCheck(
        path=path,
        inside="",
        rule="must be a folder",
        remedy="give the folder that contains CLUSTER/TIME/files",
    )


def results_check(path: str | None, table: str, command: str) -> FolderCheck:
    """Return the check of a folder of results of another command."""
    return FolderCheck(
        path=path,
        inside=table,
        rule=f"must be a folder of {table}",
        remedy=f"write it with 'kafka-planner fleet {command} … -o …'",
    )


def schema_of(place: str) -> str | None:
    """
    Return the schema that a place names; `None` if the place is a folder.

    Raises
    ------
    BadInputError
        If the name is not valid for a schema.

    Examples
    --------
    >>> schema_of("table:lake.kafka"), schema_of("s3a://bucket/scores")
    ('lake.kafka', None)
    """
    if not place.startswith(CATALOG):
        return None
    require_schema(place)
    return place.removeprefix(CATALOG)


def name_parts(schema: str) -> list[str]:
    """
    Return the parts of a schema's name, without quotes.

    Examples
    --------
    >>> name_parts("lake.`of kafka`")
    ['lake', 'of kafka']
    """
    return [quoted or plain for quoted, plain in _PARTS.findall(schema)]


def require_schema(place: str) -> None:
    """
    Reject ``table:`` without the name of a schema; accept folders.

    Raises
    ------
    BadInputError
        If the name is not valid for a schema.
    """
    found = schema_problem(place)
    if found is not None:
        msg = f"{place} names no schema of a catalog"
        raise BadInputError(msg, [found])


def schema_problem(place: str) -> InputProblem | None:
    """Return the problem of a schema's name; `None` if it is valid or a folder."""
    name = place.removeprefix(CATALOG)
    if name == place or _SCHEMA.fullmatch(name):
        return None
    return InputProblem(
        file=place,
        place="",
        value=name,
        rule="must name a schema of a catalog",
        remedy="write table:CATALOG.SCHEMA; quote other names, as `my schema`",
    )


def is_local(master: str | None, conf: Mapping[str, str]) -> bool:
    """
    Return whether Spark resolves paths without a scheme on the local file system.

    A cluster, or a configuration of Hadoop, may have another default file system.
    """
    given = master or conf.get("spark.master", "local")
    elsewhere = (
        "HADOOP_CONF_DIR",
        "SPARK_CONF_DIR",
        "SPARK_ENV_LOADED",
        "SPARK_REMOTE",
    )
    return (
        given.startswith("local")
        and "spark.hadoop.fs.defaultFS" not in conf
        and not any(name in os.environ for name in elsewhere)
    )


def folder_here(path: str) -> Path | None:
    """Return the local folder of a path; `None` if the path has a scheme."""
    plain = _FILE.sub("", path, count=1)
    return None if _SCHEME.match(plain) else Path(plain)


def require_folders(checks: Iterable[FolderCheck]) -> None:
    """
    Reject local folders that are missing, or that lack a required folder.

    Raises
    ------
    BadInputError
        With every such folder.
    """
    found: Sequence[InputProblem] = [
        p for p in (check.problem() for check in checks) if p
    ]
    if found:
        paths = " and ".join(problem.file for problem in found)
        msg = f"cannot read {paths}"
        raise BadInputError(msg, found)
