"""
Tests in a process that has another PySpark on its path.

Two versions of Spark do not fit into one process. PySpark is fetched once into the
cache of the checkout.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from support.made_once import made_once

CACHE = Path(__file__).parents[2] / ".cache"
OLDEST = "4.0.5"
"""The newest release of the oldest line of Spark."""


def outcomes_on(
    version: str, names: Sequence[str], root: Path, settings: Mapping[str, str]
) -> dict[str, str | None]:
    """
    Run tests on another Spark.

    Parameters
    ----------
    version
        Version of PySpark.
    names
        Ids or files of the tests.
    root
        The checkout.
    settings
        Environment of the process, beside that of this one.

    Returns
    -------
    By the id of each test the text of its failure, or `None` where it passed.
    """
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        paths = [str(pyspark_folder(version)), os.environ.get("PYTHONPATH", "")]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *names],
            cwd=root,
            check=False,
            capture_output=True,
            text=True,
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
                **settings,
                "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            },
        )
        if not report.exists():
            return dict.fromkeys(names, done.stdout + done.stderr)
        cases = ElementTree.parse(report).iter("testcase")  # noqa: S314 - pytest's own
        return {_name_of(case): _trouble(case) for case in cases}


def pyspark_folder(version: str) -> Path:
    """Return a folder for Python's path that has a version of PySpark."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    # PySpark comes as source. Half of the time would go into compressing its jars once
    # more, and into compiling modules that no test imports.
    sparing = ["--no-compile", "--config-settings=--build-option=--compression=stored"]
    return fetched(
        CACHE / "pyspark" / version,
        lambda target: [
            *(*pip, *sparing, "--target", str(target)),
            f"pyspark=={version}",
        ],
    )


def fetched(folder: Path, command: Callable[[Path], list[str]]) -> Path:
    """Return a folder that a command fills, whole or not at all."""
    return made_once(folder, lambda target: _run(command(target)))


def _run(command: Sequence[str]) -> None:
    # What a developer set for other programs leads pip elsewhere.
    settings = {
        k: v for k, v in os.environ.items() if k not in {"PIP_TARGET", "PIP_USER"}
    }
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env=settings
    )
    if done.returncode:
        msg = f"{command[0]} could not fetch another Spark:\n{done.stdout}{done.stderr}"
        raise RuntimeError(msg)


def _name_of(case: ElementTree.Element) -> str:
    """Return the id of a test as pytest has it."""
    path = case.attrib["classname"].replace(".", "/")
    return f"{path}.py::{case.attrib['name']}"


def _trouble(case: ElementTree.Element) -> str | None:
    found = [each for each in case if each.tag in {"failure", "error", "skipped"}]
    return "\n".join(each.text or "" for each in found) if found else None
