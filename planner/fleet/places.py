"""Folders that a command on Spark is given, looked at before Spark starts."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from planner.errors import BadInputError, InputProblem

CATALOG = "table:"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_FILE = re.compile(r"file:(//)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """
    A folder that a command reads.

    Parameters
    ----------
    path
        As it was given; `None`: not at all.
    inside
        Folder that it must contain.
    rule
        Rule that the message names.
    remedy
        The command that writes such a folder.
    """

    path: str | None
    inside: str
    rule: str
    remedy: str

    def problem(self) -> InputProblem | None:
        """Return what is wrong with it, where it is a folder of this machine."""
        root = None if self.path is None else _here(self.path)
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


def fleet_at(path: str) -> Given:
    """Return a fleet's folder."""
    return Given(
        path=path,
        inside="commits",
        rule="a fleet folder must hold its commit markers",
        remedy="write it with 'kafka-planner snapshot convert SNAP --fleet …'",
    )


def dumps_at(path: str) -> Given:
    """Return a folder of raw dumps."""
    return Given(
        path=path,
        inside="",
        rule="must be a folder",
        remedy="name the folder that has CLUSTER/TIME/files",
    )


def written_at(path: str | None, table: str, command: str) -> Given:
    """Return what another command of fleets wrote."""
    return Given(
        path=path,
        inside=table,
        rule=f"must be a folder of {table}",
        remedy=f"write it with 'kafka-planner fleet {command} … -o …'",
    )


def is_local(master: str | None, conf: Mapping[str, str]) -> bool:
    """
    Tell whether Spark takes a path without a scheme for one of this machine.

    A cluster, or a configuration of Hadoop's, may have another file system for that.
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


def require(places: Iterable[Given]) -> None:
    """
    Refuse folders of this machine that are not there, or not what they should be.

    Raises
    ------
    BadInputError
        With every one of them.
    """
    found: Sequence[InputProblem] = [p for p in (g.problem() for g in places) if p]
    if found:
        paths = " and ".join(problem.file for problem in found)
        msg = f"cannot read {paths}"
        raise BadInputError(msg, found)


def _here(path: str) -> Path | None:
    """Return the folder of this machine that a path names; `None`: another's."""
    plain = _FILE.sub("", path, count=1)
    return None if _SCHEME.match(plain) else Path(plain)
