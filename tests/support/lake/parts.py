"""A Spark that Delta Lake and Iceberg are built for, fetched once into the cache."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).parent
POM = HERE / "pom.xml"
CACHE = HERE.parents[2] / ".cache"
PYSPARK = "4.1.4"
"""The newest one that both have a release for; the other tests run on a newer one."""


def pyspark_folder() -> Path:
    """Return a folder for Python's path with the PySpark of these tests."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    return _fetched(
        CACHE / "pyspark" / PYSPARK,
        lambda target: [*pip, "--target", str(target), f"pyspark=={PYSPARK}"],
    )


def lake_jars() -> list[Path]:
    """Return the jars of Delta Lake and Iceberg."""
    digest = hashlib.sha256(POM.read_bytes()).hexdigest()[:16]
    maven = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies"]
    folder = _fetched(
        CACHE / "lake" / digest,
        lambda target: [*maven, "-DexcludeTransitive", f"-DoutputDirectory={target}"],
    )
    return sorted(folder.glob("*.jar"))


def _fetched(folder: Path, command: Callable[[Path], list[str]]) -> Path:
    """Return a folder that a command fills, whole or not at all."""
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        filled = Path(scratch) / "filled"
        _run(command(filled))
        if not folder.exists():
            filled.rename(folder)
    return folder


def _run(command: Sequence[str]) -> None:
    # What a developer set for other programs leads pip elsewhere.
    settings = {
        k: v for k, v in os.environ.items() if k not in {"PIP_TARGET", "PIP_USER"}
    }
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env=settings
    )
    if done.returncode:
        msg = f"{command[0]} could not fetch a lakehouse:\n{done.stdout}{done.stderr}"
        raise RuntimeError(msg)


def missing_prerequisite() -> str | None:
    """Return the one line that names what this machine lacks, or `None`."""
    if shutil.which("java") is None:
        return "tests marked lake need Java 17 or newer: no java on PATH"
    if shutil.which("mvn") is None and not (CACHE / "lake").exists():
        return "tests marked lake need Maven for their jars: no mvn on PATH"
    return None
