"""Kafka's jars: fetched by Maven once, kept in the project's cache."""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from support.made_once import made_once

HERE = Path(__file__).parent
POM = HERE / "pom.xml"
CACHE = HERE.parents[2] / ".cache" / "kafka"
OLDEST_JAVA = 17

# Options that a developer set for other programs: they change the class path, the heap
# or the output of every JVM, and with it what the tests read.
FOREIGN_OPTIONS = (
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
)


def java_environment() -> dict[str, str]:
    """Return the environment for a JVM: ours, without options meant for others."""
    return {k: v for k, v in os.environ.items() if k not in FOREIGN_OPTIONS}


def _java_version() -> int:
    done = subprocess.run(
        ["java", "-version"],
        capture_output=True,
        text=True,
        check=True,
        env=java_environment(),
    )
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr)
    return int(found[1]) if found else 0


def missing_prerequisite() -> str | None:
    """Return the one line that names what this machine lacks, or `None`."""
    if shutil.which("java") is None:
        return f"tests marked kafka need Java {OLDEST_JAVA} or newer: no java on PATH"
    if (version := _java_version()) < OLDEST_JAVA:
        return f"tests marked kafka need Java {OLDEST_JAVA} or newer: java is {version}"
    if shutil.which("mvn") is None and not _libs().exists():
        return "tests marked kafka need Maven for Kafka's jars: no mvn on PATH"
    return None


def _libs() -> Path:
    digest = hashlib.sha256(POM.read_bytes()).hexdigest()[:16]
    return CACHE / digest / "libs"


def kafka_jars() -> Path:
    """Return the folder with Kafka's jars, filled by Maven if it is not there."""
    return made_once(_libs(), _fetch)


def _fetch(folder: Path) -> None:
    command = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies"]
    options = ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    done = subprocess.run(
        [*command, *options], check=False, capture_output=True, text=True
    )
    if done.returncode:
        msg = f"Maven could not fetch Kafka's jars:\n{done.stdout}{done.stderr}"
        raise RuntimeError(msg)
